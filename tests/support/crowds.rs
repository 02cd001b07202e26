//! Positions in which many pieces of one name share files, and positions seen from the other side of the board.
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{Layout, Move, Position, Ruleset, Square};

use crate::hidden_games::{COLORS, letter, read_board, write_board};

/// A random position of a form with its pieces on three files, some of them face down; most tries fail.
pub fn crowd(rules: &'static Ruleset, rng: &mut Pcg64Mcg) -> Option<Position> {
    use selfplay::rules::Kind::{Advisor, Bishop, Cannon, Knight, Pawn, Rook};
    let mut board: Vec<Option<String>> = vec![None; 90];
    let mut pool = String::new();
    let mut files: Vec<usize> = (0..9).collect();
    files.shuffle(rng);
    for color in COLORS {
        let king = Square::new(rng.random_range(3..6), 9 * color as usize)?;
        board[king.index()] = Some(letter(color, selfplay::rules::Kind::King).to_string());
        let mut set = vec![Pawn; 5];
        set.extend([Knight, Rook, Cannon].repeat(2));
        if rules.hides() {
            set.extend([Advisor, Bishop].repeat(2));
        }
        if rng.random() {
            set.shuffle(rng);
        }
        set.truncate(rng.random_range(5..13));
        for kind in set {
            let from = if kind == Pawn && !rules.hides() { 5 } else { 0 };
            let rank = rng.random_range(from..10);
            let rank = [rank, 9 - rank][color as usize];
            let square = Square::new(*files[..3].choose(rng)?, rank)?;
            if board[square.index()].is_some() {
                continue;
            }
            let letter = letter(color, kind);
            let home = home_of(color as usize, square) && rules.takes_part.has(kind);
            let text = match (rules.layout, rng.random_range(0..3)) {
                (_, 0) | (Layout::Open | Layout::Arranged, 1) if home => format!("{letter}~"),
                (Layout::Dealt, 1) if home => {
                    pool.push(letter);
                    if letter.is_uppercase() { "X" } else { "x" }.to_owned()
                }
                _ => letter.to_string(),
            };
            board[square.index()] = Some(text);
        }
    }
    let board = write_board(|square| board[square.index()].clone());
    let pool = if pool.is_empty() { "-" } else { &pool };
    let side = ["w", "b"].choose(rng)?;
    Position::from_fen(rules, &format!("{board} {side} {pool} 0 1")).ok()
}

/// Whether a side's piece may lie face down there.
fn home_of(color: usize, square: Square) -> bool {
    let rank = [square.rank(), 9 - square.rank()][color];
    match rank {
        0 => square.file() != 4,
        2 => matches!(square.file(), 1 | 7),
        3 => square.file().is_multiple_of(2),
        _ => false,
    }
}

fn swap_case(text: &str) -> String {
    let swap = |c: char| {
        if c.is_ascii_uppercase() {
            c.to_ascii_lowercase()
        } else {
            c.to_ascii_uppercase()
        }
    };
    text.chars().map(swap).collect()
}

/// The same position with the board turned round and the colours exchanged, and where a move goes in it.
pub fn rotated(position: &Position) -> (Position, fn(Move) -> Move) {
    let fen = position.fen();
    let fields: Vec<&str> = fen.split(' ').collect();
    let pieces = read_board(fields[0]);
    let board = write_board(|square| {
        let found = pieces.iter().find(|p| p.0.index() == 89 - square.index());
        let (_, letter, mark) = found?;
        let letter = swap_case(&letter.to_string());
        Some(letter + &mark.map_or(String::new(), |mark| mark.to_string()))
    });
    let rest = fields[1..].iter().map(|&field| match field {
        "w" => "b".into(),
        "b" => "w".into(),
        "red" => "black".into(),
        "black" => "red".into(),
        pool => swap_case(pool),
    });
    let text = [board]
        .into_iter()
        .chain(rest)
        .collect::<Vec<_>>()
        .join(" ");
    let other = Position::from_fen(position.rules(), &text);
    let turn = |mv: Move| {
        let square = |s: Square| Square::from_index(89 - s.index()).expect("on the board");
        let plain = Move::new(square(mv.from()), square(mv.to()));
        if mv.turns_down() {
            plain.turning_down()
        } else {
            plain
        }
    };
    (other.unwrap_or_else(|e| panic!("{text}: {e}")), turn)
}
