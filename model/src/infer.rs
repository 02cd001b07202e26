//! The network for play: norms folded into the convolutions, weights in the kind of the computation
//! and with channels innermost in memory.
use tch::{Device, Kind, TchError, Tensor};

use crate::expand::Input;
use crate::layers::{Conv, ConvNorm, Linear};
use crate::net::{Block, Net, Output, Tower};
use crate::params::Weights;

/// The folded form; it does not train.
pub struct Infer {
    tower: Tower<Conv>,
}

impl Infer {
    /// Folds `weights` for `device`; `kind` is f32, bf16 or f16.
    pub fn new(weights: &Weights, device: Device, kind: Kind) -> Result<Self, TchError> {
        let _guard = tch::no_grad_guard();
        let net = Net::new(weights, Device::Cpu)?;
        Ok(Infer {
            tower: fold(net.tower(), device, kind)?,
        })
    }

    /// `input` is of the kind given to [`Infer::new`].
    pub fn forward(&self, input: &Input) -> Result<Output, TchError> {
        let _guard = tch::no_grad_guard();
        self.tower.forward(input, false)
    }

    /// As [`Net::policy`].
    pub fn policy(&self, output: &Output) -> Result<Tensor, TchError> {
        let _guard = tch::no_grad_guard();
        self.tower.policy(output)
    }

    /// As [`Net::belief`].
    pub fn belief(&self, features: &Tensor, squares: &Tensor) -> Result<Tensor, TchError> {
        let _guard = tch::no_grad_guard();
        self.tower.belief(features, squares)
    }

    /// Logits of what a piece on every square is: `[rows, 90, HIDDEN_KINDS]` f32.
    pub(crate) fn beliefs(&self, output: &Output) -> Result<Tensor, TchError> {
        let _guard = tch::no_grad_guard();
        self.tower.beliefs(&output.features)
    }
}

fn fold(tower: &Tower<ConvNorm>, device: Device, kind: Kind) -> Result<Tower<Conv>, TchError> {
    let moved = |t: &Tensor, kind: Kind| t.f_detach_copy()?.f_to_kind(kind)?.f_to_device(device);
    let conv = |c: &Conv| -> Result<Conv, TchError> {
        let weight = moved(&c.weight, kind)?
            .f_permute([0, 2, 3, 1])?
            .f_contiguous()?
            .f_permute([0, 3, 1, 2])?;
        Ok(Conv {
            weight,
            bias: moved(&c.bias, kind)?,
        })
    };
    let folded = |c: &ConvNorm| conv(&c.fold()?);
    let linear = |l: &Linear, kind: Kind| -> Result<Linear, TchError> {
        Ok(Linear {
            weight: moved(&l.weight, kind)?,
            bias: moved(&l.bias, kind)?,
        })
    };
    let block = |b: &Block<ConvNorm>| -> Result<Block<Conv>, TchError> {
        let pooled = b.pooled.as_ref().map(|l| linear(l, kind)).transpose()?;
        Ok(Block {
            first: folded(&b.first)?,
            pooled,
            second: folded(&b.second)?,
        })
    };
    Ok(Tower {
        stem: folded(&tower.stem)?,
        globals: linear(&tower.globals, kind)?,
        blocks: tower.blocks.iter().map(block).collect::<Result<_, _>>()?,
        policy_hidden: folded(&tower.policy_hidden)?,
        policy: linear(&tower.policy, kind)?,
        value: folded(&tower.value)?,
        value_hidden: linear(&tower.value_hidden, kind)?,
        wdl: linear(&tower.wdl, Kind::Float)?,
        moves_left: linear(&tower.moves_left, Kind::Float)?,
        belief: linear(&tower.belief, Kind::Float)?,
    })
}
