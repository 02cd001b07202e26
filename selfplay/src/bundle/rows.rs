//! Between the rows of a batch and the numbers of an exported network's tensors, as [`super::tensors`] names them, whatever
//! computes them.
use crate::eval::Batch;
use crate::expand::{GLOBALS, PLANES, expand};
use crate::game::Wdl;
use crate::policy::{INDICES, SQUARES};
use crate::record::Record;

/// Kinds that a hidden piece may be.
const KINDS: usize = 6;

/// Writes what a network reads of `records`, `[row, plane, rank, file]` and `[row, global]`, into slices of just that length.
pub fn write_inputs(records: &[Record], planes: &mut [f32], globals: &mut [f32]) {
    assert_eq!(planes.len(), records.len() * PLANES * SQUARES);
    assert_eq!(globals.len(), records.len() * GLOBALS);
    let rows = planes
        .chunks_exact_mut(PLANES * SQUARES)
        .zip(globals.chunks_exact_mut(GLOBALS));
    let mut by_square = [0.0; PLANES * SQUARES];
    for (record, (planes, globals)) in records.iter().zip(rows) {
        expand(std::slice::from_ref(record), &mut by_square, globals, |x| x);
        for (square, from) in by_square.chunks_exact(PLANES).enumerate() {
            for (plane, &x) in from.iter().enumerate() {
                planes[plane * SQUARES + square] = x;
            }
        }
    }
}

/// Takes what `batch` asks for out of a network's answers to all its rows, in the order of [`super::tensors::outputs`]; it must
/// have no outputs yet, and [`Batch::normalise`] must follow.
pub fn read_outputs([policy, wdl, left, belief]: [&[f32]; 4], batch: &mut Batch) {
    for (row, policy) in policy.chunks_exact(INDICES).enumerate() {
        let legal = &batch.legal[batch.legal_range(row)];
        let logits = legal.iter().map(|&index| policy[usize::from(index)]);
        batch.log_priors.extend(logits);
    }
    batch.wdl.extend(wdl.chunks_exact(3).map(|p| Wdl {
        win: p[0],
        draw: p[1],
        loss: p[2],
    }));
    batch.moves_left.extend_from_slice(left);
    for (row, belief) in belief.chunks_exact(KINDS * SQUARES).enumerate() {
        let squares = &batch.unknown[batch.unknown_range(row)];
        let of = |square: usize| [0, 1, 2, 3, 4, 5].map(|kind| belief[kind * SQUARES + square]);
        let kinds = squares.iter().map(|&square| of(usize::from(square)));
        batch.beliefs.extend(kinds);
    }
}
