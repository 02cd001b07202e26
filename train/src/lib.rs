//! Replay, trainer, pipeline, arena and ratings: what the `fanqi` command line is made of.
pub mod rating;
