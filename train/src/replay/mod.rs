//! The replay window: the last rows of self-play, kept in memory, and how fast they may be used up.
use std::path::PathBuf;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::mix;
use selfplay::policy;
use selfplay::record::Rows;
use serde::{Deserialize, Serialize};

use crate::atomic::FileError;
use crate::samples;

mod bucket;
mod memory;
mod ring;
pub use bucket::ReplayBucket;
pub use ring::Ring;

/// The `[replay]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// Training rows before the first step, and the window's size until then; at least 1.
    pub min_rows: u64,
    /// Rows that the window never exceeds; its memory is reserved at the start. At least `min_rows`.
    pub max_rows: u64,
    /// Rows by which the window grows a new row when it starts to grow, 0..=1.
    pub growth_slope: f64,
    /// Exponent of the window's growth, above 0, at most 1.
    pub growth_exponent: f64,
    /// Legal moves reserved a row, on average; a window of richer rows holds fewer of them. At least 1.
    pub policy_entries_per_row: u64,
    /// Rows trained at most per committed training row, above 0.
    pub ratio: f64,
    /// Rows of training that can be saved up while self-play is ahead; more is lost. 0: no limit.
    pub burst_rows: u64,
    /// Share of games that are never trained on, 0..=0.5, in steps of 1/1000.
    pub held_out_share: f64,
    /// The last rows of those games that are kept for validation; memory as for `max_rows`.
    pub held_out_rows: u64,
    /// Whether each row drawn is left-right mirrored with probability 1/2.
    pub mirror: bool,
}

impl ReplayConfig {
    /// Rows of the window when `total` training rows have been made, KataGo's rule (Wu 2019,
    /// "Accelerating Self-Play Learning in Go", appendix C):
    /// `c * (1 + slope * ((total / c)^exponent - 1) / exponent)` with `c = min_rows`,
    /// which equals `c` at `c`, has there the slope given, and grows ever more slowly.
    pub fn window_rows(&self, total: u64) -> u64 {
        let c = self.min_rows as f64;
        if total <= self.min_rows {
            return total;
        }
        let grown = ((total as f64 / c).powf(self.growth_exponent) - 1.0) / self.growth_exponent;
        ((c * (1.0 + self.growth_slope * grown)) as u64)
            .min(total)
            .min(self.max_rows)
    }

    /// Whether the rows of this game are kept for validation.
    pub fn is_held_out(&self, game: u64) -> bool {
        ((mix(game) % 1000) as f64) < (self.held_out_share * 1000.0).round()
    }

    /// How many rows, by the game id of each, go into the window and how many are held out.
    pub fn totals_of(&self, games: &[u64]) -> RowTotals {
        let held_out = games.iter().filter(|&&g| self.is_held_out(g)).count() as u64;
        RowTotals {
            training: games.len() as u64 - held_out,
            held_out,
        }
    }

    /// Bytes that the replay memory takes.
    pub fn memory_bytes(&self) -> u64 {
        let held_out = if self.held_out_share > 0.0 {
            self.ring_bytes(self.held_out_rows)
        } else {
            0
        };
        self.ring_bytes(self.max_rows).saturating_add(held_out)
    }

    fn ring_bytes(&self, rows: u64) -> u64 {
        let entries = rows.saturating_mul(self.policy_entries_per_row);
        let entries = entries.max(policy::INDICES as u64);
        rows.saturating_mul(Ring::ROW_BYTES)
            .saturating_add(entries.saturating_mul(4))
    }

    /// That this much memory cannot be had, because of `why`.
    fn too_large(&self, why: &str) -> String {
        let key = if self.held_out_share > 0.0 && self.held_out_rows > self.max_rows {
            "held_out_rows"
        } else {
            "max_rows"
        };
        format!(
            "no memory for the replay window: `replay.max_rows` = {}, `replay.held_out_rows` = {} and `replay.policy_entries_per_row` = {} ask for {:.1} GB, {why}; lower `replay.{key}`",
            self.max_rows,
            self.held_out_rows,
            self.policy_entries_per_row,
            self.memory_bytes() as f64 / 1e9
        )
    }
}

/// A row drawn for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Sequence number among all training rows of the run.
    pub row: u64,
    /// Whether it is to be mirrored.
    pub mirror: bool,
}

/// How many rows went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTotals {
    /// Rows to train on.
    pub training: u64,
    /// Rows of held-out games.
    pub held_out: u64,
}

impl RowTotals {
    /// Adds `other`.
    pub fn add(&mut self, other: RowTotals) {
        self.training += other.training;
        self.held_out += other.held_out;
    }
}

/// The window of training rows and the held-out rows.
#[derive(Debug)]
pub struct Replay {
    config: ReplayConfig,
    window: Ring,
    held_out: Option<Ring>,
}

impl Replay {
    /// Reserves all memory that `config` asks for; an error names the keys to lower.
    pub fn new(config: &ReplayConfig) -> Result<Self, String> {
        let free = memory::available();
        if let Some(free) = free.filter(|&free| free < config.memory_bytes()) {
            let free = free as f64 / 1e9;
            return Err(config.too_large(&format!("but {free:.1} GB are free")));
        }
        let ring = |rows: u64| {
            Ring::new(rows, rows.saturating_mul(config.policy_entries_per_row))
                .map_err(|e| config.too_large(&format!("which the system does not give ({e})")))
        };
        let held_out = (config.held_out_share > 0.0)
            .then(|| ring(config.held_out_rows))
            .transpose()?;
        Ok(Replay {
            config: config.clone(),
            window: ring(config.max_rows)?,
            held_out,
        })
    }

    /// Adds committed rows, oldest first.
    pub fn push(&mut self, rows: &Rows) {
        for i in 0..rows.len() {
            match &mut self.held_out {
                Some(ring) if self.config.is_held_out(rows.game[i]) => ring.push(rows, i),
                _ => self.window.push(rows, i),
            }
        }
    }

    /// Fills the empty memory from a run's shards, `shards` oldest first, reading no more of the last
    /// ones than it needs. `totals` are those of all shards. Afterwards all is as if they had been pushed one by one.
    pub fn restore(
        &mut self,
        shards: &[PathBuf],
        totals: RowTotals,
        form: &str,
    ) -> Result<(), FileError> {
        let want_held_out = self
            .held_out
            .as_ref()
            .map_or(0, |_| self.config.held_out_rows);
        let (mut from, mut found) = (shards.len(), RowTotals::default());
        while from > 0 && (found.training < self.config.max_rows || found.held_out < want_held_out)
        {
            from -= 1;
            found.add(
                self.config
                    .totals_of(&samples::read_game_ids(&shards[from], Some(form))?),
            );
        }
        self.window
            .restart_at(totals.training.saturating_sub(found.training));
        if let Some(ring) = &mut self.held_out {
            ring.restart_at(totals.held_out.saturating_sub(found.held_out));
        }
        for shard in &shards[from..] {
            self.push(&samples::read(shard, Some(form))?.1);
        }
        Ok(())
    }

    /// Rows of the run so far.
    pub fn totals(&self) -> RowTotals {
        RowTotals {
            training: self.window.next(),
            held_out: self.held_out.as_ref().map_or(0, Ring::next),
        }
    }

    /// Number of last training rows that [`Replay::pick`] draws from.
    pub fn window_rows(&self) -> u64 {
        self.config
            .window_rows(self.window.next())
            .min(self.window.len())
    }

    /// Number of held-out rows in memory.
    pub fn held_out_rows(&self) -> u64 {
        self.held_out.as_ref().map_or(0, Ring::len)
    }

    /// Replaces `out` with `n` rows drawn uniformly, with replacement, from the window (none if it is
    /// empty). They depend only on `seed`, `step` and how many rows the run has made.
    pub fn pick(&self, seed: u64, step: u64, n: usize, out: &mut Vec<Pick>) {
        out.clear();
        let (used, next) = (self.window_rows(), self.window.next());
        if used == 0 {
            return;
        }
        let mut rng = Pcg64Mcg::seed_from_u64(mix(seed) ^ step);
        out.extend((0..n).map(|_| Pick {
            row: next - 1 - rng.random_range(0..used),
            mirror: self.config.mirror && rng.random_bool(0.5),
        }));
    }

    /// Replaces `out` with the rows picked.
    pub fn fill(&self, picks: &[Pick], out: &mut Rows) {
        out.clear();
        for pick in picks {
            self.window.copy_to(pick.row, pick.mirror, out);
        }
    }

    /// Replaces `out` with the held-out rows `range` of `0..held_out_rows()`, oldest first, unmirrored.
    pub fn fill_held_out(&self, range: std::ops::Range<u64>, out: &mut Rows) {
        out.clear();
        let Some(ring) = &self.held_out else { return };
        let first = ring.next() - ring.len();
        for row in range.start..range.end.min(ring.len()) {
            ring.copy_to(first + row, false, out);
        }
    }
}
