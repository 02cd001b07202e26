//! Results between players: what is counted, and how the games of any number of encounters come together.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::RatingError;
use super::score::Pairs;

/// A game as one of its players sees it; its number is the half points it brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameScore {
    /// Lost, 0.
    Loss = 0,
    /// Drawn, 1.
    Draw = 1,
    /// Won, 2.
    Win = 2,
}

impl GameScore {
    /// That of so many half points: 0, 1, or 2.
    pub fn from_halves(halves: usize) -> GameScore {
        match halves {
            0 => GameScore::Loss,
            1 => GameScore::Draw,
            _ => GameScore::Win,
        }
    }
}

/// The games of two players, seen from `player`. Every count of games stands in the order lost, drawn, won.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encounter {
    /// Whose scores these are.
    pub player: String,
    /// The other.
    pub opponent: String,
    /// `[3, 3]`, number of opening pairs: by the player's game in which it moved first, then by the other one.
    /// [`Self::pentanomial`] has them by the pair's points. A draw rate cannot be told from the points alone, as two
    /// draws bring as much as a win and a loss; nor can the advantage of the first move.
    #[serde(default)]
    pub pairs: [[u32; 3]; 3],
    /// `[3]`, unpaired games in which the player moved first.
    #[serde(default)]
    pub moving_first: [u32; 3],
    /// `[3]`, unpaired games in which the opponent moved first.
    #[serde(default)]
    pub moving_second: [u32; 3],
}

impl Encounter {
    /// Two players without a game yet.
    pub fn new(player: impl Into<String>, opponent: impl Into<String>) -> Self {
        Encounter {
            player: player.into(),
            opponent: opponent.into(),
            ..Self::default()
        }
    }

    /// Counts an opening pair by its two games, the one in which the player moved first ahead.
    pub fn add_pair(&mut self, moving_first: GameScore, moving_second: GameScore) {
        self.pairs[moving_first as usize][moving_second as usize] += 1;
    }

    /// Counts an unpaired game.
    pub fn add_game(&mut self, moves_first: bool, score: GameScore) {
        let games = if moves_first {
            &mut self.moving_first
        } else {
            &mut self.moving_second
        };
        games[score as usize] += 1;
    }

    /// Number of opening pairs in which the player scored 0, 1/2, 1, 3/2 and 2 points.
    pub fn pentanomial(&self) -> Pairs {
        let mut pairs = Pairs::default();
        for (first, row) in self.pairs.iter().enumerate() {
            for (second, count) in row.iter().enumerate() {
                pairs[first + second] = pairs[first + second].saturating_add(*count);
            }
        }
        pairs
    }

    /// Number of unpaired games lost, drawn and won.
    pub fn singles(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.moving_first[i].saturating_add(self.moving_second[i]))
    }

    /// Number of all games lost, drawn and won.
    pub fn games(&self) -> [u64; 3] {
        std::array::from_fn(|i| {
            let column: u64 = self.pairs.iter().map(|row| u64::from(row[i])).sum();
            let row: u64 = self.pairs[i].iter().map(|&count| u64::from(count)).sum();
            column + row + u64::from(self.moving_first[i]) + u64::from(self.moving_second[i])
        })
    }

    /// The same games, seen from the opponent.
    pub fn reversed(&self) -> Self {
        let mirror = |games: [u32; 3]| [games[2], games[1], games[0]];
        Encounter {
            player: self.opponent.clone(),
            opponent: self.player.clone(),
            pairs: std::array::from_fn(|i| std::array::from_fn(|j| self.pairs[2 - j][2 - i])),
            moving_first: mirror(self.moving_second),
            moving_second: mirror(self.moving_first),
        }
    }

    /// Adds games of the same two players, seen from the same one; `None` where there are too many to count.
    fn merge(&mut self, other: &Self) -> Option<()> {
        for (row, added) in self.pairs.iter_mut().zip(&other.pairs) {
            add(row, added)?;
        }
        add(&mut self.moving_first, &other.moving_first)?;
        add(&mut self.moving_second, &other.moving_second)?;
        (self.games().iter().sum::<u64>() <= u64::from(u32::MAX)).then_some(())
    }
}

/// All results, one encounter for every two players that met.
pub(super) struct Table {
    /// The players, by name.
    pub names: Vec<String>,
    /// Those with a game, seen from the player whose name comes first.
    pub meetings: Vec<Meeting>,
}

/// All games of two players.
pub(super) struct Meeting {
    /// Place of the player in [`Table::names`].
    pub player: usize,
    /// Place of the opponent.
    pub opponent: usize,
    /// Their games.
    pub games: Encounter,
}

impl Table {
    /// Brings encounters together, in any order, seen from either player.
    pub fn new(encounters: &[Encounter]) -> Result<Self, RatingError> {
        let mut places = BTreeMap::new();
        let mut merged: BTreeMap<(&str, &str), Encounter> = BTreeMap::new();
        for encounter in encounters {
            let (player, opponent) = (&*encounter.player, &*encounter.opponent);
            if player == opponent {
                return Err(RatingError::Itself(player.to_owned()));
            }
            places.extend([(player, 0), (opponent, 0)]);
            let (key, games) = if player < opponent {
                ((player, opponent), encounter.clone())
            } else {
                ((opponent, player), encounter.reversed())
            };
            merged
                .entry(key)
                .or_insert_with(|| Encounter::new(key.0, key.1))
                .merge(&games)
                .ok_or_else(|| RatingError::TooMany(key.0.to_owned(), key.1.to_owned()))?;
        }
        merged.retain(|_, games| games.games() != [0; 3]);
        if merged.is_empty() {
            return Err(RatingError::NoGames);
        }
        for (place, entry) in places.values_mut().enumerate() {
            *entry = place;
        }
        Ok(Table {
            names: places.keys().map(|&name| name.to_owned()).collect(),
            meetings: merged
                .into_iter()
                .map(|((player, opponent), games)| Meeting {
                    player: places[player],
                    opponent: places[opponent],
                    games,
                })
                .collect(),
        })
    }
}

/// Adds counts; `None` where one overflows.
fn add(counts: &mut [u32; 3], added: &[u32; 3]) -> Option<()> {
    for (count, more) in counts.iter_mut().zip(added) {
        *count = count.checked_add(*more)?;
    }
    Some(())
}
