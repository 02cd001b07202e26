//! What a search asks of a network: whole batches in, whole batches out, in the same buffers.
use crate::game::Wdl;
use crate::record::Record;

/// Rows to evaluate and, after [`Evaluator::evaluate`], their evaluations.
///
/// Inputs are `records` and `legal`; outputs are the other three. All are seen from each row's side to move.
#[derive(Debug, Default)]
pub struct Batch {
    /// Positions.
    pub records: Vec<Record>,
    /// Exclusive end of each row's run in `legal`.
    pub legal_end: Vec<u32>,
    /// Legal moves of all rows, one run a row, in the index space of [`crate::policy`].
    pub legal: Vec<u16>,
    /// Natural logarithm of each legal move's prior, as long as `legal`; a row's exponentials sum to 1.
    pub log_priors: Vec<f32>,
    /// Win, draw, loss of each row.
    pub wdl: Vec<Wdl>,
    /// Expected plies to the end of the game of each row, at least 0.
    pub moves_left: Vec<f32>,
}

impl Batch {
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
        self.log_priors.clear();
        self.wdl.clear();
        self.moves_left.clear();
    }

    /// The run of row `i` in `legal` and `log_priors`.
    pub fn legal_range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.legal_end[i - 1] };
        start as usize..self.legal_end[i] as usize
    }
}

/// Why a batch could not be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The network gave NaN or infinity.
    #[error("the network of step {step} gave a non-finite output for row {row} of a batch of {rows}")]
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
}
