//! The network's input as tensors; what its planes and globals are is in [`selfplay::expand`].
use half::{bf16, f16};
use selfplay::policy::SQUARES;
use selfplay::record::Record;
use tch::{Device, Kind, TchError, Tensor};

pub use selfplay::expand::{GLOBALS, PLANES};

/// Ranks and files of the board.
pub const BOARD: [i64; 2] = [10, 9];

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
        selfplay::expand::expand(records, planes, slice(&self.globals, GLOBALS), T::of);
    }
}
