//! Zobrist keys: a position's hash is the exclusive or of the keys of its pieces and of its turn.
use super::types::{Cell, Square};
use crate::game::Color;
use crate::policy::SQUARES;

/// The key of Black being to move.
pub(super) const BLACK_TO_MOVE: u64 = mix(u64::MAX);

/// `[cell][square]`; 0 for an empty cell.
static CELLS: [[u64; SQUARES]; 16] = cell_keys();

/// SplitMix64's output function (Steele, Lea, Flood 2014).
const fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn cell_keys() -> [[u64; SQUARES]; 16] {
    let mut keys = [[0; SQUARES]; 16];
    let mut n = SQUARES;
    while n < 16 * SQUARES {
        keys[n / SQUARES][n % SQUARES] = mix(n as u64);
        n += 1;
    }
    keys
}

/// The key of what stands on `square`; 0 for nothing.
pub(super) fn cell(cell: Cell, square: Square) -> u64 {
    CELLS[cell.code()][square.index()]
}

/// The key of `turn` being to move.
pub(super) const fn turn(turn: Color) -> u64 {
    match turn {
        Color::Red => 0,
        Color::Black => BLACK_TO_MOVE,
    }
}
