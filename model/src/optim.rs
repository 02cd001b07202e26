//! The optimiser, over one flat tensor of parameters. tch's own cannot be saved; this one's moments
//! are two tensors like the parameters.
use tch::{Kind, TchError, Tensor};

use crate::config::{OptimConfig, OptimKind};

/// Added to the root of AdamW's second moment (Kingma and Ba 2015).
pub const EPSILON: f64 = 1e-8;

/// Learning rate of a step after which `rows` rows have been trained.
pub fn rate(config: &OptimConfig, rows: u64) -> f64 {
    let (warmup, decay) = (config.warmup_rows, config.decay_rows);
    let share = if rows < warmup {
        rows as f64 / warmup as f64
    } else if decay == 0 {
        1.0
    } else {
        let span = decay.saturating_sub(warmup).max(1) as f64;
        let done = ((rows - warmup) as f64 / span).min(1.0);
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        config.final_rate_share + (1.0 - config.final_rate_share) * cosine
    };
    config.learning_rate * share
}

/// Weight of the old average at 0-based step `step`: at most `decay`, less in the first steps so that
/// the random start is forgotten (the ramp of TensorFlow's `ExponentialMovingAverage`).
pub fn average_decay(decay: f64, step: u64) -> f64 {
    decay.min((1.0 + step as f64) / (10.0 + step as f64))
}

/// The moments, and how they move the parameters.
pub struct Optim {
    config: OptimConfig,
    decayed: i64,
    /// AdamW: mean of the gradient; SGD: the velocity.
    pub first: Tensor,
    /// AdamW: mean of the squared gradient; SGD: absent.
    pub second: Option<Tensor>,
}

impl Optim {
    /// Moments of 0 for `params`, of which the first `decayed` are under weight decay.
    pub fn new(config: &OptimConfig, params: &Tensor, decayed: usize) -> Result<Self, TchError> {
        let second = match config.kind {
            OptimKind::Adamw => Some(params.f_zeros_like()?),
            OptimKind::Sgd => None,
        };
        Ok(Optim {
            config: config.clone(),
            decayed: decayed as i64,
            first: params.f_zeros_like()?,
            second,
        })
    }

    /// Moves `params` against the gradient `grad`, which has norm `norm`, as 1-based step `step` at `rate`.
    pub fn apply(
        &mut self,
        params: &mut Tensor,
        grad: &Tensor,
        norm: f64,
        step: u64,
        rate: f64,
    ) -> Result<(), TchError> {
        let _guard = tch::no_grad_guard();
        let config = &self.config;
        let grad = if norm > config.clip_norm {
            grad.f_mul_scalar(config.clip_norm / norm)?
        } else {
            grad.shallow_clone()
        };
        let mut weights = params.f_narrow(0, 0, self.decayed)?;
        let _ = weights.f_mul_scalar_(1.0 - rate * config.weight_decay)?;
        let update = match &mut self.second {
            Some(second) => {
                let correction = |beta: f64| 1.0 - beta.powf(step as f64);
                let _ = self.first.f_lerp_(&grad, 1.0 - config.beta1)?;
                let _ = second.f_lerp_(&grad.f_square()?, 1.0 - config.beta2)?;
                let root = second
                    .f_div_scalar(correction(config.beta2))?
                    .f_sqrt()?
                    .f_add_scalar_(EPSILON)?;
                self.first
                    .f_div(&root)?
                    .f_mul_scalar_(rate / correction(config.beta1))?
            }
            None => {
                let _ = self.first.f_mul_scalar_(config.beta1)?.f_add_(&grad)?;
                self.first
                    .f_mul_scalar(config.beta1)?
                    .f_add_(&grad)?
                    .f_mul_scalar_(rate)?
            }
        };
        let _ = params.f_sub_(&update)?;
        Ok(())
    }
}

/// The Euclidean norm of a flat tensor, a scalar on its device.
pub fn norm(flat: &Tensor) -> Result<Tensor, TchError> {
    flat.f_square()?.f_sum(Kind::Float)?.f_sqrt()
}
