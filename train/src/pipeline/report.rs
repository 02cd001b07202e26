//! The numbers of a run: to `metrics.jsonl`, to TensorBoard, and on the screen.
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use model::learner::Which;

use super::Run;
use super::stats::Stats;
use crate::strength::StrengthTable;

/// Lines of text below the bar.
pub const LINES: usize = 4;

impl Run {
    /// Logs what happened since the last report, shows it, and starts counting anew.
    pub(super) fn report(&mut self) -> anyhow::Result<()> {
        let mut numbers = Vec::new();
        self.stats.numbers(&mut numbers);
        let seconds = self.stats.elapsed().as_secs_f64();
        let evaluated = self.pace.evaluated.swap(0, Relaxed) as f64;
        let capacity = self.pace.capacity.swap(0, Relaxed) as f64;
        numbers.push(("selfplay/evaluations_per_second", evaluated / seconds));
        numbers.push(("selfplay/batch_fill", evaluated / capacity.max(1.0)));
        let state = &self.state.selfplay;
        numbers.push((
            "selfplay/games",
            (state.games + self.pending.games.len() as u64) as f64,
        ));
        numbers.push((
            "selfplay/rows",
            (state.rows.training + state.rows.held_out) as f64,
        ));
        numbers.push(("selfplay/resign_below", self.pace.resign_below().into()));
        let (resigned, wrong) = self.state.calibration.wrong(self.pace.resign_below());
        numbers.push(("selfplay/resignations_played_out", resigned as f64));
        numbers.push(("selfplay/resignations_wrong", wrong as f64));
        numbers.push(("replay/window_rows", self.replay.window_rows() as f64));
        numbers.push(("train/rows", self.learner.rows() as f64));
        numbers.push(("run/minutes", self.elapsed() / 60.0));
        self.validate(&mut numbers)?;
        self.metrics.log(self.learner.steps(), &numbers)?;
        let lines = lines(&numbers, self.learner.steps());
        self.progress.show(
            self.share(),
            Duration::from_secs_f64(self.elapsed()),
            &lines,
        );
        self.stats = Stats::default();
        Ok(())
    }

    /// Scores held-out rows, and warns where training has left them behind.
    fn validate(&mut self, numbers: &mut Vec<(&'static str, f64)>) -> anyhow::Result<()> {
        let rows = self.replay.held_out_rows();
        if rows == 0 || self.learner.steps() == 0 {
            return Ok(());
        }
        self.replay.fill_held_out(
            rows.saturating_sub(self.config.checkpoint.validation_rows)..rows,
            &mut self.rows,
        );
        self.batch.clear();
        for i in 0..self.rows.len() {
            self.batch.push_from(&self.rows, i, i as u64, false)?;
        }
        let losses = self.learner.validate(&self.batch, Which::Training)?;
        numbers.push(("validation/policy_loss", losses.policy));
        numbers.push(("validation/value_loss", losses.value));
        numbers.push(("validation/value_accuracy", losses.value_accuracy));
        numbers.push(("validation/belief_loss", losses.belief));
        if let Some(training) = self.stats.loss("train/value_loss") {
            let gap = losses.value - training;
            numbers.push(("validation/value_gap", gap));
            let alarm = gap > self.config.checkpoint.overfit_alarm;
            if alarm && !self.overfitting {
                self.progress.say(&format!(
                    "warning: overfitting: the validation value loss {:.3} is {gap:.3} above the training one; a lower replay.ratio or a larger window helps",
                    losses.value
                ));
            }
            self.overfitting = alarm;
        }
        Ok(())
    }

    /// Logs the scores of a table.
    pub(super) fn log_strength(&mut self, table: &StrengthTable) -> anyhow::Result<()> {
        let names: Vec<_> = table
            .rows
            .iter()
            .map(|row| match self.forms.is_one() {
                true => format!("strength/{}", row.opponent),
                false => format!("strength/{}/{}", row.form, row.opponent),
            })
            .collect();
        let scores = table.rows.iter().map(|row| row.rating.score);
        let numbers: Vec<_> = names.iter().map(String::as_str).zip(scores).collect();
        self.metrics.log(self.learner.steps(), &numbers)?;
        Ok(())
    }
}

/// The lines below the bar; a number that is not there yet is a dash.
fn lines(numbers: &[(&'static str, f64)], step: u64) -> Vec<(&'static str, String)> {
    let find = |name: &str| numbers.iter().find(|(n, _)| *n == name).map(|&(_, x)| x);
    let show =
        |name: &str, digits: usize| find(name).map_or("-".into(), |x| format!("{x:.digits$}"));
    let percent = |name: &str| find(name).map_or("-".into(), |x| format!("{:.0} %", 100.0 * x));
    vec![
        (
            "selfplay",
            format!(
                "{} games, {} positions/s, {} evals/s, batch fill {}",
                show("selfplay/games", 0),
                show("selfplay/positions_per_second", 0),
                show("selfplay/evaluations_per_second", 0),
                percent("selfplay/batch_fill")
            ),
        ),
        (
            "games",
            format!(
                "red {}, draw {}, black {}, {} plies",
                percent("selfplay/red_win_share"),
                percent("selfplay/draw_share"),
                percent("selfplay/black_win_share"),
                show("selfplay/plies_per_game", 0)
            ),
        ),
        (
            "training",
            format!(
                "step {step}, {} rows trained, window {}",
                show("train/rows", 0),
                show("replay/window_rows", 0)
            ),
        ),
        (
            "loss",
            format!(
                "{} = policy {}, value {}, moves left {}, belief {}; validation value {}",
                show("train/loss", 3),
                show("train/policy_loss", 3),
                show("train/value_loss", 3),
                show("train/moves_left_loss", 3),
                show("train/belief_loss", 3),
                show("validation/value_loss", 3)
            ),
        ),
    ]
}
