//! What is wrong with a config. Every error names where the value at fault came from.
use std::path::PathBuf;

use model::device::DeviceError;

/// What is wrong with a config. An origin is a file, or the option `--set KEY=VALUE` as it was given.
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
    /// The file is not UTF-8.
    #[error(
        "{path}: line {line} is not UTF-8 text, which a config must be; save the file as UTF-8",
        path = .path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first bad line, from 1.
        line: usize,
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
    #[error("{keys}: {law}")]
    Conflict {
        /// ``` `key` = value (origin)```, joined by `and`.
        keys: String,
        /// What must hold between them.
        law: String,
    },
    /// A device or precision that there is not, or not on this machine.
    #[error("{origin}: [device] {error}")]
    Device {
        /// File or option.
        origin: String,
        /// Which and why.
        error: DeviceError,
    },
    /// A run's own config without some key.
    #[error(
        "{path}: `{key}` is missing ({missing} of {all} keys are), but a run's own config has every key; put the file back as it was (the line may have been `{line}`, the default), or start another run with --run DIR",
        path = .path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The first missing key, in the order of configs/default.toml.
        key: String,
        /// The line that configs/default.toml has for it.
        line: String,
        /// Number of missing keys.
        missing: usize,
        /// Number of all keys.
        all: usize,
    },
    /// Keys that an existing run cannot change.
    #[error(
        "this run cannot change {keys}; give the run's own value back, or start another run with --run DIR"
    )]
    Incompatible {
        /// `key: old -> new (origin)`, separated by commas.
        keys: String,
    },
}
