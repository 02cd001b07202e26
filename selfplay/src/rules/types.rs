//! Kinds, pieces, squares and moves.
use std::fmt;
use std::str::FromStr;

use crate::game::Color;
use crate::policy::SQUARES;

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
    /// What it is.
    pub kind: Kind,
}

impl Piece {
    /// FEN letter, upper case for Red.
    pub fn letter(self) -> char {
        match self.color {
            Color::Red => self.kind.letter(),
            Color::Black => self.kind.letter().to_ascii_lowercase(),
        }
    }
}

/// What stands on a square, in a byte: 0 nothing, else kind `1..=7`, plus 8 if it is Black's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell(u8);

impl Cell {
    /// Nothing.
    pub const EMPTY: Cell = Cell(0);

    /// The byte, 0..16.
    pub const fn code(self) -> usize {
        self.0 as usize & 0xf
    }

    /// 0 for nothing, else `kind.index() + 1`.
    pub const fn kind_code(self) -> usize {
        self.0 as usize & 7
    }

    /// The piece, if one stands here.
    pub const fn piece(self) -> Option<Piece> {
        let color = if self.0 < 8 { Color::Red } else { Color::Black };
        match self.kind_code() {
            0 => None,
            code => Some(Piece {
                color,
                kind: Kind::ALL[code - 1],
            }),
        }
    }
}

impl From<Option<Piece>> for Cell {
    fn from(piece: Option<Piece>) -> Cell {
        piece.map_or(Cell::EMPTY, |p| Cell(p.kind as u8 + 1 + 8 * p.color as u8))
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

/// A move: bits 0..7 the square it leaves, 7..14 the square it reaches. The default is no legal move.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Move(u16);

impl Move {
    /// A move between two squares.
    pub const fn new(from: Square, to: Square) -> Move {
        Move(from.0 as u16 | (to.0 as u16) << 7)
    }

    /// The square it leaves.
    pub const fn from(self) -> Square {
        Square((self.0 & 0x7f) as u8)
    }

    /// The square it reaches.
    pub const fn to(self) -> Square {
        Square((self.0 >> 7 & 0x7f) as u8)
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not a move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a move: expected two squares, files a-i and ranks 0-9, such as h2e2")]
pub struct ParseMoveError(String);

impl FromStr for Move {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let square = |file: u8, rank: u8| {
            Square::new(
                file.checked_sub(b'a')?.into(),
                rank.checked_sub(b'0')?.into(),
            )
        };
        let squares = match *text.as_bytes() {
            [f0, r0, f1, r1] => square(f0, r0).zip(square(f1, r1)),
            _ => None,
        };
        match squares {
            Some((from, to)) if from != to => Ok(Move::new(from, to)),
            _ => Err(ParseMoveError(text.to_owned())),
        }
    }
}
