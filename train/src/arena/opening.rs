//! Random openings, a function of the seed alone.
use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::Features;
use selfplay::game::{Game, Outcome, Referee, Turn};
use selfplay::record::RECORD_BYTES;

use super::{ArenaError, MoveOf, seed_of};

/// Tries to find one opening that can be played.
const TRIES: u64 = 1000;
/// Tries after which an opening may repeat: short ones are soon used up.
const DISTINCT_TRIES: u64 = 100;

/// The game that a pair starts from.
#[derive(Clone, Debug)]
pub struct Opening<W: Referee> {
    /// The position, hidden truth included.
    pub world: W,
    /// The moves from the start to it; none where the players have to arrange their pieces first, and the
    /// random moves come after that.
    pub moves: Vec<MoveOf<W>>,
}

/// `count` openings of `plies` uniformly random moves. In none is the game over or won by the next move, and
/// none comes twice while there are others.
pub fn draw<W: Referee>(
    start: &dyn Fn(&mut Pcg64Mcg) -> W,
    count: usize,
    plies: u16,
    seed: u64,
) -> Result<Vec<Opening<W>>, ArenaError> {
    let mut seen = HashSet::new();
    let find = |pair: usize| {
        for attempt in 0..TRIES {
            let mut rng = Pcg64Mcg::seed_from_u64(seed_of(seed, [pair as u64, attempt, 0]));
            let Some(opening) = random_walk(start(&mut rng), plies, &mut rng) else {
                continue;
            };
            if !opening.world.is_public() {
                return Ok(opening);
            }
            if wins_at_once(&opening.world) {
                continue;
            }
            if seen.insert(record(&opening.world)) || attempt >= DISTINCT_TRIES {
                return Ok(opening);
            }
        }
        Err(ArenaError::NoOpening { plies })
    };
    (0..count).map(find).collect()
}

/// The world after `plies` random moves; `None` where the game ends within them.
fn random_walk<W: Referee>(mut world: W, plies: u16, rng: &mut Pcg64Mcg) -> Option<Opening<W>> {
    let (mut legal, mut moves) = (Vec::new(), Vec::new());
    loop {
        let Turn::Decision(side) = world.turn() else {
            return None;
        };
        if moves.len() == plies as usize || !world.is_public() {
            return Some(Opening { world, moves });
        }
        world.view(side).legal_moves(&mut legal);
        let mv = legal[rng.random_range(..legal.len())];
        world.apply(mv, rng);
        moves.push(mv);
    }
}

/// Whether the side to move knows a move that wins the game.
fn wins_at_once<W: Referee>(world: &W) -> bool {
    let Turn::Decision(side) = world.turn() else {
        return false;
    };
    let view = world.view(side);
    let mut legal = Vec::new();
    view.legal_moves(&mut legal);
    legal.into_iter().any(|mv| {
        let (mut after, mut history) = (view, world.history(side).clone());
        after.play(mv, &mut history);
        matches!(after.turn(&history), Turn::Over(ending) if ending.outcome == Outcome::Win(side))
    })
}

/// What the side to move sees, by which openings are told apart.
fn record<W: Referee>(world: &W) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    if let Turn::Decision(side) = world.turn() {
        world.view(side).record(world.history(side), &mut record);
    }
    record
}
