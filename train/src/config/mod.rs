//! Settings of a run: `configs/default.toml` is the schema (every key, its default and its range);
//! a config file and `--set` lay their values over it.
mod check;
mod error;
mod layers;
mod schema;

use std::path::Path;

use model::config::{DeviceConfig, NetConfig, OptimConfig};
use model::device::{DeviceError, Placement};
use selfplay::mcts::SearchConfig;
use selfplay::worker::SelfplayConfig;
use serde::{Deserialize, Serialize};

pub use self::error::ConfigError;
use self::layers::Layers;
pub use self::layers::Sources;
pub use self::schema::DEFAULT;
use self::schema::flatten;
use crate::arena::ArenaConfig;
use crate::forms::RulesetConfig;
use crate::ladder::LadderConfig;
use crate::pretrain::PretrainConfig;
use crate::replay::ReplayConfig;
use crate::samples::SamplesConfig;

/// Keys that may not change in an existing run, or tables of them.
const FIXED: &[&str] = &[
    "ruleset",
    "net",
    "pretrain",
    "run.seed",
    "optim.kind",
    "replay.held_out_share",
];

/// A whole run's settings, every key present and in range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[ruleset]`
    pub ruleset: RulesetConfig,
    /// `[run]`
    pub run: RunConfig,
    /// `[device]`
    pub device: DeviceConfig,
    /// `[net]`
    pub net: NetConfig,
    /// `[search]`
    pub search: SearchConfig,
    /// `[selfplay]`
    pub selfplay: SelfplayConfig,
    /// `[samples]`
    pub samples: SamplesConfig,
    /// `[replay]`
    pub replay: ReplayConfig,
    /// `[optim]`
    pub optim: OptimConfig,
    /// `[pretrain]`
    pub pretrain: PretrainConfig,
    /// `[checkpoint]`
    pub checkpoint: CheckpointConfig,
    /// `[arena]`
    pub arena: ArenaConfig,
    /// `[ladder]`
    pub ladder: LadderConfig,
    /// Where the values came from.
    #[serde(skip)]
    pub sources: Sources,
}

/// How long and with what a run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// What every random choice follows from.
    pub seed: u64,
    /// Minutes of self-play and training; 0: no limit.
    pub minutes: f64,
    /// Rows produced at which the run ends; 0: no limit.
    pub produced_rows: u64,
    /// Self-play threads; 0: chosen by device.
    pub workers: usize,
    /// Seconds between lines of metrics.
    pub report_seconds: f64,
}

/// When checkpoints are written and which are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointConfig {
    /// Rows trained between checkpoints.
    pub every_rows: u64,
    /// Files kept.
    pub keep: usize,
    /// Last held-out rows that each line of metrics scores.
    pub validation_rows: u64,
    /// Validation minus training value loss that raises the alarm.
    pub overfit_alarm: f64,
}

/// A key with its old and new value, as TOML text.
#[derive(Debug, PartialEq)]
pub struct Change {
    /// `table.key`.
    pub key: String,
    /// The run's value.
    pub old: String,
    /// The config's value.
    pub new: String,
}

impl Config {
    /// Reads `path`, or takes the defaults, and lays each `table.key=value` of `sets` over it; the last of
    /// several for one key counts. The device must be one of this machine's.
    pub fn load(path: Option<&Path>, sets: &[String]) -> Result<Self, ConfigError> {
        let mut layers = Layers::new();
        if let Some(path) = path {
            layers.file(path)?;
        }
        layers.sets(sets)?;
        layers.config()?.on_this_machine()
    }

    /// New simulations a move of a network in matches.
    pub fn match_visits(&self) -> u32 {
        match self.arena.visits {
            0 => self.selfplay.visits,
            visits => visits,
        }
    }

    /// The defaults of every key, whatever machine this is.
    pub fn defaults() -> Result<Self, ConfigError> {
        Layers::new().config()
    }

    /// Reads the resolved config of an existing run, which has every key, whatever machine it was run on.
    pub fn load_resolved(path: &Path) -> Result<Self, ConfigError> {
        let mut layers = Layers::new();
        layers.file(path)?;
        layers.require_all(path)?;
        layers.config()
    }

    /// Reads the resolved config that `origin`, a checkpoint, carries. A key that is younger than the checkpoint
    /// has its default; the device may be another machine's. Each `table.key=value` of `sets` is laid over it.
    pub fn carried(text: &str, origin: &str, sets: &[String]) -> Result<Self, ConfigError> {
        let mut layers = Layers::new();
        layers.overlay(text, origin)?;
        layers.sets(sets)?;
        layers.config()
    }

    /// As [`Config::load`] from the resolved config of an existing run.
    pub fn load_run(path: &Path, sets: &[String]) -> Result<Self, ConfigError> {
        let mut layers = Layers::new();
        layers.file(path)?;
        layers.require_all(path)?;
        layers.sets(sets)?;
        layers.config()?.on_this_machine()
    }

    fn on_this_machine(self) -> Result<Self, ConfigError> {
        let Err(error) = Placement::resolve(&self.device) else {
            return Ok(self);
        };
        let key = match error {
            DeviceError::Precision { key, .. } => key,
            _ => "device",
        };
        let source = self.sources.of(&format!("device.{key}"));
        Err(ConfigError::Device {
            origin: source.unwrap_or("the default").to_owned(),
            error,
        })
    }

    /// The whole config as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a config is plain tables of values")
    }

    /// What `new` would change.
    pub fn diff(&self, new: &Config) -> Vec<Change> {
        let flat = |c: &Config| flatten(&c.to_toml().parse().expect("written by to_toml"));
        let new = flat(new);
        flat(self)
            .into_iter()
            .filter(|(key, old)| new[key] != *old)
            .map(|(key, old)| Change {
                old: old.to_string(),
                new: new[&key].to_string(),
                key,
            })
            .collect()
    }

    /// The changes `new`, read from `origin`, makes to a run of this config, or an error that names those that
    /// it cannot take.
    pub fn changes_on_resume(
        &self,
        new: &Config,
        origin: &str,
    ) -> Result<Vec<Change>, ConfigError> {
        let changes = self.diff(new);
        let fixed: Vec<_> = changes
            .iter()
            .filter(|c| {
                FIXED
                    .iter()
                    .any(|f| c.key == *f || c.key.starts_with(&format!("{f}.")))
            })
            .map(|c| {
                let source = match new.sources.of(&c.key) {
                    Some(source) => source.to_owned(),
                    None => format!("the default, as {origin} does not set it"),
                };
                format!("`{}`: {} -> {} ({source})", c.key, c.old, c.new)
            })
            .collect();
        if fixed.is_empty() {
            return Ok(changes);
        }
        Err(ConfigError::Incompatible {
            keys: fixed.join(", "),
        })
    }
}
