//! What plays with a network, without libtorch: the engine, exported networks, games told in moves, and `fanqi-play`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "engine")]
pub mod bundle;
#[cfg(feature = "engine")]
pub mod engine;
pub mod line;
#[cfg(feature = "engine")]
pub mod onnx;
#[cfg(feature = "engine")]
pub mod output;
