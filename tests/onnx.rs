//! The network of a bundle, computed without libtorch, answers as the bundle's examples say.
use std::path::{Path, PathBuf};

use play::onnx::OnnxEvaluator;
use selfplay::bundle::{Bundle, FileKind};
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::game::Features;
use selfplay::policy::INDICES;
use selfplay::record::{RECORD_BYTES, at};
use selfplay::rules::{History, Ruleset, View};
use serde_json::Value;

/// Largest difference of a probability, and of a number of plies relative to it.
const NEAR: f32 = 1e-5;
/// The planes of the last move, and the global that says that a position occurred before.
const LAST: [(usize, usize); 2] = [(14, at::LAST_FROM), (15, at::LAST_TO)];

fn bundle() -> Bundle {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/bundle");
    Bundle::open(&folder).expect("a bundle")
}

fn examples(bundle: &Bundle) -> Vec<Value> {
    let path = bundle.file(FileKind::Examples, None).expect("examples");
    serde_json::from_slice(&std::fs::read(path).expect("there")).expect("JSON")
}

fn number(value: &Value) -> f32 {
    value.as_f64().expect("a number") as f32
}

fn index(value: &Value) -> usize {
    value.as_u64().expect("an index") as usize
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

/// Adds the position of an example, asked as it was: its text has no past, the last move stands in the planes.
fn push(example: &Value, batch: &mut Batch) {
    let rules = Ruleset::by_name(example["form"].as_str().expect("a name")).expect("a form");
    let view = View::from_fen(rules, example["fen"].as_str().expect("a text")).expect("a position");
    let mut record = [0; RECORD_BYTES];
    view.record(&History::default(), &mut record);
    for plane in list(&example["planes"]) {
        let byte = LAST.iter().find(|(last, _)| *last == index(&plane[0]));
        if let Some(&(_, byte)) = byte {
            record[byte] = index(&plane[1][0]) as u8;
        }
    }
    record[at::REPETITIONS] =
        (number(&example["globals"][1]) + number(&example["globals"][2])) as u8;
    let legal = list(&example["moves"])
        .iter()
        .map(|mv| index(&mv["index"]) as u16);
    let unknown: Vec<_> = list(&example["belief"])
        .iter()
        .map(|b| index(&b[0]) as u8)
        .collect();
    batch.push(record, legal, &unknown);
}

fn near(what: &str, found: f32, told: f32) {
    let far = (found - told).abs();
    assert!(
        far <= NEAR * told.abs().max(1.0),
        "{what}: {found}, the example says {told}"
    );
}

/// Row `row` of `batch` has the answers of `example`.
fn check(example: &Value, batch: &Batch, row: usize) {
    let (answer, form) = (batch.evaluation(row), &example["form"]);
    for (log_prior, mv) in answer.log_priors.iter().zip(list(&example["moves"])) {
        near(
            &format!("{form} {}", mv["move"]),
            log_prior.exp(),
            number(&mv["prior"]),
        );
    }
    let wdl = [answer.wdl.win, answer.wdl.draw, answer.wdl.loss];
    for (found, told) in wdl.into_iter().zip(list(&example["wdl"])) {
        near(&format!("{form} wdl"), found, number(told));
    }
    near(
        &format!("{form} plies"),
        answer.moves_left,
        number(&example["moves_left"]),
    );
    for (kinds, told) in answer.beliefs.iter().zip(list(&example["belief"])) {
        for (found, told) in kinds.iter().zip(list(&told[1])) {
            near(&format!("{form} belief"), *found, number(told));
        }
    }
}

#[test]
fn it_answers_as_the_examples_say_alone_and_in_company() {
    let bundle = bundle();
    let mut network = OnnxEvaluator::open(&bundle, None).expect("a network");
    assert_eq!(network.step(), bundle.manifest().training.step);
    let examples = examples(&bundle);
    assert_eq!(examples.len(), 24, "two of every form");
    let mut all = Batch::default();
    for example in &examples {
        push(example, &mut all);
        let mut one = Batch::default();
        push(example, &mut one);
        network.evaluate(&mut one).expect("answers");
        check(example, &one, 0);
    }
    for threads in [1, 2, 1] {
        network.use_threads(threads);
        network.evaluate(&mut all).expect("answers");
        for (row, example) in examples.iter().enumerate() {
            check(example, &all, row);
        }
    }
    assert!(examples.iter().any(|e| !list(&e["belief"]).is_empty()));
}

#[test]
fn what_no_network_answers_is_an_error() {
    let mut network = OnnxEvaluator::open(&bundle(), None).expect("a network");
    let mut batch = Batch::default();
    network.evaluate(&mut batch).expect("nothing to do");
    batch.push([0; RECORD_BYTES], [INDICES as u16].into_iter(), &[]);
    let EvalError::Failed(why) = network.evaluate(&mut batch).expect_err("refused") else {
        panic!("another error");
    };
    assert!(why.contains("policy index"), "{why}");
}

/// A file that is no network of ours is refused with its name and `words`.
fn check_refused(name: &str, bytes: &[u8], words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    let error = match OnnxEvaluator::load(&path, 0) {
        Ok(_) => panic!("{name} was loaded"),
        Err(error) => error.to_string(),
    };
    for word in [&[name], words].concat() {
        assert!(error.contains(word), "{name}: no {word:?} in {error}");
    }
}

#[test]
fn another_file_is_refused_by_name() {
    let path = bundle().file(FileKind::Onnx, None).expect("a network");
    let whole = std::fs::read(path).expect("there");
    check_refused("empty.onnx", b"", &["export the network again"]);
    check_refused("text.onnx", b"hello, this is no network", &[]);
    for share in 1..8 {
        check_refused("half.onnx", &whole[..whole.len() * share / 8], &[]);
    }
    // As long, so that the file stays one.
    let (from, to, mut renamed) = (b"moves_left", b"moves_lost", whole);
    while let Some(place) = renamed.windows(from.len()).position(|name| name == from) {
        renamed[place..place + from.len()].copy_from_slice(to);
    }
    check_refused("other.onnx", &renamed, &["no tensor `moves_left`"]);
}
