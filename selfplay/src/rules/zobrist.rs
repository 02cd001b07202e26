//! Zobrist keys: a position's hash is the exclusive or of the keys of its pieces, of its secrets, of its
//! pools of unseen pieces, and of its turn.
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

/// `[identity code][square]` of face-down pieces.
static DOWN: [[u64; SQUARES]; 8] = down_keys();
/// `[square]` of the pieces that only their owner knows.
static SECRETS: [u64; SQUARES] = secret_keys();
/// `[color][kind][unseen pieces]`.
static POOLS: [[[u64; 6]; 7]; 2] = pool_keys();

const fn cell_keys() -> [[u64; SQUARES]; 16] {
    let mut keys = [[0; SQUARES]; 16];
    let mut n = SQUARES;
    while n < 16 * SQUARES {
        keys[n / SQUARES][n % SQUARES] = mix(n as u64);
        n += 1;
    }
    keys
}

const fn down_keys() -> [[u64; SQUARES]; 8] {
    let mut keys = [[0; SQUARES]; 8];
    let mut n = 0;
    while n < 8 * SQUARES {
        keys[n / SQUARES][n % SQUARES] = mix(0x1_0000 + n as u64);
        n += 1;
    }
    keys
}

const fn secret_keys() -> [u64; SQUARES] {
    let mut keys = [0; SQUARES];
    let mut n = 0;
    while n < SQUARES {
        keys[n] = mix(0x3_0000 + n as u64);
        n += 1;
    }
    keys
}

const fn pool_keys() -> [[[u64; 6]; 7]; 2] {
    let mut keys = [[[0; 6]; 7]; 2];
    let mut n = 0;
    while n < 2 * 7 * 6 {
        if n % 6 > 0 {
            keys[n / 42][n / 6 % 7][n % 6] = mix(0x2_0000 + n as u64);
        }
        n += 1;
    }
    keys
}

/// The key of what stands on `square`; 0 for nothing.
#[inline(always)]
pub(super) fn cell(cell: Cell, square: Square) -> u64 {
    let key = CELLS[cell.code()][square.index()];
    if cell.is_down() {
        key ^ DOWN[cell.identity_code()][square.index()]
    } else {
        key
    }
}

/// The key of a piece on `square` that only its owner knows.
pub(super) fn secret(square: Square) -> u64 {
    SECRETS[square.index()]
}

/// The key of a side's unseen pieces of one kind, at most 5; 0 for none.
pub(super) fn pool(color: Color, kind: usize, unseen: u8) -> u64 {
    POOLS[color as usize][kind][unseen as usize]
}

/// The key of `turn` being to move.
pub(super) const fn turn(turn: Color) -> u64 {
    match turn {
        Color::Red => 0,
        Color::Black => BLACK_TO_MOVE,
    }
}
