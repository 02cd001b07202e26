//! Players of known rating, from a file.
//!
//! ```toml
//! [anchors]
//! "random" = 0.0
//! "engine:fairy-stockfish?nodes=1000&skill=-20" = 840.0
//! ```
//!
//! Names are those of the players in the games. A file may list players that have no game.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Encounter;
use crate::atomic::FileError;

/// The anchors of a file by name, in Elo.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Anchors {
    anchors: BTreeMap<String, f64>,
}

/// Reads a file of anchors.
pub fn read(path: &Path) -> Result<BTreeMap<String, f64>, FileError> {
    let text = fs::read_to_string(path).map_err(|e| FileError::io(path, "reading", e))?;
    let anchors: Anchors = toml::from_str(&text).map_err(|e| {
        let expected = "expected a table [anchors] with lines like \"random\" = 0.0";
        FileError::content(path, format!("{e}; {expected}"))
    })?;
    Ok(anchors.anchors)
}

/// Those of `anchors` who have a game.
pub fn playing(anchors: BTreeMap<String, f64>, encounters: &[Encounter]) -> BTreeMap<String, f64> {
    let plays = |name: &str| (encounters.iter()).any(|e| e.player == name || e.opponent == name);
    (anchors.into_iter())
        .filter(|(name, _)| plays(name))
        .collect()
}
