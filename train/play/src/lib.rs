//! What plays with a network, without libtorch: the engine, exported networks, games told in moves, and `fanqi-play`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod bundle;
pub mod engine;
pub mod line;
pub mod onnx;
pub mod output;
