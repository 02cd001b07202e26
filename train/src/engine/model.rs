//! The network that an engine plays with.
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use model::checkpoint;
use model::device::Placement;
use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use selfplay::eval::Evaluator;
use selfplay::mcts::SearchConfig;
use selfplay::rules::Ruleset;

use crate::config::Config;
use crate::forms::Forms;
use crate::run_dir::RunFiles;

/// A network ready to play, with what its checkpoint says of it.
pub struct Model {
    /// Asked for every position.
    pub evaluator: Box<dyn Evaluator>,
    /// Settings of the search.
    pub search: SearchConfig,
    /// The forms that it was trained in, with the run's own rules; at least one.
    pub forms: Forms,
}

impl Model {
    /// Loads a checkpoint: the file `path`, or of the run directory `path` that of training step `step`, the
    /// newest if missing. The settings are those that the checkpoint carries. Takes no lock and writes nothing.
    pub fn load(path: &Path, step: Option<u64>) -> anyhow::Result<Model> {
        let path = checkpoint_path(path, step)?;
        // The header first: of a file of another kind, however large, nothing more is read.
        checkpoint::inspect(&path)?;
        let (weights, about) = checkpoint::load_play(&path)?;
        let origin = format!("{}, the config in it", path.display());
        let config = Config::carried(&about.origin.config, &origin)?;
        let forms =
            Forms::of(&config.ruleset).map_err(|why| anyhow!("{origin}: [ruleset] {why}"))?;
        let placement = Placement::resolve(&config.device)
            .with_context(|| format!("{origin}: [device], which is not this machine's"))?;
        Ok(Model {
            evaluator: Box::new(NetEvaluator::new(WeightSlot::new(weights), placement)?),
            search: config.search,
            forms,
        })
    }

    /// The rules of the form of that name, as it was trained, if it was.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        self.forms.rules().find(|rules| rules.name == name)
    }
}

/// The checkpoint's file.
fn checkpoint_path(path: &Path, step: Option<u64>) -> anyhow::Result<PathBuf> {
    if path.is_file() {
        ensure!(
            step.is_none(),
            "{}: a step chooses among the checkpoints of a run directory; this is one checkpoint",
            path.display()
        );
        return Ok(path.to_owned());
    }
    let (files, state) = RunFiles::open(path).context("neither a checkpoint nor a run")?;
    Ok(files.checkpoint(step.unwrap_or(state.training.step))?)
}
