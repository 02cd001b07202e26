//! A network in training: its optimiser, the average that plays, and how far it has come.
use selfplay::policy::SQUARES;
use selfplay::record::Record;
use serde::Serialize;
use tch::{Device, Kind, TchError, Tensor};

use crate::batch::{Targets, TrainBatch};
use crate::config::{NetConfig, OptimConfig};
use crate::device::Placement;
use crate::expand::{Input, InputBuffer};
use crate::loss::{Losses, Scored, score};
use crate::net::Net;
use crate::optim::{self, Optim};
use crate::params::{Weights, to_vec};

/// Most row ids that an error lists.
const LISTED: usize = 16;

/// Which weights to validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those in training.
    Training,
    /// Their average, which plays.
    Average,
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StepReport {
    /// Of the batch, before the update, by the training network.
    pub losses: Losses,
    /// Norm of the whole gradient before clipping.
    pub grad_norm: f64,
    /// Rate of this step.
    pub learning_rate: f64,
    /// Steps done, this one included.
    pub step: u64,
    /// Rows trained, these included.
    pub rows: u64,
}

/// Why a step was not done. The network, its average and the moments are as before.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch has no row.
    #[error("the batch of step {step} has no row")]
    Empty {
        /// The step that was not done.
        step: u64,
    },
    /// The loss or the gradient was NaN or infinite.
    #[error(
        "step {step}: {what} is not finite; {suspects} of {rows} rows are suspect, ids {ids:?}"
    )]
    NonFinite {
        /// The step that was not done.
        step: u64,
        /// `the loss` or `the gradient`.
        what: &'static str,
        /// Number of rows whose own loss is not finite; all if each one's own is.
        suspects: usize,
        /// Ids of the first of them.
        ids: Vec<u64>,
        /// Rows of the batch.
        rows: usize,
    },
    /// The backend failed.
    #[error("torch failed: {0}")]
    Torch(#[from] TchError),
}

/// Trains one network.
pub struct Learner {
    pub(crate) net: Net,
    pub(crate) average: Net,
    pub(crate) optim: Optim,
    pub(crate) config: OptimConfig,
    pub(crate) step: u64,
    pub(crate) rows: u64,
    device: Device,
    input: InputBuffer,
}

/// A step's outcome before it is applied.
struct Gradient {
    losses: Losses,
    flat: Tensor,
    norm: f64,
}

/// Scores `net` on `input`; `train`: norms use and record the batch's statistics.
fn score_with(
    net: &Net,
    input: &Input,
    train: bool,
    targets: &Targets,
    config: &OptimConfig,
) -> Result<Scored, TchError> {
    let output = net.forward(input, train)?;
    let belief = net.belief(&output.features, &targets.truth_square)?;
    score(&output, &net.policy(&output)?, &belief, targets, config)
}

impl Learner {
    /// A fresh network, decided by `seed`.
    pub fn new(
        net: &NetConfig,
        config: &OptimConfig,
        placement: &Placement,
        seed: u64,
    ) -> Result<Self, TchError> {
        Learner::from_weights(&Weights::random(net, seed), config, placement)
    }

    /// Trains on from `weights`, with fresh moments, at step and row 0.
    pub fn from_weights(
        weights: &Weights,
        config: &OptimConfig,
        placement: &Placement,
    ) -> Result<Self, TchError> {
        let device = placement.device;
        let (net, average) = (Net::new(weights, device)?, Net::new(weights, device)?);
        let optim = Optim::new(config, &net.params, net.layout.decayed)?;
        let input = InputBuffer::new(placement.training, device);
        Ok(Learner {
            net,
            average,
            optim,
            config: config.clone(),
            step: 0,
            rows: 0,
            device,
            input,
        })
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Rows trained.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The average as plain data, for play.
    pub fn publish(&self) -> Result<Weights, TchError> {
        self.average.weights(self.step)
    }

    /// One step of training on `batch`. On an error nothing has changed.
    pub fn step(&mut self, batch: &TrainBatch) -> Result<StepReport, LearnError> {
        let step = self.step + 1;
        if batch.is_empty() {
            return Err(LearnError::Empty { step });
        }
        let statistics = self.net.buffers.f_detach_copy()?;
        let gradient =
            self.gradient(batch)
                .and_then(|g| match (g.losses.is_finite(), g.norm.is_finite()) {
                    (true, true) => Ok(g),
                    (false, _) => Err(self.non_finite(batch, "the loss", &statistics)?),
                    (true, false) => Err(self.non_finite(batch, "the gradient", &statistics)?),
                });
        let gradient = match gradient {
            Ok(gradient) => gradient,
            Err(error) => {
                tch::no_grad(|| self.net.buffers.f_copy_(&statistics))?;
                return Err(error);
            }
        };
        self.step = step;
        self.rows += batch.len() as u64;
        let rate = optim::rate(&self.config, self.rows);
        self.optim.apply(
            &mut self.net.params,
            &gradient.flat,
            gradient.norm,
            step,
            rate,
        )?;
        self.average()?;
        let Gradient { losses, norm, .. } = gradient;
        Ok(StepReport {
            losses,
            grad_norm: norm,
            learning_rate: rate,
            step,
            rows: self.rows,
        })
    }

    fn gradient(&mut self, batch: &TrainBatch) -> Result<Gradient, LearnError> {
        let input = self.input.fill(&batch.records)?;
        let targets = batch.targets(self.config.search_value_share, self.device)?;
        let scored = score_with(&self.net, &input, true, &targets, &self.config)?;
        let grads = Tensor::f_run_backward(&[&scored.total], &self.net.leaves, false, false)?;
        let grads = grads
            .iter()
            .map(|g| g.f_reshape([-1]))
            .collect::<Result<Vec<_>, _>>()?;
        let flat = Tensor::f_cat(&grads, 0)?;
        let norm = optim::norm(&flat)?;
        let stats = to_vec(&Tensor::f_cat(&[scored.stats, norm.f_unsqueeze(0)?], 0)?)?;
        Ok(Gradient {
            losses: Losses::of(&stats),
            flat,
            norm: stats[Losses::PARTS] as f64,
        })
    }

    /// Moves the average a step towards the network.
    fn average(&mut self) -> Result<(), TchError> {
        let _guard = tch::no_grad_guard();
        let share = 1.0 - optim::average_decay(self.config.ema_decay, self.step - 1);
        let _ = self.average.params.f_lerp_(&self.net.params, share)?;
        let _ = self.average.buffers.f_lerp_(&self.net.buffers, share)?;
        Ok(())
    }

    /// Names the rows to blame: each is scored with the norms' statistics from before the step, so
    /// that one row's fault does not spread to the others.
    fn non_finite(
        &mut self,
        batch: &TrainBatch,
        what: &'static str,
        statistics: &Tensor,
    ) -> Result<LearnError, LearnError> {
        let _guard = tch::no_grad_guard();
        self.net.buffers.f_copy_(statistics)?;
        let input = self.input.fill(&batch.records)?;
        let targets = batch.targets(self.config.search_value_share, self.device)?;
        let by_row = to_vec(&score_with(&self.net, &input, false, &targets, &self.config)?.by_row)?;
        let guilty: Vec<_> = batch
            .ids
            .iter()
            .zip(&by_row)
            .filter(|(_, x)| !x.is_finite())
            .map(|(&id, _)| id)
            .collect();
        let suspects = if guilty.is_empty() {
            batch.ids.clone()
        } else {
            guilty
        };
        let ids = suspects.iter().copied().take(LISTED).collect();
        Ok(LearnError::NonFinite {
            step: self.step + 1,
            what,
            suspects: suspects.len(),
            ids,
            rows: batch.len(),
        })
    }

    /// Scores `batch` as in play, without training on it.
    pub fn validate(&mut self, batch: &TrainBatch, which: Which) -> Result<Losses, LearnError> {
        if batch.is_empty() {
            return Err(LearnError::Empty { step: self.step });
        }
        let _guard = tch::no_grad_guard();
        let net = match which {
            Which::Training => &self.net,
            Which::Average => &self.average,
        };
        let input = self.input.fill(&batch.records)?;
        let targets = batch.targets(self.config.search_value_share, self.device)?;
        let scored = score_with(net, &input, false, &targets, &self.config)?;
        Ok(Losses::of(&to_vec(&scored.stats)?))
    }

    /// Logits and plies left of the network in training, in eval mode, f32 on the host:
    /// policy `[rows, 90, policy::PLANES]`, WDL `[rows, 3]`, plies left `[rows]`, belief `[rows, 90, 6]`.
    pub fn raw(&self, records: &[Record]) -> Result<[Vec<f32>; 4], TchError> {
        let _guard = tch::no_grad_guard();
        let input = InputBuffer::new(Kind::Float, self.device).fill(records)?;
        let out = self.net.forward(&input, false)?;
        let all = (SQUARES * records.len()) as i64;
        let squares = Tensor::f_arange(all, (Kind::Int64, self.device))?;
        Ok([
            to_vec(&self.net.policy(&out)?)?,
            to_vec(&out.wdl)?,
            to_vec(&out.moves_left)?,
            to_vec(&self.net.belief(&out.features, &squares)?)?,
        ])
    }
}
