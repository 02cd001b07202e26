//! Bundles as the networks of an engine.
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use selfplay::bundle::{Bundle, Level, MANIFEST};

use crate::engine::{Graded, Model, Source};
use crate::onnx::OnnxEvaluator;

/// Temperatures that a level may have.
const TEMPERATURE: std::ops::RangeInclusive<f64> = 0.0..=10.0;

/// Names are those of folders that `fanqi export` made.
pub struct Bundles;

impl Source for Bundles {
    fn expects(&self) -> &'static str {
        "the folder of a bundle"
    }

    fn open(&self, path: &Path) -> anyhow::Result<Model> {
        load(path)
    }
}

/// Checks the bundle in `folder` and loads its network, with the levels whose networks it holds.
pub fn load(folder: &Path) -> anyhow::Result<Model> {
    let bundle = Arc::new(Bundle::open(folder)?);
    let mut model = model(&bundle, None)?;
    let manifest = bundle.manifest();
    let about = || format!("{}: {MANIFEST}", folder.display());
    let mut levels = Vec::new();
    for rules in bundle.forms() {
        levels.extend(manifest.playable(rules.name).cloned());
    }
    levels.iter().try_for_each(check).with_context(about)?;
    let others = manifest.levels.len() - levels.len();
    if others > 0 {
        model.notes.push(format!(
            "levels: {others} of {} are of checkpoints that this bundle does not hold",
            manifest.levels.len()
        ));
    }
    let load = move |level: Option<&Level>| self::model(&bundle, level);
    model.graded = Graded::new(levels, Box::new(load));
    Ok(model)
}

/// The network of a level of the bundle, or its own one, as the run played it.
fn model(bundle: &Bundle, level: Option<&Level>) -> anyhow::Result<Model> {
    let manifest = bundle.manifest();
    Ok(Model {
        evaluator: Box::new(OnnxEvaluator::open(bundle, level)?),
        search: bundle.search()?,
        arrangement_temperature: manifest.play.arrangement_temperature,
        forms: bundle.forms().to_vec(),
        graded: None,
        notes: Vec::new(),
    })
}

/// Whether a level can be played.
fn check(level: &Level) -> anyhow::Result<()> {
    let Level {
        visits,
        temperature,
        ..
    } = *level;
    ensure!(
        visits > 0 && TEMPERATURE.contains(&temperature),
        "level {} of {}: visits = {visits}, temperature = {temperature}: expected visits from 1 and a temperature from 0 to 10",
        level.level,
        level.form
    );
    Ok(())
}
