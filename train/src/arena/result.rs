//! What a match brought.
use std::collections::BTreeMap;

use selfplay::game::{Color, Ending, Outcome};
use serde::Serialize;

use super::external::Fault;
use crate::rating::{Pairs, Rating};

/// How a game of a match ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum GameEnd {
    /// By the rules, by resignation or at the ply cap.
    Ruled(Ending),
    /// An engine failed, and so lost.
    Failed {
        /// Its colour.
        loser: Color,
        /// What it did.
        fault: Fault,
    },
}

impl GameEnd {
    /// Who won.
    pub fn outcome(&self) -> Outcome {
        match self {
            GameEnd::Ruled(ending) => ending.outcome,
            GameEnd::Failed { loser, .. } => Outcome::Win(loser.other()),
        }
    }

    /// The reason in one word, such as `checkmate` or `crash`.
    pub fn reason(&self) -> String {
        match self {
            GameEnd::Ruled(ending) => ending.reason.to_string(),
            GameEnd::Failed { fault, .. } => fault.kind.to_string(),
        }
    }
}

/// A finished game of a match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayedGame {
    /// The pair's number, from 0; equal numbers share an opening.
    pub pair: u32,
    /// The first player's colour.
    pub first: Color,
    /// The position before the first move, as the FEN of a world.
    pub start: String,
    /// Moves of the opening and the game in coordinates, with what came to light, separated by spaces.
    pub moves: String,
    /// Number of moves.
    pub plies: u32,
    /// How many of them are the opening.
    pub opening_plies: u16,
    /// How the game ended.
    pub ending: GameEnd,
}

impl PlayedGame {
    /// Points of the first player in halves: 2 win, 1 draw, 0 loss.
    pub fn halves(&self) -> usize {
        match self.ending.outcome() {
            Outcome::Draw => 1,
            Outcome::Win(color) if color == self.first => 2,
            Outcome::Win(_) => 0,
        }
    }
}

/// A match's result, seen from the first player. Only whole pairs are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Pairs by points.
    pub pairs: Pairs,
    /// Mean length of a game in plies, the opening included; 0 without games.
    pub mean_plies: f64,
    /// Number of games by how they ended.
    pub reasons: BTreeMap<String, u32>,
    /// The games, by pair, the one in which the first player is Red first.
    pub games: Vec<PlayedGame>,
}

impl MatchResult {
    /// Counts `games`, which come in any order.
    pub fn of(mut games: Vec<PlayedGame>) -> Self {
        games.sort_by_key(|game| (game.pair, game.first == Color::Black));
        let mut result = MatchResult::default();
        for pair in games
            .chunk_by(|a, b| a.pair == b.pair)
            .filter(|pair| pair.len() == 2)
        {
            result.pairs[pair[0].halves() + pair[1].halves()] += 1;
            result.games.extend_from_slice(pair);
        }
        for game in &result.games {
            match game.halves() {
                2 => result.wins += 1,
                1 => result.draws += 1,
                _ => result.losses += 1,
            }
            *result.reasons.entry(game.ending.reason()).or_default() += 1;
        }
        let plies: u32 = result.games.iter().map(|game| game.plies).sum();
        result.mean_plies = f64::from(plies) / result.games.len().max(1) as f64;
        result
    }

    /// Score, Elo and their intervals.
    pub fn rating(&self) -> Rating {
        Rating::of(&self.pairs)
    }
}
