//! The table of how strong a player is: one match a row.
use std::fmt::{self, Display};

use serde::Serialize;

use crate::arena::MatchResult;
use crate::rating::Rating;

/// A match's place in the table, seen from the measured player.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

    fn cells(&self) -> [String; 10] {
        let rating = &self.rating;
        [
            self.form.clone(),
            self.opponent.clone(),
            rating.games.to_string(),
            self.wins.to_string(),
            self.draws.to_string(),
            self.losses.to_string(),
            format!("{:.1}", 100.0 * rating.score),
            rating.score_interval.to_string(),
            rating.elo_text(),
            rating.elo_interval.to_string(),
        ]
    }
}

/// One player's matches; its text is an aligned table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StrengthTable {
    /// A row a match.
    pub rows: Vec<StrengthRow>,
}

const HEAD: [&str; 10] = [
    "form", "opponent", "games", "W", "D", "L", "score %", "95 %", "Elo", "95 %",
];

impl Display for StrengthTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = HEAD.map(str::to_owned);
        let lines: Vec<_> = std::iter::once(head)
            .chain(self.rows.iter().map(StrengthRow::cells))
            .collect();
        let width = |column: usize| {
            lines
                .iter()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        for line in &lines {
            write!(f, "{:<1$}", line[0], width(0))?;
            write!(f, "  {:<1$}", line[1], width(1))?;
            for (column, cell) in line.iter().enumerate().skip(2) {
                write!(f, "  {cell:>0$}", width(column))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
