//! What a finished game leaves behind.
use crate::game::{Color, Ending, Game, Outcome, Referee};
use crate::record::Rows;

/// A move of a game with referee `W`.
pub type MoveOf<W> = <<W as Referee>::View as Game>::Move;
/// An outcome of chance in a game with referee `W`.
pub type RevealOf<W> = <<W as Referee>::View as Game>::Reveal;

/// A finished game.
#[derive(Clone, Debug)]
pub struct FinishedGame<W: Referee> {
    /// Id of the game in its run.
    pub id: u64,
    /// Seed of everything random in it: [`super::game_seed`] of the run's seed and the id.
    pub seed: u64,
    /// The truth before the first move.
    pub start: W,
    /// All moves, each a ply of the game: placements too.
    pub moves: Vec<MoveOf<W>>,
    /// What came to light to any player, and by the move of which ply.
    pub reveals: Vec<(usize, RevealOf<W>)>,
    /// Plies, the first behind an arrangement, that were drawn from the raw prior and left no row.
    pub opening_plies: usize,
    /// How it ended.
    pub ending: Ending,
    /// In the order of the decisions, without the opening's: the row of the side to decide; behind it, where the
    /// players know different things, its opponent's of the same position, except of a placement.
    pub rows: Rows,
    /// How it stands with resigning.
    pub resignation: Resignation,
    /// Of a game that would not have resigned: by colour, the lowest `resign_below` that would have
    /// made that side resign, 0..=1. `None` where resigning was allowed.
    pub lowest: Option<[f32; 2]>,
    /// Rows that the network evaluated for it.
    pub evaluations: u64,
    /// Training steps of the networks that searched the first and the last row.
    pub net_steps: (u64, u64),
}

/// How a game stands with resigning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resignation {
    /// Nobody ever met the conditions.
    None,
    /// That side resigned.
    Resigned(Color),
    /// That side would have resigned first, at that ply, but the game was one of those that play on.
    PlayedOn {
        /// Who would have resigned.
        loser: Color,
        /// The ply before which.
        ply: usize,
        /// Whether that side did not lose after all.
        false_positive: bool,
    },
}

impl Resignation {
    pub(super) fn played_on(loser: Color, ply: usize, outcome: Outcome) -> Self {
        let false_positive = outcome != Outcome::Win(loser.other());
        Resignation::PlayedOn {
            loser,
            ply,
            false_positive,
        }
    }
}
