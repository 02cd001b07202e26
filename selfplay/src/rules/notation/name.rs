//! Which piece is meant: a side's pieces of one name, and how one of them is told from the others.
use super::steps::{self, file_number};
use crate::game::Color;
use crate::rules::geometry::{Squares, has, rank_from};
use crate::rules::position::Position;
use crate::rules::types::{Kind, Move, Square};

/// How one piece of a name is told from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// By its file.
    File,
    /// 前.
    Front,
    /// 中.
    Middle,
    /// 后.
    Rear,
    /// By its place, from 1, among all that share a file with another, or on one file.
    Nth(u8),
}

/// A side's pieces that play as one kind, face up or down, from its right to its left and from the front to the rear.
pub(super) struct Namesakes {
    color: Color,
    squares: Vec<Square>,
}

impl Namesakes {
    pub fn of(position: &Position, color: Color, kind: Kind) -> Namesakes {
        let mut squares: Vec<_> = Squares(position.set(color, kind)).collect();
        squares.sort_by_key(|&s| (file_number(color, s), 9 - rank_from(color, s)));
        Namesakes { color, squares }
    }

    pub fn all(&self) -> &[Square] {
        &self.squares
    }

    /// Those on one file, from the front to the rear.
    pub fn on_file(&self, number: u8) -> Vec<Square> {
        let here = |&square: &Square| file_number(self.color, square) == number;
        self.squares.iter().copied().filter(here).collect()
    }

    /// Those that share their file with another.
    pub fn crowded(&self) -> Vec<Square> {
        let shares = |&s: &Square| self.on_file(file_number(self.color, s)).len() > 1;
        self.squares.iter().copied().filter(shares).collect()
    }
}

/// How the piece that makes a legal move is told from its namesakes.
pub(super) struct Name {
    /// What it plays as.
    pub kind: Kind,
    /// Its file, 1..=9 from its side's right.
    pub file: u8,
    /// Its place among the namesakes on that file, from 1 at the front.
    pub place: u8,
    /// How many they are.
    pub on_file: u8,
    /// The shortest way to say it.
    pub pick: Pick,
}

impl Name {
    /// `None` if no piece makes the move.
    pub fn of(position: &Position, mv: Move) -> Option<Name> {
        let (color, from) = (position.turn(), mv.from());
        let kind = position.piece_at(from)?.kind;
        let namesakes = Namesakes::of(position, color, kind);
        let file = file_number(color, from);
        let (on_file, crowded) = (namesakes.on_file(file), namesakes.crowded());
        let place = on_file.iter().position(|&s| s == from)?;
        let pick = match (on_file.len(), place) {
            (1, _) => Pick::File,
            _ if !confusable(position, kind, mv, &on_file) => Pick::File,
            (2 | 3, 0) if crowded.len() == on_file.len() => Pick::Front,
            (2 | 3, _) if crowded.len() == on_file.len() => {
                if place + 1 == on_file.len() {
                    Pick::Rear
                } else {
                    Pick::Middle
                }
            }
            _ => Pick::Nth(crowded.iter().position(|&s| s == from)? as u8 + 1),
        };
        Some(Name {
            kind,
            file,
            place: place as u8 + 1,
            on_file: on_file.len() as u8,
            pick,
        })
    }
}

/// Whether the file does not tell which of the namesakes on it moves. It does for 仕 and 相 that cannot all
/// go the way that the move goes.
fn confusable(position: &Position, kind: Kind, mv: Move, on_file: &[Square]) -> bool {
    let color = position.turn();
    let step = steps::describe(color, mv.from(), mv.to());
    let goes = |&from: &Square| {
        let target = steps::reach(color, kind, from, step);
        target.is_some_and(|to| has(position.zone(color, kind, from), to))
    };
    match kind {
        Kind::Advisor | Kind::Bishop => on_file.iter().any(|s| *s != mv.from() && goes(s)),
        _ => true,
    }
}
