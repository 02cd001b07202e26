//! A ring of rows with moves of their own number, in memory of fixed size.
use selfplay::policy;
use selfplay::record::{self, HOMES, RECORD_BYTES, Record, Rows, Truth};

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
    truth: Vec<Truth>,
    game: Vec<u64>,
    ply: Vec<u16>,
    net_step: Vec<u64>,
}

fn reserve<T: Copy>(len: u64, value: T) -> Result<Vec<T>, String> {
    let fail = |_| format!("{len} entries of {} bytes", size_of::<T>());
    let mut v = Vec::new();
    v.try_reserve_exact(usize::try_from(len).map_err(|e| e.to_string())?)
        .map_err(fail)?;
    // Writing it makes the memory resident now, so that the process does not grow while the ring fills.
    v.resize(len as usize, value);
    Ok(v)
}

impl Ring {
    /// Bytes of one row without its moves.
    pub(super) const ROW_BYTES: u64 =
        (RECORD_BYTES + HOMES.len()) as u64 + 8 + 2 + 1 + 12 + 1 + 2 + 8 + 2 + 8;

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
            truth: reserve(rows, [0; HOMES.len()])?,
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
        self.truth[slot] = rows.truth[i];
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
        let (mut position, mut truth) = (self.records[slot], self.truth[slot]);
        if mirror {
            record::mirror(&mut position);
            truth = record::mirror_truth(&truth);
        }
        out.records.push(position);
        out.truth.push(truth);
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
