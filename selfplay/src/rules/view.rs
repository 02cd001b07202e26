//! What one player may know of a game, as search and network see it.
use super::ending;
use super::history::{Entry, History};
use super::position::Position;
use super::types::{Move, Square};
use crate::game::{Color, Features, Game, Turn};
use crate::policy;
use crate::record::{Record, at};

/// The identity of a face-down piece turning up; uninhabited, since no form has face-down pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reveal {}

/// A position as one player may know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    position: Position,
}

impl View {
    /// The view of a position in which nothing is hidden.
    pub fn new(position: Position) -> View {
        View { position }
    }

    /// What is known of the board.
    pub fn position(&self) -> &Position {
        &self.position
    }
}

impl Game for View {
    type Move = Move;
    type Reveal = Reveal;
    type History = History;

    fn turn(&self, history: &History) -> Turn {
        ending::judge(&self.position, history)
            .map_or(Turn::Decision(self.position.turn()), Turn::Over)
    }

    fn legal_moves(&self, out: &mut Vec<Move>) {
        self.position.legal_moves(out);
    }

    fn play(&mut self, mv: Move, history: &mut History) {
        let (before, captured) = (self.position.hash(), self.position.is_capture(mv));
        self.position.play(mv);
        history.push(Entry {
            before,
            mv,
            gave_check: self.position.in_check(),
            captured,
        });
    }

    fn reveals(&self, out: &mut Vec<(Reveal, u32)>) {
        out.clear();
    }

    fn reveal(&mut self, reveal: Reveal, _history: &mut History) {
        match reveal {}
    }
}

/// The square's index seen from `color`, whose back rank is rank 0.
fn seen_from(color: Color, square: Square) -> usize {
    match color {
        Color::Red => square.index(),
        Color::Black => policy::flip_square(square.index()),
    }
}

impl Features for View {
    fn record(&self, history: &History, out: &mut Record) {
        let viewer = self.position.turn();
        out.fill(0);
        for (square, piece) in self.position.pieces() {
            let other = if piece.color == viewer { 0 } else { 8 };
            out[at::SQUARES + seen_from(viewer, square)] = piece.kind.index() as u8 + 1 + other;
        }
        out[at::NO_CAPTURE] = self.position.no_capture().min(255) as u8;
        out[at::NO_CAPTURE_LIMIT] = self.position.rules().no_capture_plies.min(255) as u8;
        out[at::REPETITIONS] = history.occurrences(self.position.hash()).min(2) as u8;
        let last = history.last();
        let seen = |square: Option<Square>| square.map_or(255, |s| seen_from(viewer, s) as u8);
        out[at::LAST_FROM] = seen(last.map(Move::from));
        out[at::LAST_TO] = seen(last.map(Move::to));
        out[at::IN_CHECK] = self.position.in_check().into();
    }

    fn policy_index(&self, mv: Move) -> u16 {
        let turn = self.position.turn();
        let index = policy::index(seen_from(turn, mv.from()), seen_from(turn, mv.to()));
        index.expect("every piece's step is in the policy index space")
    }
}
