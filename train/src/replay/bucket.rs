//! How fast training may use up what self-play makes.
use serde::{Deserialize, Serialize};

use super::ReplayConfig;

/// Keeps training from using rows faster than self-play makes them; part of the run's state.
///
/// Law: rows trained never exceed `ratio` times the training rows made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayBucket {
    /// Training rows made, as last told.
    made: u64,
    /// Rows trained, and those that could have been but ran over `burst_rows`.
    used: u64,
}

impl ReplayBucket {
    /// Notes that the run has made `total` training rows by now.
    pub fn made(&mut self, total: u64, config: &ReplayConfig) {
        self.made = self.made.max(total);
        if config.burst_rows > 0 {
            self.used += self.available(config).saturating_sub(config.burst_rows);
        }
    }

    /// Rows that may be trained now, before the start condition.
    pub fn available(&self, config: &ReplayConfig) -> u64 {
        ((self.made as f64 * config.ratio) as u64).saturating_sub(self.used)
    }

    /// Whether `rows` may be trained now.
    pub fn is_ready(&self, rows: u64, config: &ReplayConfig) -> bool {
        self.made >= config.min_rows && self.available(config) >= rows
    }

    /// Takes `rows` for a training step if they may be trained now; returns whether it did.
    pub fn take(&mut self, rows: u64, config: &ReplayConfig) -> bool {
        let ready = self.is_ready(rows, config);
        if ready {
            self.used += rows;
        }
        ready
    }
}
