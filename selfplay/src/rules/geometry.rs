//! Sets of squares, and where a piece may stand.
use super::types::{Kind, Square};
use crate::game::Color;
use crate::policy::SQUARES;

/// A set of squares: bit `file + 9 * rank`.
pub(super) type Bits = u128;

/// Every square of the board.
pub(super) const BOARD: Bits = (1 << SQUARES) - 1;

/// The set of one square.
pub(super) const fn bit(square: Square) -> Bits {
    1 << square.index()
}

/// Whether `square` belongs to `set`.
pub(super) const fn has(set: Bits, square: Square) -> bool {
    set >> square.index() & 1 != 0
}

/// The squares of a set, by index.
#[derive(Clone, Copy)]
pub(super) struct Squares(pub Bits);

impl Iterator for Squares {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        let square = Square::from_index(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    /// By halves of 64 bits: faster than one square at a time.
    #[inline(always)]
    fn fold<B, F: FnMut(B, Square) -> B>(self, init: B, mut f: F) -> B {
        let mut folded = init;
        for (base, mut half) in [(0, self.0 as u64), (64, (self.0 >> 64) as u64)] {
            while half != 0 {
                folded = f(folded, Square::at(base + half.trailing_zeros() as u8));
                half &= half - 1;
            }
        }
        folded
    }
}

/// The square's rank seen from `color`'s own back rank, 0..10.
pub(super) const fn rank_from(color: Color, square: Square) -> usize {
    match color {
        Color::Red => square.rank(),
        Color::Black => 9 - square.rank(),
    }
}

/// Whether the square lies beyond the river for `color`.
pub(crate) const fn crossed(color: Color, square: Square) -> bool {
    rank_from(color, square) >= 5
}

/// The kind that starts on a square (RULES.md §1), which is what a face-down piece there plays as.
pub(super) const fn home_kind(color: Color, square: Square) -> Option<Kind> {
    use Kind::{Advisor, Bishop, Cannon, King, Knight, Pawn, Rook};
    const BACK: [Kind; 9] = [
        Rook, Knight, Bishop, Advisor, King, Advisor, Bishop, Knight, Rook,
    ];
    match (square.file(), rank_from(color, square)) {
        (file, 0) => Some(BACK[file]),
        (1 | 7, 2) => Some(Cannon),
        (0 | 2 | 4 | 6 | 8, 3) => Some(Pawn),
        _ => None,
    }
}

/// Whether a piece of that kind can ever stand there, unless it roams (RULES.md §1).
pub(super) const fn may_stand(color: Color, kind: Kind, square: Square) -> bool {
    has(ZONES[color as usize][kind.index()], square)
}

/// `[color]`: the home squares of all pieces but the king.
pub(super) static HOMES: [Bits; 2] = [homes(Color::Red), homes(Color::Black)];

const fn homes(color: Color) -> Bits {
    let (mut homes, mut i) = (0, 0);
    while i < SQUARES {
        let square = Square::from_index(i).unwrap();
        homes |= match home_kind(color, square) {
            None | Some(Kind::King) => 0,
            Some(_) => bit(square),
        };
        i += 1;
    }
    homes
}

/// `[color][kind]`: the squares that a piece of that kind moves on, unless it roams.
pub(super) static ZONES: [[Bits; 7]; 2] = [zones(Color::Red), zones(Color::Black)];

const fn zones(color: Color) -> [Bits; 7] {
    let mut zones = [0; 7];
    let mut i = 0;
    while i < 7 * SQUARES {
        let square = Square::from_index(i % SQUARES).unwrap();
        if in_zone(color, Kind::ALL[i / SQUARES], square) {
            zones[i / SQUARES] |= bit(square);
        }
        i += 1;
    }
    zones
}

const fn in_zone(color: Color, kind: Kind, square: Square) -> bool {
    let (file, rank) = (square.file(), rank_from(color, square));
    let palace = file >= 3 && file <= 5 && rank <= 2;
    match kind {
        Kind::King => palace,
        Kind::Advisor => palace && (file + rank) % 2 == 1,
        Kind::Bishop => matches!(rank, 0 | 4) && file % 4 == 2 || rank == 2 && file % 4 == 0,
        Kind::Knight | Kind::Rook | Kind::Cannon => true,
        Kind::Pawn => rank >= 5 || (rank >= 3 && file % 2 == 0),
    }
}
