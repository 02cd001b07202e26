//! What the kept games add up to, form by form.
use std::collections::BTreeMap;

use selfplay::game::{Color, Outcome, Reason};

use crate::games::GameText;

/// Bars of a histogram of lengths, at most.
const BARS: u32 = 40;
/// Plies that the width of a bar is a multiple of.
const BAR_UNIT: u32 = 5;

/// Counts of games by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Red won.
    pub red: u64,
    /// Drawn.
    pub draw: u64,
    /// Black won.
    pub black: u64,
}

impl Results {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.red + self.draw + self.black
    }

    /// Red's wins, draws and Black's wins in % of `of` games.
    pub fn percent(&self, of: u64) -> [f64; 3] {
        [self.red, self.draw, self.black].map(|n| 100.0 * n as f64 / of.max(1) as f64)
    }

    fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Win(Color::Red) => &mut self.red,
            Outcome::Win(Color::Black) => &mut self.black,
            Outcome::Draw => &mut self.draw,
        } += 1;
    }
}

/// The games of one form, or of all.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By result.
    pub results: Results,
    /// By reason, in the order of their names.
    pub reasons: BTreeMap<String, (Reason, Results)>,
    plies: u64,
    /// Games by length in plies, decisive and drawn.
    lengths: BTreeMap<u32, [u64; 2]>,
}

/// A histogram of lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Width of a bar in plies.
    pub width: u32,
    /// Games of each bar, decisive and drawn; the first begins at 0 plies.
    pub bars: Vec<[u64; 2]>,
}

impl Tally {
    /// Counts a game.
    pub fn add(&mut self, game: &GameText) {
        let plies = game.moves.len() as u32;
        let drawn = game.ending.outcome == Outcome::Draw;
        self.results.add(game.ending.outcome);
        let reason = game.ending.reason;
        let entry = self.reasons.entry(reason.to_string());
        entry
            .or_insert((reason, Results::default()))
            .1
            .add(game.ending.outcome);
        self.plies += u64::from(plies);
        self.lengths.entry(plies).or_default()[usize::from(drawn)] += 1;
    }

    /// Number of games.
    pub fn games(&self) -> u64 {
        self.results.total()
    }

    /// Mean length in plies; 0 without games.
    pub fn mean_plies(&self) -> f64 {
        self.plies as f64 / self.games().max(1) as f64
    }

    /// Length in plies of the shortest game, of the middle one and of the longest; 0 without games.
    pub fn spread(&self) -> [u32; 3] {
        let mut before = 0;
        let middle = self.lengths.iter().find(|(_, n)| {
            before += n[0] + n[1];
            2 * before >= self.games()
        });
        let ends = [
            self.lengths.first_key_value(),
            middle,
            self.lengths.last_key_value(),
        ];
        ends.map(|entry| entry.map_or(0, |(&plies, _)| plies))
    }

    /// Its lengths in bars of a round width.
    pub fn histogram(&self) -> Histogram {
        let longest = self.spread()[2];
        let width = (longest / BARS + 1).div_ceil(BAR_UNIT) * BAR_UNIT;
        let mut bars = vec![[0; 2]; (longest / width + 1) as usize];
        for (plies, counts) in &self.lengths {
            let bar = &mut bars[(plies / width) as usize];
            (bar[0], bar[1]) = (bar[0] + counts[0], bar[1] + counts[1]);
        }
        Histogram { width, bars }
    }
}
