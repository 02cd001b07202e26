//! The truth of a game in progress.
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::fen::{self, FenError, WorldSetup};
use super::geometry::{HOMES, Squares, home_kind};
use super::history::History;
use super::position::{IllegalMove, Position, Reveal};
use super::ruleset::{Layout, Ruleset};
use super::types::{Kind, Move, Square};
use super::view::{View, oriented};
use crate::game::{Color, Game, Referee, Turn};
use crate::policy::SQUARES;
use crate::record::{self, Truth};

/// A game in progress, with everything that a player may not know.
#[derive(Clone, Debug)]
pub struct World {
    /// `[viewer]`; the same twice where both players know the same.
    views: [View; 2],
    /// `[viewer]`.
    histories: [History; 2],
    /// What each face-down piece is that some player does not know; `None` for one not yet placed.
    hidden: [Option<Kind>; SQUARES],
}

impl World {
    /// A new game; `rng` deals what a form deals.
    pub fn start(rules: &'static Ruleset, rng: &mut Pcg64Mcg) -> World {
        let mut hidden = [None; SQUARES];
        if rules.layout == Layout::Dealt {
            deal(rules, Color::Red, rng, &mut hidden);
            deal(rules, Color::Black, rng, &mut hidden);
        }
        let view = |viewer| View::new(Position::start_for(rules, viewer));
        World {
            views: [view(Color::Red), view(Color::Black)],
            histories: Default::default(),
            hidden,
        }
    }

    /// Parses a world's FEN; the past is unknown.
    pub fn from_fen(rules: &'static Ruleset, text: &str) -> Result<World, FenError> {
        let WorldSetup { positions, hidden } = fen::parse_world(rules, text)?;
        Ok(World {
            views: positions.map(View::new),
            histories: Default::default(),
            hidden,
        })
    }

    /// A game that goes on from a position of which both players know everything, and whose past is
    /// unknown.
    pub fn from_position(position: Position) -> World {
        World {
            views: [View::new(position); 2],
            histories: Default::default(),
            hidden: [None; SQUARES],
        }
    }

    /// The truth as a FEN, ending in `world` where a form hides something.
    pub fn fen(&self) -> String {
        let [red, black] = &self.views;
        fen::write_world([red.position(), black.position()], &self.hidden)
    }

    /// What that player knows of the position.
    pub fn position(&self, viewer: Color) -> &Position {
        self.views[viewer as usize].position()
    }

    /// What the piece on a square truly is; `None` where none stands, and for one not yet placed.
    pub fn identity(&self, square: Square) -> Option<Kind> {
        let known = |viewer| self.position(viewer).piece_at(square)?.identity();
        self.hidden[square.index()]
            .or_else(|| known(Color::Red))
            .or_else(|| known(Color::Black))
    }

    /// Whether a position's text ends in `world`: it tells the truth behind both players' knowledge.
    pub fn is_fen(text: &str) -> bool {
        text.split_whitespace().next_back() == Some("world")
    }

    /// The side that is to decide: a side that has pieces to place, else the side to move.
    pub fn decider(&self) -> Color {
        let arranges = |&color: &Color| self.position(color).arranging().is_some();
        [Color::Red, Color::Black]
            .into_iter()
            .find(arranges)
            .unwrap_or(self.position(Color::Red).turn())
    }

    /// Plays any move, if it is legal.
    pub fn try_apply(
        &mut self,
        mv: Move,
        rng: &mut Pcg64Mcg,
    ) -> Result<Option<Reveal>, IllegalMove> {
        let position = self.position(self.decider());
        if position.is_legal(mv) {
            Ok(self.apply(mv, rng))
        } else {
            let fen = position.fen();
            Err(IllegalMove { mv, fen })
        }
    }

    /// What a move turns up and takes of what some player does not know.
    fn uncover(&mut self, mv: Move) -> Reveal {
        Reveal {
            mover: self.hidden[mv.from().index()].take(),
            taken: self.hidden[mv.to().index()].take(),
        }
    }
}

/// Deals a side's face-down pieces among their home squares, each way as likely.
fn deal(rules: &Ruleset, color: Color, rng: &mut Pcg64Mcg, hidden: &mut [Option<Kind>; SQUARES]) {
    let home = |square| home_kind(color, square).filter(|&kind| rules.takes_part.has(kind));
    let squares = Squares(HOMES[color as usize]).filter(|&square| home(square).is_some());
    let mut kinds: Vec<_> = squares.clone().filter_map(home).collect();
    kinds.shuffle(rng);
    for (square, kind) in squares.zip(kinds) {
        hidden[square.index()] = Some(kind);
    }
}

impl Referee for World {
    type View = View;

    fn view(&self, viewer: Color) -> View {
        self.views[viewer as usize]
    }

    fn history(&self, viewer: Color) -> &History {
        &self.histories[viewer as usize]
    }

    fn open_to_both(&self) -> bool {
        self.position(Color::Red).rules().open_to_both()
    }

    fn is_public(&self) -> bool {
        !self.views[self.decider() as usize].is_secret()
    }

    /// In an arrangement, the opponent's pieces that lie already, too; what is not placed yet is not there.
    fn truth(&self, viewer: Color) -> Truth {
        let position = self.position(viewer);
        let decider = position.decider();
        record::HOMES.map(|home| {
            let at = oriented(decider, home.into());
            let unknown = position.is_unknown(at);
            let kind = self.hidden[at].filter(|_| unknown);
            kind.map_or(0, |kind| kind as u8 + 1)
        })
    }

    fn turn(&self) -> Turn {
        let decider = self.decider();
        self.view(decider).turn(self.history(decider))
    }

    fn apply(&mut self, mv: Move, _rng: &mut Pcg64Mcg) -> Option<Reveal> {
        let decider = self.decider() as usize;
        if let Some(kind) = mv.placed() {
            self.views[decider].play(mv, &mut self.histories[decider]);
            self.hidden[mv.from().index()] = Some(kind);
            return None;
        }
        let truth = self.uncover(mv);
        let mut light = Reveal::default();
        for (view, history) in self.views.iter_mut().zip(&mut self.histories) {
            view.play(mv, history);
            if view.position().awaits_reveal() {
                let (mover, taken) = view.position().awaited();
                light.mover = light.mover.or(truth.mover.filter(|_| mover.is_some()));
                light.taken = light.taken.or(truth.taken.filter(|_| taken.is_some()));
                view.reveal(truth, history);
            }
        }
        (light != Reveal::default()).then_some(light)
    }
}
