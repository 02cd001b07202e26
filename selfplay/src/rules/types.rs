//! Kinds, pieces, squares and moves.
use std::fmt;
use std::str::FromStr;

use crate::game::Color;
use crate::policy::SQUARES;
use crate::record;

/// What a piece is, in the order of a record's codes (`index + 1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// 帅/将.
    King,
    /// 仕/士.
    Advisor,
    /// 相/象, the elephant.
    Bishop,
    /// 马, the horse.
    Knight,
    /// 车, the chariot.
    Rook,
    /// 炮.
    Cannon,
    /// 兵/卒.
    Pawn,
}

impl Kind {
    /// Every kind, by index.
    pub const ALL: [Kind; 7] = [
        Kind::King,
        Kind::Advisor,
        Kind::Bishop,
        Kind::Knight,
        Kind::Rook,
        Kind::Cannon,
        Kind::Pawn,
    ];

    /// Position in [`Kind::ALL`], 0..7.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Upper-case FEN letter.
    pub const fn letter(self) -> char {
        b"KABNRCP"[self as usize] as char
    }

    /// The kind of a FEN letter of either case; `E` and `H` are read as `B` and `N`.
    pub fn from_letter(letter: char) -> Option<Kind> {
        Some(match letter.to_ascii_uppercase() {
            'K' => Kind::King,
            'A' => Kind::Advisor,
            'B' | 'E' => Kind::Bishop,
            'N' | 'H' => Kind::Knight,
            'R' => Kind::Rook,
            'C' => Kind::Cannon,
            'P' => Kind::Pawn,
            _ => return None,
        })
    }
}

/// A piece on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its side.
    pub color: Color,
    /// What it plays as: what it is if it lies face up, its square's kind if face down.
    pub kind: Kind,
    /// Whether its face can be seen.
    pub face: Face,
}

/// How a piece lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Face {
    /// 真子: face up.
    Up,
    /// 假子: face down.
    Down {
        /// What it truly is, if that is known.
        identity: Option<Kind>,
    },
}

impl Piece {
    /// A face-up piece.
    pub const fn up(color: Color, kind: Kind) -> Piece {
        let face = Face::Up;
        Piece { color, kind, face }
    }

    /// What it truly is, if that is known.
    pub fn identity(self) -> Option<Kind> {
        match self.face {
            Face::Up => Some(self.kind),
            Face::Down { identity } => identity,
        }
    }

    /// Whether it lies face down.
    pub fn is_down(self) -> bool {
        self.face != Face::Up
    }
}

/// The FEN letter of a kind, upper case for Red.
pub(super) fn letter(color: Color, kind: Kind) -> char {
    match color {
        Color::Red => kind.letter(),
        Color::Black => kind.letter().to_ascii_lowercase(),
    }
}

/// What stands on a square, in the byte that [`record`]'s table describes, the opponent being Black.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell(u8);

impl Cell {
    /// Nothing.
    pub const EMPTY: Cell = Cell(0);
    const BLACK: u8 = record::OTHER;
    const DOWN: u8 = record::DOWN;

    /// A face-up piece.
    pub const fn up(color: Color, kind: Kind) -> Cell {
        Cell(kind as u8 + 1 + Cell::BLACK * color as u8)
    }

    /// A face-down piece that plays as `kind`.
    pub const fn down(color: Color, kind: Kind, identity: Option<Kind>) -> Cell {
        let identity = match identity {
            Some(kind) => kind as u8 + 1,
            None => 0,
        };
        Cell(Cell::up(color, kind).0 | identity << record::IDENTITY_SHIFT | Cell::DOWN)
    }

    /// The byte, which is a record's too where Red decides.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Side and kind it plays as, 0..16.
    pub const fn code(self) -> usize {
        self.0 as usize & 0xf
    }

    /// 0 for nothing, else the index of the kind it plays as, plus 1.
    pub const fn kind_code(self) -> usize {
        self.0 as usize & 7
    }

    /// 0 unless it lies face down and is known, else the index of its kind, plus 1.
    pub const fn identity_code(self) -> usize {
        self.0 as usize >> record::IDENTITY_SHIFT & 7
    }

    /// Whether it lies face down.
    pub const fn is_down(self) -> bool {
        self.0 >= Cell::DOWN
    }

    /// Whether it lies face down and nobody here knows what it is.
    pub const fn is_unknown(self) -> bool {
        self.is_down() && self.identity_code() == 0
    }

    /// The kind of a face-down piece, if known.
    pub const fn identity(self) -> Option<Kind> {
        match self.identity_code() {
            0 => None,
            code => Some(Kind::ALL[code - 1]),
        }
    }

    /// The piece, if one stands here.
    pub const fn piece(self) -> Option<Piece> {
        let color = if self.0 & Cell::BLACK == 0 {
            Color::Red
        } else {
            Color::Black
        };
        let face = if self.is_down() {
            let identity = self.identity();
            Face::Down { identity }
        } else {
            Face::Up
        };
        match self.kind_code() {
            0 => None,
            code => Some(Piece {
                color,
                kind: Kind::ALL[code - 1],
                face,
            }),
        }
    }
}

impl From<Option<Piece>> for Cell {
    fn from(piece: Option<Piece>) -> Cell {
        match piece {
            None => Cell::EMPTY,
            Some(Piece { color, kind, face }) => match face {
                Face::Up => Cell::up(color, kind),
                Face::Down { identity } => Cell::down(color, kind, identity),
            },
        }
    }
}

/// A point of the board, `file + 9 * rank`, 0..90; file 0 is `a`, rank 0 is Red's back rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square of an index; `None` from 90 upwards.
    pub const fn from_index(index: usize) -> Option<Square> {
        if index < SQUARES {
            Some(Square(index as u8))
        } else {
            None
        }
    }

    /// The square of a file (0..9) and a rank (0..10); `None` outside the board.
    pub const fn new(file: usize, rank: usize) -> Option<Square> {
        if file < 9 && rank < 10 {
            Some(Square((file + 9 * rank) as u8))
        } else {
            None
        }
    }

    /// The square of an index known to be below 90.
    pub(super) const fn at(index: u8) -> Square {
        debug_assert!((index as usize) < SQUARES);
        Square(index)
    }

    /// Every square, by index.
    pub fn all() -> impl Iterator<Item = Square> {
        (0..SQUARES as u8).map(Square)
    }

    /// `file + 9 * rank`, 0..90.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0..9, `a`..=`i`.
    pub const fn file(self) -> usize {
        self.0 as usize % 9
    }

    /// 0..10, from Red's back rank.
    pub const fn rank(self) -> usize {
        self.0 as usize / 9
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.file() as u8) as char, self.rank())
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A decision: a piece moves, and may be turned down where it lands, or a piece is placed in an
/// arrangement.
///
/// Bits 0..7: the square it leaves; 7..14: the square it reaches, or 90 plus the index of the kind placed;
/// 14: turned down. The default is no legal move.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move(u16);

impl Move {
    const DOWN: u16 = 1 << 14;

    /// A move between two squares.
    pub const fn new(from: Square, to: Square) -> Move {
        Move(from.0 as u16 | (to.0 as u16) << 7)
    }

    /// The placement of a piece of that kind, in an arrangement.
    pub const fn place(kind: Kind, square: Square) -> Move {
        Move(square.0 as u16 | (SQUARES as u16 + kind as u16) << 7)
    }

    /// The same move, with the piece laid face down where it lands.
    pub const fn turning_down(self) -> Move {
        Move(self.0 | Move::DOWN)
    }

    /// The square it leaves, or places on.
    pub const fn from(self) -> Square {
        Square((self.0 & 0x7f) as u8)
    }

    /// The square it reaches, or places on.
    #[inline(always)]
    pub const fn to(self) -> Square {
        let to = (self.0 >> 7 & 0x7f) as u8;
        if to < SQUARES as u8 {
            Square(to)
        } else {
            self.from()
        }
    }

    /// Whether the piece is laid face down where it lands.
    pub const fn turns_down(self) -> bool {
        self.0 & Move::DOWN != 0
    }

    /// The kind that it places, if it is a placement.
    pub fn placed(self) -> Option<Kind> {
        let index = (self.0 >> 7 & 0x7f).checked_sub(SQUARES as u16)?;
        Kind::ALL.get(index as usize).copied()
    }
}

/// `h2e2`; turned down `h2e2~`; a placement `R@a0`.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.placed() {
            return write!(f, "{}@{}", kind.letter(), self.from());
        }
        let down = if self.turns_down() { "~" } else { "" };
        write!(f, "{}{}{down}", self.from(), self.to())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a move: expected two squares, files a-i and ranks 0-9, such as h2e2, with ~ behind \
     if the piece is turned down; or a placement such as R@a0"
)]
pub struct ParseMoveError(String);

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_move(text.as_bytes()).ok_or_else(|| ParseMoveError(text.to_owned()))
    }
}

fn parse_square(file: u8, rank: u8) -> Option<Square> {
    Square::new(
        file.checked_sub(b'a')?.into(),
        rank.checked_sub(b'0')?.into(),
    )
}

fn parse_move(text: &[u8]) -> Option<Move> {
    match *text {
        [letter, b'@', file, rank] => {
            let kind = Kind::from_letter(letter.into()).filter(|&k| k != Kind::King)?;
            Some(Move::place(kind, parse_square(file, rank)?))
        }
        [f0, r0, f1, r1] => {
            let (from, to) = (parse_square(f0, r0)?, parse_square(f1, r1)?);
            (from != to).then(|| Move::new(from, to))
        }
        [f0, r0, f1, r1, b'~'] => Some(parse_move(&[f0, r0, f1, r1])?.turning_down()),
        _ => None,
    }
}
