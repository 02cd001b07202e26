//! The one codec of a position as the network reads it, and of a finished game's rows; self-play,
//! replay and matches share it.
//!
//! A [`Record`] is written from the side to move: its own pieces come from rank 0 upwards
//! (Black's board has its ranks flipped, files kept).
//!
//! | bytes | meaning | range |
//! |---|---|---|
//! | 0..90 | square `file + 9 * rank`: 0 empty, else kind 1..=7 (K A B N R C P), +8 if the opponent's | 0..=15 |
//! | 90..97 | own pieces of each kind not yet seen (K A B N R C P) | 0 in Xiangqi |
//! | 97..104 | the opponent's | 0 in Xiangqi |
//! | 104 | plies since the last capture | 0..=255, saturating |
//! | 105 | plies without a capture that end the game | 0 = no limit |
//! | 106 | earlier occurrences of this position | 0..=2 |
//! | 107, 108 | squares the last move left and reached | 0..90, 255 = none |
//! | 109 | 1 if the side to move is in check | 0..=1 |
//! | 110..128 | 0, kept for what a ruleset leaves open | 0 |

use crate::policy;

/// Size of a record.
pub const RECORD_BYTES: usize = 128;
/// A position as the network reads it; the layout is in the module's table.
pub type Record = [u8; RECORD_BYTES];

/// Where the fields of a record lie.
pub mod at {
    /// First square.
    pub const SQUARES: usize = 0;
    /// First of the side to move's unseen kinds.
    pub const OWN_POOL: usize = 90;
    /// First of the opponent's unseen kinds.
    pub const OTHER_POOL: usize = 97;
    /// Plies since the last capture.
    pub const NO_CAPTURE: usize = 104;
    /// The natural limit.
    pub const NO_CAPTURE_LIMIT: usize = 105;
    /// Earlier occurrences.
    pub const REPETITIONS: usize = 106;
    /// Square the last move left.
    pub const LAST_FROM: usize = 107;
    /// Square the last move reached.
    pub const LAST_TO: usize = 108;
    /// Whether the side to move is in check.
    pub const IN_CHECK: usize = 109;
}

/// Exchanges left and right in a record.
pub fn mirror(record: &mut Record) {
    for rank in record[..policy::SQUARES].chunks_exact_mut(9) {
        rank.reverse();
    }
    for at in [at::LAST_FROM, at::LAST_TO] {
        if record[at] < policy::SQUARES as u8 {
            record[at] = policy::mirror_square(record[at] as usize) as u8;
        }
    }
}

/// A policy probability as it is stored: `round(p * 65535)`.
pub fn quantise(p: f32) -> u16 {
    (p.clamp(0.0, 1.0) * 65535.0).round() as u16
}

/// Training rows, column by column; row `i`'s legal moves are `policy_end[i - 1]..policy_end[i]`.
///
/// Every column but the two policy ones has one entry a row. All values are seen from the side to move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Position.
    pub records: Vec<Record>,
    /// Exclusive end of each row's run in the policy columns.
    pub policy_end: Vec<u64>,
    /// Every legal move of each row, in the index space of [`crate::policy`].
    pub policy_index: Vec<u16>,
    /// Target probability of that move, in 1/65535; a row's entries sum to about 65535.
    pub policy_prob: Vec<u16>,
    /// 1 where the policy target is trained (a full search), 0 where it is not (a fast one).
    pub policy_weight: Vec<u8>,
    /// Win, draw, loss that the search gave the position.
    pub search_wdl: Vec<[f32; 3]>,
    /// The game's result: 0 win, 1 draw, 2 loss.
    pub outcome: Vec<u8>,
    /// Plies from this position to the end of the game.
    pub plies_left: Vec<u16>,
    /// Id of the game.
    pub game: Vec<u64>,
    /// Ply of the game, 0 before the first move.
    pub ply: Vec<u16>,
    /// Training step of the network that searched this row.
    pub net_step: Vec<u64>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The policy entries of row `i`.
    pub fn policy_range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.policy_end[i - 1] };
        start as usize..self.policy_end[i] as usize
    }

    /// Adds copies of all of `other`'s rows.
    pub fn append(&mut self, other: &Rows) {
        let base = self.policy_index.len() as u64;
        self.policy_end
            .extend(other.policy_end.iter().map(|e| e + base));
        self.records.extend_from_slice(&other.records);
        self.policy_index.extend_from_slice(&other.policy_index);
        self.policy_prob.extend_from_slice(&other.policy_prob);
        self.policy_weight.extend_from_slice(&other.policy_weight);
        self.search_wdl.extend_from_slice(&other.search_wdl);
        self.outcome.extend_from_slice(&other.outcome);
        self.plies_left.extend_from_slice(&other.plies_left);
        self.game.extend_from_slice(&other.game);
        self.ply.extend_from_slice(&other.ply);
        self.net_step.extend_from_slice(&other.net_step);
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.policy_end.clear();
        self.policy_index.clear();
        self.policy_prob.clear();
        self.policy_weight.clear();
        self.search_wdl.clear();
        self.outcome.clear();
        self.plies_left.clear();
        self.game.clear();
        self.ply.clear();
        self.net_step.clear();
    }
}
