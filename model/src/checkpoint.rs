//! A network on disk: one safetensors file with the weights in training, their average, the
//! optimiser's moments and how far training has come.
//!
//! Tensors are f32: `net.NAME`, `average.NAME`, `first.NAME` and, under AdamW, `second.NAME`, with the
//! names and shapes of [`Layout`]. The header's one metadata entry, [`KEY`], is the JSON of [`About`], whose
//! checksum covers itself and all tensors, so that one wrong bit anywhere is noticed.
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use tch::Device;

use crate::config::{NetConfig, OptimConfig, OptimKind};
use crate::device::Placement;
use crate::learner::Learner;
use crate::params::{Layout, Weights, to_vec};

mod error;
pub(crate) mod tensors;
pub use error::CheckpointError;
use error::RESTORE;

/// Version of the file format.
pub const FORMAT: u32 = 3;
/// Name of the header's metadata entry.
pub const KEY: &str = "fanqi_checkpoint";

/// What the run says of a checkpoint; kept as it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the run that trained it.
    pub run: String,
    /// Name of the form that the network plays.
    pub form: String,
    /// The form's rules, as text or as a hash of it.
    pub ruleset: String,
    /// The run's whole configuration.
    pub config: String,
}

/// What a checkpoint's header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Steps done.
    pub step: u64,
    /// Rows trained.
    pub rows: u64,
    /// Size of the network.
    pub net: NetConfig,
    /// Whose moments are kept.
    pub optimiser: OptimKind,
    /// Version of libtorch that the writer was built with.
    pub torch: String,
    /// Whose network it is.
    pub origin: Origin,
    /// [`checksum`] of the file.
    pub crc32c: u32,
}

/// A checkpoint read whole and checked.
struct Loaded {
    about: About,
    layout: Layout,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Loaded {
    fn read(path: &Path) -> Result<Self, CheckpointError> {
        let bytes = fs::read(path).map_err(|source| io("reading", path, source))?;
        let broken = |source| CheckpointError::Broken {
            path: path.into(),
            source,
        };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(broken)?;
        let about = about(path, header.metadata().as_ref())?;
        let file = SafeTensors::deserialize(&bytes).map_err(broken)?;
        let (found, written) = (checksum(&about, &file), about.crc32c);
        if found != written {
            return Err(CheckpointError::Checksum {
                path: path.into(),
                found,
                written,
            });
        }
        let layout = Layout::of(&about.net);
        Ok(Loaded {
            about,
            layout,
            path: path.into(),
            bytes,
        })
    }

    fn tensor_error(&self, tensor: &str, what: String) -> CheckpointError {
        CheckpointError::Tensor {
            path: self.path.clone(),
            tensor: tensor.into(),
            what: format!("{what}; {RESTORE}"),
        }
    }

    /// The tensors `part.NAME` of some roles as one flat vector.
    fn flat(
        &self,
        file: &SafeTensors,
        part: &str,
        buffers: bool,
    ) -> Result<Vec<f32>, CheckpointError> {
        tensors::read(file, &self.layout, &format!("{part}."), buffers)
            .map_err(|(tensor, what)| self.tensor_error(&tensor, what))
    }

    fn file(&self) -> Result<SafeTensors<'_>, CheckpointError> {
        SafeTensors::deserialize(&self.bytes).map_err(|source| CheckpointError::Broken {
            path: self.path.clone(),
            source,
        })
    }

    fn weights(&self, file: &SafeTensors, part: &str) -> Result<Weights, CheckpointError> {
        let (params, buffers) = (self.flat(file, part, false)?, self.flat(file, part, true)?);
        Ok(Weights {
            config: self.about.net.clone(),
            step: self.about.step,
            params,
            buffers,
        })
    }
}

fn io(doing: &'static str, path: &Path, source: std::io::Error) -> CheckpointError {
    CheckpointError::Io {
        doing,
        path: path.into(),
        source,
    }
}

fn about(
    path: &Path,
    metadata: Option<&HashMap<String, String>>,
) -> Result<About, CheckpointError> {
    let foreign = |detail| CheckpointError::Foreign {
        path: path.into(),
        detail,
    };
    let text = metadata
        .and_then(|m| m.get(KEY))
        .ok_or_else(|| foreign(String::new()))?;
    let json = |e: serde_json::Error| foreign(format!(" ({e})"));
    let value: serde_json::Value = serde_json::from_str(text).map_err(json)?;
    let found = value
        .get("format")
        .and_then(|v| v.as_u64())
        .ok_or_else(|| foreign(" (no format)".into()))?;
    if found != FORMAT as u64 {
        return Err(CheckpointError::Version {
            path: path.into(),
            found: found as u32,
        });
    }
    let about: About = serde_json::from_value(value).map_err(json)?;
    about
        .net
        .check()
        .map_err(|e| foreign(format!(" (net: {e})")))?;
    Ok(about)
}

/// CRC-32C of `about`, its own sum counted as 0, and of the name and bytes of every tensor, by name.
pub fn checksum(about: &About, file: &SafeTensors) -> u32 {
    let mut tensors = file.tensors();
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    let tensors = tensors
        .iter()
        .map(|(name, view)| (name.as_str(), view.data()));
    sum(about, tensors)
}

fn sum<'a>(about: &About, by_name: impl Iterator<Item = (&'a str, &'a [u8])>) -> u32 {
    let about = About {
        crc32c: 0,
        ..about.clone()
    };
    // Plain numbers and strings: this cannot fail.
    let text = serde_json::to_vec(&about).unwrap_or_default();
    by_name.fold(crc32c::crc32c(&text), |sum, (name, bytes)| {
        crc32c::crc32c_append(crc32c::crc32c_append(sum, name.as_bytes()), bytes)
    })
}

/// Reads the header alone; nothing vouches for what it says.
pub fn inspect(path: &Path) -> Result<About, CheckpointError> {
    /// Longer than any header of ours, which a damaged length must not exceed.
    const LONGEST: u64 = 1 << 24;
    #[derive(Deserialize)]
    struct Header {
        #[serde(rename = "__metadata__")]
        metadata: Option<HashMap<String, String>>,
    }
    let read = || {
        let (mut file, mut length, mut text) = (File::open(path)?, [0; 8], Vec::new());
        match file.read_exact(&mut length) {
            // Too short even for that: no text follows.
            Err(short) if short.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(text),
            read => read?,
        }
        file.take(u64::from_le_bytes(length).min(LONGEST))
            .read_to_end(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|source| io("reading", path, source))?;
    let header: Header =
        serde_json::from_slice(&text).map_err(|source| CheckpointError::Broken {
            path: path.into(),
            source: source.into(),
        })?;
    about(path, header.metadata.as_ref())
}

/// Reads the weights that play.
pub fn load_play(path: &Path) -> Result<(Weights, About), CheckpointError> {
    let loaded = Loaded::read(path)?;
    let weights = loaded.weights(&loaded.file()?, "average")?;
    Ok((weights, loaded.about))
}

impl Learner {
    /// Writes everything that [`Learner::load`] needs. The file appears whole or not at all.
    pub fn save(&self, path: &Path, origin: &Origin) -> Result<(), CheckpointError> {
        let mut parts = vec![
            ("net", to_vec(&self.net.params)?, false),
            ("net", to_vec(&self.net.buffers)?, true),
            ("average", to_vec(&self.average.params)?, false),
            ("average", to_vec(&self.average.buffers)?, true),
            ("first", to_vec(&self.optim.first)?, false),
        ];
        if let Some(second) = &self.optim.second {
            parts.push(("second", to_vec(second)?, false));
        }
        let about = About {
            format: FORMAT,
            step: self.step,
            rows: self.rows,
            net: self.net.config.clone(),
            optimiser: self.config.kind,
            torch: env!("FANQI_TORCH_VERSION").into(),
            origin: origin.clone(),
            crc32c: 0,
        };
        write_whole(path, &serialise(&self.net.layout, &parts, &about, path)?)
    }

    /// Trains on from a checkpoint of the same network and optimiser.
    pub fn load(
        path: &Path,
        net: &NetConfig,
        config: &OptimConfig,
        placement: &Placement,
    ) -> Result<(Self, About), CheckpointError> {
        let loaded = Loaded::read(path)?;
        let mismatch = |found: String, asked: String| CheckpointError::Mismatch {
            path: path.into(),
            found,
            asked,
        };
        if loaded.about.net != *net {
            let (found, asked) = differences(&loaded.about.net, net);
            return Err(mismatch(format!("a network of {found}"), asked));
        }
        if loaded.about.optimiser != config.kind {
            let name = |kind: OptimKind| format!("{kind:?}").to_lowercase();
            return Err(mismatch(
                format!(
                    "the moments of `optim.kind` = {}",
                    name(loaded.about.optimiser)
                ),
                format!("`optim.kind` = {}", name(config.kind)),
            ));
        }
        let file = loaded.file()?;
        let mut learner = Learner::from_weights(&loaded.weights(&file, "net")?, config, placement)?;
        learner.average =
            crate::net::Net::new(&loaded.weights(&file, "average")?, placement.device)?;
        let tensor =
            |x: Vec<f32>, device: Device| tch::Tensor::f_from_slice(&x)?.f_to_device(device);
        learner.optim.first = tensor(loaded.flat(&file, "first", false)?, placement.device)?;
        if learner.optim.second.is_some() {
            learner.optim.second = Some(tensor(
                loaded.flat(&file, "second", false)?,
                placement.device,
            )?);
        }
        (learner.step, learner.rows) = (loaded.about.step, loaded.about.rows);
        Ok((learner, loaded.about))
    }
}

/// The settings in which two networks differ, of one and of the other.
fn differences(a: &NetConfig, b: &NetConfig) -> (String, String) {
    let settings = |net: &NetConfig| match serde_json::to_value(net) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (settings(a), settings(b));
    let differing = |own: &serde_json::Map<_, _>, other: &serde_json::Map<_, _>| {
        own.iter()
            .filter(|(key, value)| other.get(*key) != Some(*value))
            .map(|(key, value)| format!("`net.{key}` = {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    (differing(&a, &b), differing(&b, &a))
}

type Part = (&'static str, Vec<f32>, bool);

fn serialise(
    layout: &Layout,
    parts: &[Part],
    about: &About,
    path: &Path,
) -> Result<Vec<u8>, CheckpointError> {
    let broken = |source| CheckpointError::Broken {
        path: path.into(),
        source,
    };
    let mut tensors = Vec::new();
    for (part, flat, buffers) in parts {
        let views = tensors::views(layout, &format!("{part}."), flat, *buffers);
        tensors.extend(views.map_err(|(tensor, what)| CheckpointError::Tensor {
            path: path.into(),
            tensor,
            what,
        })?);
    }
    tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
    let by_name = tensors
        .iter()
        .map(|(name, view)| (name.as_str(), view.data()));
    let about = About {
        crc32c: sum(about, by_name),
        ..about.clone()
    };
    let text = serde_json::to_string(&about).map_err(|e| broken(e.into()))?;
    safetensors::serialize(tensors, Some(HashMap::from([(KEY.to_string(), text)]))).map_err(broken)
}

/// Writes a file beside `path`, has it on disk, and then gives it its name.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)?;
        let folder = path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&part);
        io("writing", path, source)
    })
}
