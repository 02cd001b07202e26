//! What training makes small.
use serde::Serialize;
use tch::{Kind, Reduction, TchError, Tensor};

use crate::batch::Targets;
use crate::config::OptimConfig;
use crate::net::Output;

/// Means over a batch, in nats where not said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// The weighted sum of the three parts.
    pub total: f64,
    /// Cross-entropy of the policy over the legal moves, over rows whose policy is trained.
    pub policy: f64,
    /// Cross-entropy of the WDL.
    pub value: f64,
    /// Huber loss of the plies left, in units of [`crate::net::PLIES_UNIT`], which is also where it turns linear.
    pub moves_left: f64,
    /// Entropy of the policy targets: the least that `policy` can be; the rest is the KL divergence.
    pub policy_entropy: f64,
    /// Share of rows whose most likely result is the game's, 0..=1.
    pub value_accuracy: f64,
}

impl Losses {
    /// Number of the parts in [`Scored::stats`].
    pub(crate) const PARTS: usize = 6;

    /// From [`Scored::stats`] on the host.
    pub(crate) fn of(stats: &[f32]) -> Self {
        let [
            total,
            policy,
            value,
            moves_left,
            policy_entropy,
            value_accuracy,
        ] = std::array::from_fn(|i| stats[i] as f64);
        Losses {
            total,
            policy,
            value,
            moves_left,
            policy_entropy,
            value_accuracy,
        }
    }

    /// Whether every part is finite.
    pub fn is_finite(&self) -> bool {
        [
            self.total,
            self.policy,
            self.value,
            self.moves_left,
            self.policy_entropy,
        ]
        .iter()
        .all(|x| x.is_finite())
    }
}

/// A scored batch, on its device.
pub(crate) struct Scored {
    /// Scalar, with its graph.
    pub(crate) total: Tensor,
    /// The parts in the order of the fields of [`Losses`].
    pub(crate) stats: Tensor,
    /// `[rows]`: each row's own loss, unweighted.
    pub(crate) by_row: Tensor,
}

/// Scores `output` against `targets`.
pub(crate) fn score(
    output: &Output,
    targets: &Targets,
    config: &OptimConfig,
) -> Result<Scored, TchError> {
    let logits = output
        .policy
        .f_flatten(1, 2)?
        .f_gather(1, &targets.offsets, false)?
        .f_to_kind(Kind::Float)?;
    let log_policy = logits.f_add(&targets.mask)?.f_log_softmax(1, Kind::Float)?;
    let policy = cross_entropy(&targets.probs, &log_policy)?;
    let log_wdl = output.wdl.f_log_softmax(1, Kind::Float)?;
    let value = cross_entropy(&targets.wdl, &log_wdl)?;
    let moves_left = output
        .moves_left
        .f_huber_loss(&targets.moves_left, Reduction::None, 1.0)?;

    let weight = &targets.policy_weight;
    let weights = weight.f_sum(Kind::Float)?.f_clamp_min(1.0)?;
    let weighted = |x: &Tensor| x.f_mul(weight)?.f_sum(Kind::Float)?.f_div(&weights);
    let log_probs = targets.probs.f_clamp_min(1e-9)?.f_log()?;
    let parts = [
        weighted(&policy)?,
        value.f_mean(Kind::Float)?,
        moves_left.f_mean(Kind::Float)?,
    ];
    let scales = [
        config.policy_weight,
        config.value_weight,
        config.moves_left_weight,
    ];
    let [a, b, c] = [0, 1, 2].map(|i| parts[i].f_mul_scalar(scales[i]));
    let total = a?.f_add(&b?)?.f_add(&c?)?;
    let right = log_wdl
        .f_argmax(1, false)?
        .f_eq_tensor(&targets.outcome)?
        .f_mean(Kind::Float)?;
    let entropy = weighted(&cross_entropy(&targets.probs, &log_probs)?)?;
    let [p, v, m] = &parts;
    let stats = Tensor::f_stack(&[&total, p, v, m, &entropy, &right], 0)?.f_detach()?;
    let by_row = policy
        .f_mul(weight)?
        .f_add(&value)?
        .f_add(&moves_left)?
        .f_detach()?;
    Ok(Scored {
        total,
        stats,
        by_row,
    })
}

/// `[rows]`: minus the sum of `target * log_prob` over the second dimension.
fn cross_entropy(target: &Tensor, log_prob: &Tensor) -> Result<Tensor, TchError> {
    target
        .f_mul(log_prob)?
        .f_sum_dim_intlist([1i64].as_slice(), false, Kind::Float)?
        .f_neg()
}
