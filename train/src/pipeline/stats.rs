//! What is counted between two lines of metrics.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::learner::StepReport;
use selfplay::game::{Color, Ending, Outcome, Reason};

/// Counts since the last report.
#[derive(Debug)]
pub struct Stats {
    since: Instant,
    games: u64,
    red_wins: u64,
    black_wins: u64,
    plies: u64,
    rows: u64,
    reasons: BTreeMap<&'static str, u64>,
    steps: u64,
    losses: BTreeMap<&'static str, f64>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats {
            since: Instant::now(),
            games: 0,
            red_wins: 0,
            black_wins: 0,
            plies: 0,
            rows: 0,
            reasons: BTreeMap::new(),
            steps: 0,
            losses: BTreeMap::new(),
        }
    }
}

/// Every reason with its name in the metrics.
const REASONS: [(Reason, &str); 11] = [
    (Reason::Checkmate, "endings/checkmate"),
    (Reason::Stalemate, "endings/stalemate"),
    (Reason::NaturalLimit, "endings/natural_limit"),
    (Reason::DeadPosition, "endings/dead_position"),
    (Reason::Repetition, "endings/repetition"),
    (Reason::PerpetualCheck, "endings/perpetual_check"),
    (Reason::PerpetualChase, "endings/perpetual_chase"),
    (Reason::PerpetualAttack, "endings/perpetual_attack"),
    (Reason::Resignation, "endings/resignation"),
    (Reason::PlyCap, "endings/ply_cap"),
    (Reason::GameRule, "endings/game_rule"),
];

impl Stats {
    /// Counts a finished game of `plies` moves that gave `rows` rows.
    pub fn game(&mut self, ending: Ending, plies: usize, rows: usize) {
        self.games += 1;
        self.plies += plies as u64;
        self.rows += rows as u64;
        match ending.outcome {
            Outcome::Win(Color::Red) => self.red_wins += 1,
            Outcome::Win(Color::Black) => self.black_wins += 1,
            Outcome::Draw => {}
        }
        if let Some((_, name)) = REASONS.iter().find(|(r, _)| *r == ending.reason) {
            *self.reasons.entry(name).or_default() += 1;
        }
    }

    /// Counts a training step.
    pub fn step(&mut self, report: &StepReport) {
        self.steps += 1;
        let losses = [
            ("train/loss", report.losses.total),
            ("train/policy_loss", report.losses.policy),
            ("train/policy_target_entropy", report.losses.policy_entropy),
            ("train/value_loss", report.losses.value),
            ("train/value_accuracy", report.losses.value_accuracy),
            ("train/moves_left_loss", report.losses.moves_left),
            ("train/belief_loss", report.losses.belief),
            ("train/gradient_norm", report.grad_norm),
            ("train/learning_rate", report.learning_rate),
        ];
        for (name, loss) in losses {
            *self.losses.entry(name).or_default() += loss;
        }
    }

    /// Mean of a loss since the last report.
    pub fn loss(&self, name: &str) -> Option<f64> {
        self.losses.get(name).map(|sum| sum / self.steps as f64)
    }

    /// Whether no game and no training step was counted.
    pub fn is_empty(&self) -> bool {
        self.games == 0 && self.steps == 0
    }

    /// Training steps since the last report.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The mean of each loss since the last report.
    pub fn losses(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let steps = self.steps.max(1) as f64;
        self.losses
            .iter()
            .map(move |(&name, sum)| (name, sum / steps))
    }

    /// How long these counts have run.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    /// Appends all means and rates to `out`.
    pub fn numbers(&self, out: &mut Vec<(&'static str, f64)>) {
        let seconds = self.elapsed().as_secs_f64();
        out.push((
            "selfplay/games_per_minute",
            self.games as f64 * 60.0 / seconds,
        ));
        out.push(("selfplay/positions_per_second", self.rows as f64 / seconds));
        out.push(("train/steps_per_second", self.steps as f64 / seconds));
        if self.games > 0 {
            let share = |n: u64| n as f64 / self.games as f64;
            out.push(("selfplay/red_win_share", share(self.red_wins)));
            out.push(("selfplay/black_win_share", share(self.black_wins)));
            out.push((
                "selfplay/draw_share",
                share(self.games - self.red_wins - self.black_wins),
            ));
            out.push(("selfplay/plies_per_game", share(self.plies)));
            out.extend(self.reasons.iter().map(|(&name, &n)| (name, share(n))));
        }
        out.extend(self.losses());
    }
}
