//! Material by the classic table of Xiangqi primers, which defines the built-in opponents:
//!
//! | R | C | N | A, B | P | P across the river | K |
//! |---|---|---|---|---|---|---|
//! | 9 | 4.5 | 4 | 2 | 1 | 2 | not counted |
use crate::game::{Color, Game};
use crate::rules::{Kind, Move, Piece, Square, View, crossed};

/// A game whose positions can be counted by material.
pub trait Material: Game {
    /// Material of `side` less the opponent's, in centipawns.
    fn balance(&self, side: Color) -> i32;
    /// By how much the legal move `mv` raises the balance of its mover, in centipawns.
    fn gain(&self, mv: Self::Move) -> i32;
}

/// The classic table, in centipawns.
pub fn value(piece: Piece, square: Square) -> i32 {
    match piece.kind {
        Kind::King => 0,
        Kind::Rook => 900,
        Kind::Cannon => 450,
        Kind::Knight => 400,
        Kind::Advisor | Kind::Bishop => 200,
        Kind::Pawn if crossed(piece.color, square) => 200,
        Kind::Pawn => 100,
    }
}

impl Material for View {
    fn balance(&self, side: Color) -> i32 {
        let signed = |(square, piece): (Square, Piece)| {
            let value = value(piece, square);
            if piece.color == side { value } else { -value }
        };
        self.position().pieces().map(signed).sum()
    }

    fn gain(&self, mv: Move) -> i32 {
        let at = |square| self.position().piece_at(square);
        let taken = at(mv.to()).map_or(0, |piece| value(piece, mv.to()));
        let moved =
            at(mv.from()).map_or(0, |piece| value(piece, mv.to()) - value(piece, mv.from()));
        taken + moved
    }
}
