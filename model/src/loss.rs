//! What training makes small.
use serde::Serialize;
use tch::{Kind, Reduction, TchError, Tensor};

use crate::batch::Targets;
use crate::config::OptimConfig;
use crate::net::Output;

/// Means over a batch, in nats where not said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// The weighted sum of the four parts.
    pub total: f64,
    /// Cross-entropy of the policy over the legal moves, over rows whose policy is trained.
    pub policy: f64,
    /// Cross-entropy of the WDL.
    pub value: f64,
    /// Huber loss of the plies left, in units of [`crate::net::PLIES_UNIT`], which is also where it turns linear.
    pub moves_left: f64,
    /// Cross-entropy of what the unknown pieces are, over the squares where they lie; 0 without any.
    pub belief: f64,
    /// Entropy of the policy targets: the least that `policy` can be; the rest is the KL divergence.
    pub policy_entropy: f64,
    /// Share of rows whose most likely result is the game's, 0..=1.
    pub value_accuracy: f64,
}

impl Losses {
    /// Number of the parts in [`Scored::stats`].
    pub(crate) const PARTS: usize = 7;

    /// From [`Scored::stats`] on the host.
    pub(crate) fn of(stats: &[f32]) -> Self {
        let [
            total,
            policy,
            value,
            moves_left,
            belief,
            policy_entropy,
            value_accuracy,
        ] = std::array::from_fn(|i| stats[i] as f64);
        Losses {
            total,
            policy,
            value,
            moves_left,
            belief,
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
            self.belief,
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
    /// `[rows]`: each row's own loss, unweighted; of the belief the sum over its squares.
    pub(crate) by_row: Tensor,
}

/// Scores `output`, the `policy` read from it, and `belief` on the squares of [`Targets::truth_square`], against `targets`.
pub(crate) fn score(
    output: &Output,
    policy: &Tensor,
    belief: &Tensor,
    targets: &Targets,
    config: &OptimConfig,
) -> Result<Scored, TchError> {
    let logits = policy
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

    // Without any unknown piece it still has a gradient, which is 0.
    let belief = belief
        .f_log_softmax(1, Kind::Float)?
        .f_gather(1, &targets.truth.f_unsqueeze(1)?, false)?
        .f_squeeze_dim(1)?
        .f_neg()?;
    let squares = targets.truth.size()[0].max(1) as f64;

    let weight = &targets.policy_weight;
    let weights = weight.f_sum(Kind::Float)?.f_clamp_min(1.0)?;
    let weighted = |x: &Tensor| x.f_mul(weight)?.f_sum(Kind::Float)?.f_div(&weights);
    let log_probs = targets.probs.f_clamp_min(1e-9)?.f_log()?;
    let parts = [
        weighted(&policy)?,
        value.f_mean(Kind::Float)?,
        moves_left.f_mean(Kind::Float)?,
        belief.f_sum(Kind::Float)?.f_div_scalar(squares)?,
    ];
    let scales = [
        config.policy_weight,
        config.value_weight,
        config.moves_left_weight,
        config.belief_weight,
    ];
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| parts[i].f_mul_scalar(scales[i]));
    let total = a?.f_add(&b?)?.f_add(&c?)?.f_add(&d?)?;
    let right = log_wdl
        .f_argmax(1, false)?
        .f_eq_tensor(&targets.outcome)?
        .f_mean(Kind::Float)?;
    let entropy = weighted(&cross_entropy(&targets.probs, &log_probs)?)?;
    let [p, v, m, b] = &parts;
    let stats = Tensor::f_stack(&[&total, p, v, m, b, &entropy, &right], 0)?.f_detach()?;
    let by_row = policy
        .f_mul(weight)?
        .f_add(&value)?
        .f_add(&moves_left)?
        .f_index_add(0, &targets.truth_row, &belief)?
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

#[cfg(test)]
mod tests {
    use selfplay::record::Rows;
    use tch::{Device, Tensor};

    use super::*;
    use crate::batch::TrainBatch;

    /// The gradient at a logit is (probability - 1 for the truth, else probability) over the number of unknown
    /// pieces, and 0 where there is none.
    #[test]
    fn the_belief_gradient_is_that_of_a_mean_cross_entropy_where_truth_is_and_0_elsewhere() {
        let mut rows = Rows {
            records: vec![[0; 128]; 2],
            policy_end: vec![1, 2],
            policy_index: vec![0, 0],
            policy_prob: vec![65535; 2],
            policy_weight: vec![1; 2],
            search_wdl: vec![[1.0, 0.0, 0.0]; 2],
            outcome: vec![0; 2],
            plies_left: vec![9; 2],
            truth: vec![[0; 32]; 2],
            ..Rows::default()
        };
        // An own pawn on a0; in the other row an opponent's advisor on i9 and a rook on b7.
        (rows.truth[0][0], rows.truth[1][24], rows.truth[1][25]) = (7, 2, 5);
        let truth = [(0, 5), (90 + 89, 0), (90 + 64, 3)];
        let mut batch = TrainBatch::default();
        (0..2).for_each(|i| batch.push_from(&rows, i, 0, false).expect("a good row"));
        let targets = batch.targets(0.5, Device::Cpu).expect("targets");
        let zeros = |size: &[i64]| Tensor::zeros(size, (Kind::Float, Device::Cpu));
        let output = Output {
            policy_hidden: zeros(&[2, 90, 4]),
            wdl: zeros(&[2, 3]),
            moves_left: zeros(&[2]),
            features: zeros(&[2, 90, 1]),
        };
        let logits = Tensor::arange(2 * 90 * 6, (Kind::Float, Device::Cpu)).sin();
        let logits = logits.view([180, 6]).set_requires_grad(true);
        let asked = logits.index_select(0, &targets.truth_square);
        let policy = zeros(&[2, 90, 107]);
        let scored = score(&output, &policy, &asked, &targets, &config()).expect("a score");
        scored.total.backward();

        let (grad, probs) = (logits.grad(), logits.softmax(1, Kind::Float));
        for square in 0..180 {
            let kind = truth
                .iter()
                .find(|(s, _)| *s == square)
                .map(|(_, kind)| *kind);
            for k in 0..6 {
                let p = probs.double_value(&[square, k]);
                let expected = match kind {
                    Some(kind) => 0.25 * (p - f64::from(u8::from(k == kind))) / 3.0,
                    None => 0.0,
                };
                let got = grad.double_value(&[square, k]);
                assert!(
                    (got - expected).abs() < 1e-6,
                    "{square} {k}: {got}, {expected}"
                );
            }
        }
    }

    fn config() -> OptimConfig {
        OptimConfig {
            kind: crate::config::OptimKind::Sgd,
            batch_rows: 2,
            learning_rate: 1.0,
            warmup_rows: 0,
            decay_rows: 0,
            final_rate_share: 1.0,
            weight_decay: 0.0,
            beta1: 0.0,
            beta2: 0.0,
            clip_norm: 1.0,
            ema_decay: 0.0,
            policy_weight: 1.0,
            value_weight: 1.0,
            moves_left_weight: 1.0,
            belief_weight: 0.25,
            search_value_share: 0.5,
        }
    }
}
