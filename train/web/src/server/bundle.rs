//! A bundle as what plays.
use std::path::Path;

use play::bundle::search;
use play::onnx::OnnxEvaluator;
use selfplay::bundle::{Bundle, FileKind, Level};

use super::Engine;
use super::engine::Facts;

/// Checks the bundle in `folder` and opens its networks.
pub fn engine(folder: &Path) -> anyhow::Result<Engine> {
    let bundle = Bundle::open(folder)?;
    // One that cannot be opened is told of now, not to whoever plays first.
    OnnxEvaluator::open(&bundle, None)?;
    let manifest = bundle.manifest();
    let here = |level: &Level| bundle.level_file(level, FileKind::Onnx, None).is_some();
    let levels = manifest.levels.iter();
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name);
    let facts = Facts {
        name: name
            .unwrap_or(folder.as_os_str())
            .to_string_lossy()
            .into_owned(),
        step: manifest.training.step,
        forms: bundle.forms().to_vec(),
        levels: levels.map(|level| (level.clone(), here(level))).collect(),
        search: search(&bundle)?,
        arrangement_temperature: manifest.play.arrangement_temperature,
    };
    let open = move |level: Option<&Level>| match OnnxEvaluator::open(&bundle, level) {
        Ok(evaluator) => Ok(Box::new(evaluator) as _),
        Err(error) => Err(error.to_string()),
    };
    Ok(Engine::new(facts, Box::new(open)))
}
