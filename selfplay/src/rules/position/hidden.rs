//! Face-down pieces: what turns up, is laid down, is placed, and comes to light.
use std::fmt;

use super::Position;
use crate::game::Color;
use crate::rules::geometry::{bit, home_kind};
use crate::rules::types::{Cell, Kind, Move, Square};
use crate::rules::zobrist;

/// What has to be revealed before the ply is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub mv: Move,
    /// Whether an unknown piece moved; it is off the board until it turns up.
    pub mover: bool,
    /// Whether the viewer sees what was taken.
    pub taken: bool,
    /// Whether anything was taken.
    pub captured: bool,
    /// Whether the ply answered a check.
    pub was_check: bool,
}

/// The identities that a ply brings to light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reveal {
    /// What the unknown piece that moved turned out to be.
    pub mover: Option<Kind>,
    /// What the unknown piece that was taken turned out to be.
    pub taken: Option<Kind>,
}

/// `=R` for the mover, then `xN` for what was taken; the suffix of a move.
impl fmt::Display for Reveal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, kind) in [('=', self.mover), ('x', self.taken)] {
            if let Some(kind) = kind {
                write!(f, "{sign}{}", kind.letter())?;
            }
        }
        Ok(())
    }
}

impl Position {
    /// [`Position::shift`] where a face-down piece is concerned: whatever moves turns up (不走不翻，每走必翻),
    /// unless it was face up and is laid down.
    #[cold]
    pub(super) fn shift_hidden(&mut self, mv: Move) {
        let (from, to, us) = (mv.from(), mv.to(), self.turn);
        let (mover, taken) = (self.board[from.index()], self.board[to.index()]);
        let lands = match mover.identity() {
            Some(kind) => Cell::up(us, kind),
            None if mover.is_down() => Cell::EMPTY,
            None if mv.turns_down() => self.laid_down(mover, to),
            None => mover,
        };
        self.put(from, Cell::EMPTY);
        self.put(to, lands);
        let sees = taken.is_unknown() && self.rules.sees_captured(self.viewer, us);
        if sees || mover.is_unknown() {
            self.pending = Some(Pending {
                mv,
                mover: mover.is_unknown(),
                taken: sees,
                captured: false,
                was_check: false,
            });
        }
    }

    /// The cell of a face-up piece laid down on a home square of its side.
    fn laid_down(&self, piece: Cell, square: Square) -> Cell {
        match (piece.piece(), home_kind(self.turn, square)) {
            (Some(piece), Some(home)) => Cell::down(self.turn, home, Some(piece.kind)),
            _ => piece,
        }
    }

    /// Puts `cell` on a square in place of what stands there.
    pub(super) fn put(&mut self, square: Square, cell: Cell) {
        let (at, old) = (bit(square), self.board[square.index()]);
        self.hash ^= zobrist::cell(old, square) ^ zobrist::cell(cell, square);
        self.kinds[old.kind_code()] &= !at;
        self.kinds[cell.kind_code()] |= at;
        (self.sides[0], self.sides[1]) = (self.sides[0] & !at, self.sides[1] & !at);
        if let Some(piece) = cell.piece() {
            self.sides[piece.color as usize] |= at;
        }
        if self.secret & at != 0 {
            self.toggle_secret(square);
        }
        self.down &= !at;
        self.down |= if cell.is_down() { at } else { 0 };
        self.board[square.index()] = cell;
    }

    /// Places one of the viewer's own pieces in its arrangement.
    pub(super) fn place(&mut self, kind: Kind, square: Square) {
        let color = self.decider();
        if let Some(home) = home_kind(color, square) {
            self.put(square, Cell::down(color, home, Some(kind)));
            self.toggle_secret(square);
            self.take_from_pool(color, kind);
        }
    }

    fn toggle_secret(&mut self, square: Square) {
        self.secret ^= bit(square);
        self.hash ^= zobrist::secret(square);
    }

    fn take_from_pool(&mut self, color: Color, kind: Kind) {
        let unseen = &mut self.pools[color as usize][kind.index()];
        self.hash ^= zobrist::pool(color, kind.index(), *unseen);
        *unseen = unseen.saturating_sub(1);
        self.hash ^= zobrist::pool(color, kind.index(), *unseen);
    }

    /// Whether the ply just played is over only with [`Position::reveal`].
    pub fn awaits_reveal(&self) -> bool {
        self.pending.is_some()
    }

    /// Where the pieces lay that a reveal is awaited of: the one that moved, the one that was taken.
    pub(in crate::rules) fn awaited(&self) -> (Option<Square>, Option<Square>) {
        self.pending.map_or((None, None), |p| {
            (p.mover.then_some(p.mv.from()), p.taken.then_some(p.mv.to()))
        })
    }

    /// Replaces `out` with what may come to light now, as the viewer has it, and in how many ways: the
    /// product of the pools' counts.
    pub fn reveals(&self, out: &mut Vec<(Reveal, u32)>) {
        out.clear();
        let Some(pending) = self.pending else { return };
        let (us, them) = (self.turn.other(), self.turn);
        for (mover, ways) in self.identities(us, pending.mover) {
            let taken = self.identities(them, pending.taken);
            out.extend(taken.map(|(taken, n)| (Reveal { mover, taken }, ways * n)));
        }
    }

    /// The kinds that an unknown piece of a side may be, by the pool; `None` once if there is no such piece.
    fn identities(
        &self,
        color: Color,
        unknown: bool,
    ) -> impl Iterator<Item = (Option<Kind>, u32)> + use<> {
        let pool = self.pools[color as usize];
        let kinds = Kind::ALL
            .into_iter()
            .map(move |kind| (Some(kind), u32::from(pool[kind.index()])))
            .filter(move |&(_, unseen)| unknown && unseen > 0);
        kinds.chain((!unknown).then_some((None, 1)))
    }

    /// Brings to light what the ply awaits. A piece taken whose identity is left out stays unseen.
    pub fn reveal(&mut self, reveal: Reveal) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let (us, them) = (self.turn.other(), self.turn);
        if let Some(kind) = reveal.mover.filter(|_| pending.mover) {
            self.take_from_pool(us, kind);
            self.put(pending.mv.to(), Cell::up(us, kind));
        }
        if let Some(kind) = reveal.taken.filter(|_| pending.taken) {
            self.take_from_pool(them, kind);
        }
        self.count_ply(pending.was_check, pending.captured);
    }
}
