//! Samples, replay, training loop, matches and the command line of `fanqi`.
pub mod atomic;
pub mod games;
pub mod metrics;
pub mod replay;
pub mod run_dir;
pub mod samples;
pub mod tensorboard;
