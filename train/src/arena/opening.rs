//! Random openings, a function of the seed alone.
use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Features, Game, Outcome, Referee, Turn};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Move, World};

use super::{ArenaError, seed_of};

/// Tries to find one opening that can be played.
const TRIES: u64 = 1000;
/// Tries after which an opening may repeat: short ones are soon used up.
const DISTINCT_TRIES: u64 = 100;

/// The game that a pair starts from.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The position before the first move, hidden truth included.
    pub start: World,
    /// The moves that both games begin with; none where the players have to arrange their pieces first.
    pub moves: Vec<Move>,
    /// Plies after the arrangement before the players choose; beyond `moves` they are random.
    pub plies: u16,
}

/// `count` openings of `plies` uniformly random moves. In none is the game over or won by the next move, and
/// none comes twice while there are others. The first ones are the same for any `count`.
pub fn draw(
    start: &dyn Fn(&mut Pcg64Mcg) -> World,
    count: usize,
    plies: u16,
    seed: u64,
) -> Result<Vec<Opening>, ArenaError> {
    let mut seen = HashSet::new();
    let find = |pair: usize| {
        for attempt in 0..TRIES {
            let mut rng = deal_rng(seed, pair, attempt);
            let start = start(&mut rng);
            let Some((world, moves)) = random_walk(start.clone(), plies, &mut rng) else {
                continue;
            };
            let public = world.is_public();
            if public && wins_at_once(&world) {
                continue;
            }
            if !public || seen.insert(record(&world)) || attempt >= DISTINCT_TRIES {
                return Ok(Opening {
                    start,
                    moves,
                    plies,
                });
            }
        }
        Err(ArenaError::NoOpening { plies })
    };
    (0..count).map(find).collect()
}

/// The generator that deals a pair's game.
pub fn deal_rng(seed: u64, pair: usize, attempt: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed_of(seed, [pair as u64, attempt, 0]))
}

/// The world after `plies` random moves, and these; `None` where the game ends within them.
fn random_walk(mut world: World, plies: u16, rng: &mut Pcg64Mcg) -> Option<(World, Vec<Move>)> {
    let (mut legal, mut moves) = (Vec::new(), Vec::new());
    loop {
        let Turn::Decision(side) = world.turn() else {
            return None;
        };
        if moves.len() == plies as usize || !world.is_public() {
            return Some((world, moves));
        }
        world.view(side).legal_moves(&mut legal);
        let mv = legal[rng.random_range(..legal.len())];
        world.apply(mv, rng);
        moves.push(mv);
    }
}

/// Whether the side to move knows a move that wins the game.
fn wins_at_once(world: &World) -> bool {
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
fn record(world: &World) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    if let Turn::Decision(side) = world.turn() {
        world.view(side).record(world.history(side), &mut record);
    }
    record
}
