//! What stands on a square, as a page is told.
//!
//! A square's text is empty (nothing stands there), a FEN letter (`R`, face up), or, of a face-down piece, the letter
//! of what it plays as, the letter of what it truly is (`?`: not known, or not yet placed) and who knows that: the sum of
//! 1 for Red and 2 for Black. `Pr1` is a rook of Black's in a pawn's place that Red alone knows; the side is told by the
//! case of the first letter.
use std::fmt;

use selfplay::game::{Color, Referee};
use selfplay::rules::{Kind, Piece, Position, Square, World};

/// What stands on a square: what is known of it, and who knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its side.
    pub color: Color,
    /// What it plays as.
    pub plays_as: Kind,
    /// Whether it lies face down.
    pub down: bool,
    /// What it truly is, as far as that may be told.
    pub truth: Option<Kind>,
    /// `[color]`: whether that player knows it.
    pub known: [bool; 2],
}

impl Cell {
    /// The truth of a square, and who knows it.
    pub fn of(world: &World, square: Square) -> Option<Cell> {
        let seen = [Color::Red, Color::Black].map(|viewer| world.view(viewer));
        let seen = seen.map(|view| view.position().piece_at(square));
        let piece = seen[0]?;
        Some(Cell {
            color: piece.color,
            plays_as: piece.kind,
            down: piece.is_down(),
            truth: world.identity(square),
            known: seen.map(|piece| piece.and_then(Piece::identity).is_some()),
        })
    }

    /// A square as `viewer` knows it, whose knowledge `position` is. Of a piece that it does not know it knows that the
    /// owner arranged it, or that nobody has seen it.
    pub fn seen(position: &Position, square: Square, viewer: Color) -> Option<Cell> {
        let piece = position.piece_at(square)?;
        let truth = piece.identity();
        let owner = |color: Color| position.rules().arranged() && color == piece.color;
        let known = [Color::Red, Color::Black].map(|color| match truth {
            Some(_) => color == viewer || !position.is_secret(square),
            None => color != viewer && owner(color),
        });
        Some(Cell {
            color: piece.color,
            plays_as: piece.kind,
            down: piece.is_down(),
            truth,
            known,
        })
    }
}

/// See the head of this file.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cased = |letter: char| match self.color {
            Color::Red => letter,
            Color::Black => letter.to_ascii_lowercase(),
        };
        write!(f, "{}", cased(self.plays_as.letter()))?;
        if self.down {
            let known = u8::from(self.known[0]) + 2 * u8::from(self.known[1]);
            let truth = self.truth.map_or('?', |kind| cased(kind.letter()));
            write!(f, "{truth}{known}")?;
        }
        Ok(())
    }
}
