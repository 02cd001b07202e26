//! Replay, trainer, pipeline, arena and ratings: what the `fanqi` command line is made of.
pub mod arena;
pub mod rating;
pub mod strength;
