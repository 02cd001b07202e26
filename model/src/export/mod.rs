//! A network in the formats of other programs: [`onnx`], [`torchscript`], [`safetensors`]. What each of them reads and
//! answers is the same, [`selfplay::bundle::tensors`].
use tch::TchError;

mod layer;
pub mod onnx;
mod outputs;
mod quantise;
pub mod safetensors;
pub mod torchscript;

pub use outputs::{Outputs, WIDTHS};
pub use quantise::rounded;

/// Why a network could not be exported, or read again.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The backend failed.
    #[error("torch failed: {0}")]
    Torch(#[from] TchError),
    /// A number cannot be kept.
    #[error("tensor {tensor} {what}")]
    Tensor {
        /// Name of the tensor.
        tensor: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// No file of this format.
    #[error("{what}")]
    Format {
        /// What is wrong, and what was expected.
        what: String,
    },
}
