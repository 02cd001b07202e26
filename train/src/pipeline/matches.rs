//! When a run plays its matches, and what becomes of their table.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use play::output::print;

use super::{Run, load, strength};
use crate::strength::StrengthTable;

impl Run {
    /// The matches in the middle of a run, with self-play held back.
    pub(super) fn match_if_due(&mut self, interrupted: &AtomicBool) -> anyhow::Result<()> {
        let every = self.config.arena.every_checkpoints;
        if every == 0 || !self.state.training.checkpoints.is_multiple_of(every.into()) {
            return Ok(());
        }
        self.pace.set_paused(true);
        let start = Instant::now();
        let table = self.play_matches(interrupted);
        // Matches are not training time.
        self.started += start.elapsed();
        self.pace.set_paused(self.has_all_rows());
        let table = table?;
        if interrupted.load(Relaxed) {
            return Ok(());
        }
        self.keep_strength(&table)?;
        self.progress.say(&self.strength_text(&table));
        Ok(())
    }

    /// Keeps a table in the metrics and in a file of its own.
    fn keep_strength(&mut self, table: &StrengthTable) -> anyhow::Result<()> {
        self.log_strength(table)?;
        Ok(self.dir.write_strength(self.learner.steps(), table)?)
    }

    fn strength_text(&self, table: &StrengthTable) -> String {
        strength::text(&self.config, self.learner.steps(), table)
    }

    pub(super) fn play_matches(&self, interrupted: &AtomicBool) -> anyhow::Result<StrengthTable> {
        strength::measure(
            &self.config,
            &self.forms,
            self.placement,
            self.learner.publish()?,
            load::first_opponent(&self.dir, &self.state, &self.config)?,
            interrupted,
            &|text| self.progress.say(text),
        )
    }

    /// The matches at the end, and their table.
    pub(super) fn measure(&mut self, interrupted: &AtomicBool) -> anyhow::Result<()> {
        let step = self.learner.steps();
        self.progress
            .say(&format!("matches of the network of step {step}:"));
        let table = self.play_matches(interrupted)?;
        if interrupted.load(Relaxed) {
            return Ok(());
        }
        self.keep_strength(&table)?;
        // The run's work is done and kept; that nobody can read the table here does not undo it.
        if let Err(error) = print(self.strength_text(&table)) {
            self.progress.say(&format!(
                "{error}; the table is in {}",
                self.dir.strength_path(step).display()
            ));
        }
        Ok(())
    }
}
