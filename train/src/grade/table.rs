//! The levels of a form as people read them.
use std::fmt::{self, Display};

use super::grading::Graded;
use crate::levels::Level;
use crate::table::write_aligned;

/// An aligned table, the weakest level first.
pub struct LevelTable<'a> {
    /// The levels.
    pub levels: &'a [Level],
    /// The same, with what the check brought.
    pub graded: &'a [Graded],
}

const HEAD: [&str; 11] = [
    "level",
    "step",
    "visits",
    "temperature",
    "Elo",
    "95 %",
    "gap",
    "score below %",
    "95 %",
    "games",
    "policy loss",
];

impl Display for LevelTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![HEAD.map(str::to_owned).to_vec()];
        let mut below: Option<f64> = None;
        for (level, graded) in self.levels.iter().zip(self.graded) {
            let [low, high] = level.elo_interval;
            let against = graded.against_below.as_ref();
            let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            lines.push(vec![
                level.level.to_string(),
                level.step.to_string(),
                level.visits.to_string(),
                level.temperature.to_string(),
                format!("{:+.0}", level.elo),
                format!("{low:+.0}..{high:+.0}"),
                dash(below.map(|below| format!("{:.0}", level.elo - below))),
                dash(against.map(|rating| format!("{:.1}", 100.0 * rating.score))),
                dash(against.map(|rating| rating.score_interval.to_string())),
                dash(against.map(|rating| rating.games.to_string())),
                format!("{:.2}", level.policy_loss),
            ]);
            below = Some(level.elo);
        }
        write_aligned(f, &lines)
    }
}
