//! What one player may know of a game, as search and network see it.
use super::ending;
use super::fen::FenError;
use super::history::{Entry, History};
use super::position::{Position, Reveal};
use super::ruleset::{Layout, Ruleset};
use super::types::{Kind, Move, Square};
use crate::belief::Beliefs;
use crate::game::{Color, Features, Game, Turn};
use crate::policy;
use crate::record::{self, HOMES, Record, at, flag};

/// A position as one player may know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    position: Position,
}

impl View {
    /// The view of whoever knows just that.
    pub fn new(position: Position) -> View {
        View { position }
    }

    /// Parses a view's FEN.
    pub fn from_fen(rules: &'static Ruleset, text: &str) -> Result<View, FenError> {
        Position::from_fen(rules, text).map(View::new)
    }

    /// The side of whose unknown pieces the viewer's opponent knows more than the pool tells the viewer.
    ///
    /// Of its own arrangement it does; and of the viewer's dealt pieces, once it alone has seen some that it
    /// took. Of its own dealt pieces it knows less than the viewer, who has seen those taken: nothing that it
    /// does tells anything of them, and the pool says all there is to know.
    fn watched_closer(&self) -> Option<Color> {
        let (position, viewer) = (&self.position, self.position.viewer()?);
        match position.rules().layout {
            Layout::Open | Layout::AtHome => None,
            Layout::Arranged => Some(viewer.other()),
            Layout::Dealt => {
                let unseen: u8 = position.pool(viewer).iter().sum();
                (usize::from(unseen) > position.unknown(viewer).count()).then_some(viewer)
            }
        }
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
        if self.position.awaits_reveal() {
            return Turn::Chance;
        }
        ending::judge(&self.position, history)
            .map_or(Turn::Decision(self.position.decider()), Turn::Over)
    }

    fn legal_moves(&self, out: &mut Vec<Move>) {
        self.position.legal_moves(out);
    }

    fn is_secret(&self) -> bool {
        self.position.arranging().is_some()
    }

    fn ways(&self, mv: Move) -> u32 {
        let unplaced = self.position.pool(self.position.decider());
        mv.placed().map_or(1, |kind| unplaced[kind.index()].into())
    }

    fn play(&mut self, mv: Move, history: &mut History) {
        let (before, captured) = (self.position.hash(), self.position.is_capture(mv));
        self.position.play(mv);
        if mv.placed().is_none() {
            history.push(Entry {
                before,
                mv,
                gave_check: !self.position.awaits_reveal() && self.position.in_check(),
                captured,
            });
        }
    }

    fn reveals(&self, out: &mut Vec<(Reveal, u32)>) {
        self.position.reveals(out);
    }

    fn weigh(&self, beliefs: &Beliefs, reveals: &mut [(Reveal, u32)]) {
        let (mover, taken) = self.position.awaited();
        let ratio = |square: Option<Square>, kind: Option<Kind>| match (square, kind) {
            (Some(square), Some(kind)) => beliefs.ratio[square.index()][kind.index()],
            _ => 1.0,
        };
        for (reveal, weight) in reveals {
            let ratio = ratio(mover, reveal.mover) * ratio(taken, reveal.taken);
            *weight = ((*weight as f32 * ratio * BELIEF_UNIT).round() as u32).max(1);
        }
    }

    fn reveal(&mut self, reveal: Reveal, history: &mut History) {
        self.position.reveal(reveal);
        history.complete(self.position.in_check());
    }
}

/// Weight of one way for a reveal to happen that is as likely as the pool says. The ratios of beliefs are
/// known to some 1e-7, so products of a pool's counts and this are whole where beliefs are uniform; and all
/// weights of a chance node, `15 * 15` times this at most, sum to far less than `u32::MAX`.
const BELIEF_UNIT: f32 = (1 << 14) as f32;

/// The square's index seen from `color`, whose back rank is rank 0.
pub(super) fn seen_from(color: Color, square: Square) -> usize {
    oriented(color, square.index())
}

/// An absolute index seen from `color`, and back.
pub(super) fn oriented(color: Color, index: usize) -> usize {
    match color {
        Color::Red => index,
        Color::Black => policy::flip_square(index),
    }
}

/// Writes what makes the form.
fn describe(rules: &Ruleset, out: &mut Record) {
    let lays = if rules.turns_down { flag::LAYS_DOWN } else { 0 };
    let fakes_roam = if rules.fake_roams {
        flag::FAKES_ROAM
    } else {
        0
    };
    out[at::NO_CAPTURE_LIMIT] = rules.no_capture_plies.min(255) as u8;
    out[at::FLAGS] = lays | fakes_roam;
    out[at::TAKES_PART] = rules.takes_part.bits();
    out[at::ROAMS] = rules.roams.bits();
    out[at::SECRECY] = rules.layout as u8 | (rules.captured_seen_by as u8) << 2;
    out[at::REPETITION_RULE] = rules.repetition as u8;
}

impl Features for View {
    fn record(&self, history: &History, out: &mut Record) {
        let position = &self.position;
        let decider = position.decider();
        out.fill(0);
        for (square, byte) in position.bytes() {
            let other = if decider == Color::Red {
                0
            } else {
                record::OTHER
            };
            out[at::SQUARES + seen_from(decider, square)] = byte ^ other;
        }
        for square in position.secrets() {
            record::set_secret(out, seen_from(decider, square));
        }
        out[at::OWN_POOL..at::OTHER_POOL].copy_from_slice(&position.pool(decider));
        out[at::OTHER_POOL..at::NO_CAPTURE].copy_from_slice(&position.pool(decider.other()));
        out[at::NO_CAPTURE] = position.no_capture().min(255) as u8;
        out[at::REPETITIONS] = history.occurrences(position.hash()).min(2) as u8;
        let last = history.last();
        let seen = |square: Option<Square>| square.map_or(255, |s| seen_from(decider, s) as u8);
        out[at::LAST_FROM] = seen(last.map(Move::from));
        out[at::LAST_TO] = seen(last.map(Move::to));
        out[at::PLACING] = seen(position.next_placed());
        out[at::IN_CHECK] = position.in_check().into();
        describe(position.rules(), out);
        if position.viewer() != Some(decider.other()) {
            out[at::FLAGS] |= flag::VIEWER_DECIDES;
        }
    }

    fn unknown(&self, out: &mut Vec<u8>) {
        out.clear();
        if let Some(color) = self.watched_closer() {
            let decider = self.position.decider();
            let squares = self.position.unknown(color);
            out.extend(squares.map(|square| seen_from(decider, square) as u8));
        }
    }

    fn believe(&self, unknown: &[u8], believed: &[[f32; 6]], beliefs: &mut Beliefs) {
        *beliefs = Beliefs::default();
        let Some(color) = self.watched_closer() else {
            return;
        };
        let decider = self.position.decider();
        let mut squares = [0; HOMES.len()];
        for (square, &seen) in squares.iter_mut().zip(unknown) {
            *square = oriented(decider, seen.into());
        }
        let squares = &squares[..unknown.len().min(HOMES.len())];
        beliefs.balance(squares, believed, &self.position.pool(color));
    }

    fn policy_index(&self, mv: Move) -> u16 {
        let decider = self.position.decider();
        let (from, to) = (seen_from(decider, mv.from()), seen_from(decider, mv.to()));
        if let Some(kind) = mv.placed() {
            return policy::placement(kind.index(), from);
        }
        let index = if mv.turns_down() {
            policy::laid_down(from, to)
        } else {
            policy::index(from, to)
        };
        index.expect("every piece's step is in the policy index space")
    }
}
