//! A bundle as what plays.
use std::path::Path;

use play::onnx::OnnxEvaluator;
use selfplay::bundle::{Bundle, Level};

use super::Engine;
use crate::facts::Facts;

/// Checks the bundle in `folder` and opens its networks.
pub fn engine(folder: &Path) -> anyhow::Result<Engine> {
    let bundle = Bundle::open(folder)?;
    // One that cannot be opened is told of now, not to whoever plays first.
    OnnxEvaluator::open(&bundle, None)?;
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name);
    let name = name.unwrap_or(folder.as_os_str()).to_string_lossy();
    let facts = Facts::of(&bundle, name.into_owned())?;
    let open = move |level: Option<&Level>| match OnnxEvaluator::open(&bundle, level) {
        Ok(evaluator) => Ok(Box::new(evaluator) as _),
        Err(error) => Err(error.to_string()),
    };
    Ok(Engine::new(facts, Box::new(open)))
}
