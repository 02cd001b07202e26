//! Why a text is not a move.
use std::fmt;

/// The most characters of a text that an error repeats.
const SHOWN: usize = 24;

/// What is wrong with a move text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// It is no move in that notation, whatever the position.
    Unreadable,
    /// No piece stands where it says.
    NoPiece,
    /// More than one legal move fits.
    Ambiguous,
    /// The one move that fits is forbidden.
    Illegal,
    /// What it says came to light cannot be so.
    Reveal,
}

/// Why a text is not a legal move of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// The text, cut off if it is long.
    pub text: String,
    /// What kind of error it is.
    pub fault: Fault,
    /// What is wrong, and what was expected.
    pub why: String,
}

impl NotationError {
    pub(super) fn new(text: &str, fault: Fault, why: String) -> NotationError {
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        NotationError {
            text: shown,
            fault,
            why,
        }
    }
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}': {}", self.text.escape_debug(), self.why)
    }
}

impl std::error::Error for NotationError {}
