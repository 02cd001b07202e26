//! Rules, search and self-play workers: everything between a ruleset and a finished game's rows.
//!
//! This crate builds and tests without libtorch, reads no TOML and prints nothing.
pub mod belief;
pub mod bundle;
pub mod eval;
pub mod expand;
pub mod game;
pub mod mcts;
pub mod opponent;
pub mod policy;
pub mod record;
pub mod rules;
pub mod server;
pub mod worker;
