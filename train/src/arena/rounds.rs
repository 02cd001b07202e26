//! One thread's share of a match: games in lock-step, each player's rows evaluated as one batch.
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::Select;
use selfplay::eval::{Batch, EvalError, Evaluator};

use super::lane::{Lane, Step};
use super::{ArenaError, Match, PlayedGame, Player};

/// How often a thread whose games all wait for engines looks whether the match is stopped.
const NAP: Duration = Duration::from_millis(50);

/// What has become of a lane.
enum Fate {
    /// It waits for that player's network.
    Asks(usize),
    /// It waits for an engine.
    Waits,
    /// It has no game left to play.
    Ended,
}

impl Match<'_> {
    fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.watch.stop.load(Ordering::Relaxed)
    }

    /// The number of a game that no thread plays yet.
    fn take_game(&self) -> Option<usize> {
        if self.is_over() {
            return None;
        }
        let next = self.taken.fetch_add(1, Ordering::Relaxed);
        self.games.get(next).copied()
    }

    /// One thread's work. Where it fails, the others end theirs.
    pub(super) fn play_games(&self) -> Result<Vec<PlayedGame>, ArenaError> {
        let played = self.play_in_rounds();
        if played.is_err() {
            self.ended.store(true, Ordering::Relaxed);
        }
        played
    }

    /// Games in lock-step until none is left.
    fn play_in_rounds(&self) -> Result<Vec<PlayedGame>, ArenaError> {
        let mut minds = [
            Mind::new(self.players[0], 0)?,
            Mind::new(self.players[1], 1)?,
        ];
        let mut finished = Vec::new();
        let mut lanes: Vec<Lane> = (0..self.config.games_per_thread.max(1))
            .map_while(|_| self.take_game())
            .map(|game| Lane::new(self, game))
            .collect();
        while !lanes.is_empty() && !self.is_over() {
            let mut ended = Vec::new();
            for (index, lane) in lanes.iter_mut().enumerate() {
                match self.advance(lane, &mut minds, &mut finished)? {
                    Fate::Asks(player) => minds[player].asking.push(index),
                    Fate::Waits => {}
                    Fate::Ended => ended.push(index),
                }
            }
            if ended.is_empty() && minds.iter().all(|mind| mind.asking.is_empty()) {
                wait_for_engines(&lanes);
            }
            for (player, mind) in minds.iter_mut().enumerate() {
                mind.answer(&mut lanes)
                    .map_err(|source| ArenaError::eval(player, source))?;
            }
            for &index in ended.iter().rev() {
                lanes.swap_remove(index);
            }
        }
        Ok(finished)
    }

    /// Plays a lane's games on until one waits for a network or an engine, or none is left.
    fn advance(
        &self,
        lane: &mut Lane,
        minds: &mut [Mind; 2],
        finished: &mut Vec<PlayedGame>,
    ) -> Result<Fate, ArenaError> {
        loop {
            let [first, second] = minds;
            match lane.run(self.config.ply_cap, [&mut first.batch, &mut second.batch])? {
                Step::Asked(player) => return Ok(Fate::Asks(player)),
                Step::Waits => return Ok(Fate::Waits),
                Step::Over(ending) => {
                    let game = lane.finished(ending);
                    if (self.watch.finished)(&game).is_break() {
                        self.ended.store(true, Ordering::Relaxed);
                    }
                    finished.push(game);
                    let Some(next) = self.take_game() else {
                        return Ok(Fate::Ended);
                    };
                    lane.begin(self, next);
                }
            }
        }
    }
}

/// Until an engine says something or has had its time.
fn wait_for_engines(lanes: &[Lane]) {
    let engines: Vec<_> = lanes.iter().filter_map(Lane::engine).collect();
    let (mut select, mut until) = (Select::new(), Instant::now() + NAP);
    for engine in &engines {
        if let Some(lines) = engine.lines() {
            select.recv(lines);
        }
        until = until.min(engine.deadline());
    }
    // Whether one is ready or the time is up: each is asked again.
    let _ = select.ready_deadline(until);
}

/// One player's network on one thread, and the rows that wait for it.
struct Mind {
    evaluator: Option<Box<dyn Evaluator>>,
    batch: Batch,
    /// The lane of each row.
    asking: Vec<usize>,
}

impl Mind {
    fn new(player: &Player, index: usize) -> Result<Self, ArenaError> {
        let evaluator = match player {
            Player::Builtin(_) | Player::External(_) => None,
            Player::Searched(searched) => {
                Some((searched.evaluators)().map_err(|source| ArenaError::eval(index, source))?)
            }
        };
        Ok(Mind {
            evaluator,
            batch: Batch::default(),
            asking: Vec::new(),
        })
    }

    /// Evaluates the waiting rows and hands each lane its own.
    fn answer(&mut self, lanes: &mut [Lane]) -> Result<(), EvalError> {
        let Some(evaluator) = self.evaluator.as_mut().filter(|_| !self.batch.is_empty()) else {
            return Ok(());
        };
        evaluator.evaluate(&mut self.batch)?;
        for (row, &lane) in self.asking.iter().enumerate() {
            lanes[lane].answer(self.batch.evaluation(row));
        }
        self.batch.clear();
        self.asking.clear();
        Ok(())
    }
}
