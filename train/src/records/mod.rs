//! Game records: games of people and engines in the texts that they use.
//!
//! A file is read game by game ([`games`]), whatever its encoding ([`text`]): PGN ([`pgn`]) and DhtmlXQ
//! ([`dhtmlxq`]) in any order, or an XQF file ([`xqf`]). [`import`] plays the moves and makes training rows of them, [`shards`] takes those,
//! [`export`] writes a run's games as PGN.
pub mod dhtmlxq;
pub mod export;
pub mod games;
pub mod import;
pub mod pgn;
pub mod results;
mod setup;
pub mod shards;
pub mod text;
pub mod xqf;

use selfplay::game::{Color, Outcome};

/// The most plies of a recorded game; what follows is not read.
pub const MOST_PLIES: usize = 10_000;

/// A game as its record tells it; nothing in it is checked against the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedGame {
    /// From 1 in its file.
    pub number: usize,
    /// Line on which it starts, from 1.
    pub line: usize,
    /// Names and values, as written.
    pub tags: Vec<(String, String)>,
    /// The main line.
    pub moves: Vec<RecordedMove>,
    /// How it ended, from the tag or behind the moves.
    pub outcome: Option<Outcome>,
    /// Why it cannot be used, if so.
    pub fault: Option<String>,
    /// Line of the first text behind its result that belongs to no game, if there is any.
    pub behind: Option<usize>,
}

/// A move of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMove {
    /// Its text.
    pub text: String,
    /// The line of the file, from 1.
    pub line: usize,
}

impl RecordedGame {
    /// The value of a tag, whose name is compared without case.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether nothing has been read of it yet.
    fn is_empty(&self) -> bool {
        self.line == 0 && self.fault.is_none()
    }

    /// Notes the line on which it starts, unless it has started.
    fn begin(&mut self, line: usize) {
        if self.line == 0 {
            self.line = line;
        }
    }

    /// Notes the first thing that is wrong with it.
    fn blame(&mut self, why: impl Into<String>) {
        self.fault.get_or_insert(why.into());
    }

    /// Takes a result that a record tells; one that contradicts an earlier one is a fault.
    fn tell(&mut self, text: &str) {
        let Some(outcome) = outcome(text) else { return };
        match self.outcome {
            Some(earlier) if earlier != outcome => {
                self.blame(format!(
                    "the result is told twice, differently: '{text}' is the second"
                ));
            }
            _ => self.outcome = Some(outcome),
        }
    }
}

/// The outcome that a record's text names, in PGN's words or in Chinese.
pub fn outcome(text: &str) -> Option<Outcome> {
    const RED: [&str; 5] = ["1-0", "红胜", "红先胜", "紅勝", "紅先勝"];
    const BLACK: [&str; 7] = ["0-1", "黑胜", "黑勝", "红先负", "紅先負", "红负", "紅負"];
    const DRAW: [&str; 9] = [
        "1/2-1/2",
        "1/2",
        "½-½",
        "0.5-0.5",
        "和棋",
        "和局",
        "和",
        "红先和",
        "紅先和",
    ];
    let text = text.trim();
    if RED.contains(&text) {
        Some(Outcome::Win(Color::Red))
    } else if BLACK.contains(&text) {
        Some(Outcome::Win(Color::Black))
    } else if DRAW.contains(&text) {
        Some(Outcome::Draw)
    } else {
        None
    }
}
