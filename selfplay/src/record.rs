//! The one codec of a position as the network reads it, and of a finished game's rows; self-play,
//! replay and matches share it.
//!
//! A [`Record`] is written from the side to decide: its own pieces come from rank 0 upwards
//! (Black's board has its ranks flipped, files kept). What is known is what the viewer knows: the side to
//! decide, its opponent, or in a form without secrets both.
//!
//! | bytes | meaning | range |
//! |---|---|---|
//! | 0..90 | square `file + 9 * rank`: 0 empty, else the kind it plays as, 1..=7 (K A B N R C P); +8 if the opponent's; face down +128, and then + 16 times the kind that it is, 0 if unknown | 0..=255 |
//! | 90..97 | own pieces of each kind (K A B N R C P) that the viewer has not seen | 0..=5 |
//! | 97..104 | the opponent's | 0..=5 |
//! | 104 | plies since the last capture that count towards the natural limit | 0..=255, saturating |
//! | 105 | plies without a capture that end the game | 0 = no limit |
//! | 106 | earlier occurrences of this position | 0..=2 |
//! | 107, 108 | squares the last move left and reached | 0..90, 255 = none |
//! | 109 | 1 if the side to move is in check | 0..=1 |
//! | 110..122 | one bit a square: a face-down piece that the viewer, its owner, knows and the opponent does not | |
//! | 122 | square of the next placement in an arrangement | 0..90, 255 = none |
//! | 123 | bit 0: the viewer is to decide, or both players know the same; 1: pieces may be laid down; 2: fakes roam | 0..=7 |
//! | 124 | kinds that take part, a bit each, by index | 0..128 |
//! | 125 | kinds that roam | 0..128 |
//! | 126 | bits 0..2: layout (open, at home, dealt, arranged); 2..4: a taken unknown piece is seen by both, the captor, nobody | 0..=15 |
//! | 127 | bits 0..2: a third occurrence (draws, WXF, CXA) | 0..=2 |

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
    /// Plies since the last capture that count towards the natural limit.
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
    /// First of the bits of secret pieces.
    pub const SECRETS: usize = 110;
    /// Square of the next placement.
    pub const PLACING: usize = 122;
    /// [`super::flag`]'s bits.
    pub const FLAGS: usize = 123;
    /// Kinds that take part.
    pub const TAKES_PART: usize = 124;
    /// Kinds that roam.
    pub const ROAMS: usize = 125;
    /// Layout, and who sees what was taken.
    pub const SECRECY: usize = 126;
    /// Judgement of repetitions.
    pub const REPETITION_RULE: usize = 127;
}

/// Bits of the byte at [`at::FLAGS`].
pub mod flag {
    /// The viewer is to decide, or both players know the same.
    pub const VIEWER_DECIDES: u8 = 1;
    /// Pieces may be laid down.
    pub const LAYS_DOWN: u8 = 2;
    /// Fakes roam.
    pub const FAKES_ROAM: u8 = 4;
}

/// In a square's byte: the opponent's piece.
pub const OTHER: u8 = 8;
/// In a square's byte: face down.
pub const DOWN: u8 = 128;
/// In a face-down square's byte: where the kind that it is begins, 0 if unknown.
pub const IDENTITY_SHIFT: u8 = 4;

/// Whether only its owner, the viewer, knows the face-down piece on a square.
pub fn is_secret(record: &Record, square: usize) -> bool {
    record[at::SECRETS + square / 8] >> (square % 8) & 1 != 0
}

/// Notes that only its owner, the viewer, knows the face-down piece on a square.
pub(crate) fn set_secret(record: &mut Record, square: usize) {
    record[at::SECRETS + square / 8] |= 1 << (square % 8);
}

/// Exchanges left and right in a record.
pub fn mirror(record: &mut Record) {
    for rank in record[..policy::SQUARES].chunks_exact_mut(9) {
        rank.reverse();
    }
    for at in [at::LAST_FROM, at::LAST_TO, at::PLACING] {
        if record[at] < policy::SQUARES as u8 {
            record[at] = policy::mirror_square(record[at] as usize) as u8;
        }
    }
    if record[at::SECRETS..at::PLACING]
        .iter()
        .any(|&bits| bits != 0)
    {
        let before = *record;
        record[at::SECRETS..at::PLACING].fill(0);
        for square in (0..policy::SQUARES).filter(|&s| is_secret(&before, s)) {
            set_secret(record, policy::mirror_square(square));
        }
    }
}

/// The 32 home squares in a record's orientation: the side to decide's by square, then the opponent's.
pub const HOMES: [u8; 32] = homes();

const fn homes() -> [u8; 32] {
    const OWN: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 19, 25, 27, 29, 31, 33, 35];
    let (mut homes, mut i) = ([0; 32], 0);
    while i < 32 {
        homes[i] = if i < 16 {
            OWN[i]
        } else {
            policy::flip_square(OWN[i - 16] as usize) as u8
        };
        i += 1;
    }
    homes
}

/// What the face-down pieces that the viewer does not know truly are: the kind's index plus 1 on each of
/// [`HOMES`], 0 where there is no such piece.
pub type Truth = [u8; HOMES.len()];

/// Exchanges left and right in a truth.
pub fn mirror_truth(truth: &Truth) -> Truth {
    // By square: the nine of the back rank, the two of the cannons, the five of the pawns, of each side.
    let mut mirrored = *truth;
    for side in mirrored.chunks_exact_mut(HOMES.len() / 2) {
        for rank in [0..9, 9..11, 11..16] {
            side[rank].reverse();
        }
    }
    mirrored
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
    /// What the viewer did not know; what the belief head learns.
    pub truth: Vec<Truth>,
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
        self.truth.extend_from_slice(&other.truth);
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
        self.truth.clear();
        self.game.clear();
        self.ply.clear();
        self.net_step.clear();
    }
}
