//! Runs and checkpoints as the networks of an engine.
use std::path::{Path, PathBuf};

use anyhow::Error;
use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use play::engine::{Graded, Model, Source};
use play::output::describe;
use selfplay::bundle;

use crate::network::Network;

/// Names are those of run directories and checkpoints. What they name is only read, and no lock is taken.
pub struct Checkpoints;

impl Source for Checkpoints {
    fn expects(&self) -> &'static str {
        "a checkpoint or a run directory"
    }

    fn open(&self, path: &Path) -> anyhow::Result<Model> {
        load(path, None)
    }
}

/// Loads a checkpoint: the file `path`, or of the run directory `path` that of training step `step`, the
/// newest if missing. The settings are those that the checkpoint carries; of a graded run its levels come with it.
pub fn load(path: &Path, step: Option<u64>) -> anyhow::Result<Model> {
    let mut model = model_of(Network::load(path, step, &[])?)?;
    match graded(path, step) {
        Ok(graded) => model.graded = graded,
        Err(why) => model.notes.push(format!("levels: {}", describe(&why))),
    }
    Ok(model)
}

/// A network ready to play, whose run's levels are unknown.
fn model_of(network: Network) -> anyhow::Result<Model> {
    let slot = WeightSlot::new(network.weights);
    Ok(Model {
        evaluator: Box::new(NetEvaluator::new(slot, network.placement)?),
        arrangement_temperature: network.config.arena.arrangement_temperature,
        search: network.config.search,
        forms: network.forms.rules().collect(),
        graded: None,
        notes: Vec::new(),
    })
}

/// The levels of the run directory `path`, `None` where it is none or was not graded.
fn graded(path: &Path, step: Option<u64>) -> anyhow::Result<Option<Graded>> {
    if !path.is_dir() {
        return Ok(None);
    }
    let Some(levels) = Network::levels(path)? else {
        return Ok(None);
    };
    let told: Vec<_> = levels.all().map(bundle::Level::from).collect();
    let run = PathBuf::from(path);
    let load = move |level: Option<&bundle::Level>| {
        let network = match level {
            Some(told) => {
                let level = levels.level(&told.form, told.level).map_err(Error::msg)?;
                Network::load_level(&run, level, &[])
            }
            None => Network::load(&run, step, &[]),
        };
        model_of(network?)
    };
    Ok(Graded::new(told, Box::new(load)))
}
