//! A network as a bundle for other programs: `fanqi export`. What lies in the folder is in [`selfplay::bundle`].
mod examples;
mod folder;
mod levels;
mod manifest;
mod readme;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use model::export::{WIDTHS, onnx, safetensors, torchscript};
use selfplay::bundle::{self, Bundle, Checkpoint, FileInfo, FileKind, MANIFEST, Precision, sha256};

pub use self::examples::{Example, examples};
use crate::atomic::FileError;
use crate::levels::{Level, Levels};
use crate::network::Network;
use crate::run_dir::{RunFiles, State};

/// Name of the file of examples.
pub const EXAMPLES: &str = "examples.json";
/// Name of the file for people.
pub const README: &str = "README.md";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// A run directory or a checkpoint.
    pub source: PathBuf,
    /// Training step of the checkpoint of a run; the newest if missing, and then also those that play its levels.
    pub step: Option<u64>,
    /// Level whose checkpoint it is, alone, in place of a step.
    pub level: Option<u32>,
    /// The form that the level was measured in, where there are several.
    pub form: Option<String>,
    /// Formats of the network, one at least; others than these kinds are written anyhow.
    pub formats: Vec<FileKind>,
    /// Precisions of ONNX, one at least if it is written.
    pub precisions: Vec<Precision>,
    /// Licence of the network, if its owner states one.
    pub licence: Option<String>,
    /// Folder to write.
    pub out: PathBuf,
}

/// The network to be exported, and what is known of it.
struct Source {
    network: Network,
    /// Of a run directory.
    state: Option<State>,
    levels: Option<Levels>,
    level: Option<Level>,
}

/// Writes a bundle; it appears whole or not at all, in place of an earlier one if there is any. Returns what it holds.
pub fn write(order: &Order) -> anyhow::Result<Bundle> {
    bundle::may_replace(&order.out)?;
    let source = Source::load(order)?;
    folder::publish(&order.out, ours, |folder| {
        let mut files = networks(order, &source, folder)?;
        let examples = examples(&source.network)?;
        let text = serde_json::to_string(&examples)?;
        files.push(written(folder, EXAMPLES, FileKind::Examples, &text)?);
        let mut manifest = manifest::manifest(order, &source, files);
        let text = readme::text(&order.out, &manifest, &examples, &source.network)?;
        let readme = written(folder, README, FileKind::Readme, &text)?;
        manifest.files.push(readme);
        let text = serde_json::to_string_pretty(&manifest)? + "\n";
        save(&folder.join(MANIFEST), text.as_bytes())?;
        // A bundle that its own reader would refuse must not appear.
        Bundle::open(folder).context("the bundle just written is not sound")?;
        Ok(())
    })?;
    Ok(Bundle::open(&order.out)?)
}

impl Source {
    fn load(order: &Order) -> anyhow::Result<Source> {
        let is_run = order.source.is_dir();
        let levels = match is_run {
            true => Network::levels(&order.source)?,
            false => None,
        };
        let level = (order.level)
            .map(|level| {
                ensure!(
                    is_run,
                    "{}: a level chooses among the checkpoints of a run directory; this is one checkpoint",
                    order.source.display()
                );
                levels::choose(levels.as_ref(), level, order.form.as_deref())
            })
            .transpose()?
            .cloned();
        let network = match &level {
            Some(level) => Network::load_level(&order.source, level, &on_this_cpu())?,
            None => Network::load(&order.source, order.step, &on_this_cpu())?,
        };
        let state = match is_run {
            true => Some(RunFiles::open(&order.source)?.1),
            false => None,
        };
        Ok(Source {
            network,
            state,
            levels,
            level,
        })
    }

    /// Of a graded run a level for each checkpoint that plays one and is not the bundle's own, if no checkpoint alone is asked for.
    fn other_levels(&self, order: &Order) -> Vec<&Level> {
        let levels = self.levels.as_ref();
        let levels = levels.filter(|_| order.level.is_none() && order.step.is_none());
        let mut others = BTreeMap::new();
        for level in levels.into_iter().flat_map(Levels::all) {
            if level.crc32c != self.network.about.crc32c {
                others.entry(level.step).or_insert(level);
            }
        }
        others.into_values().collect()
    }
}

/// Settings for this machine's CPU, whatever the run was trained on.
fn on_this_cpu() -> [String; 3] {
    let keys = [
        ("device", "cpu"),
        ("inference_precision", "f32"),
        ("training_precision", "f32"),
    ];
    keys.map(|(key, value)| format!("device.{key}={value}"))
}

/// Writes the networks in every format asked for.
fn networks(order: &Order, source: &Source, folder: &Path) -> anyhow::Result<Vec<FileInfo>> {
    let mut files = formats(order, &source.network, "model", folder)?;
    for level in source.other_levels(order) {
        let network = Network::load_level(&order.source, level, &on_this_cpu())?;
        let stem = format!("model-{}", level.step);
        let checkpoint = Checkpoint {
            step: level.step,
            crc32c: manifest::crc32c(&network.about),
        };
        let written = formats(order, &network, &stem, folder)?.into_iter();
        files.extend(written.map(|file| FileInfo {
            checkpoint: Some(checkpoint.clone()),
            ..file
        }));
    }
    Ok(files)
}

/// Writes a network in every format asked for, in files whose names begin with `stem`.
fn formats(
    order: &Order,
    network: &Network,
    stem: &str,
    folder: &Path,
) -> anyhow::Result<Vec<FileInfo>> {
    let (weights, mut files) = (&network.weights, Vec::new());
    let facts = manifest::facts(order, network);
    for &kind in &order.formats {
        match kind {
            FileKind::Onnx => {
                for &precision in &order.precisions {
                    let name = format!("{stem}{}", onnx_ending(precision));
                    let bytes = onnx::file(weights, precision, &facts)
                        .with_context(|| format!("{name}: the network cannot be written"))?;
                    save(&folder.join(&name), &bytes)?;
                    files.push(FileInfo {
                        precision: Some(precision),
                        opset: Some(onnx::OPSET),
                        ..info(folder, &name, kind)?
                    });
                }
            }
            FileKind::Torchscript => {
                let name = format!("{stem}.pt");
                torchscript::write(weights, &folder.join(&name))
                    .with_context(|| format!("{name}: the network cannot be written"))?;
                files.push(FileInfo {
                    precision: Some(Precision::F32),
                    joined: Some(WIDTHS.to_vec()),
                    ..info(folder, &name, kind)?
                });
            }
            FileKind::Safetensors => {
                let name = format!("{stem}.safetensors");
                let bytes = safetensors::file(weights)
                    .with_context(|| format!("{name}: the network cannot be written"))?;
                save(&folder.join(&name), &bytes)?;
                files.push(FileInfo {
                    precision: Some(Precision::F32),
                    ..info(folder, &name, kind)?
                });
            }
            FileKind::Examples | FileKind::Readme => {}
        }
    }
    Ok(files)
}

/// Whether a file in an unfinished bundle is one that an export writes.
fn ours(name: &str) -> bool {
    name.starts_with("model") || [EXAMPLES, README].contains(&name)
}

fn onnx_ending(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => ".onnx",
        Precision::F16 => ".f16.onnx",
        Precision::Int8 => ".int8.onnx",
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    fs::write(path, bytes).map_err(|e| FileError::io(path, "writing", e))
}

fn written(folder: &Path, name: &str, kind: FileKind, text: &str) -> anyhow::Result<FileInfo> {
    save(&folder.join(name), text.as_bytes())?;
    Ok(info(folder, name, kind)?)
}

/// What the manifest says of a file that is written.
fn info(folder: &Path, name: &str, kind: FileKind) -> Result<FileInfo, FileError> {
    let path = folder.join(name);
    let error = |e| FileError::io(&path, "reading", e);
    Ok(FileInfo {
        name: name.to_owned(),
        kind,
        checkpoint: None,
        precision: None,
        opset: None,
        joined: None,
        bytes: fs::metadata(&path).map_err(error)?.len(),
        sha256: sha256(&path).map_err(error)?,
    })
}
