//! The bundle's README: its manifest and some of its examples, for people.
use std::path::Path;

use askama::Template;
use model::export::{WIDTHS, safetensors};
use selfplay::bundle::{Axis, FileInfo, FileKind, Level, Manifest, Precision, TensorInfo};
use selfplay::game::Color;

use super::Example;
use super::examples::MoveAnswer;
use crate::network::Network;
use web::label;

/// Moves that an example shows.
const MOVES: usize = 5;
/// Beliefs that an example shows.
const BELIEFS: usize = 3;

/// A row of a table.
type Cells = Vec<String>;

#[derive(Template)]
#[template(path = "bundle-readme.md")]
struct Readme<'a> {
    name: String,
    forms: String,
    licence: &'a str,
    settings: String,
    manifest: &'a Manifest,
    files: Vec<FileRow<'a>>,
    levels: Vec<Cells>,
    inputs: Vec<(&'a TensorInfo, String)>,
    outputs: Vec<(&'a TensorInfo, String)>,
    code: Option<Programs>,
    has_int8: bool,
    has_torchscript: bool,
    widths: String,
    has_safetensors: bool,
    examples: Vec<Shown<'a>>,
    names: Vec<(String, String)>,
}

/// Programs that evaluate the examples.
struct Programs {
    python: &'static str,
    javascript: &'static str,
}

const EXAMPLES: Programs = Programs {
    python: include_str!("../../../scripts/examples/evaluate.py"),
    javascript: include_str!("../../../scripts/examples/evaluate.mjs"),
};

struct FileRow<'a> {
    info: &'a FileInfo,
    what: String,
}

/// An example in words.
struct Shown<'a> {
    title: String,
    fen: &'a str,
    decides: &'static str,
    planes: String,
    globals: String,
    answer: String,
    belief: String,
    legal: usize,
    moves: Vec<Cells>,
}

/// The text for the bundle in `out`.
pub(super) fn text(
    out: &Path,
    manifest: &Manifest,
    examples: &[Example],
    network: &Network,
) -> anyhow::Result<String> {
    let has = |kind| manifest.files.iter().any(|file| file.kind == kind);
    let names = safetensors::names(&network.about.net);
    let named = |(name, shape): safetensors::NamedShape| (name, format!("{shape:?}"));
    let readme = Readme {
        name: out
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        forms: forms(manifest),
        licence: match &manifest.licence {
            Some(licence) => licence,
            None => "none stated; ask its owner before you pass it on",
        },
        settings: settings(manifest),
        manifest,
        files: manifest.files.iter().map(file_row).collect(),
        levels: manifest
            .levels
            .iter()
            .map(|level| level_row(manifest, level))
            .collect(),
        inputs: manifest
            .inputs
            .iter()
            .map(|tensor| (tensor, shape(tensor)))
            .collect(),
        outputs: manifest
            .outputs
            .iter()
            .map(|tensor| (tensor, shape(tensor)))
            .collect(),
        code: manifest
            .files
            .iter()
            .any(|file| file.kind == FileKind::Onnx && file.precision == Some(Precision::F32))
            .then_some(EXAMPLES),
        has_int8: manifest
            .files
            .iter()
            .any(|file| file.precision == Some(Precision::Int8)),
        has_torchscript: has(FileKind::Torchscript),
        widths: format!("{WIDTHS:?}"),
        has_safetensors: has(FileKind::Safetensors),
        examples: shown(manifest, examples),
        names: names.into_iter().map(named).collect(),
    };
    Ok(readme.render()?)
}

fn both(name: &str) -> String {
    let label = label::form(name);
    format!("{} {}", label.english, label.chinese)
}

fn forms(manifest: &Manifest) -> String {
    let names: Vec<_> = manifest.forms.iter().map(|form| both(&form.name)).collect();
    names.join(", ")
}

fn settings(manifest: &Manifest) -> String {
    let settings = manifest.network.settings.iter();
    let texts: Vec<_> = settings
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    texts.join(", ")
}

fn file_row(info: &FileInfo) -> FileRow<'_> {
    let precision = match info.precision {
        Some(Precision::F16) => ", half precision within, f32 outside",
        Some(Precision::Int8) => ", the weights of the large layers in 8 bits",
        Some(Precision::F32) | None => "",
    };
    let what = match info.kind {
        FileKind::Onnx => format!("ONNX, opset {}", info.opset.unwrap_or_default()),
        FileKind::Torchscript => "TorchScript".to_owned(),
        FileKind::Safetensors => "the weights alone".to_owned(),
        FileKind::Examples => "positions with input and answers".to_owned(),
        FileKind::Readme => "this text".to_owned(),
    };
    let of = (info.checkpoint.as_ref()).map(|other| format!(", of step {}", other.step));
    FileRow {
        info,
        what: what + precision + &of.unwrap_or_default(),
    }
}

/// The first form's two examples, and of every other form the one in the middle of a game.
fn shown<'a>(manifest: &Manifest, examples: &'a [Example]) -> Vec<Shown<'a>> {
    let numbered = examples.iter().enumerate();
    let chosen = numbered.filter(|(i, _)| *i == 0 || i % 2 == 1);
    chosen
        .map(|(i, example)| example_in_words(manifest, example, i % 2 == 0))
        .collect()
}

fn example_in_words<'a>(manifest: &Manifest, example: &'a Example, is_start: bool) -> Shown<'a> {
    let plane = |(plane, squares): &(usize, Vec<usize>)| {
        let squares: Vec<_> = squares.iter().map(|&s| square(s)).collect();
        let name = &manifest.planes[*plane].name;
        format!("{plane} `{name}` {}", squares.join(" "))
    };
    let planes: Vec<_> = example.planes.iter().map(plane).collect();
    let globals = manifest.globals.iter().zip(&example.globals);
    let globals = globals.filter(|(_, value)| **value != 0.0);
    let globals: Vec<_> = globals
        .map(|(global, value)| format!("{} `{}` {value}", global.index, global.name))
        .collect();
    let belief = example.belief.iter().take(BELIEFS);
    let belief: Vec<_> = belief
        .map(|(at, chances)| {
            let chances = chances.map(|p| format!("{p:.3}"));
            format!("{} {}", square(*at), chances.join(" "))
        })
        .collect();
    let place = if is_start {
        "the start"
    } else {
        "after some random moves"
    };
    Shown {
        title: format!("{}, {place}", both(&example.form)),
        fen: &example.fen,
        decides: match example.decides {
            Color::Red => "Red",
            Color::Black => "Black",
        },
        planes: planes.join("; "),
        globals: globals.join(", "),
        answer: answer(example),
        belief: belief.join("; "),
        legal: example.moves.len(),
        moves: example.moves.iter().take(MOVES).map(move_row).collect(),
    }
}

fn level_row(manifest: &Manifest, level: &Level) -> Cells {
    let [low, high] = level.elo_interval;
    let mut networks = manifest.networks(&level.crc32c);
    let network = networks.next().map(|file| format!("`{}`", file.name));
    vec![
        level.form.clone(),
        level.level.to_string(),
        format!("{:.0}", level.elo),
        format!("{low:.0}..{high:.0}"),
        level.visits.to_string(),
        level.temperature.to_string(),
        level.noise.to_string(),
        level.step.to_string(),
        network.unwrap_or_default(),
    ]
}

fn answer(example: &Example) -> String {
    let [win, draw, loss] = example.wdl;
    let left = example.moves_left;
    format!("win {win:.4}, draw {draw:.4}, loss {loss:.4}; {left:.1} plies left")
}

fn move_row(answer: &MoveAnswer) -> Cells {
    vec![
        answer.r#move.clone(),
        answer.index.to_string(),
        format!("{:.4}", answer.logit),
        format!("{:.4}", answer.prior),
    ]
}

/// File and rank of a square, as the side to decide sees it.
fn square(index: usize) -> String {
    format!("{}{}", char::from(b'a' + (index % 9) as u8), index / 9)
}

/// A tensor's shape, as `[N, 33, 10, 9]`.
fn shape(tensor: &TensorInfo) -> String {
    let axes: Vec<_> = (tensor.shape.iter())
        .map(|axis| match axis {
            Axis::Fixed(n) => n.to_string(),
            Axis::Free(name) => name.clone(),
        })
        .collect();
    format!("[{}]", axes.join(", "))
}
