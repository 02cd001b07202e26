//! Material by the classic table of Xiangqi primers, which defines the built-in opponents:
//!
//! | R | C | N | A, B | P | P across the river | K |
//! |---|---|---|---|---|---|---|
//! | 9 | 4.5 | 4 | 2 | 1 | 2 | not counted |
//!
//! A face-down piece counts as what it is, not as what it plays as: one that the viewer does not know as the
//! mean of its side's pieces that the viewer has never seen.
use crate::game::{Color, Game};
use crate::rules::{Kind, Move, Piece, Position, Square, View, crossed};

/// A game whose positions can be counted by material.
pub trait Material: Game {
    /// Material of `side` less the opponent's, in centipawns.
    fn balance(&self, side: Color) -> i32;
    /// By how much the legal move `mv` raises the balance of its mover, in centipawns; where chance is to bring
    /// something to light, about how much.
    fn gain(&self, mv: Self::Move) -> i32;
}

/// The classic table, in centipawns.
fn value(color: Color, kind: Kind, square: Square) -> i32 {
    match kind {
        Kind::King => 0,
        Kind::Rook => 900,
        Kind::Cannon => 450,
        Kind::Knight => 400,
        Kind::Advisor | Kind::Bishop => 200,
        Kind::Pawn if crossed(color, square) => 200,
        Kind::Pawn => 100,
    }
}

/// Worth of `number` unknown pieces of a side, in centipawns; they lie at home.
fn unknown_value(position: &Position, color: Color, number: i32) -> i32 {
    let home = position.king(color);
    let (mut sum, mut unseen) = (0, 0);
    for (kind, n) in Kind::ALL.into_iter().zip(position.pool(color)) {
        sum += i32::from(n) * value(color, kind, home);
        unseen += i32::from(n);
    }
    sum * number / unseen.max(1)
}

/// Unknown pieces of a side on the board.
fn unknown_number(position: &Position, color: Color) -> i32 {
    let unknown = |(_, piece): &(Square, Piece)| piece.color == color && piece.identity().is_none();
    position.pieces().filter(unknown).count() as i32
}

/// Worth of a side's pieces on the board, in centipawns.
fn material(position: &Position, color: Color) -> i32 {
    let own = position.pieces().filter(|(_, piece)| piece.color == color);
    let (mut known, mut unknown) = (0, 0);
    for (square, piece) in own {
        match piece.identity() {
            Some(kind) => known += value(color, kind, square),
            None => unknown += 1,
        }
    }
    known + unknown_value(position, color, unknown)
}

/// What the opponent loses with a piece that is taken unseen, or whose identity is yet to come to light.
fn taken_value(position: &Position, piece: Piece, square: Square) -> i32 {
    if let Some(kind) = piece.identity() {
        return value(piece.color, kind, square);
    }
    let number = unknown_number(position, piece.color);
    unknown_value(position, piece.color, number) - unknown_value(position, piece.color, number - 1)
}

impl Material for View {
    fn balance(&self, side: Color) -> i32 {
        material(self.position(), side) - material(self.position(), side.other())
    }

    fn gain(&self, mv: Move) -> i32 {
        if mv.placed().is_some() {
            return 0;
        }
        let position = self.position();
        let taken = position.piece_at(mv.to());
        let taken = taken.map_or(0, |piece| taken_value(position, piece, mv.to()));
        let mover = position
            .piece_at(mv.from())
            .and_then(|p| Some((p.color, p.identity()?)));
        let moved = mover.map_or(0, |(color, kind)| {
            value(color, kind, mv.to()) - value(color, kind, mv.from())
        });
        taken + moved
    }
}
