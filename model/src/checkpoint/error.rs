//! Why a checkpoint could not be written or read, and what to do.
use std::path::PathBuf;

use tch::TchError;

use super::{FORMAT, KEY};

/// What to do with a file that cannot be used.
pub(super) const RESTORE: &str = "put a good copy back, or take another checkpoint";

/// Why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system refused.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Not a whole safetensors file.
    #[error("{path} is truncated or no safetensors file: {source}; {RESTORE}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: safetensors::SafeTensorError,
    },
    /// A safetensors file of somebody else's.
    #[error(
        "{path} is no fanqi checkpoint: its header has no readable entry \"{KEY}\"{detail}; {RESTORE}"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why the entry could not be read, if it is there.
        detail: String,
    },
    /// Another version of the format.
    #[error(
        "{path} has checkpoint format {found}, but this program reads format {FORMAT}: use the version that wrote it, or start a new run"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Something in it changed after it was written.
    #[error("{path} is damaged: its checksum is {found:08x}, written was {written:08x}; {RESTORE}")]
    Checksum {
        /// The file.
        path: PathBuf,
        /// Sum of what it holds.
        found: u32,
        /// Sum that it was written with.
        written: u32,
    },
    /// A tensor is not as the header says.
    #[error("{path}: tensor {tensor} {what}")]
    Tensor {
        /// The file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// What is wrong and what was expected.
        what: String,
    },
    /// It is a whole checkpoint, but of something else than was asked for.
    #[error(
        "{path} holds {found}, but {asked} was asked for; give the checkpoint's own settings back, or start a new run"
    )]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// The backend failed.
    #[error("torch failed: {0}")]
    Torch(#[from] TchError),
}
