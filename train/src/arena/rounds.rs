//! One thread's share of a match: games in lock-step, each player's rows evaluated as one batch.
use std::sync::atomic::Ordering;

use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::game::Referee;
use selfplay::opponent::Material;

use super::lane::{Lane, Step};
use super::{ArenaError, Match, PlayedGame, Player};

impl<W> Match<'_, W>
where
    W: Referee,
    W::View: Material,
{
    /// The number of a game that no thread plays yet; game `2 n` and `2 n + 1` are pair `n`.
    fn take_game(&self) -> Option<usize> {
        if self.watch.stop.load(Ordering::Relaxed) {
            return None;
        }
        let game = self.next_game.fetch_add(1, Ordering::Relaxed);
        (game < 2 * self.openings.len()).then_some(game)
    }

    /// One thread's work: games in lock-step until none is left.
    pub(super) fn play_games(&self) -> Result<Vec<PlayedGame>, ArenaError> {
        let mut minds = [
            Mind::new(self.players[0], 0)?,
            Mind::new(self.players[1], 1)?,
        ];
        let mut finished = Vec::new();
        let mut lanes: Vec<Lane<W>> = (0..self.config.games_per_thread.max(1))
            .map_while(|_| self.take_game())
            .map(|game| Lane::new(self, game))
            .collect();
        while !lanes.is_empty() && !self.watch.stop.load(Ordering::Relaxed) {
            let mut ended = Vec::new();
            for (index, lane) in lanes.iter_mut().enumerate() {
                match self.advance(lane, &mut minds, &mut finished) {
                    Some(player) => minds[player].asking.push(index),
                    None => ended.push(index),
                }
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

    /// Plays a lane's games on until one asks a network, whose player is returned, or none is left.
    fn advance(
        &self,
        lane: &mut Lane<W>,
        minds: &mut [Mind; 2],
        finished: &mut Vec<PlayedGame>,
    ) -> Option<usize> {
        loop {
            let [first, second] = minds;
            match lane.run(self.config.ply_cap, [&mut first.batch, &mut second.batch]) {
                Step::Asked(player) => return Some(player),
                Step::Over(ending) => {
                    let game = lane.finished(ending);
                    (self.watch.finished)(&game);
                    finished.push(game);
                    lane.begin(self, self.take_game()?);
                }
            }
        }
    }
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
            Player::Builtin(_) => None,
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
    fn answer<W>(&mut self, lanes: &mut [Lane<W>]) -> Result<(), EvalError>
    where
        W: Referee,
        W::View: Material,
    {
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
