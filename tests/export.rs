//! `fanqi export`: what lies in the folder, whose it is, and what is refused.
mod binary;
#[path = "support/python.rs"]
mod python;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use binary::{fanqi, ok, refused, train, with_space};
use python::python;
use selfplay::bundle::{Bundle, FileKind, MANIFEST, Precision};
use selfplay::game::{Color, Features, Game};
use selfplay::policy::SQUARES;
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{History, Move, Ruleset, View};
use serde_json::Value;

const FORMS: &str = "ruleset.forms=[\"xiangqi\",\"jieqi\",\"fanqi-9\"]";

fn tiny_run(folder: &Path, sets: &[&str]) -> PathBuf {
    let run = folder.join("run");
    ok(&mut train(&run, sets));
    run
}

fn export(source: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = fanqi(["export"]);
    command.arg(source).arg("--out").arg(out).args(more);
    command
}

fn checkpoint(run: &Path, step: u64) -> PathBuf {
    run.join(format!("checkpoints/{step:09}.safetensors"))
}

fn step(run: &Path) -> u64 {
    let state = binary::state(run).expect("a run");
    state["training"]["step"].as_u64().expect("a number")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name();
    entries
        .map(|e| name(e).into_string().expect("UTF-8"))
        .collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON")
}

#[test]
fn a_bundle_holds_every_format_and_says_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[FORMS]);
    let out = folder.path().join("new/bundle");
    let formats = [
        "--format",
        "onnx,torchscript,safetensors",
        "--precision",
        "f32,f16,int8",
    ];
    let said = ok(export(&run, &out, &formats).args(["--licence", "CC-BY-4.0"]));
    let bundle = Bundle::open(&out).expect("sound");
    let files = [
        "README.md",
        "examples.json",
        "model.f16.onnx",
        "model.int8.onnx",
        "model.json",
        "model.onnx",
        "model.pt",
        "model.safetensors",
    ];
    assert_eq!(names(&out), files.map(String::from).into());
    assert!(
        files
            .iter()
            .all(|file| *file == MANIFEST || said.contains(file)),
        "{said}"
    );
    assert_eq!(names(out.parent().expect("a folder")).len(), 1);
    let manifest = bundle.manifest();
    let forms: Vec<_> = bundle.forms().iter().map(|rules| rules.name).collect();
    assert_eq!(forms, ["xiangqi", "jieqi", "fanqi-9"]);
    assert_eq!(manifest.licence.as_deref(), Some("CC-BY-4.0"));
    assert_eq!((manifest.level, manifest.levels.len()), (None, 0));
    assert_eq!(
        (manifest.training.step, manifest.training.shares.len()),
        (step(&run), 3)
    );
    assert!(manifest.training.games.is_some_and(|games| games > 0));
    assert!(bundle.file(FileKind::Onnx, Some(Precision::Int8)).is_some());
    let readme = fs::read_to_string(out.join("README.md")).expect("there");
    for words in [
        "Xiangqi 象棋, Jieqi 揭棋, Fanqi 9 翻棋下法九",
        "CC-BY-4.0",
        "blocks.0.first.conv.weight",
        "torch.jit.load",
    ] {
        assert!(readme.contains(words), "{words}");
    }
    let long = readme
        .lines()
        .filter(|line| line.starts_with('|'))
        .all(|line| line.ends_with('|'));
    assert!(long && !readme.contains("\n\n\n"), "tables are whole");
    for example in json(&out.join("examples.json")).as_array().expect("a list") {
        check_example(example);
    }
    run_readme(&readme, &out);
    run_javascript(&readme, &out);
}

/// An example's position, read as text, has the input and the moves that the example says.
fn check_example(example: &Value) {
    let rules = Ruleset::by_name(example["form"].as_str().expect("a name")).expect("a form");
    let view = View::from_fen(rules, example["fen"].as_str().expect("a text")).expect("a position");
    let mut moves = Vec::new();
    view.legal_moves(&mut moves);
    let answers = example["moves"].as_array().expect("a list");
    assert_eq!(answers.len(), moves.len());
    let mut sum = 0.0;
    for answer in answers {
        let mv: Move = answer["move"]
            .as_str()
            .expect("a text")
            .parse()
            .expect("a move");
        assert!(moves.contains(&mv));
        assert_eq!(answer["index"], view.policy_index(mv));
        sum += answer["prior"].as_f64().expect("a number");
    }
    assert!((sum - 1.0).abs() < 1e-4);
    let mut record = [0; RECORD_BYTES];
    view.record(&History::default(), &mut record);
    let (mut planes, mut globals) = (vec![0.0; 33 * SQUARES], vec![0.0; 36]);
    selfplay::expand::expand(&[record], &mut planes, &mut globals, |x| x);
    // The past is not in the text: the last move, and whether the position occurred before.
    for entry in example["planes"].as_array().expect("a list") {
        let plane = entry[0].as_u64().expect("an index") as usize;
        for square in entry[1].as_array().expect("a list") {
            let square = square.as_u64().expect("a square") as usize;
            let is_set = planes[square * 33 + plane] == 1.0;
            assert!(is_set || plane == 14 || plane == 15, "{plane} {square}");
            planes[square * 33 + plane] = 0.0;
        }
    }
    assert_eq!(
        planes.iter().sum::<f32>(),
        90.0,
        "the plane of ones is left"
    );
    for (i, (own, told)) in globals
        .iter()
        .zip(example["globals"].as_array().expect("a list"))
        .enumerate()
    {
        let told = told.as_f64().expect("a number") as f32;
        assert!(
            (1..=2).contains(&i) || (own - told).abs() < 1e-6,
            "global {i}"
        );
    }
    let decides = view.position().decider();
    assert_eq!(
        example["decides"],
        ["red", "black"][usize::from(decides == Color::Black)]
    );
}

/// The README's program checks every example.
fn run_readme(readme: &str, out: &Path) {
    let (_, code) = readme.split_once("```python\n").expect("a program");
    let (code, _) = code.split_once("```").expect("its end");
    let has = Command::new(python())
        .args(["-c", "import numpy, onnxruntime"])
        .output();
    if !has.is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: python3 with onnxruntime is not installed");
        return;
    }
    evaluates_all(Command::new(python()).args(["-c", code]).current_dir(out));
}

/// So does the one in JavaScript, with a package that npm fetches.
fn run_javascript(readme: &str, out: &Path) {
    let (_, code) = readme.split_once("```javascript\n").expect("a program");
    let (code, _) = code.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("evaluate.mjs");
    fs::write(&program, code).expect("written");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
    let got = npm.arg("onnxruntime-web@1.30.0").current_dir(&folder);
    if !got.output().is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: npm cannot install onnxruntime-web");
        return;
    }
    evaluates_all(Command::new("node").arg(program).current_dir(out));
}

fn evaluates_all(program: &mut Command) {
    let said = ok(program);
    let rows = said.lines().filter(|line| line.contains("plies left"));
    assert_eq!(rows.count(), 6, "{said}");
}

#[test]
fn a_checkpoint_is_exported_as_its_run_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    ok(&mut export(&run, &a, &["--step", "0"]));
    ok(&mut export(&checkpoint(&run, 0), &b, &[]));
    let read = |out: &Path| fs::read(out.join("model.onnx")).expect("there");
    assert_eq!(read(&a), read(&b));
    ok(&mut export(&run, &b, &["--format", "safetensors"]));
    assert_eq!(names(&b).len(), 4, "the earlier bundle went whole");
    let bundle = Bundle::open(&b).expect("sound");
    assert_eq!(bundle.manifest().training.step, step(&run));
    assert_eq!(bundle.manifest().licence, None);
    assert!(
        fs::read_to_string(b.join("README.md"))
            .expect("there")
            .contains("none stated")
    );
    assert_eq!(names(folder.path()).len(), 3, "nothing is left beside it");
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let out = folder.path().join("out");
    let check = |source: &Path, more: &[&str], words: &[&str]| {
        refused(&mut export(source, &out, more), words);
        assert!(!out.exists());
    };
    check(
        &run,
        &["--level", "1"],
        &["the run has no levels", "fanqi grade"],
    );
    check(&run, &["--step", "5"], &["no checkpoint of step 5"]);
    check(&run, &["--format", "keras"], &["keras", "onnx"]);
    check(
        &checkpoint(&run, 0),
        &["--level", "1"],
        &["this is one checkpoint"],
    );
    check(&folder.path().join("none"), &[], &["none"]);
    check(&run.join("config.toml"), &[], &["config.toml"]);
    fs::create_dir(&out).expect("made");
    fs::write(out.join("thesis.md"), "mine").expect("written");
    refused(
        &mut export(&run, &out, &[]),
        &["no older export", "has no model.json", "--out"],
    );
    assert_eq!(names(&out).len(), 1);
    refused(&mut export(&run, Path::new("/"), &[]), &["/"]);
}

fn levels(run: &Path, text: &str) {
    let name = binary::state(run).expect("a run")["run"].clone();
    let name = name.as_str().expect("a name");
    fs::write(run.join("levels.toml"), text.replace("RUN", name)).expect("written");
}

const HEAD: &str = "format = 1\nrun = \"RUN\"\nform = \"xiangqi\"\n";

fn level(number: u32, form: &str, step: u64, crc32c: &str) -> String {
    format!(
        "[[level]]\nform = \"{form}\"\nlevel = {number}\nelo = {}\nelo_interval = [-20.0, 44.5]\nstep = {step}\ncrc32c = \"{crc32c}\"\n\
         visits = 4\ntemperature = 0.5\nnoise = 0.0\npolicy_loss = 2.1\n",
        12 * number
    )
}

/// Of a run that level 1 of Xiangqi plays with its first checkpoint, level 2 with its last; `alone` is the bundle of level 1.
fn all_levels_of_a_run_are_in_its_bundle(run: &Path, alone: &Path) {
    let out = alone.with_file_name("all");
    ok(&mut export(run, &out, &["--format", "onnx,safetensors"]));
    let bundle = Bundle::open(&out).expect("sound");
    let manifest = bundle.manifest();
    assert_eq!(manifest.training.step, step(run));
    let playable: Vec<_> = manifest.playable("xiangqi").collect();
    let read = |path: Option<PathBuf>| fs::read(path.expect("named")).expect("there");
    let networks = [0, 1].map(|i| read(bundle.level_file(playable[i], FileKind::Onnx, None)));
    assert_eq!(networks[0], read(Some(alone.join("model.onnx"))));
    assert_eq!(networks[1], read(bundle.file(FileKind::Onnx, None)));
    let others = ["model-0.onnx", "model-0.safetensors"].map(String::from);
    let of_step_0 = names(&out).into_iter().filter(|n| n.starts_with("model-"));
    assert_eq!(of_step_0.collect::<Vec<_>>(), others);
    let readme = fs::read_to_string(out.join("README.md")).expect("there");
    assert!(
        readme.contains("| `model-0.onnx` | ONNX, opset 17, of step 0 |"),
        "{readme}"
    );
    assert!(readme.contains(" | `model-0.onnx` |\n"), "{readme}");
}

#[test]
fn a_level_names_the_network_and_the_bundle_lists_all_levels() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let out = folder.path().join("out");
    let crc = |step: u64| {
        let out = folder.path().join("crc");
        ok(&mut export(&run, &out, &["--step", &step.to_string()]));
        let bundle = Bundle::open(&out).expect("sound");
        bundle.manifest().training.crc32c.clone()
    };
    let (first, last) = (crc(0), crc(step(&run)));
    let two =
        HEAD.to_owned() + &level(1, "xiangqi", 0, &first) + &level(2, "xiangqi", step(&run), &last);
    levels(&run, &two);
    ok(&mut export(&run, &out, &["--level", "1"]));
    let bundle = Bundle::open(&out).expect("sound");
    let manifest = bundle.manifest();
    assert_eq!(
        (
            manifest.level,
            manifest.training.step,
            manifest.levels.len()
        ),
        (Some(1), 0, 2)
    );
    let playable: Vec<_> = manifest
        .playable("xiangqi")
        .map(|l| (l.level, l.visits))
        .collect();
    assert_eq!(playable, [(1, 4)]);
    let readme = fs::read_to_string(out.join("README.md")).expect("there");
    assert!(
        readme.contains("| xiangqi | 1 | 12 | -20..44 | 4 | 0.5 | 0 | 0 | `model.onnx` |"),
        "{readme}"
    );
    all_levels_of_a_run_are_in_its_bundle(&run, &out);
    let check = |text: &str, more: &[&str], words: &[&str]| {
        levels(&run, text);
        refused(&mut export(&run, &out, more), words);
    };
    check(
        &two,
        &["--level", "3"],
        &["no level 3 of xiangqi", "there are 1 to 2"],
    );
    check(
        &two,
        &["--level", "1", "--form", "jieqi"],
        &["no levels of jieqi", "graded: xiangqi"],
    );
    let other = two.clone() + &level(1, "jieqi", step(&run), &last);
    check(&other, &["--level", "1"], &["jieqi, xiangqi", "--form"]);
    check(
        &(HEAD.to_owned() + &level(1, "xiangqi", 0, &last)),
        &["--level", "1"],
        &["checkpoint of step 0", &first, &last],
    );
    check(
        &two.replace("format = 1", "format = 2"),
        &[],
        &["levels.toml", "format = 2", "reads 1"],
    );
    check(
        &two.replace("RUN", "x"),
        &[],
        &["the levels of another run (x"],
    );
    check(
        &two.replace("visits = 4", "visits = 0"),
        &[],
        &["visits = 0"],
    );
    check(
        &two.replace("crc32c", "crc32"),
        &[],
        &["levels.toml", "crc32c"],
    );
    check("format = ", &[], &["levels.toml", "not a table of levels"]);
    assert_eq!(
        Bundle::open(&out).expect("still there").manifest().level,
        Some(1)
    );
}

#[test]
fn a_full_disk_leaves_the_earlier_bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let out = folder.path().join("out");
    ok(&mut export(&run, &out, &["--licence", "first"]));
    let texts = [&run, &out].map(|path| path.to_str().expect("UTF-8"));
    let arguments = ["export", texts[0], "--out", texts[1]];
    assert!(!with_space(2, &arguments));
    assert_eq!(names(folder.path()).len(), 2);
    let bundle = Bundle::open(&out).expect("whole");
    assert_eq!(bundle.manifest().licence.as_deref(), Some("first"));
    assert!(with_space(10_000, &arguments));
}

#[test]
fn a_killed_export_is_gone_on_with_and_hides_no_bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let out = folder.path().join("out");
    ok(&mut export(&run, &out, &["--licence", "first"]));
    for round in 0..12 {
        let mut child = export(&run, &out, &["--licence", "more"])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("started");
        std::thread::sleep(Duration::from_millis(40 * round));
        child.kill().expect("killed or ended");
        child.wait().expect("ended");
        Bundle::open(&out).expect("one of the two, whole");
    }
    ok(&mut export(&run, &out, &["--licence", "last"]));
    let bundle = Bundle::open(&out).expect("whole");
    assert_eq!(bundle.manifest().licence.as_deref(), Some("last"));
    assert_eq!(names(folder.path()).len(), 2, "nothing is left beside it");
}

#[test]
fn the_folder_of_an_unfinished_export_is_used_by_one_and_is_no_strangers() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &[]);
    let (out, part) = (folder.path().join("out"), folder.path().join(".tmp-out"));
    fs::create_dir(&part).expect("made");
    fs::write(part.join("model.onnx"), "half").expect("written");
    let held = fs::File::open(&part).expect("there");
    held.lock().expect("locked");
    refused(
        &mut export(&run, &out, &[]),
        &[".tmp-out", "another export is writing"],
    );
    drop(held);
    fs::write(part.join("novel.txt"), "mine").expect("written");
    refused(
        &mut export(&run, &out, &[]),
        &[".tmp-out", "novel.txt", "--out"],
    );
    assert_eq!(names(&part).len(), 2);
    fs::remove_file(part.join("novel.txt")).expect("removed");
    ok(&mut export(&run, &out, &[]));
    assert_eq!(names(folder.path()).len(), 2);
}
