//! The fixed built-in opponents by which strength is measured. They play on a player's own view, need no
//! network, and play the same game for the same seed.
//!
//! | name | plays |
//! |---|---|
//! | `random` | a legal move, each as likely; in an arrangement, each piece still to be placed |
//! | `greedy` | the move with the best material balance after it; `alphabeta:1` by another name |
//! | `alphabeta:D` | the move with the best material balance after `D` plies of best play, no quiescence search |
//!
//! Material is counted by [`material`]'s classic table. A won game counts above any material, the sooner the
//! better; a drawn one as equal material. Equally good moves are drawn from as `random` draws.
mod alphabeta;
pub mod material;

use std::fmt::{self, Display};
use std::str::FromStr;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

pub use alphabeta::AlphaBeta;
pub use material::Material;

use crate::game::random_move;

/// Plies of the deepest `alphabeta`: beyond it no move is found in a lifetime.
pub const DEEPEST: u8 = 20;

/// Which built-in opponent; its text is the name in the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Builtin {
    /// `random`.
    Random,
    /// `greedy`.
    Greedy,
    /// `alphabeta:D`.
    AlphaBeta {
        /// `D`, 1..=[`DEEPEST`] plies.
        depth: u8,
    },
}

/// Why a text names no built-in opponent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// `alphabeta` without a usable depth.
    #[error(
        "`{0}`: the depth of `alphabeta:D` must be a whole number of plies from 1 to {DEEPEST}"
    )]
    Depth(String),
    /// Anything else.
    #[error(
        "`{name}` is no built-in opponent (random, greedy, alphabeta:D); did you mean `{nearest}`?"
    )]
    Unknown {
        /// The text.
        name: String,
        /// The name most like it.
        nearest: &'static str,
    },
}

impl Display for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Builtin::Random => f.write_str("random"),
            Builtin::Greedy => f.write_str("greedy"),
            Builtin::AlphaBeta { depth } => write!(f, "alphabeta:{depth}"),
        }
    }
}

impl FromStr for Builtin {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (name, depth) = text
            .split_once(':')
            .map_or((text, None), |(name, depth)| (name, Some(depth)));
        match (name, depth) {
            ("random", None) => Ok(Builtin::Random),
            ("greedy", None) => Ok(Builtin::Greedy),
            ("alphabeta", depth) => depth
                .and_then(|d| d.parse().ok())
                .filter(|d| (1..=DEEPEST).contains(d))
                .map(|depth| Builtin::AlphaBeta { depth })
                .ok_or_else(|| NameError::Depth(text.to_owned())),
            _ => Err(NameError::Unknown {
                name: text.to_owned(),
                nearest: nearest(name),
            }),
        }
    }
}

/// The name with the fewest edits (Damerau and Levenshtein) to `name`.
fn nearest(name: &str) -> &'static str {
    [
        ("random", "random"),
        ("greedy", "greedy"),
        ("alphabeta", "alphabeta:2"),
    ]
    .into_iter()
    .min_by_key(|(candidate, _)| strsim::damerau_levenshtein(candidate, name))
    .map_or("random", |(_, shown)| shown)
}

impl TryFrom<String> for Builtin {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Builtin> for String {
    fn from(builtin: Builtin) -> String {
        builtin.to_string()
    }
}

/// A built-in opponent at play.
#[derive(Debug)]
pub struct Opponent<G: Material> {
    builtin: Builtin,
    rng: Pcg64Mcg,
    search: AlphaBeta<G>,
    moves: Vec<G::Move>,
}

impl<G: Material> Opponent<G> {
    /// An opponent whose random choices follow from `seed`.
    pub fn new(builtin: Builtin, seed: u64) -> Self {
        Opponent {
            builtin,
            rng: Pcg64Mcg::seed_from_u64(seed),
            search: AlphaBeta::default(),
            moves: Vec::new(),
        }
    }

    /// A move of the side to move.
    ///
    /// # Panics
    /// Where the game is over: there is no move to choose.
    pub fn choose(&mut self, game: &G, history: &G::History) -> G::Move {
        let depth = match self.builtin {
            Builtin::Random => {
                game.legal_moves(&mut self.moves);
                return random_move(game, &self.moves, &mut self.rng);
            }
            Builtin::Greedy => 1,
            Builtin::AlphaBeta { depth } => depth,
        };
        let chosen = self.search.choose(game, history, depth, &mut self.rng);
        chosen.expect("the game goes on").0
    }
}
