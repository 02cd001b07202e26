//! The table of how strong a player is: one match a row.
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::arena::MatchResult;
use crate::rating::Rating;
use crate::table::{SCORE_HEAD, score_cells, write_aligned};

/// A match's place in the table, seen from the measured player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrengthRow {
    /// Name of the form.
    pub form: String,
    /// The opponent's name.
    pub opponent: String,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Mean length of a game in plies.
    pub mean_plies: f64,
    /// Score, Elo and their intervals.
    #[serde(flatten)]
    pub rating: Rating,
}

impl StrengthRow {
    /// The row of a match in `form` against `opponent`.
    pub fn new(form: impl Into<String>, opponent: impl Into<String>, result: &MatchResult) -> Self {
        StrengthRow {
            form: form.into(),
            opponent: opponent.into(),
            wins: result.wins,
            draws: result.draws,
            losses: result.losses,
            mean_plies: result.mean_plies,
            rating: result.rating(),
        }
    }

    /// Whether the 95 % interval lies above an even score.
    pub fn is_stronger(&self) -> bool {
        self.rating.score_interval.lower > 0.5
    }

    fn cells(&self) -> Vec<String> {
        let names = [self.form.clone(), self.opponent.clone()];
        let score = score_cells([self.wins, self.draws, self.losses], &self.rating);
        names.into_iter().chain(score).collect()
    }
}

/// One player's matches; its text is an aligned table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrengthTable {
    /// A row a match.
    pub rows: Vec<StrengthRow>,
}

impl Display for StrengthTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["form", "opponent"].into_iter().chain(SCORE_HEAD);
        let head = head.map(str::to_owned).collect();
        let rows = self.rows.iter().map(StrengthRow::cells);
        let lines: Vec<_> = std::iter::once(head).chain(rows).collect();
        write_aligned(f, &lines)
    }
}
