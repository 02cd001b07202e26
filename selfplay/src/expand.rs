//! From records to the network's input: planes over the board, and numbers that hold for all of it; [`table`] says
//! what each is.
//!
//! Both are seen from the side to decide (its own pieces come from rank 0 upwards), and say what a record's
//! viewer knows. A piece plays as its own kind if it lies face up, as its square's if face down.
use crate::policy::SQUARES;
use crate::record::{DOWN, IDENTITY_SHIFT, OTHER, Record, at, flag};

pub mod table;

/// Number of input planes.
pub const PLANES: usize = 33;
/// Number of globals.
pub const GLOBALS: usize = 36;
/// Plies that 1 stands for in the global of the natural limit.
const LIMIT_UNIT: f32 = 120.0;
/// A B N R C P in a set.
const SET: [f32; 6] = [2.0, 2.0, 2.0, 2.0, 2.0, 5.0];

/// Index of the planes, as in [`table`].
pub mod plane {
    /// First of the side to decide's kinds.
    pub const OWN: usize = 0;
    /// First of the opponent's kinds.
    pub const OTHER: usize = 7;
    /// Square the last move left.
    pub const LAST_FROM: usize = 14;
    /// Square the last move reached.
    pub const LAST_TO: usize = 15;
    /// Square of the next placement.
    pub const PLACING: usize = 16;
    /// The side to decide's face-down pieces.
    pub const OWN_DOWN: usize = 17;
    /// The opponent's.
    pub const OTHER_DOWN: usize = 18;
    /// First of the kinds that the side to decide's face-down pieces are known to be.
    pub const OWN_KNOWN: usize = 19;
    /// First of the opponent's.
    pub const OTHER_KNOWN: usize = 25;
    /// What the viewer alone knows.
    pub const SECRET: usize = 31;
    /// 1.
    pub const ONES: usize = 32;
}

/// Index of the globals, as in [`table`].
pub mod global {
    /// First of the kinds that take part.
    pub const TAKES_PART: usize = 10;
    /// First of the layouts.
    pub const LAYOUT: usize = 16;
    /// First of who sees a taken unknown piece.
    pub const SEEN_BY: usize = 20;
    /// First of the own unseen kinds.
    pub const OWN_POOL: usize = 22;
    /// First of the opponent's.
    pub const OTHER_POOL: usize = 28;
    /// The natural limit.
    pub const LIMIT: usize = 34;
    /// What a repetition means.
    pub const REPETITION_RULE: usize = 35;
}

/// The planes that a square's byte sets, a bit each; none for an empty square and for bytes that stand
/// for nothing.
const fn planes_of(byte: u8) -> u32 {
    let (kind, identity) = (byte & 7, byte >> IDENTITY_SHIFT & 7);
    let (pieces, down, known) = if byte & OTHER == 0 {
        (plane::OWN, plane::OWN_DOWN, plane::OWN_KNOWN)
    } else {
        (plane::OTHER, plane::OTHER_DOWN, plane::OTHER_KNOWN)
    };
    match (kind, byte & DOWN != 0, identity) {
        (0, _, _) => 0,
        (_, false, 0) => 1 << (pieces as u8 + kind - 1),
        (_, true, 0) => 1 << (pieces as u8 + kind - 1) | 1 << down,
        (_, true, 2..) => {
            1 << (pieces as u8 + kind - 1) | 1 << down | 1 << (known as u8 + identity - 2)
        }
        _ => 0,
    }
}

/// `[byte]`: [`planes_of`].
static PLANES_OF: [u32; 256] = {
    let (mut table, mut byte) = ([0; 256], 0);
    while byte < 256 {
        table[byte] = planes_of(byte as u8);
        byte += 1;
    }
    table
};

/// The planes of one record, `[square, plane]`, into `out`.
fn write_planes<T: Copy>(record: &Record, out: &mut [T], [zero, one]: [T; 2]) {
    out.fill(zero);
    let squares = out.chunks_exact_mut(PLANES);
    for (planes, &byte) in squares.zip(&record[at::SQUARES..SQUARES]) {
        planes[plane::ONES] = one;
        let mut bits = PLANES_OF[byte as usize];
        while bits != 0 {
            planes[bits.trailing_zeros() as usize] = one;
            bits &= bits - 1;
        }
    }
    for (at, plane) in [
        (at::LAST_FROM, plane::LAST_FROM),
        (at::LAST_TO, plane::LAST_TO),
        (at::PLACING, plane::PLACING),
    ] {
        let square = record[at] as usize;
        if square < SQUARES {
            out[square * PLANES + plane] = one;
        }
    }
    let mut secrets = [0; 16];
    secrets[..at::PLACING - at::SECRETS].copy_from_slice(&record[at::SECRETS..at::PLACING]);
    let mut secrets = u128::from_le_bytes(secrets) & ((1 << SQUARES) - 1);
    while secrets != 0 {
        out[secrets.trailing_zeros() as usize * PLANES + plane::SECRET] = one;
        secrets &= secrets - 1;
    }
}

/// The globals of one record.
fn globals(record: &Record) -> [f32; GLOBALS] {
    let limit = record[at::NO_CAPTURE_LIMIT] as f32;
    let share = if limit == 0.0 {
        0.0
    } else {
        (record[at::NO_CAPTURE] as f32 / limit).min(1.0)
    };
    let on = |is: bool| f32::from(u8::from(is));
    let has = |at: usize, bit: u8| on(record[at] & bit != 0);
    let (repetitions, secrecy) = (record[at::REPETITIONS], record[at::SECRECY]);
    let (layout, seen_by) = (secrecy & 3, secrecy >> 2 & 3);
    let mut out = [0.0; GLOBALS];
    out[..global::TAKES_PART].copy_from_slice(&[
        share,
        on(repetitions >= 1),
        on(repetitions >= 2),
        has(at::IN_CHECK, u8::MAX),
        has(at::FLAGS, flag::VIEWER_DECIDES),
        on((record[at::PLACING] as usize) < SQUARES),
        has(at::FLAGS, flag::LAYS_DOWN),
        has(at::FLAGS, flag::FAKES_ROAM),
        has(at::ROAMS, 1 << 1),
        has(at::ROAMS, 1 << 2),
    ]);
    for (kind, set) in SET.into_iter().enumerate() {
        out[global::TAKES_PART + kind] = has(at::TAKES_PART, 2 << kind);
        out[global::OWN_POOL + kind] = record[at::OWN_POOL + 1 + kind] as f32 / set;
        out[global::OTHER_POOL + kind] = record[at::OTHER_POOL + 1 + kind] as f32 / set;
    }
    out[global::LAYOUT + layout as usize] = 1.0;
    out[global::SEEN_BY..global::OWN_POOL].copy_from_slice(&[on(seen_by == 1), on(seen_by == 2)]);
    out[global::LIMIT] = limit / LIMIT_UNIT;
    out[global::REPETITION_RULE] = f32::from(record[at::REPETITION_RULE] & 3);
    out
}

/// Writes `[records, square, plane]` into `planes` and `[records, global]` into `globals`, which have
/// just that length; `of` rounds a number to the kind that they hold.
pub fn expand<T: Copy>(
    records: &[Record],
    planes: &mut [T],
    globals: &mut [T],
    of: impl Fn(f32) -> T,
) {
    assert_eq!(planes.len(), records.len() * SQUARES * PLANES);
    assert_eq!(globals.len(), records.len() * GLOBALS);
    let bits = [of(0.0), of(1.0)];
    let rows = planes
        .chunks_exact_mut(SQUARES * PLANES)
        .zip(globals.chunks_exact_mut(GLOBALS));
    for (record, (planes, globals)) in records.iter().zip(rows) {
        write_planes(record, planes, bits);
        for (to, value) in globals.iter_mut().zip(self::globals(record)) {
            *to = of(value);
        }
    }
}
