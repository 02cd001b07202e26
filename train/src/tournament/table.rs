//! What a tournament brought, as text.
use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::Encounter;
use crate::arena::MatchResult;
use crate::rating::{Pairs, Rating};
use crate::table::{SCORE_HEAD, counts, score_cells, write_aligned};

/// A cross table, the best first. Between two players it is one line each; of more the matches follow one by one.
pub struct CrossTable<'a> {
    names: &'a [String],
    encounters: &'a [Encounter],
    /// Places in `names`, by score.
    order: Vec<usize>,
    totals: Vec<Total>,
}

/// A player's games against all others.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    /// Wins, draws, losses.
    counts: [u32; 3],
    pairs: Pairs,
}

impl<'a> CrossTable<'a> {
    /// The table of the matches between the players of `names`.
    pub fn new(names: &'a [String], encounters: &'a [Encounter]) -> Self {
        let mut totals = vec![Total::default(); names.len()];
        for encounter in encounters {
            for player in encounter.players {
                let seen = seen_by(encounter, player);
                totals[player].add(seen);
            }
        }
        let mut order: Vec<_> = (0..names.len()).collect();
        let score = |player: usize| Rating::of(&totals[player].pairs).score;
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        CrossTable {
            names,
            encounters,
            order,
            totals,
        }
    }

    fn between(&self, player: usize, other: usize) -> String {
        let both = [player.min(other), player.max(other)];
        let found = (self.encounters.iter()).find(|encounter| encounter.players == both);
        match found.filter(|encounter| !encounter.result.games.is_empty()) {
            Some(encounter) => {
                let score = Rating::of(&seen_by(encounter, player).pairs).score;
                format!("{:.1}", 100.0 * score)
            }
            None => "-".to_owned(),
        }
    }

    fn totals(&self) -> Vec<Vec<String>> {
        let mut head: Vec<_> = ["", "player"]
            .into_iter()
            .chain(SCORE_HEAD)
            .map(str::to_owned)
            .collect();
        if self.names.len() > 2 {
            head.extend((1..=self.order.len()).map(|place| place.to_string()));
        }
        let mut lines = vec![head];
        for (place, &player) in self.order.iter().enumerate() {
            let total = &self.totals[player];
            let mut cells = vec![(place + 1).to_string(), self.names[player].clone()];
            cells.extend(score_cells(total.counts, &Rating::of(&total.pairs)));
            if self.names.len() > 2 {
                cells.extend(self.order.iter().map(|&other| self.between(player, other)));
            }
            lines.push(cells);
        }
        lines
    }

    fn matches(&self) -> Vec<Vec<String>> {
        let head = ["player", "against"].into_iter().chain(SCORE_HEAD);
        let mut lines = vec![head.map(str::to_owned).collect::<Vec<_>>()];
        for encounter in self.encounters {
            let names = encounter.players.map(|player| self.names[player].clone());
            let result = &encounter.result;
            let score = score_cells(counts(result), &result.rating());
            lines.push(names.into_iter().chain(score).collect());
        }
        lines
    }

    fn endings(&self) -> String {
        let mut all = BTreeMap::new();
        for (reason, count) in self.encounters.iter().flat_map(|e| &e.result.reasons) {
            *all.entry(reason).or_insert(0u32) += count;
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
        let all: Vec<_> = all
            .iter()
            .map(|(reason, count)| format!("{reason} {count}"))
            .collect();
        all.join(", ")
    }
}

impl Display for CrossTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_aligned(f, &self.totals())?;
        if self.names.len() > 2 {
            writeln!(f)?;
            write_aligned(f, &self.matches())?;
        }
        let plies: u32 = (self.encounters.iter())
            .flat_map(|encounter| &encounter.result.games)
            .map(|game| game.plies)
            .sum();
        let games: usize = self.encounters.iter().map(|e| e.result.games.len()).sum();
        let mean = f64::from(plies) / games.max(1) as f64;
        writeln!(f, "\nendings: {}; {mean:.1} plies a game", self.endings())
    }
}

impl Total {
    fn add(&mut self, other: Total) {
        for (sum, n) in self.counts.iter_mut().zip(other.counts) {
            *sum += n;
        }
        for (sum, n) in self.pairs.iter_mut().zip(other.pairs) {
            *sum += n;
        }
    }
}

/// A match seen from one of its players.
fn seen_by(encounter: &Encounter, player: usize) -> Total {
    let result: &MatchResult = &encounter.result;
    let (mut counts, mut pairs) = (counts(result), result.pairs);
    if encounter.players[0] != player {
        counts.reverse();
        pairs.reverse();
    }
    Total { counts, pairs }
}
