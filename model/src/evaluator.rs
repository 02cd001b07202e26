//! A network behind [`selfplay::eval::Evaluator`].
use std::sync::Arc;

use half::{bf16, f16};
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::game::Wdl;
use selfplay::policy::{INDICES, PLANES, SQUARES};
use tch::{Device, Kind, TchError, Tensor};

use crate::device::{Placement, compute_threads};
use crate::expand::{Element, InputBuffer};
use crate::infer::Infer;
use crate::net::{HIDDEN_KINDS, Output, PLIES_UNIT};
use crate::params::Weights;
use crate::slot::WeightSlot;

/// Evaluates with the newest weights of a slot, one batch at a time, in the calling thread.
pub struct NetEvaluator {
    slot: Arc<WeightSlot>,
    published: u64,
    step: u64,
    infer: Infer,
    logits: LegalLogits,
    placement: Placement,
    input: InputBuffer,
    heads: Vec<f32>,
    picked: Vec<f32>,
    offsets: Vec<i64>,
}

fn failed(error: TchError) -> EvalError {
    EvalError::Failed(error.to_string())
}

/// Place of a policy index in a row of [`Infer::policy`].
fn offset(index: u16) -> usize {
    index as usize % SQUARES * PLANES + index as usize / SQUARES
}

impl NetEvaluator {
    /// An evaluator that follows `slot`.
    pub fn new(slot: Arc<WeightSlot>, placement: Placement) -> Result<Self, EvalError> {
        let (published, weights) = (slot.published(), slot.latest());
        let infer = Infer::new(&weights, placement.device, placement.inference).map_err(failed)?;
        let input = InputBuffer::new(placement.inference, placement.device);
        let (heads, picked, offsets) = (Vec::new(), Vec::new(), Vec::new());
        Ok(NetEvaluator {
            slot,
            published,
            step: weights.step,
            infer,
            logits: LegalLogits::new(&weights),
            placement,
            input,
            heads,
            picked,
            offsets,
        })
    }

    /// Takes over newer weights, if there are any.
    fn refresh(&mut self) -> Result<(), TchError> {
        let published = self.slot.published();
        if published != self.published {
            let weights = self.slot.latest();
            self.infer = Infer::new(&weights, self.placement.device, self.placement.inference)?;
            self.logits = LegalLogits::new(&weights);
            (self.published, self.step) = (published, weights.step);
        }
        Ok(())
    }

    /// WDL and moves left to the host, then the two outputs from them.
    fn heads(&mut self, output: &Output, batch: &mut Batch) -> Result<(), TchError> {
        let rows = batch.len();
        let heads = Tensor::f_cat(
            &[
                output.wdl.f_softmax(1, Kind::Float)?,
                output.moves_left.f_unsqueeze(1)?,
            ],
            1,
        )?;
        self.heads.resize(4 * rows, 0.0);
        heads
            .f_to_device(Device::Cpu)?
            .f_copy_data(&mut self.heads, 4 * rows)?;
        let rows = self.heads.chunks_exact(4);
        batch.wdl.extend(rows.clone().map(|h| Wdl {
            win: h[0],
            draw: h[1],
            loss: h[2],
        }));
        batch
            .moves_left
            .extend(rows.map(|h| h[3] * PLIES_UNIT as f32));
        Ok(())
    }

    /// The legal moves' logits, picked on the device, then read there.
    fn pick_on_device(&mut self, output: &Output, batch: &mut Batch) -> Result<(), TchError> {
        let policy = self.infer.policy(output)?;
        self.offsets.clear();
        for row in 0..batch.len() {
            let legal = &batch.legal[batch.legal_range(row)];
            self.offsets
                .extend(legal.iter().map(|&i| (row * INDICES + offset(i)) as i64));
        }
        let offsets = Tensor::f_from_slice(&self.offsets)?.f_to_device(policy.device())?;
        let picked = policy.f_reshape([-1])?.f_index_select(0, &offsets)?;
        self.picked.resize(self.offsets.len(), 0.0);
        picked
            .f_to_kind(Kind::Float)?
            .f_to_device(Device::Cpu)?
            .f_copy_data(&mut self.picked, self.offsets.len())?;
        batch.log_priors.extend_from_slice(&self.picked);
        Ok(())
    }

    /// What the pieces on the squares asked for are believed to be.
    fn beliefs(&mut self, features: &Tensor, batch: &mut Batch) -> Result<(), TchError> {
        self.offsets.clear();
        for row in 0..batch.len() {
            let squares = &batch.unknown[batch.unknown_range(row)];
            self.offsets
                .extend(squares.iter().map(|&s| (SQUARES * row) as i64 + s as i64));
        }
        let squares = Tensor::f_from_slice(&self.offsets)?.f_to_device(features.device())?;
        let beliefs = self
            .infer
            .belief(features, &squares)?
            .f_softmax(1, Kind::Float)?
            .f_to_device(Device::Cpu)?;
        batch
            .beliefs
            .resize(self.offsets.len(), [0.0; HIDDEN_KINDS]);
        let out = batch.beliefs.as_flattened_mut();
        let numbers = out.len();
        beliefs.f_copy_data(out, numbers)
    }
}

/// The policy head's last layer in host memory, for the legal moves alone: they are one in two hundred of all.
struct LegalLogits {
    /// `[plane][channel]`.
    weight: Vec<f32>,
    /// `[plane]`.
    bias: Vec<f32>,
}

impl LegalLogits {
    fn new(weights: &Weights) -> Self {
        LegalLogits {
            weight: weights.part("policy.weight").to_vec(),
            bias: weights.part("policy.bias").to_vec(),
        }
    }

    /// Reads the logits off `hidden`, [`Output::policy_hidden`] in host memory.
    fn pick<T: Element>(&self, hidden: &Tensor, batch: &mut Batch) -> Result<(), TchError> {
        let hidden = hidden.f_contiguous()?;
        let channels = self.weight.len() / PLANES;
        let numbers = batch.len() * SQUARES * channels;
        assert!(hidden.kind() == T::KIND && hidden.numel() == numbers);
        // SAFETY: a contiguous host tensor of this kind and number of elements, alive until the end of the function.
        let hidden = unsafe { std::slice::from_raw_parts(hidden.data_ptr().cast::<T>(), numbers) };
        for (row, hidden) in hidden.chunks_exact(SQUARES * channels).enumerate() {
            for &index in &batch.legal[batch.legal_range(row)] {
                let (plane, square) = (index as usize / SQUARES, index as usize % SQUARES);
                let weight = &self.weight[plane * channels..][..channels];
                let hidden = &hidden[square * channels..][..channels];
                batch
                    .log_priors
                    .push(self.bias[plane] + product(weight, hidden));
            }
        }
        Ok(())
    }
}

/// The scalar product, summed in eight lanes.
fn product<T: Element>(weight: &[f32], hidden: &[T]) -> f32 {
    let mut lanes = [0.0; 8];
    for (weight, hidden) in weight.chunks(8).zip(hidden.chunks(8)) {
        for ((lane, w), h) in lanes.iter_mut().zip(weight).zip(hidden) {
            *lane += w * h.get();
        }
    }
    lanes.iter().sum()
}

impl Evaluator for NetEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        batch.clear_outputs();
        self.refresh().map_err(failed)?;
        if batch.is_empty() {
            return Ok(());
        }
        batch.check()?;
        let _guard = tch::no_grad_guard();
        let input = self.input.fill(&batch.records).map_err(failed)?;
        let output = self.infer.forward(&input).map_err(failed)?;
        self.heads(&output, batch).map_err(failed)?;
        let hidden = &output.policy_hidden;
        match (self.placement.device, self.placement.inference) {
            (Device::Cpu, Kind::BFloat16) => self.logits.pick::<bf16>(hidden, batch),
            (Device::Cpu, Kind::Half) => self.logits.pick::<f16>(hidden, batch),
            (Device::Cpu, _) => self.logits.pick::<f32>(hidden, batch),
            _ => self.pick_on_device(&output, batch),
        }
        .map_err(failed)?;
        if !batch.unknown.is_empty() {
            self.beliefs(&output.features, batch).map_err(failed)?;
        }
        batch.normalise(self.step)
    }

    fn step(&self) -> u64 {
        self.step
    }

    /// Threads of torch's.
    fn use_threads(&mut self, threads: usize) {
        compute_threads(threads);
    }
}
