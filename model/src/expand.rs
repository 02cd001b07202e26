//! From records to the network's input planes.
//!
//! Every plane covers the board from the side to move (its own pieces come from rank 0 upwards).
//!
//! | plane | meaning | range |
//! |---|---|---|
//! | 0..=6 | own K A B N R C P on the square | 0 or 1 |
//! | 7..=13 | the opponent's K A B N R C P | 0 or 1 |
//! | 14 | the last move left the square | 0 or 1 |
//! | 15 | the last move reached the square | 0 or 1 |
//! | 16 | plies without a capture, of those that end the game; 0 without such a limit; everywhere | 0..=1 |
//! | 17 | the position occurred before; everywhere | 0 or 1 |
//! | 18 | the position occurred at least twice before; everywhere | 0 or 1 |
//! | 19 | the side to move is in check; everywhere | 0 or 1 |
//! | 20 | 1 everywhere, so that convolutions see where the board ends | 1 |
use half::{bf16, f16};
use selfplay::policy::SQUARES;
use selfplay::record::{Record, at};
use tch::{Device, Kind, TchError, Tensor};

/// Number of input planes.
pub const PLANES: usize = 21;
/// Ranks and files of the board.
pub const BOARD: [i64; 2] = [10, 9];

/// Index of the planes, as in the module's table.
pub mod plane {
    /// First of the side to move's kinds.
    pub const OWN: usize = 0;
    /// First of the opponent's kinds.
    pub const OTHER: usize = 7;
    /// Square the last move left.
    pub const LAST_FROM: usize = 14;
    /// Square the last move reached.
    pub const LAST_TO: usize = 15;
    /// First of the planes that are the same on every square.
    pub const EVERYWHERE: usize = 16;
}

/// The plane of a record's square byte; `None` for an empty square and for bytes that stand for nothing.
fn piece_plane(byte: u8) -> Option<usize> {
    match byte {
        1..=7 => Some(plane::OWN + byte as usize - 1),
        9..=15 => Some(plane::OTHER + byte as usize - 9),
        _ => None,
    }
}

/// A number of the kinds that planes are written in.
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

/// Writes `[records, square, plane]` into `out`, which is `records.len() * 90 * PLANES` long.
pub fn expand<T: Element>(records: &[Record], out: &mut [T]) {
    assert_eq!(out.len(), records.len() * SQUARES * PLANES);
    let (zero, one) = (T::of(0.0), T::of(1.0));
    let flag = |on: bool| if on { one } else { zero };
    for (record, row) in records.iter().zip(out.chunks_exact_mut(SQUARES * PLANES)) {
        let limit = record[at::NO_CAPTURE_LIMIT];
        let share = if limit == 0 {
            0.0
        } else {
            (record[at::NO_CAPTURE] as f32 / limit as f32).min(1.0)
        };
        let mut square = [zero; PLANES];
        square[plane::EVERYWHERE..].copy_from_slice(&[
            T::of(share),
            flag(record[at::REPETITIONS] >= 1),
            flag(record[at::REPETITIONS] >= 2),
            flag(record[at::IN_CHECK] != 0),
            one,
        ]);
        for (planes, &byte) in row
            .chunks_exact_mut(PLANES)
            .zip(&record[at::SQUARES..SQUARES])
        {
            planes.copy_from_slice(&square);
            if let Some(p) = piece_plane(byte) {
                planes[p] = one;
            }
        }
        for (at, plane) in [
            (at::LAST_FROM, plane::LAST_FROM),
            (at::LAST_TO, plane::LAST_TO),
        ] {
            let square = record[at] as usize;
            if square < SQUARES {
                row[square * PLANES + plane] = one;
            }
        }
    }
}

/// A host buffer of planes that is used again and again.
pub struct Planes {
    host: Tensor,
    kind: Kind,
    device: Device,
    capacity: usize,
}

impl Planes {
    /// An empty buffer for planes of `kind` that are read on `device`.
    pub fn new(kind: Kind, device: Device) -> Self {
        Planes {
            host: Tensor::new(),
            kind,
            device,
            capacity: 0,
        }
    }

    /// The planes of `records`, `[records, PLANES, 10, 9]` with the planes innermost in memory.
    /// On the CPU the tensor is a view of the buffer: the next call overwrites it.
    pub fn fill(&mut self, records: &[Record]) -> Result<Tensor, TchError> {
        let rows = records.len();
        if rows > self.capacity {
            self.capacity = rows.next_power_of_two();
            let size = [self.capacity as i64, BOARD[0], BOARD[1], PLANES as i64];
            self.host = Tensor::f_empty(size, (self.kind, Device::Cpu))?;
        }
        match self.kind {
            Kind::BFloat16 => self.write::<bf16>(records),
            Kind::Half => self.write::<f16>(records),
            _ => self.write::<f32>(records),
        }
        let filled = self
            .host
            .f_narrow(0, 0, rows as i64)?
            .f_to_device(self.device)?;
        filled.f_permute([0, 3, 1, 2])
    }

    fn write<T: Element>(&mut self, records: &[Record]) {
        let len = records.len() * SQUARES * PLANES;
        assert!(self.host.kind() == T::KIND && records.len() <= self.capacity);
        // SAFETY: the tensor is a contiguous host allocation of `capacity * SQUARES * PLANES` elements of
        // `T::KIND`, owned by `self`, and no other thread sees it.
        let out = unsafe { std::slice::from_raw_parts_mut(self.host.data_ptr().cast::<T>(), len) };
        expand(records, out);
    }
}
