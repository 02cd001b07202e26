//! The network of a bundle behind [`selfplay::eval::Evaluator`], computed from its ONNX file.
use std::path::{Path, PathBuf};

use selfplay::bundle::rows::{read_outputs, write_inputs};
use selfplay::bundle::{Bundle, FileKind, Level};
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::expand::{GLOBALS, PLANES};
use selfplay::policy::SQUARES;

mod runtime;

use runtime::Runtime;

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

/// The file of the network that plays a level, or of the bundle's own.
fn network(bundle: &Bundle, level: Option<&Level>) -> Result<PathBuf, OnnxError> {
    let folder = bundle.folder();
    let file = bundle.network(level, FileKind::Onnx);
    file.map(|file| folder.join(&file.name))
        .ok_or_else(|| match level {
            Some(level) => OnnxError::Level {
                folder: folder.into(),
                level: level.level,
                form: level.form.clone(),
                step: level.step,
            },
            None => OnnxError::None {
                folder: folder.into(),
            },
        })
}

/// Evaluates with the network of an ONNX file, one batch at a time, in the calling thread.
pub struct OnnxEvaluator {
    runtime: Runtime,
    step: u64,
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
        Ok(OnnxEvaluator { runtime, step })
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
        let mut planes = vec![0.0; rows * PLANES * SQUARES];
        let mut globals = vec![0.0; rows * GLOBALS];
        write_inputs(&batch.records, &mut planes, &mut globals);
        let outputs = self.runtime.run(rows, [planes, globals]);
        let outputs = outputs.map_err(EvalError::Failed)?;
        read_outputs(outputs.each_ref().map(Vec::as_slice), batch);
        batch.normalise(self.step)
    }

    fn step(&self) -> u64 {
        self.step
    }

    fn use_threads(&mut self, threads: usize) {
        self.runtime.use_threads(threads);
    }
}
