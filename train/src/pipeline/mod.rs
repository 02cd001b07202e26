//! A run: self-play, samples, training and matches, and the order in which they happen.
//!
//! One thread, the coordinator, owns the network in training, the replay window and the run directory; it takes
//! finished games from the self-play threads, commits them, trains while the replay ratio allows it, and
//! publishes each checkpoint's average to the workers, which take it between two batches.
pub mod keep;
mod ladder;
pub mod load;
mod matches;
mod pace;
mod pretrain;
mod progress;
mod report;
mod resign;
mod selfplay;
mod stats;
mod store;
pub mod strength;

pub use self::progress::Progress;
pub use self::resign::{Calibration, Side};
pub use self::selfplay::{match_threads, worker_count};

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ::selfplay::game::{Color, Outcome};
use ::selfplay::record::Rows;
use ::selfplay::rules::World;
use ::selfplay::worker::FinishedGame;
use anyhow::{Context, anyhow};
use model::batch::TrainBatch;
use model::device::{Placement, single_threaded};
use model::learner::Learner;
use model::slot::WeightSlot;

use self::ladder::LadderSeat;
use self::pace::Pace;
use self::selfplay::{Message, Selfplay};
use self::stats::Stats;
use crate::atomic::FileError;
use crate::cli::Broken;
use crate::config::Config;
use crate::forms::Forms;
use crate::games::GameText;
use crate::metrics::Metrics;
use crate::pretrain::Source;
use crate::replay::{Pick, Replay, ReplayBucket};
use crate::run_dir::{RunDir, RunFiles, State};

/// How long the coordinator waits for a game when it may not train.
const IDLE: Duration = Duration::from_millis(20);

/// Trains as `config` says in the run directory `path`, going on where it stands. `interrupted` ends the run early.
pub fn train(
    config: Config,
    origin: &str,
    path: &Path,
    interrupted: &AtomicBool,
) -> anyhow::Result<()> {
    let placement =
        Placement::resolve(&config.device).with_context(|| format!("{origin}: [device]"))?;
    let forms = Forms::of(&config.ruleset).map_err(|why| anyhow!("{origin}: [ruleset] {why}"))?;
    let progress = Progress::new("run", report::LINES);
    let run = Run::open(config, origin, path, forms, placement, progress);
    explain(run.and_then(|mut run| run.finish(interrupted)))
}

/// A full disk ends a run in order, whatever was being written; anything else that stops it is passed on.
fn explain<T>(ended: anyhow::Result<T>) -> anyhow::Result<T> {
    ended.map_err(|error| match error.downcast_ref::<FileError>() {
        Some(FileError::DiskFull { .. }) => Broken(format!(
            "{error:#}. The run stopped; all that was committed is whole. Free some space and give the same command again"
        ))
        .into(),
        _ => error,
    })
}

/// Games on their way to the next shard.
#[derive(Default)]
struct Pending {
    rows: Rows,
    games: Vec<GameText>,
}

/// A run in progress.
struct Run {
    config: Config,
    forms: Forms,
    placement: Placement,
    dir: RunDir,
    state: State,
    learner: Learner,
    /// What the learner is to be trained on before self-play.
    pretraining: Option<Source>,
    replay: Replay,
    bucket: ReplayBucket,
    slot: Arc<WeightSlot>,
    pace: Arc<Pace>,
    ladder: LadderSeat,
    metrics: Metrics,
    progress: Progress,
    stats: Stats,
    pending: Pending,
    batch: TrainBatch,
    picks: Vec<Pick>,
    rows: Rows,
    /// Whether the last report raised the overfit alarm.
    overfitting: bool,
    started: Instant,
    /// Seconds worked by earlier processes.
    before: f64,
}

/// Checks the config against that of the run, and says what has changed and from where it goes on.
fn resume(
    dir: &RunDir,
    state: &State,
    config: &Config,
    origin: &str,
    progress: &Progress,
) -> anyhow::Result<()> {
    let old = load::config(dir, state)?;
    for change in old.changes_on_resume(config, origin)? {
        progress.say(&format!(
            "config: {}: {} -> {}",
            change.key, change.old, change.new
        ));
    }
    progress.say(&format!(
        "going on with {}: step {}, {} games, {} rows",
        dir.path().display(),
        state.training.step,
        state.selfplay.games,
        state.selfplay.rows.training + state.selfplay.rows.held_out
    ));
    Ok(())
}

impl Run {
    /// Opens or creates the run, and says what was taken over and what was lost.
    fn open(
        config: Config,
        origin: &str,
        path: &Path,
        forms: Forms,
        placement: Placement,
        progress: Progress,
    ) -> anyhow::Result<Self> {
        let window = || Replay::new(&config.replay).map_err(|e| anyhow!("{origin}: {e}"));
        // A new run leaves nothing behind if its memory is missing; an old one is locked before it takes any.
        let early = (!RunFiles::exists(path)).then(window).transpose()?;
        let pretraining = match early {
            Some(_) => Source::open(&config, &forms)?,
            None => None,
        };
        let (dir, mut state) = RunDir::open(path)?;
        // Another process may have come first.
        let pretraining = pretraining.filter(|_| state.is_none());
        let (learner, begun) = match &state {
            Some(state) => {
                resume(&dir, state, &config, origin, &progress)?;
                let learner = load::learner(&dir, state, &config, &placement)?;
                // Matches come last; what they need must not be found missing only then.
                load::first_opponent(&dir, state, &config)?;
                (learner, None)
            }
            None => pretrain::begin(&dir, &config, origin, pretraining.as_ref(), &placement)?,
        };
        if state.as_ref().is_some_and(|state| state.working) {
            progress.say(
                "the last process was killed: games since its last shard and steps since its last checkpoint are lost",
            );
        }
        for lost in dir.recover(state.as_ref())? {
            progress.say(&format!("dropped {lost}"));
        }
        if let Some(state) = state.as_mut().filter(|state| state.working) {
            state.working = false;
            dir.write_state(state)?;
        }
        let is_new = state.is_none();
        let mut state = state.unwrap_or_else(|| State::new(&forms.names(), config.run.seed));
        state.run = begun.unwrap_or(state.run);
        let mut replay = early.map_or_else(window, Ok)?;
        replay.restore(&dir.shards(&state)?, state.selfplay.rows, &forms.names())?;
        let mut bucket = state.training.bucket;
        bucket.made(state.selfplay.rows.training, &config.replay);
        let curves = match pretraining {
            Some(_) => dir.pretraining_curves()?,
            None => dir.tensorboard_path(),
        };
        let metrics = Metrics::open(&dir.metrics_path(), &curves, learner.steps())?;
        let pace = Arc::new(Pace::default());
        pace.next_game.store(state.selfplay.next_game_id, Relaxed);
        let mut run = Run {
            slot: WeightSlot::new(learner.publish()?),
            before: state.elapsed_seconds,
            config,
            forms,
            placement,
            dir,
            state,
            learner,
            pretraining,
            replay,
            bucket,
            pace,
            ladder: LadderSeat::None,
            metrics,
            progress,
            stats: Stats::default(),
            pending: Pending::default(),
            batch: TrainBatch::default(),
            picks: Vec::new(),
            rows: Rows::default(),
            overfitting: false,
            started: Instant::now(),
        };
        run.open_ladder()?;
        run.set_resign_below();
        run.dir.write_config(&run.config.to_toml())?;
        if is_new && run.pretraining.is_none() {
            run.checkpoint()?;
        }
        Ok(run)
    }

    /// All that is left of the run: work, matches, and the last words.
    fn finish(&mut self, interrupted: &AtomicBool) -> anyhow::Result<()> {
        if let Some(source) = self.pretraining.take()
            && !self.pretrain(source, interrupted)?
        {
            self.progress.finish();
            self.farewell(true);
            return Ok(());
        }
        if !self.is_complete() {
            self.work(interrupted)?;
        }
        self.progress.finish();
        if !interrupted.load(Relaxed) {
            self.finish_ladder(interrupted)?;
        }
        if !interrupted.load(Relaxed) {
            self.measure(interrupted)?;
        }
        self.farewell(interrupted.load(Relaxed));
        Ok(())
    }

    /// Seconds of self-play and training over all processes.
    fn elapsed(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// Share of `run.minutes` that is over, 0..=1; `None` without that limit.
    fn time_share(&self) -> Option<f64> {
        let limit = 60.0 * self.config.run.minutes;
        (limit > 0.0).then(|| (self.elapsed() / limit).min(1.0))
    }

    /// Share of `run.produced_rows` that is made, 0..=1; `None` without that limit.
    fn rows_share(&self) -> Option<f64> {
        let limit = self.config.run.produced_rows;
        let totals = self.state.selfplay.rows;
        (limit > 0).then(|| ((totals.training + totals.held_out) as f64 / limit as f64).min(1.0))
    }

    /// How far the run is by the nearest of its limits, 0..=1; `None` without limits.
    fn share(&self) -> Option<f64> {
        self.time_share()
            .into_iter()
            .chain(self.rows_share())
            .reduce(f64::max)
    }

    /// Whether no row is to be made any more.
    fn has_all_rows(&self) -> bool {
        self.rows_share().is_some_and(|share| share >= 1.0)
    }

    /// Whether time is up, or all rows are made and trained as often as they may be.
    fn is_complete(&self) -> bool {
        let batch = self.config.optim.batch_rows.into();
        self.time_share().is_some_and(|share| share >= 1.0)
            || self.has_all_rows() && !self.bucket.is_ready(batch, &self.config.replay)
    }

    /// Self-play and training until a limit or an interruption; then everything is saved.
    fn work(&mut self, interrupted: &AtomicBool) -> anyhow::Result<()> {
        if self.placement.device == tch::Device::Cpu {
            single_threaded();
        }
        self.pace.set_paused(self.has_all_rows());
        self.state.working = true;
        self.dir.write_state(&self.state)?;
        let threads = Selfplay::start(
            &self.config,
            &self.forms,
            self.placement,
            &self.slot,
            &self.pace,
        )?;
        let ended = (self.start_ladder()).and_then(|()| self.rounds(&threads, interrupted));
        for game in threads.stop() {
            self.take(game);
        }
        let heard = self.stop_ladder();
        // Games are good whatever ended the run; a network is not, once a step has failed.
        let committed = self.commit();
        ended?;
        committed?;
        heard?;
        // The last games allow some more steps, which a run of so many rows owes.
        while self.has_all_rows() && !interrupted.load(Relaxed) && !self.is_complete() {
            self.train_step()?;
        }
        if !self.stats.is_empty() {
            self.report()?;
        }
        self.state.working = false;
        self.checkpoint()
    }

    fn rounds(&mut self, threads: &Selfplay, interrupted: &AtomicBool) -> anyhow::Result<()> {
        let mut trained = true;
        while !interrupted.load(Relaxed) && !self.is_complete() {
            let wait = if trained { Duration::ZERO } else { IDLE };
            let mut message = threads.messages.recv_timeout(wait).ok();
            while let Some(next) = message {
                match next {
                    Message::Game(game) => self.take(*game),
                    Message::Failed(why) => return Err(Broken(why).into()),
                }
                message = threads.messages.try_recv().ok();
            }
            if self.pending.rows.len() >= self.config.samples.shard_rows {
                self.commit()?;
                self.pace.set_paused(self.has_all_rows());
            }
            self.hear_ladder()?;
            trained = self.train_step()?;
            if self.learner.rows() - self.state.training.rows_trained
                >= self.config.checkpoint.every_rows
            {
                self.checkpoint()?;
                self.match_if_due(interrupted)?;
            }
            if self.stats.elapsed().as_secs_f64() >= self.config.run.report_seconds {
                self.report()?;
            }
        }
        Ok(())
    }

    /// Notes a finished game for the next shard.
    fn take(&mut self, game: FinishedGame<World>) {
        self.stats
            .game(game.ending, game.moves.len(), game.rows.len());
        if let Some(lowest) = game.lowest {
            let side = |color: Color| Side {
                lowest: lowest[color as usize],
                lost: game.ending.outcome == Outcome::Win(color.other()),
            };
            let memory = self.config.selfplay.resign_memory;
            self.state
                .calibration
                .note([side(Color::Red), side(Color::Black)], memory);
            self.set_resign_below();
        }
        self.pending.rows.append(&game.rows);
        self.pending
            .games
            .push(store::game_text(&self.state.run, &game));
    }

    fn set_resign_below(&self) {
        let selfplay = &self.config.selfplay;
        let below = self
            .state
            .calibration
            .threshold(selfplay.resign_below, selfplay.resign_wrong_max);
        self.pace.set_resign_below(below);
    }

    /// Trains one batch if the replay ratio allows it; returns whether it did.
    fn train_step(&mut self) -> anyhow::Result<bool> {
        let rows = u64::from(self.config.optim.batch_rows);
        if !self.bucket.take(rows, &self.config.replay) {
            return Ok(false);
        }
        self.replay.pick(
            self.config.run.seed,
            self.learner.steps(),
            rows as usize,
            &mut self.picks,
        );
        self.replay.fill(&self.picks, &mut self.rows);
        self.batch.clear();
        for (i, pick) in self.picks.iter().enumerate() {
            self.batch.push_from(&self.rows, i, pick.row, false)?;
        }
        let report = self
            .learner
            .step(&self.batch)
            .map_err(|e| Broken(e.to_string()))?;
        self.stats.step(&report);
        Ok(true)
    }

    fn farewell(&self, interrupted: bool) {
        let how = if interrupted {
            "stopped; the same command goes on"
        } else {
            "complete"
        };
        let state = &self.state;
        self.progress.say(&format!(
            "{}: {how}; step {}, {} games, {:.1} minutes",
            self.dir.path().display(),
            state.training.step,
            state.selfplay.games,
            state.elapsed_seconds / 60.0
        ));
    }
}
