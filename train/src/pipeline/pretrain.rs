//! Training on recorded games before self-play. What comes of it is the run's first checkpoint; until that is committed
//! there is no `state.json`, and the network in pretraining stands beside where it will be.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use anyhow::Context;
use model::config::OptimConfig;
use model::device::{Placement, compute_threads};
use model::learner::{Learner, Which};
use model::loss::Losses;

use super::{Run, Stats, load, worker_count};
use crate::cli::Broken;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::pretrain::Source;
use crate::run_dir::RunDir;

/// The learner of a run without a state, fresh; or, if its pretraining was broken off, the learner from there and the
/// run's name. `config` must then be the run's own but for what may change.
pub(super) fn begin(
    dir: &RunDir,
    config: &Config,
    origin: &str,
    source: Option<&Source>,
    placement: &Placement,
) -> anyhow::Result<(Learner, Option<String>)> {
    let optim = match source {
        Some(source) => optim(config, source.order.rows()),
        None => config.optim.clone(),
    };
    let path = dir.pretraining_path();
    if !path.exists() {
        let learner = Learner::new(&config.net, &optim, placement, config.run.seed)?;
        return Ok((learner, None));
    }
    load::own_config(dir)?.changes_on_resume(config, origin)?;
    let (learner, about) = Learner::load(&path, &config.net, &optim, placement)
        .context("the network in pretraining cannot be used (without this file the pretraining begins again)")?;
    Ok((learner, Some(about.origin.run)))
}

/// `[optim]` with the schedule of a pretraining of `rows` rows.
fn optim(config: &Config, rows: u64) -> OptimConfig {
    OptimConfig {
        learning_rate: config.pretrain.learning_rate,
        warmup_rows: (config.pretrain.warmup_share * rows as f64) as u64,
        decay_rows: rows,
        ..config.optim.clone()
    }
}

impl Run {
    /// Trains on `source`, makes the average the run's first network and commits it, with fresh moments and counts of
    /// 0. Returns false if it was interrupted: what is trained is kept then, and the next process goes on.
    pub(super) fn pretrain(
        &mut self,
        mut source: Source,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<bool> {
        if self.placement.device == tch::Device::Cpu {
            // Nothing else runs yet. More threads than cores would wait for each other most of the time.
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = worker_count(&self.config, self.placement.device).min(cores);
            compute_threads(threads);
        }
        self.announce(&source)?;
        let untrained = self.untrained(&source)?;
        if self.learner.steps() == 0 {
            self.log_validation(untrained)?;
        }
        self.save_pretraining()?;
        if self.learner.rows() < source.order.rows() {
            source.order.seek(self.learner.rows()).map_err(broken)?;
            self.stats = Stats::default();
            self.pretrain_rounds(&mut source, interrupted)?;
        }
        if interrupted.load(Relaxed) {
            self.save_pretraining()?;
            self.progress.say(&format!(
                "the pretraining is kept at step {}",
                self.learner.steps()
            ));
            return Ok(false);
        }
        let trained = self.validation_losses(&source, Which::Average)?;
        self.progress.say(&format!(
            "pretrained: {} steps{}; self-play begins with this network, the run's first checkpoint",
            self.learner.steps(),
            compare(untrained, trained)
        ));
        let weights = self.learner.publish()?;
        self.learner = Learner::from_weights(&weights, &self.config.optim, &self.placement)?;
        self.metrics = Metrics::open(&self.dir.metrics_path(), &self.dir.tensorboard_path(), 0)?;
        self.stats = Stats::default();
        self.started = Instant::now();
        self.checkpoint()?;
        self.dir.drop_pretraining()?;
        Ok(true)
    }

    /// Says what is trained on, and from where.
    fn announce(&self, source: &Source) -> anyhow::Result<()> {
        let all = source.order.rows();
        self.progress.say(&format!(
            "pretraining: {} rows to train on, {} held out, of {} games; {all} rows in {} epochs",
            source.totals.training,
            source.totals.held_out,
            source.games,
            self.config.pretrain.epochs
        ));
        if self.learner.steps() > 0 {
            self.progress.say(&format!(
                "going on with the pretraining at step {}, {} rows trained",
                self.learner.steps(),
                self.learner.rows()
            ));
        }
        Ok(())
    }

    fn pretrain_rounds(
        &mut self,
        source: &mut Source,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<()> {
        let batch_rows = self.config.optim.batch_rows;
        let (all, mut saved) = (source.order.rows(), self.learner.rows());
        while !interrupted.load(Relaxed) && self.learner.rows() < all {
            self.batch.clear();
            for _ in 0..batch_rows {
                let next = source.order.next_row().map_err(broken)?;
                self.batch
                    .push_from(next.rows, next.row, next.number, next.mirror)?;
            }
            let report = self.learner.step(&self.batch).map_err(broken)?;
            self.stats.step(&report);
            if self.learner.rows() - saved >= self.config.checkpoint.every_rows {
                self.save_pretraining()?;
                saved = self.learner.rows();
            }
            let seconds = self.stats.elapsed().as_secs_f64();
            if seconds >= self.config.run.report_seconds || self.learner.rows() >= all {
                self.report_pretraining(source)?;
            }
        }
        Ok(())
    }

    /// Logs what happened since the last report, shows it, and starts counting anew.
    fn report_pretraining(&mut self, source: &Source) -> anyhow::Result<()> {
        let losses = self.stats.losses();
        let mut numbers: Vec<_> = losses
            .map(|(name, mean)| (name.replace("train/", "pretrain/"), mean))
            .collect();
        let seconds = self.stats.elapsed().as_secs_f64();
        let rate = self.stats.steps() as f64 * f64::from(self.config.optim.batch_rows) / seconds;
        let (rows, all) = (self.learner.rows(), source.order.rows());
        numbers.push(("pretrain/rows".into(), rows as f64));
        numbers.push(("pretrain/rows_per_second".into(), rate));
        numbers.push(("pretrain/epochs".into(), source.order.epochs_done()));
        let validation = self.validation_losses(source, Which::Training)?;
        numbers.extend(validation.iter().flat_map(named));
        self.log(&numbers)?;
        let find = |name: &str| {
            let number = numbers.iter().find(|(n, _)| n.ends_with(name));
            number.map_or("-".to_owned(), |(_, x)| format!("{x:.3}"))
        };
        let lines = [
            (
                "pretrain",
                format!("{rows} of {all} rows trained, {rate:.0} rows/s"),
            ),
            (
                "loss",
                format!(
                    "policy {}, value {}; validation policy {}, value {}",
                    find("pretrain/policy_loss"),
                    find("pretrain/value_loss"),
                    find("validation_policy_loss"),
                    find("validation_value_loss")
                ),
            ),
        ];
        let share = rows as f64 / all as f64;
        self.progress
            .show(Some(share), self.started.elapsed(), &lines);
        self.stats = Stats::default();
        Ok(())
    }

    fn log_validation(&mut self, losses: Option<Losses>) -> anyhow::Result<()> {
        let numbers: Vec<_> = losses.iter().flat_map(named).collect();
        self.log(&numbers)
    }

    fn log(&mut self, numbers: &[(String, f64)]) -> anyhow::Result<()> {
        let numbers: Vec<_> = numbers
            .iter()
            .map(|(name, x)| (name.as_str(), *x))
            .collect();
        Ok(self.metrics.log(self.learner.steps(), &numbers)?)
    }

    /// How the held-out rows are scored; `None` if there are none.
    fn validation_losses(
        &mut self,
        source: &Source,
        which: Which,
    ) -> anyhow::Result<Option<Losses>> {
        if source.validation.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.learner.validate(&source.validation, which)?))
    }

    /// How the network that training begins with scores the held-out rows.
    fn untrained(&self, source: &Source) -> anyhow::Result<Option<Losses>> {
        if source.validation.is_empty() {
            return Ok(None);
        }
        let config = &self.config;
        let fresh = Learner::new(&config.net, &config.optim, &self.placement, config.run.seed);
        Ok(Some(fresh?.validate(&source.validation, Which::Average)?))
    }
}

/// The validation's numbers by their names in the metrics.
fn named(losses: &Losses) -> [(String, f64); 3] {
    [
        ("policy_loss", losses.policy),
        ("value_loss", losses.value),
        ("value_accuracy", losses.value_accuracy),
    ]
    .map(|(name, x)| (format!("pretrain/validation_{name}"), x))
}

/// What the pretraining has brought, in words.
fn compare(before: Option<Losses>, after: Option<Losses>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!(
            ", validation policy loss {:.3} (untrained {:.3}), value loss {:.3} (untrained {:.3})",
            after.policy, before.policy, after.value, before.value
        ),
        _ => String::new(),
    }
}

/// The shards were whole when the run began.
fn broken(error: impl std::fmt::Display) -> anyhow::Error {
    Broken(format!("pretraining: {error:#}")).into()
}
