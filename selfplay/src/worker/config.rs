//! Settings of self-play; `configs/default.toml` says what each is for.
use serde::{Deserialize, Serialize};

/// The `[selfplay]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfplayConfig {
    /// Games that one worker plays at a time; half of them are one batch.
    pub games_per_worker: usize,
    /// New simulations of a full search, each at most one network evaluation.
    pub visits: u32,
    /// New simulations of a fast search, whose policy is not trained (playout cap).
    pub fast_visits: u32,
    /// Share of moves that get a full search, 0..=1.
    pub full_search_share: f32,
    /// Each game, once the pieces are arranged, starts with 0..=this many plies drawn from the raw prior.
    pub opening_plies: u16,
    /// Share of the secret arrangements that are drawn at random, each as likely, and leave no row.
    pub random_arrangement_share: f32,
    /// Temperature of the choice of the first move, and of every placement in an arrangement.
    pub temperature_start: f32,
    /// Temperature that the choice tends to.
    pub temperature_end: f32,
    /// Plies after which the distance to `temperature_end` has halved.
    pub temperature_halflife: f32,
    /// A side may resign when the search gives it an expected score, `win + draw / 2` in 0..=1, below
    /// this; 0: never.
    pub resign_below: f32,
    /// Own moves in a row, fast searches included, at which it must have been so before it resigns.
    pub resign_moves: u32,
    /// Share of games that play on instead of resigning, to count false positives, 0..=1.
    pub resign_playout_share: f32,
    /// Share of wrong resignations above which the run lowers `resign_below`, 0..=1.
    pub resign_wrong_max: f32,
    /// Played-out games by which that share is judged.
    pub resign_memory: usize,
    /// Plies of play, arrangements not counted, at which a game is cut (reason `ply_cap`, a draw); 0: never.
    pub ply_cap: u16,
}

impl SelfplayConfig {
    /// Temperature of the move choice at `ply` of play, 0 before the first move.
    pub fn temperature(&self, ply: usize) -> f32 {
        let left = if self.temperature_halflife > 0.0 {
            (-(ply as f32) / self.temperature_halflife).exp2()
        } else {
            0.0
        };
        self.temperature_end + (self.temperature_start - self.temperature_end) * left
    }
}
