//! The network: from a record's bytes to policy, WDL and moves left, and how it is trained and kept.
//!
//! [`learner::Learner`] trains; [`evaluator::NetEvaluator`] plays with the weights that a
//! [`slot::WeightSlot`] holds; [`checkpoint`] keeps both on disk.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod batch;
pub mod checkpoint;
pub mod config;
pub mod device;
pub mod evaluator;
pub mod expand;
pub mod export;
pub mod infer;
mod layers;
pub mod learner;
pub mod loss;
pub mod net;
pub mod optim;
pub mod params;
pub mod slot;

pub use tch::TchError;
