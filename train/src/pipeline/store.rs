//! What a run commits: shards with their games, and checkpoints.
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use model::checkpoint::{CheckpointError, Origin};
use selfplay::game::Reason;
use selfplay::rules::{Color, World};
use selfplay::worker::{FinishedGame, Resignation};

use super::keep::surplus;
use super::{Pending, Run};
use crate::atomic;
use crate::games::GameText;
use crate::levels::Levels;
use crate::run_dir::{Commit, TrainingState};
use crate::samples::ShardHead;

impl Run {
    /// Writes the pending games as a shard and adds its rows to the replay window.
    pub(super) fn commit(&mut self) -> anyhow::Result<()> {
        if self.pending.rows.is_empty() {
            return Ok(());
        }
        let Pending { rows, games } = &self.pending;
        let new = Commit {
            rows,
            totals: self.config.replay.totals_of(&rows.game),
            games,
            next_game_id: self.pace.next_game.load(Relaxed),
        };
        let head = ShardHead {
            run: self.state.run.clone(),
            form: self.forms.names(),
            ruleset: self.forms.describe(),
        };
        self.state.elapsed_seconds = self.elapsed();
        self.dir
            .commit(&mut self.state, &new, &head, &self.config.samples)?;
        self.replay.push(rows);
        self.bucket
            .made(self.state.selfplay.rows.training, &self.config.replay);
        self.pending.rows.clear();
        self.pending.games.clear();
        Ok(())
    }

    /// Writes a checkpoint, commits it and gives its average to the workers.
    pub(super) fn checkpoint(&mut self) -> anyhow::Result<()> {
        let origin = self.origin();
        let is_first = self.learner.steps() == 0;
        let training = TrainingState {
            step: self.learner.steps(),
            rows_trained: self.learner.rows(),
            checkpoints: self.state.training.checkpoints + u64::from(!is_first),
            bucket: self.bucket,
        };
        self.state.elapsed_seconds = self.elapsed();
        self.dir
            .commit_checkpoint(&mut self.state, training, |path| {
                self.learner.save(path, &origin).map_err(io_error)
            })?;
        self.slot.publish(self.learner.publish()?);
        self.offer_to_ladder();
        self.remove_old_checkpoints()
    }

    /// Keeps the network in pretraining, to go on with after an interruption.
    pub(super) fn save_pretraining(&self) -> anyhow::Result<()> {
        let origin = self.origin();
        Ok(atomic::publish(&self.dir.pretraining_path(), |path| {
            self.learner.save(path, &origin).map_err(io_error)
        })?)
    }

    fn origin(&self) -> Origin {
        Origin {
            run: self.state.run.clone(),
            form: self.forms.names(),
            ruleset: self.forms.describe(),
            config: self.config.to_toml(),
        }
    }

    /// Keeps what [`surplus`] leaves, and beside that what levels play with and what is still to play on the ladder.
    fn remove_old_checkpoints(&self) -> anyhow::Result<()> {
        let levels = match Levels::of_run(&self.dir, &self.state.run) {
            Ok(levels) => levels,
            Err(error) => {
                self.progress.say(&format!(
                    "no checkpoint is removed while it is unknown which of them levels play with: {error}"
                ));
                return Ok(());
            }
        };
        let mut named = levels.map_or_else(BTreeSet::new, |levels| levels.steps());
        named.extend(self.ladder.needed());
        let all = self.dir.checkpoints()?.into_iter().map(|(step, _)| step);
        let all: Vec<_> = all
            .filter(|step| *step == 0 || !named.contains(step))
            .collect();
        for step in surplus(&all, self.config.checkpoint.keep) {
            atomic::remove(&self.dir.checkpoint_path(step))?;
        }
        Ok(())
    }
}

fn io_error(error: CheckpointError) -> std::io::Error {
    match error {
        CheckpointError::Io { source, .. } => source,
        other => std::io::Error::other(other),
    }
}

/// A game as its text is kept.
pub(super) fn game_text(run: &str, game: &FinishedGame<World>) -> GameText {
    GameText {
        id: game.id,
        run: run.into(),
        seed: game.seed,
        form: game.start.position(Color::Red).rules().name.into(),
        start: game.start.fen(),
        moves: move_texts(game),
        ending: game.ending,
        net_step_first: game.net_steps.0,
        net_step_last: game.net_steps.1,
        would_resign: match game.resignation {
            Resignation::PlayedOn { loser, ply, .. }
                if game.ending.reason != Reason::Resignation =>
            {
                Some((loser, ply as u16))
            }
            _ => None,
        },
    }
}

/// The moves, each with what it brought to light behind it.
fn move_texts(game: &FinishedGame<World>) -> Vec<String> {
    let mut texts: Vec<_> = game.moves.iter().map(ToString::to_string).collect();
    for (ply, reveal) in &game.reveals {
        texts[*ply] += &reveal.to_string();
    }
    texts
}
