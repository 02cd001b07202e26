//! Where a piece may stand.
use super::types::{Kind, Square};
use crate::game::Color;

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

/// Whether a piece of that kind can ever stand there (RULES.md §1).
pub(super) const fn may_stand(color: Color, kind: Kind, square: Square) -> bool {
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
