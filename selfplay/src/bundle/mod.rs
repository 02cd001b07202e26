//! A trained network in a folder, for other programs to play with: `model.json` says what lies there and how to ask it.
//!
//! ```text
//! model.json       a [`Manifest`]; written last
//! model.onnx …     the network, in one or several formats; model-STEP.onnx … those of other checkpoints, which play its levels
//! examples.json    positions with the network's input and output
//! README.md        the same for people
//! ```
//!
//! The network reads what [`crate::expand`] makes of a [`crate::record::Record`] and answers in the index space of
//! [`crate::policy`]; the manifest says so in tables, for programs that have neither. This module needs no network library: it
//! knows what a bundle says, not how it is computed.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expand::table::Feature;

mod error;
mod moves;
mod read;
pub mod rows;
mod rules;
pub mod tensors;

pub use error::BundleError;
pub use moves::{PolicyPlane, PolicyTable};
pub use read::{Bundle, may_replace, sha256};
pub use rules::FormRules;

/// Version of `model.json`. Fields may be added to it under the same version, so a reader ignores those that it does not know.
pub const FORMAT: u32 = 1;
/// The manifest's file.
pub const MANIFEST: &str = "model.json";
/// What [`Manifest::program`] begins with.
pub const PROGRAM: &str = "fanqi";

/// What `model.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// The writer and its version, `fanqi 0.1.0`.
    pub program: String,
    /// The licence of the network, if its owner states one.
    pub licence: Option<String>,
    /// The forms that it was trained in, with its own rules; at least one.
    pub forms: Vec<FormRules>,
    /// What it reads.
    pub inputs: Vec<TensorInfo>,
    /// The axis of planes of the input `planes`.
    pub planes: Vec<Feature>,
    /// The axis of globals of the input `globals`.
    pub globals: Vec<Feature>,
    /// The index space of the output `policy`.
    pub policy: PolicyTable,
    /// What it answers, in the order of the outputs where they have no names.
    pub outputs: Vec<TensorInfo>,
    /// Its size.
    pub network: NetworkInfo,
    /// How it was trained.
    pub training: TrainingInfo,
    /// How it is meant to be asked by a search.
    pub play: PlayInfo,
    /// The level that the bundle was made for, if it was made for one.
    pub level: Option<u32>,
    /// The levels of the run that it comes from; empty if they were not measured.
    pub levels: Vec<Level>,
    /// Every other file of the folder.
    pub files: Vec<FileInfo>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorInfo {
    /// Its name, where the format has names.
    pub name: String,
    /// Type of its numbers.
    pub element: String,
    /// Its shape; `N` is any number of rows.
    pub shape: Vec<Axis>,
    /// What it holds, its unit, and from whose point of view.
    pub meaning: String,
    /// What is still to be done to it: none, or for example the softmax over the legal moves.
    pub activation: Option<String>,
}

impl TensorInfo {
    /// Its shape where the caller chooses one row.
    pub fn row(&self) -> Vec<u64> {
        let axis = |axis: &Axis| match axis {
            Axis::Fixed(n) => *n,
            Axis::Free(_) => 1,
        };
        self.shape.iter().map(axis).collect()
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        self.row().iter().product::<u64>() as usize
    }
}

/// The length of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Axis {
    /// Always so many.
    Fixed(u64),
    /// The caller's choice, by name.
    Free(String),
}

/// A network's size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkInfo {
    /// Its settings, by name.
    pub settings: BTreeMap<String, u64>,
    /// Its trained numbers.
    pub parameters: u64,
}

/// How a network was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingInfo {
    /// Name of the run.
    pub run: String,
    /// Training step of the checkpoint.
    pub step: u64,
    /// Rows trained up to it.
    pub rows: u64,
    /// CRC-32C of the checkpoint, in hexadecimal, by which its levels name it.
    pub crc32c: String,
    /// Games of self-play that the run had finished when the bundle was made; none if a checkpoint alone was exported.
    pub games: Option<u64>,
    /// Seconds that the run had worked by then.
    pub seconds: Option<f64>,
    /// Share of the games of each form, in the order of the forms; they sum to 1.
    pub shares: Vec<f64>,
    /// The run's configuration, TOML; of imported samples the files' names alone.
    pub config: String,
}

/// The settings of a search, as the run had them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayInfo {
    /// The keys of [`crate::mcts::SearchConfig`].
    pub search: BTreeMap<String, serde_json::Value>,
    /// Temperature at which the placements of a secret arrangement are drawn.
    pub arrangement_temperature: f32,
}

/// A measured level of play: a network with a limit on its search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The form that it was measured in.
    pub form: String,
    /// From 1, the weakest.
    pub level: u32,
    /// Elo, where the built-in player `random` has 0.
    pub elo: f64,
    /// 95 % interval of it.
    pub elo_interval: [f64; 2],
    /// Training step of the checkpoint that plays.
    pub step: u64,
    /// CRC-32C of that checkpoint, in hexadecimal.
    pub crc32c: String,
    /// Simulations a move.
    pub visits: u32,
    /// Temperature at which the move is drawn.
    pub temperature: f64,
    /// Share of Dirichlet noise in the priors of the root, 0..=1.
    pub noise: f64,
    /// Mean over positions of -ln of the prior that the strongest network gives the move chosen, in nats.
    #[serde(default)]
    pub policy_loss: Option<f64>,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInfo {
    /// Its name, without any folder.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// The checkpoint whose network it is, where that is not the one of [`Manifest::training`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// How the numbers of a network are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Version of the operators of an ONNX file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opset: Option<i64>,
    /// Numbers a row of each output, where all of them come as one tensor, side by side and flattened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<Vec<u64>>,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of it, in lower-case hexadecimal.
    pub sha256: String,
}

/// Names a checkpoint of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Training step.
    pub step: u64,
    /// CRC-32C of the checkpoint, in hexadecimal.
    pub crc32c: String,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// The network as ONNX.
    Onnx,
    /// The network as TorchScript.
    Torchscript,
    /// The network's weights alone.
    Safetensors,
    /// Positions with input and output.
    Examples,
    /// For people.
    Readme,
}

/// How the numbers of a network are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// As they were trained.
    F32,
    /// Weights and computation in half precision; input and output stay f32.
    F16,
    /// Weights of the large layers in eight bits with a scale for each of their output channels; computation in f32.
    Int8,
}

impl FileKind {
    /// Whether it is a network.
    pub fn is_network(self) -> bool {
        matches!(
            self,
            FileKind::Onnx | FileKind::Torchscript | FileKind::Safetensors
        )
    }
}

impl Manifest {
    /// The files that hold the network of the checkpoint with that CRC-32C, one a format and precision.
    pub fn networks<'a>(&'a self, crc32c: &'a str) -> impl Iterator<Item = &'a FileInfo> {
        let of = move |file: &&FileInfo| {
            let own = file.checkpoint.as_ref().map(|c| &c.crc32c);
            file.kind.is_network() && own.unwrap_or(&self.training.crc32c) == crc32c
        };
        self.files.iter().filter(of)
    }

    /// The levels of a form whose networks the bundle holds.
    pub fn playable(&self, form: &str) -> impl Iterator<Item = &Level> {
        let here = |level: &&Level| self.networks(&level.crc32c).next().is_some();
        let levels = self.levels.iter().filter(move |level| level.form == form);
        levels.filter(here)
    }
}
