//! What a program may ask for, in either protocol.
use std::iter::Peekable;
use std::str::SplitWhitespace;

use super::protocol::quote;
use super::text::number;

/// A line that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `uci`, `ucci`: who are you?
    Hello,
    /// `isready`
    Ready,
    /// `ucinewgame`, `setoption newgame`
    NewGame,
    /// `setoption`
    SetOption {
        /// The option's name.
        name: String,
        /// Its value, if one is given.
        value: Option<String>,
    },
    /// `position`; what is wrong with it, if so.
    Position(Result<PositionText, String>),
    /// `banmoves`: moves that the next search may not play.
    BanMoves(Vec<String>),
    /// `go`
    Go(Box<Go>),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `d`: show the position.
    Show,
    /// `quit`
    Quit,
    /// An empty line.
    Nothing,
    /// Anything else; the text says what was expected.
    Unknown(String),
}

/// A position as it was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionText {
    /// Where the moves start; `None`: the start of the game.
    pub fen: Option<String>,
    /// The moves since.
    pub moves: Vec<String>,
}

/// How long to search and for what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Search in the opponent's time until `ponderhit` or `stop`.
    pub ponder: bool,
    /// Search until `stop`.
    pub infinite: bool,
    /// New simulations.
    pub nodes: Option<u64>,
    /// Depth as reported: mean depth of the tree's leaves, plus 1.
    pub depth: Option<u64>,
    /// Milliseconds for this move.
    pub move_ms: Option<u64>,
    /// `[colour]`: milliseconds on the clock.
    pub clock_ms: [Option<u64>; 2],
    /// `[colour]`: milliseconds that a move brings.
    pub increment_ms: [u64; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<u64>,
    /// The only moves to look at; empty: all.
    pub only: Vec<String>,
    /// What was not understood or has no meaning here.
    pub complaints: Vec<String>,
}

/// The words of a line.
pub struct Words<'a>(pub Peekable<SplitWhitespace<'a>>);

impl<'a> Words<'a> {
    /// The words of `line`.
    pub fn of(line: &'a str) -> Self {
        Words(line.split_whitespace().peekable())
    }

    /// The next word.
    pub fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// The words before the next one of `keywords`.
    pub fn until(&mut self, keywords: &[&str]) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(word) = self.0.next_if(|word| !keywords.contains(word)) {
            words.push(word.to_owned());
        }
        words
    }

    /// The number that belongs to `name`. One that cannot be read is complained of and counts as 0, which ends a
    /// search at once: better than one that never ends.
    pub fn number(&mut self, name: &str, complaints: &mut Vec<String>) -> u64 {
        let word = self.next().unwrap_or_default();
        number(word).unwrap_or_else(|| {
            complaints.push(format!(
                "go {name}: '{word}' is no whole number; 0 is taken"
            ));
            0
        })
    }

    /// The rest of a `position` line, which means the same in both protocols.
    pub fn position(&mut self) -> Result<PositionText, String> {
        let fen = match self.next() {
            Some("startpos") => None,
            Some("fen") => Some(self.until(&["moves"]).join(" ")),
            _ => {
                return Err("expected startpos or fen FEN, then perhaps moves M1 M2 ...".to_owned());
            }
        };
        let moves = match self.next() {
            None => Vec::new(),
            Some("moves") => self.until(&[]),
            Some(word) => {
                let word = quote(word);
                return Err(format!("'{word}' where only moves M1 M2 ... may follow"));
            }
        };
        Ok(PositionText { fen, moves })
    }
}
