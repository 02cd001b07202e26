//! Self-play of many games in lock-step.
//!
//! A worker's games form two groups: while one group's batch is with the evaluator, the other one is
//! searched. Each live game has exactly one row in its group's batch, whatever happens in between:
//! a move played, a game ended, the next one begun.
mod config;
mod finished;
mod game;
mod notes;
mod port;

pub use config::SelfplayConfig;
pub use finished::{FinishedGame, MoveOf, Resignation, RevealOf};
pub use notes::{Notes, Source};
pub use port::{EvalPort, InlinePort};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand_pcg::Pcg64Mcg;

use crate::eval::{Batch, EvalError, mix};
use crate::game::{Ending, Referee};
use crate::mcts::{Search, SearchConfig};
use game::Live;

/// Seed of everything random in a game.
pub fn game_seed(run_seed: u64, id: u64) -> u64 {
    mix(mix(run_seed) ^ id)
}

/// Gives the id of the next game, or `None` when there is to be no other.
pub type NextId = Box<dyn FnMut() -> Option<u64> + Send>;
/// Sets up a game; whatever is random about it comes from the generator.
pub type StartGame<W> = Box<dyn FnMut(&mut Pcg64Mcg) -> W + Send>;

/// What a worker plays.
pub struct Games<W> {
    /// Seed of the run.
    pub run_seed: u64,
    /// Ids of the games to play.
    pub next_id: NextId,
    /// Their starts. A game that is over before the first move still counts.
    pub start: StartGame<W>,
}

/// The game that a worker is busy with, readable from any thread: what whoever catches its panic
/// should print.
#[derive(Debug, Default)]
pub struct Busy {
    id: AtomicU64,
    seed: AtomicU64,
}

impl Busy {
    /// (id, seed) of the game.
    pub fn game(&self) -> (u64, u64) {
        (self.id.load(Relaxed), self.seed.load(Relaxed))
    }

    fn set(&self, id: u64, seed: u64) {
        self.id.store(id, Relaxed);
        self.seed.store(seed, Relaxed);
    }
}

#[derive(Debug)]
struct Slot<W: Referee> {
    search: Search<W::View>,
    live: Option<Live<W>>,
}

#[derive(Debug)]
struct Group<W: Referee> {
    slots: Vec<Slot<W>>,
    /// The batch's memory while it is not out.
    batch: Batch,
    /// Slot of each row of the batch that is out; empty when none is.
    rows: Vec<usize>,
}

/// Plays games until their ids run out.
pub struct Worker<W: Referee, P> {
    config: SelfplayConfig,
    games: Games<W>,
    groups: [Group<W>; 2],
    port: P,
    busy: Arc<Busy>,
}

impl<W: Referee, P: EvalPort> Worker<W, P> {
    /// A worker that has not begun yet.
    pub fn new(config: SelfplayConfig, search: &SearchConfig, games: Games<W>, port: P) -> Self {
        let slot = || Slot {
            search: Search::new(search.clone()),
            live: None,
        };
        let group = |slots| Group {
            slots: std::iter::repeat_with(slot).take(slots).collect(),
            batch: Batch::default(),
            rows: Vec::new(),
        };
        let total = config.games_per_worker.max(1);
        let groups = [group(total.div_ceil(2)), group(total / 2)];
        Worker {
            config,
            games,
            groups,
            port,
            busy: Arc::default(),
        }
    }

    /// The game that the worker is busy with, for a panic's message.
    pub fn busy(&self) -> Arc<Busy> {
        self.busy.clone()
    }

    /// Sets [`SelfplayConfig::resign_below`] from the next decision on, for games under way too.
    pub fn set_resign_below(&mut self, score: f32) {
        self.config.resign_below = score;
    }

    /// Rows that are with the evaluator.
    pub fn rows_out(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// The port.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Ids of the games in progress.
    pub fn live_ids(&self) -> Vec<u64> {
        let slots = self.groups.iter().flat_map(|group| &group.slots);
        slots
            .filter_map(|slot| slot.live.as_ref().map(|live| live.id))
            .collect()
    }

    /// Takes both groups one row a game further and hands over the games that end. Returns whether
    /// anything is left to play; between two rounds a worker may be stopped or dropped at will.
    pub fn round(&mut self, finished: &mut dyn FnMut(FinishedGame<W>)) -> Result<bool, EvalError> {
        let mut busy = false;
        for group in 0..self.groups.len() {
            self.take_answers(group)?;
            self.fill(group, finished);
            let group = &mut self.groups[group];
            if !group.rows.is_empty() {
                self.port.submit(std::mem::take(&mut group.batch))?;
                busy = true;
            }
        }
        Ok(busy)
    }

    fn take_answers(&mut self, group: usize) -> Result<(), EvalError> {
        let group = &mut self.groups[group];
        if group.rows.is_empty() {
            return Ok(());
        }
        group.batch = self.port.receive()?;
        let batch = &group.batch;
        for (row, slot) in group.rows.drain(..).enumerate() {
            let Slot { search, live } = &mut group.slots[slot];
            live.iter()
                .for_each(|live| self.busy.set(live.id, live.seed));
            search.apply(batch.evaluation(row));
        }
        group.batch.clear();
        Ok(())
    }

    fn fill(&mut self, group: usize, finished: &mut dyn FnMut(FinishedGame<W>)) {
        let net_step = self.port.step();
        let Worker {
            config,
            games,
            groups,
            busy,
            ..
        } = self;
        let Group { slots, batch, rows } = &mut groups[group];
        for (at, slot) in slots.iter_mut().enumerate() {
            if slot.next_row(config, games, batch, net_step, busy, finished) {
                rows.push(at);
            }
        }
    }
}

impl<W: Referee> Slot<W> {
    /// Goes on until a row is added to `batch` (true) or no game is left (false).
    fn next_row(
        &mut self,
        config: &SelfplayConfig,
        games: &mut Games<W>,
        batch: &mut Batch,
        net_step: u64,
        busy: &Busy,
        finished: &mut dyn FnMut(FinishedGame<W>),
    ) -> bool {
        loop {
            let ending = match &mut self.live {
                None => {
                    let Some(id) = (games.next_id)() else {
                        return false;
                    };
                    busy.set(id, game_seed(games.run_seed, id));
                    self.begin(id, config, games)
                }
                Some(live) => {
                    busy.set(live.id, live.seed);
                    if self.search.gather(batch) {
                        return true;
                    }
                    live.decide(config, &mut self.search, net_step)
                }
            };
            if let Some(ending) = ending
                && let Some(live) = self.live.take()
            {
                finished(live.finish(config, ending));
            }
        }
    }

    fn begin(&mut self, id: u64, config: &SelfplayConfig, games: &mut Games<W>) -> Option<Ending> {
        let seed = (games.run_seed, id);
        let (live, ending) = Live::start(seed, &mut games.start, config, &mut self.search);
        self.live = Some(live);
        ending
    }
}
