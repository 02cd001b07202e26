//! Engines of others, over UCI or UCCI: one process a game at a time.
//!
//! ```text
//! uci -> uciok -> options -> ucinewgame, position, isready -> readyok -> go -> bestmove
//!                            ^--------------------------------------------------+
//! ```
//!
//! Nothing here waits: whoever plays asks again when the engine has said something or its time is up. Before each
//! `go` the engine has to say that it is ready, so what it still says of an earlier move is not taken for an answer.
//! An engine that ends, is silent for too long, or answers with no legal move has lost the game ([`Fault`]) and is
//! killed; the next game starts it anew. Lines that say nothing in the protocol are read over, as it demands.
mod greeting;
mod guest;
mod process;
mod talk;

use std::fmt::{self, Display};

use selfplay::rules::Ruleset;
use serde::Serialize;

pub use guest::Guest;

use super::spec::EngineSpec;

/// An engine, and what it is to play.
#[derive(Clone, Debug)]
pub struct External {
    /// The program and its settings.
    pub spec: EngineSpec,
    /// The form.
    pub rules: &'static Ruleset,
}

impl External {
    /// Starts the engine, asks who it is, whether it plays the form and has the options, and ends it. Its name.
    pub fn check(&self) -> Result<String, StartError> {
        Guest::new(self.clone().into()).introduce()
    }
}

/// How an engine lost a game otherwise than at the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What it did.
    pub kind: FaultKind,
    /// The same in full, on one line.
    pub detail: String,
}

/// What an engine did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Its process ended.
    Crash,
    /// It did not answer in time.
    Timeout,
    /// It answered with a move that is not legal.
    IllegalMove,
    /// It answered with no move.
    NoMove,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 4] = [
        FaultKind::Crash,
        FaultKind::Timeout,
        FaultKind::IllegalMove,
        FaultKind::NoMove,
    ];
}

impl Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::Crash => "crash",
            FaultKind::Timeout => "timeout",
            FaultKind::IllegalMove => "illegal_move",
            FaultKind::NoMove => "no_move",
        })
    }
}

/// Why an engine cannot play at all.
#[derive(Debug, thiserror::Error)]
#[error("the engine `{engine}` {why}")]
pub struct StartError {
    /// Its command.
    pub engine: String,
    /// What is the matter, what to do.
    pub why: String,
}
