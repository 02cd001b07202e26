//! Position text: FEN of the Xiangqi ecosystem, `pieces side - - no-capture-plies move-number`.
use std::fmt;

use super::geometry::may_stand;
use super::position::Position;
use super::ruleset::Ruleset;
use super::types::{Kind, Piece, Square};
use crate::game::Color;
use crate::policy::SQUARES;

/// The part of a FEN that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenField {
    /// The first field as a whole.
    Board,
    /// One rank of the first field, named as on the board (9 is the first in the text).
    Rank(usize),
    /// The side to move.
    Side,
    /// One of the two fields that are always `-`.
    Unused,
    /// Plies since the last capture.
    NoCapture,
    /// The move number.
    MoveNumber,
    /// What follows the move number.
    Rest,
}

impl fmt::Display for FenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenField::Board => f.write_str("board"),
            FenField::Rank(rank) => write!(f, "board, rank {rank}"),
            FenField::Side => f.write_str("side to move"),
            FenField::Unused => f.write_str("unused field"),
            FenField::NoCapture => f.write_str("plies since the last capture"),
            FenField::MoveNumber => f.write_str("move number"),
            FenField::Rest => f.write_str("end"),
        }
    }
}

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("FEN, {field}: {why}")]
pub struct FenError {
    /// Where.
    pub field: FenField,
    /// What is wrong and what was expected.
    pub why: String,
}

fn error<T>(field: FenField, why: impl Into<String>) -> Result<T, FenError> {
    Err(FenError {
        field,
        why: why.into(),
    })
}

type Board = [Option<Piece>; SQUARES];

/// Reads a FEN; the dashes and the counters may be missing.
pub(super) fn parse(rules: &'static Ruleset, text: &str) -> Result<Position, FenError> {
    let mut fields = text.split_whitespace().peekable();
    let board = parse_board(fields.next().unwrap_or_default())?;
    let turn = match fields.next() {
        Some("w" | "r") => Color::Red,
        Some("b") => Color::Black,
        Some(other) => {
            return error(
                FenField::Side,
                format!("'{other}' is neither w (or r) nor b"),
            );
        }
        None => return error(FenField::Side, "missing, expected w (or r) or b"),
    };
    for _ in 0..2 {
        if fields.next_if_eq(&"-").is_none()
            && fields.peek().is_some_and(|f| f.parse::<u16>().is_err())
        {
            return error(
                FenField::Unused,
                format!("'{}' is not '-'", fields.next().unwrap_or_default()),
            );
        }
    }
    let no_capture = counter(fields.next(), FenField::NoCapture, 0, u16::MAX)?;
    let number = counter(fields.next(), FenField::MoveNumber, 1, LAST_MOVE_NUMBER)?;
    if let Some(more) = fields.next() {
        return error(FenField::Rest, format!("'{more}' follows the move number"));
    }
    let ply = 2 * (number.max(1) - 1) + u16::from(turn == Color::Black);
    let position = Position::from_setup(rules, &board, turn, no_capture, ply);
    if position.king_attacked(turn.other()) {
        let why = "the side that is not to move is in check (or the kings face each other)";
        return error(FenField::Side, why);
    }
    Ok(position)
}

/// The last move number whose plies can be counted.
const LAST_MOVE_NUMBER: u16 = 1 << 15;

fn counter(text: Option<&str>, field: FenField, default: u16, most: u16) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(default) };
    match text.parse() {
        Ok(n) if n <= most => Ok(n),
        _ => error(
            field,
            format!("'{text}' is not a whole number from 0 to {most}"),
        ),
    }
}

fn parse_board(text: &str) -> Result<Board, FenError> {
    let ranks = text.split('/').count();
    if ranks != 10 {
        return error(FenField::Board, format!("{ranks} ranks instead of 10"));
    }
    let mut board = [None; SQUARES];
    for (rank, text) in (0..10).rev().zip(text.split('/')) {
        parse_rank(rank, text, &mut board)?;
    }
    check_numbers(&board)?;
    Ok(board)
}

fn parse_rank(rank: usize, text: &str, board: &mut Board) -> Result<(), FenError> {
    let field = FenField::Rank(rank);
    let mut file = 0;
    for letter in text.chars() {
        if let Some(gap @ 1..=9) = letter.to_digit(10) {
            file += gap as usize;
            continue;
        }
        let Some(kind) = Kind::from_letter(letter) else {
            return error(
                field,
                format!("'{letter}' is no piece letter and no gap of 1 to 9"),
            );
        };
        let color = if letter.is_ascii_uppercase() {
            Color::Red
        } else {
            Color::Black
        };
        if let Some(square) = Square::new(file, rank) {
            if !may_stand(color, kind, square) {
                return error(field, format!("'{letter}' can never stand on {square}"));
            }
            board[square.index()] = Some(Piece { color, kind });
        }
        file += 1;
    }
    if file == 9 {
        Ok(())
    } else {
        error(field, format!("'{text}' has {file} files instead of 9"))
    }
}

/// How many of a kind a side has at the start.
fn number_of(kind: Kind) -> usize {
    match kind {
        Kind::King => 1,
        Kind::Pawn => 5,
        _ => 2,
    }
}

fn check_numbers(board: &Board) -> Result<(), FenError> {
    for (color, kind) in [Color::Red, Color::Black]
        .into_iter()
        .flat_map(|c| Kind::ALL.map(|k| (c, k)))
    {
        let piece = Piece { color, kind };
        let (found, most) = (
            board.iter().filter(|&&p| p == Some(piece)).count(),
            number_of(kind),
        );
        if found > most {
            return error(
                FenField::Board,
                format!("{found} '{}', at most {most} can be", piece.letter()),
            );
        }
        if kind == Kind::King && found == 0 {
            return error(
                FenField::Board,
                format!("no '{}', each side has one king", piece.letter()),
            );
        }
    }
    Ok(())
}

/// Writes a FEN with both counters.
pub(super) fn write(position: &Position) -> String {
    let mut text = String::new();
    for rank in (0..10).rev() {
        let mut gap = 0;
        for file in 0..9 {
            match Square::new(file, rank).and_then(|s| position.piece_at(s)) {
                None => gap += 1,
                Some(piece) => {
                    push_gap(&mut text, &mut gap);
                    text.push(piece.letter());
                }
            }
        }
        push_gap(&mut text, &mut gap);
        text.push(if rank > 0 { '/' } else { ' ' });
    }
    let side = if position.turn() == Color::Red {
        'w'
    } else {
        'b'
    };
    text + &format!(
        "{side} - - {} {}",
        position.no_capture(),
        position.ply() / 2 + 1
    )
}

fn push_gap(text: &mut String, gap: &mut u32) {
    if *gap > 0 {
        text.push_str(&gap.to_string());
    }
    *gap = 0;
}
