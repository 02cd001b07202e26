//! Move texts (RULES.md §6): one printer and one reader a notation, each the inverse of the other.
//!
//! | notation | a move | laid face down | turned up, taken | placed in an arrangement |
//! |---|---|---|---|---|
//! | `coordinates` | `h2e2` | `h2e2~` | `h2e2=R`, `h2e2xN`, `h2e2=RxN` | `R@a0` |
//! | `uci` | `h3e3` | `h3e3~` | `h3e3=R` | `R@a1` |
//! | `iccs` | `H2-E2` | `H2-E2~` | `H2-E2=R` | `R@A0` |
//! | `wxf` | `C2=5` | `C1=3~E` | `H2+3=R` | `R@a0` |
//! | `chinese` | `炮二平五` | `炮一平三变相` | `马二进三变车` | `R@a0` |
//! | `short` | `炮25` | `炮1=3~相` | `马2+3=车` | `R@a0` |
//!
//! A face-down piece bears the name of the kind that it plays as. What a known one is, the last three tell
//! with the move; what an unknown one turned out to be stands there only if it is told. What was taken is
//! written `xN` (`x马`) in all of them.
mod error;
mod name;
mod reader;
mod relative;
mod resolve;
mod squares;
mod steps;
mod words;

use std::fmt;
use std::str::FromStr;

pub use error::{Fault, NotationError};
pub use squares::{Ranks, Said};

use super::position::{IllegalMove, Position, Reveal};
use super::types::Move;

/// A way to write moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// `h2e2`, ranks 0-9: UCI as Pikafish has it, UCCI.
    Coordinates,
    /// `h3e3`, ranks 1-10: UCI as Fairy-Stockfish has it.
    Uci,
    /// `H2-E2`, ranks 0-9.
    Iccs,
    /// `C2=5`.
    Wxf,
    /// `炮二平五`.
    Chinese,
    /// `炮25`.
    Short,
}

impl Notation {
    /// Every notation.
    pub const ALL: [Notation; 6] = [
        Notation::Coordinates,
        Notation::Uci,
        Notation::Iccs,
        Notation::Wxf,
        Notation::Chinese,
        Notation::Short,
    ];

    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Notation::Coordinates => "coordinates",
            Notation::Uci => "uci",
            Notation::Iccs => "iccs",
            Notation::Wxf => "wxf",
            Notation::Chinese => "chinese",
            Notation::Short => "short",
        }
    }

    /// A move in it.
    const fn example(self) -> &'static str {
        match self {
            Notation::Coordinates => "h2e2 (files a-i, ranks 0-9)",
            Notation::Uci => "h3e3 (files a-i, ranks 1-10)",
            Notation::Iccs => "H2-E2 (files A-I, ranks 0-9)",
            Notation::Wxf => "C2=5, H+-4 or 15=6",
            Notation::Chinese => "炮二平五 or 前马进七",
            Notation::Short => "炮25, 马8+7 or 前马-6",
        }
    }

    /// What a text that cannot be read seems to say besides a move, and how that is written.
    fn expected_behind(self, text: &str) -> &'static str {
        match self {
            Notation::Wxf | Notation::Chinese | Notation::Short => "",
            _ if text.contains('@') => "; a piece is placed as in R@a0, any of ABNRCP",
            _ if text.contains(['=', 'x']) => {
                "; what came to light stands behind it as =R, xN or =RxN, any of ABNRCP"
            }
            _ => "",
        }
    }

    /// The notation that a text looks like, whatever the position: `h2e2` is taken for
    /// [`Notation::Coordinates`], and for [`Notation::Uci`] only if it has a rank 10. `None`: no move text.
    pub fn recognise(text: &str) -> Option<Notation> {
        let hyphened = text.contains(['-', '－']);
        if squares::read(squares::Ranks::FromZero, text).is_some() {
            Some(if hyphened {
                Notation::Iccs
            } else {
                Notation::Coordinates
            })
        } else if squares::read(squares::Ranks::FromOne, text).is_some() {
            Some(Notation::Uci)
        } else {
            reader::read(text)?;
            Some(match text.is_ascii() {
                true => Notation::Wxf,
                false if text.contains(words::is_action_word) => Notation::Chinese,
                false => Notation::Short,
            })
        }
    }

    /// A legal move's text; no other legal move has the same.
    pub fn print(self, position: &Position, mv: Move) -> Result<String, IllegalMove> {
        self.print_revealed(position, mv, Reveal::default())
    }

    /// The same with what the move brings to light.
    pub fn print_revealed(
        self,
        position: &Position,
        mv: Move,
        reveal: Reveal,
    ) -> Result<String, IllegalMove> {
        if !position.is_legal(mv) {
            let fen = position.fen();
            return Err(IllegalMove { mv, fen });
        }
        Ok(match self {
            Notation::Coordinates => squares::Style::COORDINATES.write(mv, reveal),
            Notation::Uci => squares::Style::UCI.write(mv, reveal),
            Notation::Iccs => squares::Style::ICCS.write(mv, reveal),
            Notation::Wxf | Notation::Chinese | Notation::Short => {
                relative::write(self, position, mv, reveal)
            }
        })
    }

    /// The legal move that a text names, and what it says came to light of pieces that `position` does not
    /// know. Reads more than is printed: either case, traditional characters, full-width digits, either
    /// side's characters, the other relative notations; `text` with more than one meaning is an error.
    pub fn parse(self, position: &Position, text: &str) -> Result<(Move, Reveal), NotationError> {
        let found = match self {
            Notation::Coordinates | Notation::Iccs => {
                squares::parse(squares::Ranks::FromZero, position, text)
            }
            Notation::Uci => squares::parse(squares::Ranks::FromOne, position, text),
            Notation::Wxf | Notation::Chinese | Notation::Short => resolve::parse(position, text),
        };
        let unreadable = || {
            let name = self.name();
            let behind = self.expected_behind(text);
            let example = self.example();
            let why = format!("no move in the notation {name}, such as {example}{behind}");
            (Fault::Unreadable, why)
        };
        found
            .unwrap_or_else(|| Err(unreadable()))
            .map_err(|(fault, why)| NotationError::new(text, fault, why))
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no notation's; case is no matter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no notation '{0}'; known: coordinates (or ucci), uci, iccs, wxf, chinese, short")]
pub struct UnknownNotation(String);

impl FromStr for Notation {
    type Err = UnknownNotation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name.eq_ignore_ascii_case("ucci") {
            return Ok(Notation::Coordinates);
        }
        Notation::ALL
            .into_iter()
            .find(|notation| notation.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownNotation(name.to_owned()))
    }
}
