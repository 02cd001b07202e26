//! The rating list of a form: what all games of its ladder say together.
use std::collections::BTreeMap;
use std::path::Path;

use selfplay::opponent::Builtin;
use serde::{Deserialize, Serialize};

use super::schedule::Player;
use crate::arena::PlayedGame;
use crate::atomic::{self, FileError};
use crate::rating::{self, Encounter, GameScore, Interval, RatingError, RatingOptions};
use crate::tournament::number;

/// Who has Elo 0.
pub const ANCHOR: Builtin = Builtin::Random;

/// What is kept of a game in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its number within its match.
    pub number: usize,
    /// Points of the match's first player in halves: 2 win, 1 draw, 0 loss.
    pub halves: u8,
}

impl Outcome {
    /// That of a game.
    pub fn of(game: &PlayedGame) -> Self {
        Outcome {
            number: number(game),
            halves: game.halves() as u8,
        }
    }
}

/// Ratings of a form's players, on the scale where `random` has Elo 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderList {
    /// Name of the form.
    pub form: String,
    /// The strongest first.
    pub players: Vec<Standing>,
    /// One for every two that met.
    pub meetings: Vec<Met>,
    /// Probability of results as far from these ratings as these, or further, if one number a player explained them; `None` if
    /// there are too few meetings to tell.
    pub p_value: Option<f64>,
}

/// A player's place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// Training step, of a checkpoint.
    pub step: Option<u64>,
    /// Rating in Elo.
    pub elo: f64,
    /// Its 95 % interval.
    pub interval: Interval<f64>,
    /// Number of its games lost, drawn and won.
    pub games: [u64; 3],
    /// Share of the points it scored, 0..=1.
    pub score: f64,
}

/// The games of two players, seen from the stronger one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Met {
    /// Places of the two in [`LadderList::players`], ascending.
    pub players: [usize; 2],
    /// Number of games lost, drawn and won.
    pub games: [u64; 3],
    /// Share of the points, 0..=1.
    pub score: f64,
    /// What the ratings expect of it.
    pub expected: f64,
}

/// The games of a match as ratings count them, by whole pairs: of a match broken off, the short games are there first.
fn encounter(players: [Player; 2], outcomes: &[Outcome]) -> Encounter {
    let [player, opponent] = players.map(|player| player.to_string());
    let mut encounter = Encounter::new(player, opponent);
    let mut pairs: BTreeMap<usize, [Option<GameScore>; 2]> = BTreeMap::new();
    for &outcome in outcomes {
        // In the first game of a pair the first player has Red.
        let score = GameScore::from_halves(outcome.halves.into());
        pairs.entry(outcome.number / 2).or_default()[outcome.number % 2] = Some(score);
    }
    for pair in pairs.into_values() {
        if let [Some(as_red), Some(as_black)] = pair {
            encounter.add_pair(as_red, as_black);
        }
    }
    encounter
}

impl LadderList {
    /// Rates the players of all matches of a form together.
    pub fn rate<'a>(
        form: &str,
        matches: impl Iterator<Item = ([Player; 2], &'a [Outcome])>,
    ) -> Result<LadderList, RatingError> {
        let encounters: Vec<_> = matches
            .map(|(players, outcomes)| encounter(players, outcomes))
            .filter(|encounter| encounter.games() != [0; 3])
            .collect();
        let options = RatingOptions {
            anchors: BTreeMap::from([(ANCHOR.to_string(), 0.0)]),
            ..RatingOptions::default()
        };
        let rated = rating::rate(&encounters, &options)?;
        let players = rated.players.iter().map(|player| Standing {
            step: player.name.parse().ok().and_then(Player::step),
            name: player.name.clone(),
            elo: player.elo.value,
            interval: player.elo.interval,
            games: player.games,
            score: player.score,
        });
        let cells = rated.cross_table.iter().enumerate();
        let meetings = cells.flat_map(|(row, cells)| {
            let above = cells.iter().enumerate().skip(row + 1);
            above.filter_map(move |(column, cell)| {
                let cell = cell.as_ref()?;
                let count = cell.games.iter().sum::<u64>() as f64;
                Some(Met {
                    players: [row, column],
                    games: cell.games,
                    score: cell.score,
                    expected: cell.expected / count,
                })
            })
        });
        Ok(LadderList {
            form: form.to_owned(),
            players: players.collect(),
            meetings: meetings.collect(),
            p_value: rated.fit.p_value,
        })
    }

    /// The place of a training step's checkpoint.
    pub fn standing(&self, step: u64) -> Option<&Standing> {
        (self.players.iter()).find(|standing| standing.step == Some(step))
    }

    /// Reads a list.
    pub fn read(path: &Path) -> Result<LadderList, FileError> {
        let text = std::fs::read(path).map_err(|e| FileError::io(path, "reading", e))?;
        let list: LadderList = serde_json::from_slice(&text)
            .map_err(|e| FileError::content(path, format!("not a ladder's list: {e}")))?;
        let places = list.meetings.iter().flat_map(|met| met.players);
        match places.max() {
            Some(last) if last >= list.players.len() => Err(FileError::content(
                path,
                format!("a meeting of player {last}, of {}", list.players.len()),
            )),
            _ => Ok(list),
        }
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        atomic::write(path, |out| Ok(serde_json::to_writer(out, self)?))
    }
}
