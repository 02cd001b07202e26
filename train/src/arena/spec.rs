//! Who plays, as it is written on the command line.
//!
//! ```text
//! PLAYER   = WHO [ "?" KEY "=" VALUE { "&" KEY "=" VALUE } ]
//! WHO      = "random" | "greedy" | "alphabeta:" DEPTH      a built-in opponent
//!          | "engine:" PROGRAM { " " ARGUMENT }            an engine, found in PATH
//!          | PATH                                          a run directory or a checkpoint
//! ```
//!
//! | of | key | value |
//! |---|---|---|
//! | all | `name` | what it is called in tables and games; else the text itself |
//! | a run | `step` | training step of the checkpoint; else the newest |
//! | | `level` | one of its levels of strength (`fanqi grade`), which says all that the keys of a network say |
//! | a network | `visits` | new simulations a move, 1..=100000; else as its run has it |
//! | | `temperature` | of the move choice, 0..=10; else as its run has it |
//! | | `arrangement` | `random`, or the temperature of the placements of a secret arrangement, 0..=10 |
//! | | `root` | `gumbel` or `puct`; else as it was trained |
//! | an engine | `nodes`, `depth`, `movetime` | limits of a move, one at least; `movetime` in milliseconds |
//! | | `timeout` | seconds beyond that after which it has lost, 0.01..=86400; else 60 |
//! | | `protocol` | `uci` or `ucci`; else `uci` |
//! | | `ranks` | `0-9` or `1-10`: how its moves count ranks; else 1-10 of Fairy-Stockfish, 0-9 of others |
//! | | `skill` | its option `Skill Level` |
//! | | `option.NAME` | its option NAME, as it declares it; a button has an empty value |
//!
//! `%XX` stands for a byte that could not be written otherwise: `%3F` for `?`, `%26` for `&`, `%25` for `%`, in an
//! engine's arguments `%20` for a space.
mod print;
mod read;

use std::path::PathBuf;
use std::time::Duration;

use play::engine::Protocol;
use selfplay::mcts::RootKind;
use selfplay::opponent::Builtin;
use selfplay::rules::Ranks;

use super::Arrangement;

/// Without the key `timeout`.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);
/// What the key of an engine's option starts with.
const OPTION: &str = "option.";

/// A player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    /// What it is called: plain text without `"`, at most 200 characters.
    pub name: String,
    /// Who it is.
    pub who: Who,
}

/// Who a player is.
#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    /// A built-in opponent.
    Builtin(Builtin),
    /// A network.
    Network(NetworkSpec),
    /// An engine.
    Engine(EngineSpec),
}

/// A network and how it plays; what is missing is as its run has it.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// Run directory or checkpoint.
    pub path: PathBuf,
    /// Training step.
    pub step: Option<u64>,
    /// Level of strength, beside which nothing else is said.
    pub level: Option<u32>,
    /// New simulations a move.
    pub visits: Option<u32>,
    /// Temperature of the move choice.
    pub temperature: Option<f32>,
    /// How it arranges its pieces in secret.
    pub arrangement: Option<Arrangement>,
    /// How the root chooses what to visit.
    pub root: Option<RootKind>,
}

/// An engine and how it plays.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSpec {
    /// The program: a path, or a name to be found in PATH.
    pub program: String,
    /// What it is started with.
    pub args: Vec<String>,
    /// What it speaks.
    pub protocol: Protocol,
    /// How it counts ranks; `None`: by its name.
    pub ranks: Option<Ranks>,
    /// What ends its search.
    pub limits: Limits,
    /// Time beyond the limit after which it has lost.
    pub timeout: Duration,
    /// Its options, set in this order.
    pub options: Vec<(String, String)>,
}

/// What ends an engine's search; at least one is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Nodes.
    pub nodes: Option<u64>,
    /// Plies.
    pub depth: Option<u64>,
    /// Milliseconds.
    pub move_ms: Option<u64>,
}

/// Why a text names no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("player `{player}`: {why}")]
pub struct SpecError {
    /// The text.
    pub player: String,
    /// What is wrong with it, and what was expected.
    pub why: String,
}
