//! The policy index space as data.
use serde::{Deserialize, Serialize};

use crate::policy::{self, INDICES, PLACEMENTS, PLANES, SQUARES, STEPS};
use crate::rules::Kind;

/// How a move's place in the output `policy` is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyTable {
    /// Length of the axis.
    pub indices: usize,
    /// Squares of the board.
    pub squares: usize,
    /// How the index is computed from plane and square.
    pub formula: String,
    /// What each plane stands for, by index.
    pub planes: Vec<PolicyPlane>,
}

/// What a plane of the policy stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyPlane {
    /// Its index.
    pub plane: usize,
    /// Files to the right that the piece goes; negative to the left.
    pub files: i8,
    /// Ranks forward, away from the own back rank; negative back.
    pub ranks: i8,
    /// Whether the piece is laid face down where it lands.
    pub lays_down: bool,
    /// The letter of the kind that is placed on the square, in an arrangement; no piece goes then.
    pub places: Option<char>,
}

impl PolicyTable {
    /// The table of [`crate::policy`].
    pub fn own() -> Self {
        PolicyTable {
            indices: INDICES,
            squares: SQUARES,
            formula: format!(
                "index = plane * {SQUARES} + square; square = file + 9 * rank of where the piece leaves (or is placed); \
                 file 0..=8 is a..i for both sides, rank 0..=9 counts from the back rank of the side to decide \
                 (for Black rank = 9 - the board's rank)"
            ),
            planes: (0..PLANES).map(plane).collect(),
        }
    }
}

fn plane(plane: usize) -> PolicyPlane {
    let places = (plane.checked_sub(PLACEMENTS)).map(|kind| Kind::ALL[kind].letter());
    let (files, ranks) = match places {
        None => policy::step(plane % STEPS),
        Some(_) => (0, 0),
    };
    PolicyPlane {
        plane,
        files,
        ranks,
        lays_down: places.is_none() && plane >= STEPS,
        places,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table alone gives every move the index that the program gives it.
    #[test]
    fn the_table_is_the_index_space() {
        let table = PolicyTable::own();
        let mut moves = 0;
        for entry in &table.planes {
            for square in 0..table.squares {
                let index = (entry.plane * table.squares + square) as u16;
                let (file, rank) = (
                    (square % 9) as i8 + entry.files,
                    (square / 9) as i8 + entry.ranks,
                );
                let on_board = (0..9).contains(&file) && (0..10).contains(&rank);
                let expected = on_board.then(|| (square, (file + 9 * rank) as usize));
                assert_eq!(policy::squares(index), expected, "{entry:?}");
                let Some((from, to)) = expected else {
                    continue;
                };
                moves += 1;
                let again = match (entry.places.and_then(Kind::from_letter), entry.lays_down) {
                    (Some(kind), _) => Some(policy::placement(kind.index(), from)),
                    (None, true) => policy::laid_down(from, to),
                    (None, false) => policy::index(from, to),
                };
                assert_eq!(again, Some(index));
            }
        }
        assert_eq!((moves, table.indices), (2 * 2550 + 630, INDICES));
    }
}
