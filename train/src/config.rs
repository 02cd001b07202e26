//! Settings of a run: `configs/default.toml` is the schema (every key, its default and its range);
//! a config file and `--set` lay their values over it.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use model::config::{DeviceConfig, NetConfig, OptimConfig};
use selfplay::mcts::SearchConfig;
use selfplay::worker::SelfplayConfig;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::arena::ArenaConfig;
use crate::replay::ReplayConfig;
use crate::samples::SamplesConfig;

/// The text of `configs/default.toml`.
pub const DEFAULT: &str = include_str!("../../configs/default.toml");

/// Keys that may not change in an existing run, or tables of them.
const FIXED: &[&str] = &[
    "ruleset",
    "net",
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
    /// `[checkpoint]`
    pub checkpoint: CheckpointConfig,
    /// `[arena]`
    pub arena: ArenaConfig,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetConfig {
    /// Name of the form.
    pub base: String,
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

/// What is wrong with a config.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: cannot read this config: {error}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The text is not TOML.
    #[error("{origin}: not valid: {message}")]
    Syntax {
        /// File or option.
        origin: String,
        /// The parser's words, with line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error(
        "{origin}: unknown key `{key}`; did you mean `{nearest}`? (configs/default.toml lists all)"
    )]
    UnknownKey {
        /// File or option.
        origin: String,
        /// The key.
        key: String,
        /// The most similar valid key.
        nearest: String,
    },
    /// A value of the wrong type or outside its range or choices.
    #[error("{origin}: `{key}` = {value}: {expected}")]
    Value {
        /// File or option.
        origin: String,
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// What is accepted.
        expected: String,
    },
    /// Keys that contradict each other.
    #[error("{origin}: {message}")]
    Conflict {
        /// File or option.
        origin: String,
        /// Which and why.
        message: String,
    },
    /// Keys that an existing run cannot change.
    #[error(
        "{origin}: this run cannot change {keys}; give the run's own value back, or start another run with --run DIR"
    )]
    Incompatible {
        /// File.
        origin: String,
        /// `key: old -> new`, separated by commas.
        keys: String,
    },
}

/// What the schema says of one key.
struct Key {
    default: Value,
    /// Inclusive bounds of a number.
    range: Option<(f64, f64)>,
}

static SCHEMA: LazyLock<BTreeMap<String, Key>> = LazyLock::new(|| {
    let table: Table = DEFAULT.parse().expect("configs/default.toml is TOML");
    let mut ranges = BTreeMap::new();
    let mut section = String::new();
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name.to_owned();
        } else if let Some((key, rest)) = line.split_once(" = ")
            && let Some(range) = rest
                .rsplit_once("# ")
                .and_then(|(_, comment)| parse_range(comment))
        {
            ranges.insert(format!("{section}.{key}"), range);
        }
    }
    flatten(&table)
        .into_iter()
        .map(|(key, default)| {
            let range = ranges.get(&key).copied();
            (key, Key { default, range })
        })
        .collect()
});

/// The bounds at the start of a comment such as `0..=1 share of`.
fn parse_range(comment: &str) -> Option<(f64, f64)> {
    let (low, rest) = comment.split_once("..=")?;
    let high = rest
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .next()?;
    Some((low.parse().ok()?, high.trim_end_matches('.').parse().ok()?))
}

/// `table.key` to value, tables opened; an empty table stands for itself.
fn flatten(table: &Table) -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => {
                out.extend(
                    flatten(inner)
                        .into_iter()
                        .map(|(k, v)| (format!("{key}.{k}"), v)),
                );
            }
            other => {
                out.insert(key.clone(), other.clone());
            }
        }
    }
    out
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
    /// Reads `path`, or takes the defaults, and lays each `table.key=value` of `sets` over it.
    pub fn load(path: Option<&Path>, sets: &[String]) -> Result<Self, ConfigError> {
        let mut values: BTreeMap<String, Value> = SCHEMA
            .iter()
            .map(|(k, v)| (k.clone(), v.default.clone()))
            .collect();
        let mut origin = "the default config".to_owned();
        if let Some(path) = path {
            origin = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read {
                path: path.to_owned(),
                error,
            })?;
            overlay(&mut values, &text, &origin)?;
        }
        for set in sets {
            overlay(&mut values, &set_to_toml(set)?, &format!("--set {set}"))?;
        }
        Self::from_values(&values, &origin)
    }

    /// Reads the resolved config of an existing run.
    pub fn load_resolved(path: &Path) -> Result<Self, ConfigError> {
        Self::load(Some(path), &[])
    }

    fn from_values(values: &BTreeMap<String, Value>, origin: &str) -> Result<Self, ConfigError> {
        let mut config = Table::new();
        for (key, value) in values {
            let (table, key) = key.split_once('.').unwrap_or(("", key));
            let table = config
                .entry(table)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(table) = table {
                table.insert(key.to_owned(), value.clone());
            }
        }
        let config: Config =
            config
                .try_into()
                .map_err(|e: toml::de::Error| ConfigError::Conflict {
                    origin: origin.to_owned(),
                    message: e.to_string().trim().replace('\n', " "),
                })?;
        config.check(origin)?;
        Ok(config)
    }

    /// What no single key can say.
    fn check(&self, origin: &str) -> Result<(), ConfigError> {
        let conflict = |message: String| {
            Err(ConfigError::Conflict {
                origin: origin.to_owned(),
                message,
            })
        };
        if selfplay::rules::Ruleset::by_name(&self.ruleset.base).is_none() {
            let names: Vec<_> = selfplay::rules::Ruleset::all()
                .iter()
                .map(|r| r.name)
                .collect();
            return conflict(format!(
                "`ruleset.base` = {:?}: there is no such form; known: {}",
                self.ruleset.base,
                names.join(", ")
            ));
        }
        if self.selfplay.fast_visits > self.selfplay.visits {
            return conflict(format!(
                "`selfplay.fast_visits` = {} is more than `selfplay.visits` = {}",
                self.selfplay.fast_visits, self.selfplay.visits
            ));
        }
        if self.replay.min_rows > self.replay.max_rows {
            return conflict(format!(
                "`replay.min_rows` = {} is more than `replay.max_rows` = {}",
                self.replay.min_rows, self.replay.max_rows
            ));
        }
        let burst = self.replay.burst_rows;
        if burst > 0 && (burst as f64) < self.replay.ratio * self.samples.shard_rows as f64 {
            return conflict(format!(
                "`replay.burst_rows` = {burst} is less than one shard allows to train, `replay.ratio` * `samples.shard_rows`"
            ));
        }
        if !self.arena.games.is_multiple_of(2) {
            return conflict(format!(
                "`arena.games` = {} must be even: every opening is played twice",
                self.arena.games
            ));
        }
        Ok(())
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

    /// The changes `new` makes to a run of this config, or an error that names those that it cannot take.
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
            .map(|c| format!("`{}`: {} -> {}", c.key, c.old, c.new))
            .collect();
        if fixed.is_empty() {
            return Ok(changes);
        }
        Err(ConfigError::Incompatible {
            origin: origin.to_owned(),
            keys: fixed.join(", "),
        })
    }
}

/// `a.b=c` as TOML; a value that is not TOML is taken as a string.
fn set_to_toml(set: &str) -> Result<String, ConfigError> {
    let parts = set
        .split_once('=')
        .map(|(key, value)| (key.trim(), value.trim()));
    let one_line = !set.contains(['\n', '\r']);
    let Some((key, value)) =
        parts.filter(|(key, _)| one_line && !key.is_empty() && !key.contains(['[', '#']))
    else {
        return Err(ConfigError::Syntax {
            origin: format!("--set {set:?}"),
            message: "expected TABLE.KEY=VALUE, for example run.minutes=30".to_owned(),
        });
    };
    if format!("x = {value}").parse::<Table>().is_ok() {
        Ok(format!("{key} = {value}"))
    } else {
        Ok(format!("{key} = {}", Value::String(value.to_owned())))
    }
}

fn overlay(
    values: &mut BTreeMap<String, Value>,
    text: &str,
    origin: &str,
) -> Result<(), ConfigError> {
    let table: Table = text
        .parse()
        .map_err(|e: toml::de::Error| ConfigError::Syntax {
            origin: origin.to_owned(),
            message: e.to_string().trim().to_owned(),
        })?;
    for (key, value) in flatten(&table) {
        let is_table = SCHEMA
            .keys()
            .any(|known| known.starts_with(&format!("{key}.")));
        if is_table && value.is_table() {
            continue;
        }
        if is_table {
            return Err(ConfigError::Value {
                origin: origin.to_owned(),
                expected: format!("this is a table, its keys stand under [{key}]"),
                value: value.to_string(),
                key,
            });
        }
        let Some(schema) = SCHEMA.get(&key) else {
            return Err(ConfigError::UnknownKey {
                origin: origin.to_owned(),
                nearest: nearest(&key, SCHEMA.keys().map(String::as_str)),
                key,
            });
        };
        let value = checked(schema, value.clone()).map_err(|expected| ConfigError::Value {
            origin: origin.to_owned(),
            key: key.clone(),
            value: value.to_string(),
            expected,
        })?;
        values.insert(key, value);
    }
    Ok(())
}

/// The value as the schema's type and in its range, or what was expected.
fn checked(schema: &Key, value: Value) -> Result<Value, String> {
    let value = match (&schema.default, value) {
        (Value::Float(_), Value::Integer(i)) => Value::Float(i as f64),
        (_, value) => value,
    };
    let number = match (&schema.default, &value) {
        (Value::Float(_), Value::Float(x)) => Some(*x),
        (Value::Integer(_), Value::Integer(i)) => Some(*i as f64),
        (a, b) if a.type_str() == b.type_str() => None,
        (a, b) => return Err(format!("expected {}, found {}", article(a), article(b))),
    };
    match (number, schema.range) {
        (Some(x), Some((low, high))) if !(low..=high).contains(&x) => {
            Err(format!("out of range, expected {low}..={high}"))
        }
        _ => Ok(value),
    }
}

fn article(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::Table(_) => "a table",
    }
}

/// The most similar of `names`; a name that agrees in its last part counts as very similar.
fn nearest<'a>(key: &str, names: impl Iterator<Item = &'a str>) -> String {
    let last = |s: &'a str| s.rsplit('.').next().unwrap_or(s);
    let own = key.rsplit('.').next().unwrap_or(key);
    names
        .map(|n| {
            (
                n,
                strsim::damerau_levenshtein(key, n)
                    .min(1 + strsim::damerau_levenshtein(own, last(n))),
            )
        })
        .min_by_key(|&(_, distance)| distance)
        .map(|(n, _)| n.to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_schema_has_a_range_that_holds_its_default() {
        for (key, schema) in SCHEMA.iter() {
            let number = match schema.default {
                Value::Integer(i) => i as f64,
                Value::Float(x) => x,
                _ => continue,
            };
            let (low, high) = schema.range.unwrap_or_else(|| panic!("{key} has no range"));
            assert!(
                (low..=high).contains(&number),
                "{key}: {number} is not in {low}..={high}"
            );
        }
    }
}
