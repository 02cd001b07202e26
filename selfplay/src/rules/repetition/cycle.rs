//! What either side did in a cycle of moves.
use super::{chase, mate};
use crate::game::Color;
use crate::policy::SQUARES;
use crate::rules::geometry::{BOARD, Bits, Squares, bit};
use crate::rules::history::Entry;
use crate::rules::position::Position;
use crate::rules::types::{Move, Square};

/// What a side did with its moves of a cycle; pieces are named by the square they stood on before it.
#[derive(Clone, Copy)]
pub(super) struct Play {
    /// The pieces that every move threatened anew.
    pub always_chased: Bits,
    /// The pieces that some move threatened anew.
    pub chased: Bits,
    /// Whether every move threatened some piece anew.
    pub chases: bool,
    /// Whether every move gave check, or threatened a piece or mate anew.
    pub attacks: bool,
}

const SO_FAR: Play = Play {
    always_chased: BOARD,
    chased: 0,
    chases: true,
    attacks: true,
};

/// The pieces of a cycle that is played once more: it ends where it began.
struct Replay {
    position: Position,
    /// `[square]`: where the piece that stands there stood at first.
    origins: [Square; SQUARES],
}

impl Replay {
    fn new(position: &Position) -> Replay {
        let mut origins = [Square::at(0); SQUARES];
        Square::all().for_each(|square| origins[square.index()] = square);
        Replay {
            position: *position,
            origins,
        }
    }

    /// Plays a ply; what stood before it.
    fn play(&mut self, entry: &Entry) -> Position {
        let before = self.position;
        self.position.play(entry.mv);
        self.origins[entry.mv.to().index()] = self.origins[entry.mv.from().index()];
        before
    }

    /// The pieces of `among` that the ply from `before` on threatened anew.
    fn new_threats(&self, before: &Position, mv: Move, among: Bits) -> Bits {
        let among = self.standing(before, among);
        let new = chase::threatened_anew(before, mv, &self.position, among);
        Squares(new).fold(0, |set, square| set | bit(self.origins[square.index()]))
    }

    /// The squares of the opponent's pieces that stood on `origins` at first.
    fn standing(&self, before: &Position, origins: Bits) -> Bits {
        let theirs = Squares(before.side(before.turn().other()));
        theirs
            .filter(|square| origins >> self.origins[square.index()].index() & 1 != 0)
            .fold(0, |set, square| set | bit(square))
    }
}

/// The pieces that each side (`[color]`) threatened anew with every move of the cycle that ends, and began,
/// at `position`.
pub(super) fn always_chased(position: &Position, cycle: &[Entry]) -> [Bits; 2] {
    let (mut replay, mut chased) = (Replay::new(position), [BOARD; 2]);
    for entry in cycle {
        if chased == [0; 2] {
            break;
        }
        let before = replay.play(entry);
        let chased = &mut chased[before.turn() as usize];
        *chased = replay.new_threats(&before, entry.mv, *chased);
    }
    chased
}

/// What each side (`[color]`) did in the cycle that ends, and began, at `position`.
pub(super) fn plays(position: &Position, cycle: &[Entry]) -> [Play; 2] {
    let (mut replay, mut plays) = (Replay::new(position), [SO_FAR; 2]);
    // What stood after the own move that came before: for the first move, that of the end of the cycle.
    let mut own_last = *position;
    (cycle[..cycle.len() - 1].iter()).for_each(|entry| own_last.play(entry.mv));
    for entry in cycle {
        let before = replay.play(entry);
        let by: Color = before.turn();
        let own_last = std::mem::replace(&mut own_last, before);
        let play = &mut plays[by as usize];
        if !play.attacks {
            continue;
        }
        let new = replay.new_threats(&before, entry.mv, BOARD);
        play.always_chased &= new;
        play.chased |= new;
        play.chases &= new != 0;
        let mates = |position: &Position| mate::is_threatened(position, by);
        play.attacks = entry.gave_check
            || new != 0
            || mates(&replay.position)
                && !mates(&before)
                && !(before.in_check() && mates(&own_last));
    }
    plays
}
