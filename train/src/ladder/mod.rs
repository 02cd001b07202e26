//! The ladder: a run's checkpoints, rated against each other and the built-in opponents while it trains.
//!
//! A checkpoint comes onto the ladder, meets its opponents ([`schedule`]) one after the other and is rated with all other
//! players of its form ([`list`]), then the newest one there is by then comes. Every game is kept as it ends ([`store`]), so
//! that a run goes on with those that are missing. In a run of several forms they take turns, a checkpoint a form.
mod background;
mod climb;
pub mod list;
pub mod schedule;
pub mod store;
pub mod throttle;

use std::collections::BTreeMap;

use selfplay::opponent::Builtin;
use serde::{Deserialize, Serialize};

pub use self::background::Background;
pub use self::climb::{Event, Ladder};
pub use self::list::ANCHOR;
use crate::config::Config;
use crate::tournament::store::Settings;

/// The `[ladder]` table: how checkpoints are rated while the run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderConfig {
    /// Checkpoints from one that may come onto the ladder to the next; 0: there is no ladder.
    pub every_checkpoints: u32,
    /// Built-in opponents, each once, [`ANCHOR`] among them.
    pub opponents: Vec<Builtin>,
    /// Earlier checkpoints that a new one meets.
    pub rivals: usize,
    /// Games of each meeting, even.
    pub games: u32,
    /// New simulations a move; 0: as in the matches of `[arena]`.
    pub visits: u32,
    /// Share of one core's time, above 0 and at most 1, that the ladder takes while self-play goes on.
    pub share: f64,
}

/// `config` with the ladder's budget as the arena's, from which players are made.
fn as_arena(config: &Config) -> Config {
    let mut config = config.clone();
    config.arena.visits = match config.ladder.visits {
        0 => config.match_visits(),
        visits => visits,
    };
    config
}

/// What makes a checkpoint the same player, and an opening the same, when the ladder goes on; of a config made by [`as_arena`].
fn settings(config: &Config) -> Settings {
    let arena = &config.arena;
    let search = serde_json::to_string(&config.search).unwrap_or_default();
    BTreeMap::from(
        [
            ("search", search),
            ("visits", arena.visits.to_string()),
            ("temperature", arena.temperature.to_string()),
            (
                "arrangement_temperature",
                arena.arrangement_temperature.to_string(),
            ),
            ("opening_plies", arena.opening_plies.to_string()),
            ("ply_cap", arena.ply_cap.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value)),
    )
}
