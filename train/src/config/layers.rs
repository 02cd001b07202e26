//! Values laid over each other: the defaults, a file, then each `--set`; each remembers where it came from.
use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::schema::{SCHEMA, flatten, nearest};
use super::{Config, ConfigError, check};

/// Where the values came from that are not defaults: file or option, by key.
///
/// No part of what a config says, so all are equal.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl PartialEq for Sources {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Sources {
    /// File or option that set `key`; `None`: it has its default.
    pub fn of(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

/// A value for every key.
pub(super) struct Layers {
    values: BTreeMap<String, Value>,
    sources: Sources,
}

impl Layers {
    /// The defaults alone.
    pub fn new() -> Self {
        Layers {
            values: SCHEMA
                .iter()
                .map(|(key, schema)| (key.clone(), schema.default.clone()))
                .collect(),
            sources: Sources::default(),
        }
    }

    /// Lays a file over it.
    pub fn file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let bytes = std::fs::read(path).map_err(|error| ConfigError::Read {
            path: path.to_owned(),
            error,
        })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| ConfigError::NotText {
            path: path.to_owned(),
            line: 1 + bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count(),
        })?;
        self.overlay(text, &path.display().to_string())
    }

    /// Lays each `table.key=value` over it, in turn.
    pub fn sets(&mut self, sets: &[String]) -> Result<(), ConfigError> {
        for set in sets {
            self.overlay(&set_to_toml(set)?, &format!("--set {set}"))?;
        }
        Ok(())
    }

    /// Refuses a file, the only layer so far, that has not every key.
    pub fn require_all(&self, path: &Path) -> Result<(), ConfigError> {
        let missing = || {
            SCHEMA
                .iter()
                .filter(|(key, _)| self.sources.of(key).is_none())
        };
        let Some((key, schema)) = missing().min_by_key(|(_, schema)| schema.place) else {
            return Ok(());
        };
        let last = key.rsplit('.').next().unwrap_or(key);
        Err(ConfigError::Missing {
            path: path.to_owned(),
            line: format!("{last} = {}", schema.default),
            key: key.clone(),
            missing: missing().count(),
            all: SCHEMA.len(),
        })
    }

    /// The config, if its keys agree with each other.
    pub fn config(self) -> Result<Config, ConfigError> {
        // Each value was accepted by itself when it was laid over.
        let mut config = typed(&self.values).map_err(|message| ConfigError::Syntax {
            origin: "this config".to_owned(),
            message,
        })?;
        check::together(&config).map_err(|conflict| ConfigError::Conflict {
            keys: (conflict.keys.iter().map(|key| self.show(key)))
                .collect::<Vec<_>>()
                .join(" and "),
            law: conflict.law,
        })?;
        config.sources = self.sources;
        Ok(config)
    }

    fn show(&self, key: &str) -> String {
        let source = self.sources.of(key).unwrap_or("the default");
        format!("`{key}` = {} ({source})", self.values[key])
    }

    /// Lays a text over it; `origin` is where it is from.
    pub fn overlay(&mut self, text: &str, origin: &str) -> Result<(), ConfigError> {
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
            if !is_table && !SCHEMA.contains_key(&key) {
                return Err(ConfigError::UnknownKey {
                    origin: origin.to_owned(),
                    nearest: nearest(&key),
                    key,
                });
            }
            let accepted = if is_table {
                Err(format!("this is a table, its keys stand under [{key}]"))
            } else {
                accepted(&key, value.clone())
            };
            let value = accepted.map_err(|expected| ConfigError::Value {
                origin: origin.to_owned(),
                key: key.clone(),
                value: value.to_string(),
                expected,
            })?;
            self.sources.0.insert(key.clone(), origin.to_owned());
            self.values.insert(key, value);
        }
        Ok(())
    }
}

/// The value as the schema's type if the key may have it, whatever the other keys are; else what was expected.
fn accepted(key: &str, value: Value) -> Result<Value, String> {
    let checked = SCHEMA[key].checked(value.clone());
    let value = checked.map_err(|why| mistyped(key, &value, why))?;
    check_alone(key, &value)?;
    Ok(value)
}

/// What is wrong with a value that has the key's type, whatever the other keys are.
fn check_alone(key: &str, value: &Value) -> Result<(), String> {
    let mut alone = Layers::new().values;
    alone.insert(key.to_owned(), value.clone());
    check::alone(&typed(&alone)?, key)
}

/// What to say of a value whose type is not the key's: `why`, or more where it can be seen what was meant.
fn mistyped(key: &str, value: &Value, why: String) -> String {
    match (&SCHEMA[key].default, value) {
        // As in `fake_roams = true`: which words there are says more than that it is to be a word.
        (Value::String(_), Value::Boolean(_) | Value::Integer(_) | Value::Float(_)) => {
            let word = Value::String(value.to_string());
            check_alone(key, &word).err().unwrap_or(why)
        }
        (Value::Array(_), Value::String(text)) => {
            let list = list(text);
            let quotes = match text.starts_with('[') {
                true => " (a shell takes quotes away unless '' stand around all of it)",
                false => "",
            };
            let fault = check_alone(key, &list).err();
            let fault = fault.map_or(String::new(), |fault| format!("; {fault}"));
            format!("expected an array such as {list}, found a string{quotes}{fault}")
        }
        _ => why,
    }
}

/// The array that a text without its quotes was to be: `[jieqi, xiangqi:2]`, `jieqi`.
fn list(text: &str) -> Value {
    let words = text.trim_matches(['[', ']', ' ']).split(',');
    let words = words.map(|word| word.trim_matches([' ', '"', '\'']));
    let words = words.filter(|word| !word.is_empty());
    Value::Array(words.map(|word| Value::String(word.into())).collect())
}

/// The values as a config, their keys not compared with each other.
fn typed(values: &BTreeMap<String, Value>) -> Result<Config, String> {
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
    config
        .try_into()
        .map_err(|e: toml::de::Error| e.message().to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_every_range_fit_the_key() {
        for (key, schema) in SCHEMA.iter() {
            let Some(range) = schema.range else { continue };
            let ends = range.ends();
            assert!(ends[0] < ends[1], "{key}: {range}");
            for end in ends {
                let value = match schema.default {
                    Value::Integer(_) => Value::Integer(end as i64),
                    _ => Value::Float(end),
                };
                assert_eq!(accepted(key, value.clone()), Ok(value), "{key}");
            }
        }
    }
}
