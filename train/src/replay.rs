//! The replay window: the last rows of self-play, kept in memory, and how fast they may be used up.
use std::path::PathBuf;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::policy;
use selfplay::record::{self, RECORD_BYTES, Record, Rows};
use serde::{Deserialize, Serialize};

use crate::atomic::FileError;
use crate::samples;

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
    /// Rows trained per new row at most, above 0.
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
    /// The first value out of range, as `key: what is wrong`.
    pub fn check(&self) -> Result<(), String> {
        let share = self.held_out_share;
        let rules = [
            (self.min_rows >= 1, "min_rows: must be at least 1"),
            (
                self.max_rows >= self.min_rows,
                "max_rows: must be at least replay.min_rows",
            ),
            (
                (0.0..=1.0).contains(&self.growth_slope),
                "growth_slope: must be in 0..=1",
            ),
            (
                self.growth_exponent > 0.0 && self.growth_exponent <= 1.0,
                "growth_exponent: must be above 0, at most 1",
            ),
            (
                self.policy_entries_per_row >= 1,
                "policy_entries_per_row: must be at least 1",
            ),
            (
                self.ratio > 0.0 && self.ratio.is_finite(),
                "ratio: must be above 0",
            ),
            (
                (0.0..=0.5).contains(&share),
                "held_out_share: must be in 0..=0.5",
            ),
            (
                share == 0.0 || self.held_out_rows >= 1,
                "held_out_rows: must be at least 1 where held_out_share is not 0",
            ),
        ];
        match rules.iter().find(|(fine, _)| !fine) {
            Some((_, message)) => Err(format!("replay.{message}")),
            None => Ok(()),
        }
    }

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

    /// Bytes that the replay memory takes.
    pub fn memory_bytes(&self) -> u64 {
        let entries = |rows: u64| (rows * self.policy_entries_per_row).max(policy::INDICES as u64);
        let bytes = |rows: u64| rows * Ring::ROW_BYTES + entries(rows) * 4;
        bytes(self.max_rows)
            + if self.held_out_share > 0.0 {
                bytes(self.held_out_rows)
            } else {
                0
            }
    }
}

/// A bijection that spreads its input over all bits (finaliser of splitmix64, Steele et al. 2014).
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The last rows in order, in memory that is reserved and touched once.
///
/// Rows are named by their sequence number among all rows ever pushed. The moves of all rows share
/// one ring; pushing drops the oldest rows until both the row and its moves fit.
#[derive(Debug)]
pub struct Ring {
    first: u64,
    next: u64,
    entry_next: u64,
    records: Vec<Record>,
    entry_start: Vec<u64>,
    entry_count: Vec<u16>,
    entries: Vec<[u16; 2]>,
    policy_weight: Vec<u8>,
    search_wdl: Vec<[f32; 3]>,
    outcome: Vec<u8>,
    plies_left: Vec<u16>,
    game: Vec<u64>,
    ply: Vec<u16>,
    net_step: Vec<u64>,
}

fn reserve<T: Copy>(len: u64, value: T) -> Result<Vec<T>, String> {
    let fail = |_| {
        format!(
            "no memory for {len} entries of {} bytes in the replay window",
            size_of::<T>()
        )
    };
    let mut v = Vec::new();
    v.try_reserve_exact(usize::try_from(len).map_err(|e| e.to_string())?)
        .map_err(fail)?;
    // Writing it makes the memory resident now, so that the process does not grow while the ring fills.
    v.resize(len as usize, value);
    Ok(v)
}

impl Ring {
    /// Bytes of one row without its moves.
    const ROW_BYTES: u64 = RECORD_BYTES as u64 + 8 + 2 + 1 + 12 + 1 + 2 + 8 + 2 + 8;

    /// A ring of at most `rows` rows and `entries` moves (raised to what one row can have).
    pub fn new(rows: u64, entries: u64) -> Result<Self, String> {
        Ok(Ring {
            first: 0,
            next: 0,
            entry_next: 0,
            records: reserve(rows, [u8::MAX; RECORD_BYTES])?,
            entry_start: reserve(rows, 0)?,
            entry_count: reserve(rows, 0)?,
            entries: reserve(entries.max(policy::INDICES as u64), [0, 0])?,
            policy_weight: reserve(rows, 0)?,
            search_wdl: reserve(rows, [0.0; 3])?,
            outcome: reserve(rows, 0)?,
            plies_left: reserve(rows, 0)?,
            game: reserve(rows, 0)?,
            ply: reserve(rows, 0)?,
            net_step: reserve(rows, 0)?,
        })
    }

    /// Number of rows held.
    pub fn len(&self) -> u64 {
        self.next - self.first
    }

    /// Whether no row is held.
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Sequence number of the next row to be pushed: the number of rows ever pushed.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Empties the ring and numbers the next row `next`.
    pub fn restart_at(&mut self, next: u64) {
        (self.first, self.next) = (next, next);
    }

    fn slot(&self, row: u64) -> usize {
        (row % self.records.len() as u64) as usize
    }

    /// Where the moves of all held rows start.
    fn entry_first(&self) -> u64 {
        if self.is_empty() {
            self.entry_next
        } else {
            self.entry_start[self.slot(self.first)]
        }
    }

    /// Copies row `i` of `rows`, which has at most [`policy::INDICES`] moves.
    pub fn push(&mut self, rows: &Rows, i: usize) {
        let range = rows.policy_range(i);
        while self.len() >= self.records.len() as u64
            || self.entry_next - self.entry_first() + range.len() as u64 > self.entries.len() as u64
        {
            self.first += 1;
        }
        let slot = self.slot(self.next);
        self.records[slot] = rows.records[i];
        self.entry_start[slot] = self.entry_next;
        self.entry_count[slot] = range.len() as u16;
        for e in range {
            let at = (self.entry_next % self.entries.len() as u64) as usize;
            self.entries[at] = [rows.policy_index[e], rows.policy_prob[e]];
            self.entry_next += 1;
        }
        self.policy_weight[slot] = rows.policy_weight[i];
        self.search_wdl[slot] = rows.search_wdl[i];
        self.outcome[slot] = rows.outcome[i];
        self.plies_left[slot] = rows.plies_left[i];
        self.game[slot] = rows.game[i];
        self.ply[slot] = rows.ply[i];
        self.net_step[slot] = rows.net_step[i];
        self.next += 1;
    }

    /// Appends a copy of row `row`, which must be held, to `out`; left-right mirrored if asked.
    pub fn copy_to(&self, row: u64, mirror: bool, out: &mut Rows) {
        debug_assert!(
            (self.first..self.next).contains(&row),
            "row {row} is not in the ring"
        );
        let slot = self.slot(row);
        let mut position = self.records[slot];
        if mirror {
            record::mirror(&mut position);
        }
        out.records.push(position);
        let start = self.entry_start[slot];
        for e in start..start + u64::from(self.entry_count[slot]) {
            let [index, prob] = self.entries[(e % self.entries.len() as u64) as usize];
            out.policy_index
                .push(if mirror { policy::mirror(index) } else { index });
            out.policy_prob.push(prob);
        }
        out.policy_end.push(out.policy_index.len() as u64);
        out.policy_weight.push(self.policy_weight[slot]);
        out.search_wdl.push(self.search_wdl[slot]);
        out.outcome.push(self.outcome[slot]);
        out.plies_left.push(self.plies_left[slot]);
        out.game.push(self.game[slot]);
        out.ply.push(self.ply[slot]);
        out.net_step.push(self.net_step[slot]);
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

/// The window of training rows and the held-out rows.
#[derive(Debug)]
pub struct Replay {
    config: ReplayConfig,
    window: Ring,
    held_out: Option<Ring>,
}

impl Replay {
    /// Reserves all memory that `config` asks for.
    pub fn new(config: &ReplayConfig) -> Result<Self, String> {
        let ring = |rows: u64| Ring::new(rows, rows.saturating_mul(config.policy_entries_per_row));
        let held_out = (config.held_out_share > 0.0)
            .then(|| ring(config.held_out_rows))
            .transpose()?;
        Ok(Replay {
            config: config.clone(),
            window: ring(config.max_rows)?,
            held_out,
        })
    }

    /// Adds to `totals` where `rows` would go.
    pub fn count(&self, rows: &Rows, totals: &mut RowTotals) {
        for &game in &rows.game {
            match self.held_out.is_some() && self.config.is_held_out(game) {
                true => totals.held_out += 1,
                false => totals.training += 1,
            }
        }
    }

    /// Adds committed rows, oldest first.
    pub fn push(&mut self, rows: &Rows) -> RowTotals {
        let mut added = RowTotals::default();
        for i in 0..rows.len() {
            match &mut self.held_out {
                Some(ring) if self.config.is_held_out(rows.game[i]) => {
                    ring.push(rows, i);
                    added.held_out += 1;
                }
                _ => {
                    self.window.push(rows, i);
                    added.training += 1;
                }
            }
        }
        added
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
            for game in samples::read_game_ids(&shards[from], Some(form))? {
                if self.held_out.is_some() && self.config.is_held_out(game) {
                    found.held_out += 1;
                } else {
                    found.training += 1;
                }
            }
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

    /// Takes `rows` for a training step if they may be trained now; returns whether it did.
    pub fn take(&mut self, rows: u64, config: &ReplayConfig) -> bool {
        let ready = self.made >= config.min_rows && self.available(config) >= rows;
        if ready {
            self.used += rows;
        }
        ready
    }
}
