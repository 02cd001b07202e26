//! The network's answers as an exported network gives them, computed by libtorch.
use selfplay::policy;
use tch::{Kind, TchError, Tensor};

use crate::expand::{BOARD, Input};
use crate::infer::Infer;
use crate::net::{HIDDEN_KINDS, PLIES_UNIT};

/// Numbers a row of each output.
pub const WIDTHS: [u64; 4] = [
    policy::INDICES as u64,
    3,
    1,
    (HIDDEN_KINDS * policy::SQUARES) as u64,
];

/// All answers to some rows, f32; what they mean is in [`selfplay::bundle::tensors::outputs`].
pub struct Outputs {
    /// `[rows, policy::INDICES]`: logits.
    pub policy: Tensor,
    /// `[rows, 3]`: probabilities of win, draw, loss.
    pub wdl: Tensor,
    /// `[rows, 1]`: plies.
    pub moves_left: Tensor,
    /// `[rows, HIDDEN_KINDS, 10, 9]`: probabilities of A B N R C P.
    pub belief: Tensor,
}

impl Outputs {
    /// The answers of a network to `input`.
    pub fn of(infer: &Infer, input: &Input) -> Result<Outputs, TchError> {
        let _guard = tch::no_grad_guard();
        let output = infer.forward(input)?;
        let policy = infer.policy(&output)?.f_to_kind(Kind::Float)?;
        let belief = infer.beliefs(&output)?.f_softmax(2, Kind::Float)?;
        Ok(Outputs {
            policy: policy.f_permute([0, 2, 1])?.f_flatten(1, 2)?,
            wdl: output.wdl.f_softmax(1, Kind::Float)?,
            moves_left: output.moves_left.f_unsqueeze(1)?.f_mul_scalar(PLIES_UNIT)?,
            belief: belief.f_permute([0, 2, 1])?.f_unflatten(2, BOARD)?,
        })
    }

    /// `[rows, sum of WIDTHS]`: all of them side by side, each row flattened.
    pub fn joined(self) -> Result<Tensor, TchError> {
        let belief = self.belief.f_flatten(1, 3)?;
        Tensor::f_cat(&[self.policy, self.wdl, self.moves_left, belief], 1)
    }

    /// In the order of the outputs.
    pub fn into_tensors(self) -> [Tensor; 4] {
        [self.policy, self.wdl, self.moves_left, self.belief]
    }
}
