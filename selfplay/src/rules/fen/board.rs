//! The board's field.
use super::{FenError, FenField, Fields, Pools, color_of, error, number_of, shown};
use crate::game::Color;
use crate::policy::SQUARES;
use crate::rules::geometry::{home_kind, may_stand};
use crate::rules::ruleset::Ruleset;
use crate::rules::types::{Kind, Square, letter};

/// A piece as it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    pub color: Color,
    /// What it truly is; `None` for `X`.
    pub kind: Option<Kind>,
    pub mark: Mark,
}

/// How a piece lies, and who knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Up,
    /// Face down, known to both players.
    Known,
    /// Face down, known to its owner only.
    Owner,
    /// Face down, known to nobody, though the text tells it.
    Nobody,
    /// Face down and not told.
    Unknown,
}

impl Mark {
    const SIGNS: [(char, Mark); 3] = [('~', Mark::Known), ('!', Mark::Owner), ('?', Mark::Nobody)];

    fn of_sign(sign: char) -> Option<Mark> {
        let found = Mark::SIGNS.into_iter().find(|&(s, _)| s == sign);
        found.map(|(_, mark)| mark)
    }

    fn sign(self) -> Option<char> {
        let found = Mark::SIGNS.into_iter().find(|&(_, mark)| mark == self);
        found.map(|(sign, _)| sign)
    }
}

pub(super) type Board = [Option<Written>; SQUARES];

/// Reads the board, each piece of which is checked for itself.
pub(super) fn parse(rules: &Ruleset, text: &str) -> Result<Board, FenError> {
    let ranks = text.split('/').count();
    if ranks == 1 {
        let why = format!(
            "'{}' has no ranks; expected 10 with '/' between them, Black's back rank first",
            shown(text)
        );
        return error(FenField::Board, why);
    }
    if ranks != 10 {
        return error(FenField::Board, format!("{ranks} ranks instead of 10"));
    }
    let mut board = [None; SQUARES];
    for (rank, text) in (0..10).rev().zip(text.split('/')) {
        parse_rank(rules, rank, text, &mut board)?;
    }
    Ok(board)
}

fn parse_rank(rules: &Ruleset, rank: usize, text: &str, board: &mut Board) -> Result<(), FenError> {
    let field = FenField::Rank(rank);
    let mut file = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if let Some(gap @ 1..=9) = letter.to_digit(10) {
            file += gap as usize;
            continue;
        }
        let kind = Kind::from_letter(letter);
        let mark = if letter.eq_ignore_ascii_case(&'x') {
            Mark::Unknown
        } else if kind.is_none() {
            let why = format!("'{letter}' is no piece letter and no gap of 1 to 9");
            return error(field, why);
        } else {
            letters
                .next_if(|&sign| Mark::of_sign(sign).is_some())
                .and_then(Mark::of_sign)
                .unwrap_or(Mark::Up)
        };
        let color = color_of(letter);
        if let Some(square) = Square::new(file, rank) {
            let written = Written { color, kind, mark };
            if let Err(why) = may_lie(rules, written, square) {
                return error(field, format!("'{letter}' {why}"));
            }
            board[square.index()] = Some(written);
        }
        file += 1;
    }
    if file == 9 {
        Ok(())
    } else {
        let text = shown(text);
        error(field, format!("'{text}' has {file} files instead of 9"))
    }
}

/// Whether a form's piece may lie so on a square; else why not.
fn may_lie(rules: &Ruleset, piece: Written, square: Square) -> Result<(), String> {
    let Written { color, kind, mark } = piece;
    let stands = kind.is_none_or(|kind| {
        may_stand(color, kind, square)
            || rules.roams.has(kind)
            || rules.hides() && rules.takes_part.has(kind)
    });
    if mark == Mark::Up {
        return stands
            .then_some(())
            .ok_or_else(|| format!("can never stand on {square}"));
    }
    if rules.takes_part.is_empty() {
        return Err(format!("lies face down, which {} has not", rules.name));
    }
    if mark == Mark::Unknown && !rules.hides() {
        return Err(format!(
            "lies face down unknown, but {} hides nothing: write what it is, such as R~",
            rules.name
        ));
    }
    if home_kind(color, square).is_none_or(|home| home == Kind::King) {
        return Err(format!(
            "lies face down on {square}, which is no home square of its side's pieces"
        ));
    }
    match kind {
        Some(kind) if !rules.takes_part.has(kind) => Err(format!(
            "lies face down, but takes no part in {}",
            rules.name
        )),
        _ if !stands => Err(format!("can never lie on {square} in {}", rules.name)),
        _ => Ok(()),
    }
}

/// Checks that the pieces on the board and those of `unseen` are not more than a set, and that each side has
/// its king.
pub(super) fn check_numbers(board: &Board, unseen: &Pools) -> Result<(), FenError> {
    for color in [Color::Red, Color::Black] {
        let seen = count(board, color);
        for kind in Kind::ALL {
            let sum = usize::from(seen[kind.index()] + unseen[color as usize][kind.index()]);
            let (letter, most) = (letter(color, kind), number_of(kind));
            if usize::from(seen[kind.index()]) > most {
                let why = format!("{sum} '{letter}', at most {most} can be");
                return error(FenField::Board, why);
            }
            if sum > most {
                let (here, there) = (seen[kind.index()], sum - usize::from(seen[kind.index()]));
                let why =
                    format!("{there} '{letter}' beside {here} on the board, at most {most} can be");
                return error(FenField::Pool, why);
            }
        }
        if seen[Kind::King.index()] == 0 {
            let why = format!("no '{}', each side has one king", letter(color, Kind::King));
            return error(FenField::Board, why);
        }
    }
    Ok(())
}

/// Checks that nothing has happened yet, as it must be while a side has pieces to place.
pub(super) fn check_unmoved(rules: &Ruleset, fields: &Fields) -> Result<(), FenError> {
    for square in Square::all() {
        if !is_unmoved(rules, fields.board[square.index()], square) {
            let why =
                format!("{square} is not as at the start, although pieces are still arranged");
            return error(FenField::Rank(square.rank()), why);
        }
    }
    if fields.turn != Color::Red {
        let why = "pieces are still arranged; Red is to move then";
        return error(FenField::Side, why);
    }
    if fields.no_capture > 0 {
        let why = "pieces are still arranged; nothing has been played then";
        return error(FenField::NoCapture, why);
    }
    if fields.ply > 0 {
        let why = "pieces are still arranged; it is 1 then";
        return error(FenField::MoveNumber, why);
    }
    Ok(())
}

/// Checks that a side has placed its pieces in the order that
/// [`Position::next_placed`](crate::rules::Position::next_placed) asks for them.
pub(super) fn check_order(board: &Board, color: Color) -> Result<(), FenError> {
    let ranks = (0..10).map(|rank| if color == Color::Red { rank } else { 9 - rank });
    let squares = ranks.flat_map(|rank| (0..9).filter_map(move |file| Square::new(file, rank)));
    let mut unplaced = None;
    for square in squares {
        let piece = board[square.index()].filter(|p| p.color == color);
        match (piece.map(|p| p.mark), unplaced) {
            (Some(Mark::Unknown), None) => unplaced = Some(square),
            (Some(Mark::Owner), Some(before)) => {
                let why = format!(
                    "{square} has its piece, but {before}, which comes before it, has none yet"
                );
                return error(FenField::Rank(square.rank()), why);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a square is as it may be before the first move of an arranged form.
fn is_unmoved(rules: &Ruleset, piece: Option<Written>, square: Square) -> bool {
    let home = |color| Some((color, home_kind(color, square)?));
    let home = home(Color::Red).or_else(|| home(Color::Black));
    let (Some((color, home)), Some(piece)) = (home, piece) else {
        return home.is_none() && piece.is_none();
    };
    let down = rules.takes_part.has(home);
    piece.color == color
        && match piece.mark {
            Mark::Up => piece.kind == Some(home) && !down,
            Mark::Owner | Mark::Unknown => down,
            Mark::Known | Mark::Nobody => false,
        }
}

/// Pieces of each kind that the text tells of a side.
pub(super) fn count(board: &Board, color: Color) -> [u8; 7] {
    let mut count = [0; 7];
    for piece in board.iter().flatten().filter(|p| p.color == color) {
        if let Some(kind) = piece.kind {
            count[kind.index()] += 1;
        }
    }
    count
}

/// Writes the board's field, with a space behind.
pub(super) fn write(piece_at: impl Fn(Square) -> Option<Written>) -> String {
    let mut text = String::new();
    for rank in (0..10).rev() {
        let mut gap = 0;
        for file in 0..9 {
            match Square::new(file, rank).and_then(&piece_at) {
                None => gap += 1,
                Some(piece) => {
                    push_gap(&mut text, &mut gap);
                    push_piece(&mut text, piece);
                }
            }
        }
        push_gap(&mut text, &mut gap);
        text.push(if rank > 0 { '/' } else { ' ' });
    }
    text
}

fn push_piece(text: &mut String, piece: Written) {
    match (piece.kind, piece.color) {
        (Some(kind), color) => text.push(letter(color, kind)),
        (None, Color::Red) => text.push('X'),
        (None, Color::Black) => text.push('x'),
    }
    text.extend(piece.mark.sign());
}

fn push_gap(text: &mut String, gap: &mut u32) {
    if *gap > 0 {
        text.push_str(&gap.to_string());
    }
    *gap = 0;
}
