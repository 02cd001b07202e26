//! What a search asks of a network: whole batches in, whole batches out, in the same buffers; and
//! stand-ins for the network.
use std::ops::Range;

use crate::game::Wdl;
use crate::policy::{INDICES, SQUARES};
use crate::record::Record;

/// Rows to evaluate and, after [`Evaluator::evaluate`], their evaluations.
///
/// Inputs are `records`, `legal` and `unknown`; outputs are the others. All are seen from each row's side to decide.
#[derive(Debug, Default)]
pub struct Batch {
    /// Positions.
    pub records: Vec<Record>,
    /// Exclusive end of each row's run in `legal`.
    pub legal_end: Vec<u32>,
    /// Legal moves of all rows, one run a row, in the index space of [`crate::policy`].
    pub legal: Vec<u16>,
    /// Exclusive end of each row's run in `unknown`.
    pub unknown_end: Vec<u32>,
    /// Squares of a row's unknown pieces, whose identities are asked for; most rows ask for none.
    pub unknown: Vec<u8>,
    /// Natural logarithm of each legal move's prior, as long as `legal`; a row's exponentials sum to 1.
    pub log_priors: Vec<f32>,
    /// Win, draw, loss of each row.
    pub wdl: Vec<Wdl>,
    /// Expected plies to the end of the game of each row, at least 0.
    pub moves_left: Vec<f32>,
    /// Probabilities that the piece on each square of `unknown` is an A, B, N, R, C, P; they sum to 1.
    pub beliefs: Vec<[f32; 6]>,
}

/// The network's answer to one row, seen from the row's side to decide.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluation<'a> {
    /// Natural logarithm of each legal move's prior, in the order of the row's moves.
    pub log_priors: &'a [f32],
    /// Win, draw, loss.
    pub wdl: Wdl,
    /// Expected plies to the end of the game, at least 0.
    pub moves_left: f32,
    /// Probabilities that the piece on each square asked for is an A, B, N, R, C, P.
    pub beliefs: &'a [[f32; 6]],
}

impl Batch {
    /// Adds a row: a position, its legal moves, and the squares of the unknown pieces that are asked for.
    pub fn push(&mut self, record: Record, legal: impl Iterator<Item = u16>, unknown: &[u8]) {
        self.records.push(record);
        self.legal.extend(legal);
        self.legal_end.push(self.legal.len() as u32);
        self.unknown.extend_from_slice(unknown);
        self.unknown_end.push(self.unknown.len() as u32);
    }

    /// The answer to row `i`, once evaluated.
    pub fn evaluation(&self, i: usize) -> Evaluation<'_> {
        Evaluation {
            log_priors: &self.log_priors[self.legal_range(i)],
            wdl: self.wdl[i],
            moves_left: self.moves_left[i],
            beliefs: &self.beliefs[self.unknown_range(i)],
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Removes all rows and outputs and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.legal_end.clear();
        self.legal.clear();
        self.unknown_end.clear();
        self.unknown.clear();
        self.clear_outputs();
    }

    /// Adds copies of the inputs of all of `other`'s rows.
    pub fn append_inputs(&mut self, other: &Batch) {
        let base = self.legal.len() as u32;
        self.legal_end
            .extend(other.legal_end.iter().map(|end| end + base));
        let base = self.unknown.len() as u32;
        self.unknown_end
            .extend((0..other.len()).map(|row| base + other.unknown_range(row).end as u32));
        self.unknown.extend_from_slice(&other.unknown);
        self.records.extend_from_slice(&other.records);
        self.legal.extend_from_slice(&other.legal);
    }

    /// Copies the outputs of `merged`, where this batch's rows begin at `row`, into this batch.
    pub fn take_outputs(&mut self, merged: &Batch, row: usize) {
        let start = merged.legal_range(row).start;
        self.log_priors.clear();
        self.log_priors
            .extend_from_slice(&merged.log_priors[start..start + self.legal.len()]);
        self.wdl.clear();
        self.wdl
            .extend_from_slice(&merged.wdl[row..row + self.len()]);
        self.moves_left.clear();
        self.moves_left
            .extend_from_slice(&merged.moves_left[row..row + self.len()]);
        let start = merged.unknown_range(row).start;
        self.beliefs.clear();
        self.beliefs
            .extend_from_slice(&merged.beliefs[start..start + self.unknown.len()]);
    }

    /// The run of row `i` in `unknown` and `beliefs`; empty in a batch that asks for none.
    pub fn unknown_range(&self, i: usize) -> Range<usize> {
        if self.unknown_end.is_empty() {
            0..0
        } else {
            run(&self.unknown_end, i)
        }
    }

    /// The run of row `i` in `legal` and `log_priors`.
    pub fn legal_range(&self, i: usize) -> Range<usize> {
        run(&self.legal_end, i)
    }
}

/// For networks, which answer for every index and every square.
impl Batch {
    /// Whether all that is asked for can be looked up: every index and every square is one.
    pub fn check(&self) -> Result<(), EvalError> {
        let index = self.legal.iter().find(|&&i| usize::from(i) >= INDICES);
        let square = self.unknown.iter().find(|&&s| usize::from(s) >= SQUARES);
        match (index, square) {
            (Some(index), _) => Err(EvalError::Failed(format!(
                "policy index {index} of a batch is not below {INDICES}"
            ))),
            (_, Some(square)) => Err(EvalError::Failed(format!(
                "square {square} of a batch is not below {SQUARES}"
            ))),
            (None, None) => Ok(()),
        }
    }

    /// Removes all outputs and keeps the memory.
    pub fn clear_outputs(&mut self) {
        self.log_priors.clear();
        self.wdl.clear();
        self.moves_left.clear();
        self.beliefs.clear();
    }

    /// Turns each row's `log_priors`, logits so far, into the logarithms of their softmax. Fails where an output of the network
    /// of training step `step` is not finite.
    pub fn normalise(&mut self, step: u64) -> Result<(), EvalError> {
        for row in 0..self.len() {
            let (legal, unknown) = (self.legal_range(row), self.unknown_range(row));
            let (wdl, plies) = (self.wdl[row], self.moves_left[row]);
            let believed: f32 = self.beliefs[unknown].as_flattened().iter().sum();
            let finite = (wdl.win + wdl.draw + wdl.loss + plies + believed).is_finite();
            if !log_softmax(&mut self.log_priors[legal]) || !finite {
                return Err(EvalError::NonFinite {
                    step,
                    row,
                    rows: self.len(),
                });
            }
        }
        Ok(())
    }
}

/// Turns logits into the logarithms of their softmax; false if one is not finite.
fn log_softmax(logits: &mut [f32]) -> bool {
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &x| m.max(x));
    let sum: f32 = logits.iter().map(|&x| (x - max).exp()).sum();
    let shift = max + sum.ln();
    let mut check = 0.0;
    for x in logits.iter_mut() {
        *x -= shift;
        check += *x;
    }
    check.is_finite()
}

/// The `i`-th of the runs that end at `ends`.
fn run(ends: &[u32], i: usize) -> Range<usize> {
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}

/// Why a batch could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The network gave NaN or infinity.
    #[error(
        "the network of step {step} gave a non-finite output for row {row} of a batch of {rows}"
    )]
    NonFinite {
        /// Training step of the network.
        step: u64,
        /// First such row.
        row: usize,
        /// Rows of the batch.
        rows: usize,
    },
    /// The evaluator is gone or its backend failed.
    #[error("the evaluator failed: {0}")]
    Failed(String),
}

/// Something that evaluates positions: a network or a stand-in.
pub trait Evaluator: Send {
    /// Fills the outputs of `batch` for every row.
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError>;
    /// Training step of the network in use, 0 for a stand-in.
    fn step(&self) -> u64;
    /// Lets an evaluation in the calling thread use so many threads, at least 1; nothing happens where there is no choice.
    fn use_threads(&mut self, _threads: usize) {}
}

/// Knows nothing: equal priors, win, draw and loss equally likely, the game over at once, every kind as likely.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformEvaluator;

impl Evaluator for UniformEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        batch.log_priors.clear();
        for i in 0..batch.len() {
            let moves = batch.legal_range(i).len();
            let log_prior = -(moves.max(1) as f32).ln();
            batch
                .log_priors
                .extend(std::iter::repeat_n(log_prior, moves));
        }
        let third = 1.0 / 3.0;
        let even = Wdl {
            win: third,
            draw: third,
            loss: third,
        };
        let rows = batch.len();
        batch.wdl.clear();
        batch.wdl.resize(rows, even);
        batch.moves_left.clear();
        batch.moves_left.resize(rows, 0.0);
        batch.beliefs.clear();
        batch.beliefs.resize(batch.unknown.len(), [1.0 / 6.0; 6]);
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

/// Answers from a hash of each row: arbitrary, but the same row gets the same answer wherever it
/// stands in whichever batch.
#[derive(Clone, Copy, Debug)]
pub struct HashEvaluator {
    /// Another seed, other answers.
    pub seed: u64,
    /// Spread of the log priors: 0 makes them equal, 2 is lively.
    pub sharpness: f32,
}

impl Default for HashEvaluator {
    fn default() -> Self {
        HashEvaluator {
            seed: 0,
            sharpness: 1.5,
        }
    }
}

impl HashEvaluator {
    fn row(&self, record: &Record) -> u64 {
        let words = record.chunks_exact(8);
        words.fold(mix(self.seed), |hash, word| {
            let word = word.iter().fold(0, |w, &byte| w << 8 | u64::from(byte));
            mix(hash ^ word)
        })
    }
}

impl Evaluator for HashEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        let rows = batch.len();
        batch.log_priors.clear();
        batch.wdl.clear();
        batch.moves_left.clear();
        batch.beliefs.clear();
        for i in 0..rows {
            let hash = self.row(&batch.records[i]);
            let run = batch.legal_range(i);
            let logit = |&index: &u16| self.sharpness * unit(mix(hash ^ u64::from(index)));
            let total: f32 = batch.legal[run.clone()]
                .iter()
                .map(|m| logit(m).exp())
                .sum();
            let log_total = total.ln();
            batch
                .log_priors
                .extend(batch.legal[run].iter().map(|m| logit(m) - log_total));
            let draw = 0.3 + 0.3 * unit(mix(hash ^ 0x10000));
            let win = (1.0 - draw) * (0.5 + 0.5 * unit(mix(hash ^ 0x20000)));
            batch.wdl.push(Wdl {
                win,
                draw,
                loss: (1.0 - draw - win).max(0.0),
            });
            batch
                .moves_left
                .push(50.0 + 50.0 * unit(mix(hash ^ 0x30000)));
            for square in &batch.unknown[batch.unknown_range(i)] {
                let square = mix(hash ^ 0x40000 ^ u64::from(*square));
                let odds = |kind| (self.sharpness * unit(mix(square ^ kind))).exp();
                let odds = [0, 1, 2, 3, 4, 5].map(odds);
                let total: f32 = odds.iter().sum();
                batch.beliefs.push(odds.map(|odds| odds / total));
            }
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

/// A bijection of 64 bits that lets every bit of the input sway every bit of the output (the finaliser of
/// SplitMix64: Steele, Lea and Flood 2014).
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The upper bits of a hash as a number in -1..1.
fn unit(hash: u64) -> f32 {
    (hash >> 40) as f32 / (1 << 23) as f32 - 1.0
}
