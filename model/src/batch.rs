//! Rows to train on, and the tensors of their targets.
use selfplay::policy::{self, INDICES, PLANES, SQUARES};
use selfplay::record::{self, HOMES, Record, Rows, Truth};
use tch::{Device, TchError, Tensor};

use crate::net::PLIES_UNIT;

/// What is added to the logit of a place that stands for no legal move.
const MASK: f32 = -1e9;

/// One row to train on, all from its side to move.
#[derive(Clone, Copy, Debug)]
pub struct TrainRow<'a> {
    /// Position.
    pub record: &'a Record,
    /// Every legal move, in the index space of [`selfplay::policy`].
    pub policy_index: &'a [u16],
    /// Target probability of each, in 1/65535.
    pub policy_prob: &'a [u16],
    /// Weight of the policy loss: 0 where the search was a fast one.
    pub policy_weight: f32,
    /// Win, draw, loss that the search gave.
    pub search_wdl: [f32; 3],
    /// The game's result: 0 win, 1 draw, 2 loss.
    pub outcome: u8,
    /// Plies to the end of the game.
    pub plies_left: u16,
    /// What the pieces that its viewer does not know are.
    pub truth: &'a Truth,
}

/// Why a row cannot be trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The two policy columns differ in length, or are empty though the policy is trained.
    #[error("the row has {indices} policy indices and {probs} policy probabilities")]
    PolicyLength {
        /// Length of `policy_index`.
        indices: usize,
        /// Length of `policy_prob`.
        probs: usize,
    },
    /// A policy index that leads off the board.
    #[error("policy index {0} is no move on the board")]
    PolicyIndex(u16),
    /// An unknown result.
    #[error("outcome {0} is none of 0 win, 1 draw, 2 loss")]
    Outcome(u8),
    /// A kind that no unknown piece can be.
    #[error("truth {0} is none of 0 no unknown piece, 2..=7 A B N R C P")]
    Truth(u8),
}

/// Rows of one training step; the memory is used again after [`TrainBatch::clear`].
#[derive(Clone, Debug, Default)]
pub struct TrainBatch {
    pub(crate) records: Vec<Record>,
    pub(crate) ids: Vec<u64>,
    offsets: Vec<i64>,
    probs: Vec<f32>,
    ends: Vec<usize>,
    policy_weight: Vec<f32>,
    search_wdl: Vec<[f32; 3]>,
    outcome: Vec<u8>,
    plies_left: Vec<u16>,
    truth: Vec<Truth>,
}

impl TrainBatch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.ids.clear();
        self.offsets.clear();
        self.probs.clear();
        self.ends.clear();
        self.policy_weight.clear();
        self.search_wdl.clear();
        self.outcome.clear();
        self.plies_left.clear();
        self.truth.clear();
    }

    /// Adds a row, with left and right exchanged if `mirror`; `id` names it in error messages.
    /// A row that is refused leaves the batch as it was.
    pub fn push(&mut self, row: &TrainRow, id: u64, mirror: bool) -> Result<(), RowError> {
        let (indices, probs) = (row.policy_index.len(), row.policy_prob.len());
        if indices != probs || (indices == 0 && row.policy_weight != 0.0) {
            return Err(RowError::PolicyLength { indices, probs });
        }
        if let Some(&index) = row
            .policy_index
            .iter()
            .find(|&&i| i as usize >= INDICES || policy::squares(i).is_none())
        {
            return Err(RowError::PolicyIndex(index));
        }
        if row.outcome > 2 {
            return Err(RowError::Outcome(row.outcome));
        }
        if let Some(&kind) = row.truth.iter().find(|kind| !matches!(kind, 0 | 2..=7)) {
            return Err(RowError::Truth(kind));
        }
        let mut record = *row.record;
        if mirror {
            record::mirror(&mut record);
        }
        self.records.push(record);
        self.ids.push(id);
        let seen = |&i: &u16| {
            if mirror {
                policy::mirror(i) as usize
            } else {
                i as usize
            }
        };
        self.offsets.extend(
            row.policy_index
                .iter()
                .map(seen)
                .map(|i| (i % SQUARES * PLANES + i / SQUARES) as i64),
        );
        let sum = row
            .policy_prob
            .iter()
            .map(|&p| p as u32)
            .sum::<u32>()
            .max(1) as f32;
        self.probs
            .extend(row.policy_prob.iter().map(|&p| p as f32 / sum));
        self.ends.push(self.offsets.len());
        self.policy_weight.push(row.policy_weight);
        self.search_wdl.push(row.search_wdl);
        self.outcome.push(row.outcome);
        self.plies_left.push(row.plies_left);
        self.truth.push(if mirror {
            record::mirror_truth(row.truth)
        } else {
            *row.truth
        });
        Ok(())
    }

    /// Adds row `i` of `rows`.
    pub fn push_from(
        &mut self,
        rows: &Rows,
        i: usize,
        id: u64,
        mirror: bool,
    ) -> Result<(), RowError> {
        let range = rows.policy_range(i);
        let row = TrainRow {
            record: &rows.records[i],
            policy_index: &rows.policy_index[range.clone()],
            policy_prob: &rows.policy_prob[range],
            policy_weight: rows.policy_weight[i] as f32,
            search_wdl: rows.search_wdl[i],
            outcome: rows.outcome[i],
            plies_left: rows.plies_left[i],
            truth: &rows.truth[i],
        };
        self.push(&row, id, mirror)
    }

    /// The targets on `device`.
    pub(crate) fn targets(&self, search_share: f64, device: Device) -> Result<Targets, TchError> {
        let rows = self.len();
        let starts = || std::iter::once(0).chain(self.ends.iter().copied());
        let width = starts()
            .zip(&self.ends)
            .map(|(start, end)| end - start)
            .max()
            .unwrap_or(0)
            .max(1);
        let (mut offsets, mut probs) = (vec![0i64; rows * width], vec![0f32; rows * width]);
        let mut mask = vec![MASK; rows * width];
        for (row, (start, &end)) in starts().zip(&self.ends).enumerate() {
            let place = row * width..row * width + end - start;
            offsets[place.clone()].copy_from_slice(&self.offsets[start..end]);
            probs[place.clone()].copy_from_slice(&self.probs[start..end]);
            mask[place].fill(0.0);
        }
        let share = search_share as f32;
        let result = |outcome: u8, k: usize| {
            if outcome as usize == k {
                1.0 - share
            } else {
                0.0
            }
        };
        let mixed = |(s, &o): (&[f32; 3], &u8)| {
            std::array::from_fn::<f32, 3, _>(|k| share * s[k] + result(o, k))
        };
        let wdl: Vec<_> = self
            .search_wdl
            .iter()
            .zip(&self.outcome)
            .flat_map(mixed)
            .collect();
        let outcome: Vec<_> = self.outcome.iter().map(|&o| o as i64).collect();
        let moves_left: Vec<_> = self
            .plies_left
            .iter()
            .map(|&p| p as f32 / PLIES_UNIT as f32)
            .collect();
        let [truth_row, truth_square, truth] = self.unknown();
        let grid = [rows as i64, width as i64];
        let send = |t: Result<Tensor, TchError>| t?.f_to_device(device);
        Ok(Targets {
            offsets: send(Tensor::f_from_slice(&offsets))?.f_view(grid)?,
            probs: send(Tensor::f_from_slice(&probs))?.f_view(grid)?,
            mask: send(Tensor::f_from_slice(&mask))?.f_view(grid)?,
            policy_weight: send(Tensor::f_from_slice(&self.policy_weight))?,
            wdl: send(Tensor::f_from_slice(&wdl))?.f_view([rows as i64, 3])?,
            outcome: send(Tensor::f_from_slice(&outcome))?,
            moves_left: send(Tensor::f_from_slice(&moves_left))?,
            truth_row: send(Tensor::f_from_slice(&truth_row))?,
            truth_square: send(Tensor::f_from_slice(&truth_square))?,
            truth: send(Tensor::f_from_slice(&truth))?,
        })
    }

    /// Row, `90 * row + square` and kind (0..6 A B N R C P) of every unknown piece.
    fn unknown(&self) -> [Vec<i64>; 3] {
        let mut columns = [const { Vec::new() }; 3];
        for (row, truth) in self.truth.iter().enumerate() {
            for (&kind, home) in truth.iter().zip(HOMES).filter(|(kind, _)| **kind != 0) {
                let numbers = [row, SQUARES * row + home as usize, kind as usize - 2];
                for (column, number) in columns.iter_mut().zip(numbers) {
                    column.push(number as i64);
                }
            }
        }
        columns
    }
}

/// What the network should have said; `width` is the largest number of legal moves of a row.
pub(crate) struct Targets {
    /// `[rows, width]` i64: places in a row of [`crate::net::Output::policy`], padded with 0.
    pub(crate) offsets: Tensor,
    /// `[rows, width]` f32: probability of each, padded with 0; each row sums to 1.
    pub(crate) probs: Tensor,
    /// `[rows, width]` f32: 0 at legal moves, [`MASK`] at padding.
    pub(crate) mask: Tensor,
    /// `[rows]` f32.
    pub(crate) policy_weight: Tensor,
    /// `[rows, 3]` f32: the mix of search and result.
    pub(crate) wdl: Tensor,
    /// `[rows]` i64: 0 win, 1 draw, 2 loss.
    pub(crate) outcome: Tensor,
    /// `[rows]` f32, in units of [`PLIES_UNIT`].
    pub(crate) moves_left: Tensor,
    /// `[squares]` i64: row of each unknown piece.
    pub(crate) truth_row: Tensor,
    /// `[squares]` i64: its `90 * row + square`, each but once.
    pub(crate) truth_square: Tensor,
    /// `[squares]` i64: what it is, 0..6 A B N R C P.
    pub(crate) truth: Tensor,
}
