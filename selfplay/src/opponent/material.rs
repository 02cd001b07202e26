//! Material by the classic table of Xiangqi primers, which defines the built-in opponents:
//!
//! | R | C | N | A, B | P | P across the river | K |
//! |---|---|---|---|---|---|---|
//! | 9 | 4.5 | 4 | 2 | 1 | 2 | not counted |
use crate::game::{Color, Game};

/// A game whose positions can be counted by material.
pub trait Material: Game {
    /// Material of `side` less the opponent's, in centipawns.
    fn balance(&self, side: Color) -> i32;
    /// By how much the legal move `mv` raises the balance of its mover, in centipawns.
    fn gain(&self, mv: Self::Move) -> i32;
}
