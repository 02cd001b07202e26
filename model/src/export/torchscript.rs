//! TorchScript: the folded network, traced once by libtorch.
use std::path::Path;

use tch::{CModule, Device, Kind, Tensor};

use super::{ExportError, Outputs};
use crate::expand::{BOARD, GLOBALS, Input, PLANES};
use crate::infer::Infer;
use crate::params::Weights;

/// Rows of the example that is traced. No operation of the network asks for their number, so the trace holds for any.
const ROWS: i64 = 2;

/// Writes the network to `path`, for the CPU; whoever loads it may move it. `forward(planes, globals)` returns
/// [`Outputs::joined`]: a method may return one value only if it is to be kept, and tch cannot make a tuple within a trace.
pub fn write(weights: &Weights, path: &Path) -> Result<(), ExportError> {
    let _guard = tch::no_grad_guard();
    let infer = Infer::new(weights, Device::Cpu, Kind::Float)?;
    let zeros = |shape: &[i64]| Tensor::f_zeros(shape, (Kind::Float, Device::Cpu));
    let planes = zeros(&[ROWS, PLANES as i64, BOARD[0], BOARD[1]])?;
    let example = [planes, zeros(&[ROWS, GLOBALS as i64])?];
    let mut failed = None;
    let mut forward = |inputs: &[Tensor]| {
        let input = Input {
            planes: inputs[0].shallow_clone(),
            globals: inputs[1].shallow_clone(),
        };
        match Outputs::of(&infer, &input).and_then(Outputs::joined) {
            Ok(joined) => vec![joined],
            Err(error) => {
                failed = Some(error);
                Vec::new()
            }
        }
    };
    let module = CModule::create_by_tracing("Fanqi", "forward", &example, &mut forward)?;
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(module.save(path)?),
    }
}
