//! Positions that no move leads to, for judging what a move threatens.
use super::Position;
use crate::game::Color;
use crate::rules::types::{Cell, Square};
use crate::rules::zobrist;

impl Position {
    /// The same pieces with that side to move, whose opponent may be in check.
    pub(in crate::rules) fn with_turn(&self, color: Color) -> Position {
        let mut position = *self;
        if color != self.turn {
            position.turn = color;
            position.hash ^= zobrist::BLACK_TO_MOVE;
        }
        position
    }

    /// What stands once the side to move's piece on `from` has taken what stands on `to`. Nothing turns up:
    /// the piece goes on playing as the kind it took as.
    pub(in crate::rules) fn with_capture(&self, from: Square, to: Square) -> Position {
        let mut position = self.with_turn(self.turn.other());
        let mover = self.board[from.index()].piece();
        let lands = mover.map_or(Cell::EMPTY, |piece| Cell::up(piece.color, piece.kind));
        position.put(from, Cell::EMPTY);
        position.put(to, lands);
        position
    }
}
