//! The network of a bundle behind [`selfplay::eval::Evaluator`], computed from its ONNX file.
use std::path::{Path, PathBuf};

use selfplay::bundle::{Bundle, FileKind, Level, Precision};
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::expand::{GLOBALS, PLANES, expand};
use selfplay::game::Wdl;
use selfplay::policy::{INDICES, SQUARES};
use selfplay::record::Record;

mod runtime;

use runtime::{Outputs, Runtime};

/// Kinds that a hidden piece may be.
const KINDS: usize = 6;

/// Why a network cannot be played with.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// The bundle has none.
    #[error("{}: it holds no network as ONNX; export it with `--format onnx`", folder.display())]
    None {
        /// The bundle.
        folder: PathBuf,
    },
    /// The bundle has another checkpoint's alone.
    #[error("{}: it does not hold the network of level {level} of {form}, that of step {step}", folder.display())]
    Level {
        /// The bundle.
        folder: PathBuf,
        /// The level.
        level: u32,
        /// Its form.
        form: String,
        /// Training step of its checkpoint.
        step: u64,
    },
    /// The file cannot be computed.
    #[error("{}: {why}; export the network again", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// The file of the network that plays a level, or of the bundle's own: in full precision if that is there, else in the one
/// that the manifest names first.
fn network(bundle: &Bundle, level: Option<&Level>) -> Result<PathBuf, OnnxError> {
    let file = |precision| match level {
        Some(level) => bundle.level_file(level, FileKind::Onnx, precision),
        None => bundle.file(FileKind::Onnx, precision),
    };
    let file = file(Some(Precision::F32)).or_else(|| file(None));
    let folder = || bundle.folder().into();
    file.ok_or_else(|| match level {
        Some(level) => OnnxError::Level {
            folder: folder(),
            level: level.level,
            form: level.form.clone(),
            step: level.step,
        },
        None => OnnxError::None { folder: folder() },
    })
}

/// Evaluates with the network of an ONNX file, one batch at a time, in the calling thread.
pub struct OnnxEvaluator {
    runtime: Runtime,
    step: u64,
    /// `[row, square, plane]`, as rows are expanded.
    by_square: Vec<f32>,
}

impl OnnxEvaluator {
    /// The network of a bundle that plays a level of its manifest, or `None`, the bundle's own, which plays as well as it can.
    pub fn open(bundle: &Bundle, level: Option<&Level>) -> Result<OnnxEvaluator, OnnxError> {
        let step = level.map_or(bundle.manifest().training.step, |level| level.step);
        OnnxEvaluator::load(&network(bundle, level)?, step)
    }

    /// The network in the file `path`, which was trained for `step` steps; it must be one of `fanqi export`.
    pub fn load(path: &Path, step: u64) -> Result<OnnxEvaluator, OnnxError> {
        let runtime = Runtime::load(path).map_err(|why| OnnxError::File {
            path: path.into(),
            why,
        })?;
        Ok(OnnxEvaluator {
            runtime,
            step,
            by_square: Vec::new(),
        })
    }

    /// What the network reads of `records`: `[row, plane, square]` and `[row, global]`.
    fn inputs(&mut self, records: &[Record]) -> [Vec<f32>; 2] {
        let numbers = records.len() * PLANES * SQUARES;
        self.by_square.resize(numbers, 0.0);
        let mut globals = vec![0.0; records.len() * GLOBALS];
        expand(records, &mut self.by_square, &mut globals, |x| x);
        let mut planes = vec![0.0; numbers];
        let rows = self.by_square.chunks_exact(PLANES * SQUARES);
        for (from, to) in rows.zip(planes.chunks_exact_mut(PLANES * SQUARES)) {
            for (square, from) in from.chunks_exact(PLANES).enumerate() {
                for (plane, &x) in from.iter().enumerate() {
                    to[plane * SQUARES + square] = x;
                }
            }
        }
        [planes, globals]
    }
}

/// Takes what `batch` asks for out of the network's answers.
fn pick([policy, wdl, left, belief]: &Outputs, batch: &mut Batch) {
    for (row, policy) in policy.chunks_exact(INDICES).enumerate() {
        let legal = &batch.legal[batch.legal_range(row)];
        let logits = legal.iter().map(|&index| policy[usize::from(index)]);
        batch.log_priors.extend(logits);
    }
    batch.wdl.extend(wdl.chunks_exact(3).map(|p| Wdl {
        win: p[0],
        draw: p[1],
        loss: p[2],
    }));
    batch.moves_left.extend_from_slice(left);
    for (row, belief) in belief.chunks_exact(KINDS * SQUARES).enumerate() {
        let squares = &batch.unknown[batch.unknown_range(row)];
        let of = |square: usize| [0, 1, 2, 3, 4, 5].map(|kind| belief[kind * SQUARES + square]);
        let kinds = squares.iter().map(|&square| of(usize::from(square)));
        batch.beliefs.extend(kinds);
    }
}

impl Evaluator for OnnxEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        batch.clear_outputs();
        if batch.is_empty() {
            return Ok(());
        }
        batch.check()?;
        let rows = batch.len();
        let inputs = self.inputs(&batch.records);
        let outputs = self.runtime.run(rows, inputs).map_err(EvalError::Failed)?;
        pick(&outputs, batch);
        batch.normalise(self.step)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn use_threads(&mut self, threads: usize) {
        self.runtime.use_threads(threads);
    }
}
