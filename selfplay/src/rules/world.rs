//! The truth of a game in progress.
use rand_pcg::Pcg64Mcg;

use super::history::History;
use super::position::{IllegalMove, Position};
use super::ruleset::Ruleset;
use super::types::Move;
use super::view::{Reveal, View};
use crate::game::{Color, Game, Referee, Turn};

/// A game in progress, with everything that a player may not know.
#[derive(Clone, Debug)]
pub struct World {
    truth: View,
    history: History,
}

impl World {
    /// A new game; `_rng` deals what a form deals.
    pub fn start(rules: &'static Ruleset, _rng: &mut Pcg64Mcg) -> World {
        World::from_position(Position::start(rules))
    }

    /// A game that goes on from a position, whose past is unknown.
    pub fn from_position(position: Position) -> World {
        World {
            truth: View::new(position),
            history: History::default(),
        }
    }

    /// The true position.
    pub fn position(&self) -> &Position {
        self.truth.position()
    }

    /// Plays any move, if it is legal.
    pub fn try_apply(
        &mut self,
        mv: Move,
        rng: &mut Pcg64Mcg,
    ) -> Result<Option<Reveal>, IllegalMove> {
        if self.position().is_legal(mv) {
            Ok(self.apply(mv, rng))
        } else {
            Err(IllegalMove {
                mv,
                fen: self.position().fen(),
            })
        }
    }
}

impl Referee for World {
    type View = View;

    fn view(&self, _viewer: Color) -> View {
        self.truth
    }

    fn history(&self, _viewer: Color) -> &History {
        &self.history
    }

    fn turn(&self) -> Turn {
        self.truth.turn(&self.history)
    }

    fn apply(&mut self, mv: Move, _rng: &mut Pcg64Mcg) -> Option<Reveal> {
        self.truth.play(mv, &mut self.history);
        None
    }
}
