//! Position texts: FEN, and what the hidden forms add to it (RULES.md §3).
//!
//! `BOARD SIDE POOL NO_CAPTURE NUMBER WHO`, for example
//! `xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1`.
//!
//! | field | meaning |
//! |---|---|
//! | board | as in Xiangqi; `X`/`x` face down and unknown, `R~` face down and known to both players, `R!` to its owner only, `R?` to nobody (in a world) |
//! | side | `w` (or `r`), `b`: to move in the game, also while pieces are still arranged |
//! | pool | of a view: the pieces never seen; of a world: those taken face down and not seen by both; `-`: none |
//! | counters | plies without a capture, move number; each may be missing |
//! | who | `red`, `black`: what that player knows; `world`: the truth; missing: what both players know |
//!
//! While a side arranges its pieces, `X` is a home square of its own that has none yet, its pool holds what it has yet to place,
//! and the rest is as at the start. After Red's first four placements, as Red knows it and in truth:
//!
//! ```text
//! xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/R!N!B!A!KXXXX w A1B1N1R1C2P5a2b2n2r2c2p5 0 1 red
//! xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/R!N!B!A!KXXXX w - 0 1 world
//! ```
//!
//! Also read: the pool before the side, a further field of captured pieces before the counters, `- -` for the
//! pool, `E` and `H` for `B` and `N`.
mod board;
mod view;
mod world;

use std::fmt;

use super::ruleset::Ruleset;
use super::types::{Kind, Square};
use crate::game::Color;

pub(super) use view::{parse, write};
pub(super) use world::{WorldSetup, parse_world, write_world};

/// The part of a position's text that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenField {
    /// Piece placement.
    Board,
    /// One rank of it, 0..=9.
    Rank(usize),
    /// Whose turn it is.
    Side,
    /// Pieces not seen, or two dashes.
    Pool,
    /// Plies since the last capture.
    NoCapture,
    /// Full moves, from 1.
    MoveNumber,
    /// Whose knowledge it is.
    Who,
    /// What follows.
    Rest,
}

impl fmt::Display for FenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenField::Board => f.write_str("board"),
            FenField::Rank(rank) => write!(f, "board, rank {rank}"),
            FenField::Side => f.write_str("side to move"),
            FenField::Pool => f.write_str("pool of unseen pieces"),
            FenField::NoCapture => f.write_str("plies since the last capture"),
            FenField::MoveNumber => f.write_str("move number"),
            FenField::Who => f.write_str("whose knowledge (red, black, world)"),
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

/// As much of a field as an error repeats.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The board's field, of pieces that all lie face up, with a space behind.
pub fn board_text(piece_at: impl Fn(Square) -> Option<(Color, Kind)>) -> String {
    board::write(|square| {
        piece_at(square).map(|(color, kind)| board::Written {
            color,
            kind: Some(kind),
            mark: board::Mark::Up,
        })
    })
}

/// Pieces of each kind, by colour.
type Pools = [[u8; 7]; 2];

/// Whose knowledge a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Both,
    Player(Color),
    World,
}

/// The fields of a text.
struct Fields {
    board: board::Board,
    turn: Color,
    pool: Option<Pools>,
    no_capture: u16,
    ply: u16,
    who: Who,
}

/// The last move number whose plies can be counted.
const LAST_MOVE_NUMBER: u16 = 1 << 15;

impl Fields {
    fn parse(rules: &Ruleset, text: &str) -> Result<Fields, FenError> {
        let mut fields = text.split_whitespace().peekable();
        let board = board::parse(rules, fields.next().unwrap_or_default())?;
        let early = fields.next_if(|f| side(f).is_none() && is_pool(f));
        let turn = match fields.next() {
            Some(text) => side(text).map_or_else(
                || {
                    let why = format!("'{}' is neither w (or r) nor b", shown(text));
                    error(FenField::Side, why)
                },
                Ok,
            )?,
            None => return error(FenField::Side, "missing, expected w (or r) or b"),
        };
        let told = early.or_else(|| fields.next_if(|f| is_pool(f)));
        let taken = fields.next_if(|f| is_pool(f));
        let read = |text: Option<&str>| text.filter(|&f| f != "-").map(parse_pool).transpose();
        let pool = read(told)?;
        read(taken)?;
        let strange = fields.peek().filter(|f| !is_number(f) && who(f).is_none());
        if let Some(strange) = strange.filter(|_| taken.is_none()) {
            let why = format!(
                "'{}' is no list such as A2B2a2b2 and no '-'",
                shown(strange)
            );
            return error(FenField::Pool, why);
        }
        let mut number = |field, default, most| {
            let text = fields.next_if(|f| who(f).is_none());
            counter(text, field, default, most)
        };
        let no_capture = number(FenField::NoCapture, 0, u16::MAX)?;
        let number = number(FenField::MoveNumber, 1, LAST_MOVE_NUMBER)?;
        let who = match fields.next() {
            None => Who::Both,
            Some(text) => match who(text) {
                Some(who) => who,
                None => {
                    let why = format!(
                        "'{}' follows the move number; expected red, black, world or nothing",
                        shown(text)
                    );
                    return error(FenField::Rest, why);
                }
            },
        };
        if let Some(more) = fields.next() {
            let why = format!("'{}' follows the last field", shown(more));
            return error(FenField::Rest, why);
        }
        let ply = 2 * (number.max(1) - 1) + u16::from(turn == Color::Black);
        Ok(Fields {
            board,
            turn,
            pool,
            no_capture,
            ply,
            who,
        })
    }
}

fn side(text: &str) -> Option<Color> {
    match text {
        "w" | "r" => Some(Color::Red),
        "b" => Some(Color::Black),
        _ => None,
    }
}

fn who(text: &str) -> Option<Who> {
    match text {
        "red" => Some(Who::Player(Color::Red)),
        "black" => Some(Who::Player(Color::Black)),
        "world" => Some(Who::World),
        _ => None,
    }
}

/// A whole number, also one that is too small to count anything.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// `-`, or letters of pieces, each with an optional number.
fn is_pool(text: &str) -> bool {
    let letters = |b: u8| Kind::from_letter(b.into()).is_some();
    text == "-"
        || text.bytes().next().is_some_and(letters)
            && text.bytes().all(|b| letters(b) || b.is_ascii_digit())
}

fn parse_pool(text: &str) -> Result<Pools, FenError> {
    let mut pools = [[0u8; 7]; 2];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(kind) = Kind::from_letter(letter) else {
            let why = format!("'{letter}' in '{}' is no piece letter", shown(text));
            return error(FenField::Pool, why);
        };
        let color = color_of(letter);
        let mut number = String::new();
        while let Some(digit) = letters.next_if(char::is_ascii_digit) {
            number.push(digit);
        }
        let number = if number.is_empty() { "1" } else { &number };
        let (most, unseen) = (number_of(kind), &mut pools[color as usize][kind.index()]);
        // A kind may stand in it more than once.
        let sum = number
            .parse()
            .map_or(usize::MAX, |n: usize| n.saturating_add((*unseen).into()));
        if sum > most {
            let before = if *unseen > 0 {
                format!("{unseen} and ")
            } else {
                String::new()
            };
            let why = format!(
                "{before}{} '{letter}', at most {most} can be",
                shown(number)
            );
            return error(FenField::Pool, why);
        }
        *unseen = sum as u8;
    }
    Ok(pools)
}

/// Red for an upper-case letter.
fn color_of(letter: char) -> Color {
    if letter.is_ascii_uppercase() {
        Color::Red
    } else {
        Color::Black
    }
}

fn counter(text: Option<&str>, field: FenField, default: u16, most: u16) -> Result<u16, FenError> {
    let Some(text) = text else { return Ok(default) };
    match text.parse() {
        Ok(n) if n <= most => Ok(n),
        _ => error(
            field,
            format!("'{}' is not a whole number from 0 to {most}", shown(text)),
        ),
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

/// A pool's field; `-` where there is nothing in it.
fn pool_text(pools: &Pools) -> String {
    let mut text = String::new();
    for color in [Color::Red, Color::Black] {
        for kind in Kind::ALL {
            let n = pools[color as usize][kind.index()];
            if n > 0 {
                text.push(super::types::letter(color, kind));
                text.push_str(&n.to_string());
            }
        }
    }
    if text.is_empty() {
        text.push('-');
    }
    text
}

/// The fields behind the board; a form that hides nothing has two dashes for a pool.
fn tail(
    rules: &Ruleset,
    turn: Color,
    pools: &Pools,
    (no_capture, ply): (u16, u16),
    who: &str,
) -> String {
    let side = if turn == Color::Red { 'w' } else { 'b' };
    let pool = if rules.hides() {
        pool_text(pools)
    } else {
        "- -".into()
    };
    let text = format!("{side} {pool} {no_capture} {}", ply / 2 + 1);
    if who.is_empty() {
        text
    } else {
        text + " " + who
    }
}
