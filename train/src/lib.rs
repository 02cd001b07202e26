//! Samples, replay, training loop, matches and the command line of `fanqi`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod arena;
pub mod atomic;
pub mod cli;
pub mod cmd;
pub mod config;
pub mod engine;
pub mod export;
pub mod forms;
pub mod games;
pub mod grade;
pub mod ladder;
pub mod levels;
pub mod lock;
pub mod metrics;
pub mod network;
pub mod pipeline;
pub mod pretrain;
pub mod rating;
pub mod records;
pub mod replay;
pub mod report;
pub mod run_dir;
pub mod samples;
pub mod strength;
pub mod table;
pub mod tensorboard;
pub mod tournament;
