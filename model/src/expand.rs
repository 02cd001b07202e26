//! From records to the network's input: planes over the board, and numbers that hold for all of it.
//!
//! Both are seen from the side to decide (its own pieces come from rank 0 upwards), and say what a record's
//! viewer knows. A piece plays as its own kind if it lies face up, as its square's if face down.
//!
//! | plane | meaning | range |
//! |---|---|---|
//! | 0..=6 | an own piece that plays as K A B N R C P stands on the square | 0 or 1 |
//! | 7..=13 | an opponent's that plays as K A B N R C P | 0 or 1 |
//! | 14 | the last move left the square | 0 or 1 |
//! | 15 | the last move reached the square | 0 or 1 |
//! | 16 | the next piece of an arrangement is placed on the square | 0 or 1 |
//! | 17 | an own piece lies face down | 0 or 1 |
//! | 18 | an opponent's lies face down | 0 or 1 |
//! | 19..=24 | an own piece lies face down and is known to be A B N R C P | 0 or 1 |
//! | 25..=30 | an opponent's lies face down and is known to be A B N R C P | 0 or 1 |
//! | 31 | a piece lies face down and only its owner, the viewer, knows what it is | 0 or 1 |
//! | 32 | 1 everywhere, so that convolutions see where the board ends | 1 |
//!
//! | global | meaning | range |
//! |---|---|---|
//! | 0 | plies without a capture, of those that end the game; 0 without such a limit | 0..=1 |
//! | 1 | the position occurred before | 0 or 1 |
//! | 2 | it occurred at least twice before | 0 or 1 |
//! | 3 | the side to move is in check | 0 or 1 |
//! | 4 | the viewer is to decide, or both players know the same | 0 or 1 |
//! | 5 | pieces are being arranged | 0 or 1 |
//! | 6 | pieces may be laid down | 0 or 1 |
//! | 7 | face-down pieces roam as face-up ones do | 0 or 1 |
//! | 8, 9 | A, B roam | 0 or 1 |
//! | 10..=15 | A B N R C P take part | 0 or 1 |
//! | 16..=19 | the start: all open; face down at home; dealt; arranged | one is 1 |
//! | 20, 21 | a taken unknown piece is seen by the captor alone; by nobody | 0 or 1 |
//! | 22..=27 | own A B N R C P that the viewer has not seen, of those in a set | 0..=1 |
//! | 28..=33 | the opponent's | 0..=1 |
//! | 34 | plies without a capture that end the game, in units of 120; 0 without such a limit | 0..=2.125 |
//! | 35 | a third occurrence: 0 draws; 1 is judged as WXF does; 2 as CXA does | 0, 1 or 2 |
use half::{bf16, f16};
use selfplay::policy::SQUARES;
use selfplay::record::{DOWN, IDENTITY_SHIFT, OTHER, Record, at, flag};
use tch::{Device, Kind, TchError, Tensor};

/// Number of input planes.
pub const PLANES: usize = 33;
/// Number of globals.
pub const GLOBALS: usize = 36;
/// Ranks and files of the board.
pub const BOARD: [i64; 2] = [10, 9];
/// Plies that 1 stands for in the global of the natural limit.
const LIMIT_UNIT: f32 = 120.0;
/// A B N R C P in a set.
const SET: [f32; 6] = [2.0, 2.0, 2.0, 2.0, 2.0, 5.0];

/// Index of the planes, as in the module's table.
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

/// Index of the globals, as in the module's table.
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

/// A number of the kinds that an input is written in.
pub trait Element: Copy + 'static {
    /// The tensor kind with this layout.
    const KIND: Kind;
    /// Rounded from `value`.
    fn of(value: f32) -> Self;
    /// Exactly this number.
    fn get(self) -> f32;
}

impl Element for f32 {
    const KIND: Kind = Kind::Float;
    fn of(value: f32) -> Self {
        value
    }
    fn get(self) -> f32 {
        self
    }
}

impl Element for bf16 {
    const KIND: Kind = Kind::BFloat16;
    fn of(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn get(self) -> f32 {
        self.to_f32()
    }
}

impl Element for f16 {
    const KIND: Kind = Kind::Half;
    fn of(value: f32) -> Self {
        f16::from_f32(value)
    }
    fn get(self) -> f32 {
        self.to_f32()
    }
}

/// The planes of one record, `[square, plane]`, into `out`.
fn write_planes<T: Element>(record: &Record, out: &mut [T]) {
    let one = T::of(1.0);
    out.fill(T::of(0.0));
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
/// just that length.
pub fn expand<T: Element>(records: &[Record], planes: &mut [T], globals: &mut [T]) {
    assert_eq!(planes.len(), records.len() * SQUARES * PLANES);
    assert_eq!(globals.len(), records.len() * GLOBALS);
    let rows = planes
        .chunks_exact_mut(SQUARES * PLANES)
        .zip(globals.chunks_exact_mut(GLOBALS));
    for (record, (planes, globals)) in records.iter().zip(rows) {
        write_planes(record, planes);
        for (to, value) in globals.iter_mut().zip(self::globals(record)) {
            *to = T::of(value);
        }
    }
}

/// What the network reads.
pub struct Input {
    /// `[rows, PLANES, 10, 9]`, the planes innermost in memory.
    pub planes: Tensor,
    /// `[rows, GLOBALS]`, of the planes' kind.
    pub globals: Tensor,
}

/// Host buffers of input that are used again and again.
pub struct InputBuffer {
    planes: Tensor,
    globals: Tensor,
    kind: Kind,
    device: Device,
    capacity: usize,
}

impl InputBuffer {
    /// An empty buffer for input of `kind` that is read on `device`.
    pub fn new(kind: Kind, device: Device) -> Self {
        InputBuffer {
            planes: Tensor::new(),
            globals: Tensor::new(),
            kind,
            device,
            capacity: 0,
        }
    }

    /// The input of `records`. On the CPU its tensors are views of the buffer: the next call overwrites them.
    pub fn fill(&mut self, records: &[Record]) -> Result<Input, TchError> {
        let rows = records.len();
        if rows > self.capacity {
            let capacity = rows.next_power_of_two() as i64;
            let host = |size: &[i64]| Tensor::f_empty(size, (self.kind, Device::Cpu));
            self.planes = host(&[capacity, BOARD[0], BOARD[1], PLANES as i64])?;
            self.globals = host(&[capacity, GLOBALS as i64])?;
            self.capacity = capacity as usize;
        }
        match self.kind {
            Kind::BFloat16 => self.write::<bf16>(records),
            Kind::Half => self.write::<f16>(records),
            _ => self.write::<f32>(records),
        }
        let filled = |t: &Tensor| t.f_narrow(0, 0, rows as i64)?.f_to_device(self.device);
        Ok(Input {
            planes: filled(&self.planes)?.f_permute([0, 3, 1, 2])?,
            globals: filled(&self.globals)?,
        })
    }

    fn write<T: Element>(&mut self, records: &[Record]) {
        let rows = records.len();
        assert!(self.kind == T::KIND && rows <= self.capacity);
        let slice = |t: &Tensor, width: usize| {
            assert!(t.kind() == T::KIND && t.numel() == self.capacity * width);
            // SAFETY: the tensor is a contiguous host allocation of `capacity * width` elements of `T::KIND`,
            // owned by `self`, which is borrowed mutably, and no other thread sees it.
            unsafe { std::slice::from_raw_parts_mut(t.data_ptr().cast::<T>(), rows * width) }
        };
        let planes = slice(&self.planes, SQUARES * PLANES);
        expand(records, planes, slice(&self.globals, GLOBALS));
    }
}
