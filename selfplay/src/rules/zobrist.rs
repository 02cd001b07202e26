//! Zobrist keys: a position's hash is the exclusive or of the keys of its pieces and of its turn.
use super::types::{Piece, Square};
use crate::game::Color;
use crate::policy::SQUARES;

/// The key of Black being to move.
pub(super) const BLACK_TO_MOVE: u64 = mix(u64::MAX);

static PIECES: [[[u64; SQUARES]; 7]; 2] = piece_keys();

/// SplitMix64's output function (Steele, Lea, Flood 2014).
const fn mix(n: u64) -> u64 {
    let z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn piece_keys() -> [[[u64; SQUARES]; 7]; 2] {
    let mut keys = [[[0; SQUARES]; 7]; 2];
    let mut n = 0;
    while n < 2 * 7 * SQUARES {
        keys[n / (7 * SQUARES)][n / SQUARES % 7][n % SQUARES] = mix(n as u64);
        n += 1;
    }
    keys
}

/// The key of `piece` standing on `square`.
pub(super) fn piece(piece: Piece, square: Square) -> u64 {
    PIECES[piece.color as usize][piece.kind.index()][square.index()]
}

/// The key of `turn` being to move.
pub(super) const fn turn(turn: Color) -> u64 {
    match turn {
        Color::Red => 0,
        Color::Black => BLACK_TO_MOVE,
    }
}
