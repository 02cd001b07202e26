//! `fanqi-play`, the real one: scripted sessions with a bundle, its levels, and bundles that cannot be used.
#[path = "support/gui.rs"]
mod gui;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gui::{Gui, check_starts};
use serde_json::{Value, json};

const UCCI: &[&str] = &[
    "id",
    "option",
    "ucciok",
    "readyok",
    "info",
    "bestmove",
    "nobestmove",
    "bye",
];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/bundle")
}

/// The program, from a folder that is not the project's.
fn player(bundle: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanqi-play"));
    command.args(bundle).current_dir(std::env::temp_dir());
    command.stdin(Stdio::null());
    command
}

/// A copy of the bundle.
fn copy(to: &Path) {
    for entry in fs::read_dir(data()).expect("a folder") {
        let from = entry.expect("an entry");
        fs::copy(from.path(), to.join(from.file_name())).expect("copied");
    }
}

/// The manifest of the bundle in `folder`, changed.
fn change(folder: &Path, change: impl FnOnce(&mut Value)) {
    let path = folder.join("model.json");
    let mut manifest = serde_json::from_slice(&fs::read(&path).expect("there")).expect("JSON");
    change(&mut manifest);
    fs::write(&path, manifest.to_string()).expect("written");
}

/// A level of Xiangqi, whose checkpoint is the bundle's own or another.
fn level(manifest: &Value, number: u32, visits: u32, own: bool) -> Value {
    let crc32c = if own {
        manifest["training"]["crc32c"].clone()
    } else {
        json!("00000000")
    };
    json!({
        "form": "xiangqi", "level": number, "elo": 100 * number, "elo_interval": [0, 2000],
        "step": manifest["training"]["step"], "crc32c": crc32c, "visits": visits,
        "temperature": 0.0, "noise": 0.0,
    })
}

#[test]
fn a_uci_program_plays_and_analyses() {
    let mut gui = Gui::uci(&mut player(Some(&data())));
    gui.send(&["uci"]);
    let hello = gui.until("uciok");
    let starts = [
        "id name fanqi",
        "option name UCI_Variant type combo default xiangqi",
    ];
    check_starts(&hello, &starts);
    assert!(
        !hello.iter().any(|line| line.contains("Level")),
        "no level was measured"
    );
    gui.send(&["setoption name Threads value 2", "isready"]);
    gui.until("readyok");
    let first = gui.best(&["ucinewgame", "position startpos", "go movetime 20"]);
    gui.best(&[
        &format!("position startpos moves {first}"),
        "go wtime 1000 btime 1000",
    ]);
    gui.send(&["go infinite"]);
    gui.until("info");
    gui.best(&["stop"]);
    for form in ["jieqi", "fanqi-4", "fanqi-9"] {
        gui.send(&[
            &format!("setoption name UCI_Variant value {form}"),
            "go nodes 20",
        ]);
        let lines = gui.until("bestmove");
        let last = lines
            .iter()
            .rfind(|line| line.contains(" nodes "))
            .expect("a line");
        assert!(last.contains(" nodes 20 "), "{form}: {lines:?}");
    }
    gui.send(&["quit"]);
    gui.ended();
}

#[test]
fn a_ucci_program_is_answered_in_ucci() {
    let mut gui = Gui::new(&mut player(Some(&data())), UCCI);
    gui.send(&["ucci"]);
    check_starts(&gui.until("ucciok"), &["option usemillisec type check"]);
    gui.send(&["setoption usemillisec true"]);
    let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR r - - 0 1";
    let first = gui.best(&[&format!("position fen {fen}"), "go time 1000 increment 10"]);
    let banned = format!("banmoves {first}");
    let other = gui.best(&[&format!("position fen {fen}"), &banned, "go nodes 20"]);
    assert_ne!(first, other);
    gui.send(&["quit"]);
    gui.until("bye");
    gui.ended();
}

#[test]
fn the_same_position_has_the_same_answer() {
    let answer = || {
        let mut gui = Gui::uci(&mut player(Some(&data())));
        let best = gui.best(&["position startpos moves h2e2", "go nodes 40"]);
        gui.ended();
        best
    };
    assert_eq!(answer(), answer());
}

#[test]
fn without_a_bundle_the_option_model_names_one() {
    let mut gui = Gui::uci(&mut player(None));
    gui.send(&["go nodes 2"]);
    let lines = gui.until("bestmove");
    assert!(lines[0].contains("no network is loaded"), "{lines:?}");
    gui.send(&["setoption name Model value /nowhere", "go nodes 2"]);
    let lines = gui.until("bestmove");
    for word in [
        "option Model",
        "the folder of a bundle",
        "/nowhere",
        "model.json",
    ] {
        assert!(lines[0].contains(word), "{word}: {lines:?}");
    }
    gui.send(&[
        &format!("setoption name Model value {}", data().display()),
        "go nodes 7",
    ]);
    let lines = gui.until("bestmove");
    assert!(
        lines.iter().any(|line| line.contains(" nodes 7 ")),
        "{lines:?}"
    );
    gui.ended();
}

#[test]
fn it_finds_the_bundle_in_whose_folder_it_lies() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path());
    let program = folder.path().join("fanqi-play");
    fs::copy(env!("CARGO_BIN_EXE_fanqi-play"), &program).expect("copied");
    let mut gui = Gui::uci(Command::new(&program).current_dir(std::env::temp_dir()));
    gui.send(&["position startpos", "go nodes 9"]);
    let lines = gui.until("bestmove");
    assert!(
        lines.iter().any(|line| line.contains(" nodes 9 ")),
        "{lines:?}"
    );
    gui.ended();
}

#[test]
fn levels_are_played_where_their_network_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path());
    change(folder.path(), |manifest| {
        let levels = [(1, 1, false), (2, 6, true), (3, 40, true)];
        let levels = levels.map(|(number, visits, own)| level(manifest, number, visits, own));
        manifest["levels"] = json!(levels);
    });
    let mut gui = Gui::uci(&mut player(Some(folder.path())));
    gui.send(&["uci"]);
    let hello = gui.until("uciok");
    let starts = [
        "info string levels: 1 of 3 are of checkpoints",
        "option name Level type spin default 0 min 0 max 3",
        "option name UCI_Elo type spin default 300 min 200 max 300",
    ];
    check_starts(&hello, &starts);
    let mut nodes = |options: &[&str]| -> String {
        gui.send(options);
        gui.send(&["position startpos", "go nodes 50"]);
        let lines = gui.until("bestmove");
        let last = lines
            .iter()
            .rfind(|line| line.contains(" nodes "))
            .expect("a line");
        let mut words = last.split(' ').skip_while(|word| *word != "nodes").skip(1);
        words.next().unwrap_or_default().to_owned()
    };
    assert_eq!(nodes(&["setoption name Level value 2"]), "6");
    assert_eq!(nodes(&["setoption name Level value 3"]), "40");
    let limited = [
        "setoption name Level value 0",
        "setoption name UCI_LimitStrength value true",
    ];
    assert_eq!(nodes(&limited), "40");
    assert_eq!(nodes(&["setoption name UCI_Elo value 210"]), "6");
    assert_eq!(
        nodes(&["setoption name UCI_LimitStrength value false"]),
        "50"
    );
    gui.send(&["setoption name Level value 1", "go nodes 3"]);
    let lines = gui.until("bestmove");
    assert!(
        lines[0].contains("no level 1 of xiangqi; there are 2, 3"),
        "{lines:?}"
    );
    gui.ended();
}

/// The bundle after `spoil` is refused with exit code 2 and `words`, and nothing is said on standard output.
fn check_refused(spoil: impl FnOnce(&Path), words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path());
    spoil(folder.path());
    let output = player(Some(folder.path())).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    assert!(output.stdout.is_empty());
    for word in words {
        assert!(error.contains(word), "no {word:?} in {error}");
    }
}

#[test]
fn a_bundle_that_cannot_be_used_is_refused_with_what_to_do() {
    let set = |key: &'static str, value: Value| {
        move |folder: &Path| change(folder, |manifest| manifest[key] = value)
    };
    let lost = |folder: &Path| fs::remove_file(folder.join("model.onnx")).expect("removed");
    let altered = |folder: &Path| {
        let mut bytes = fs::read(folder.join("model.onnx")).expect("there");
        bytes[9999] ^= 1;
        fs::write(folder.join("model.onnx"), bytes).expect("written");
    };
    check_refused(lost, &["model.onnx", "missing", "export it again"]);
    check_refused(
        altered,
        &["model.onnx", "SHA-256", "copy the whole folder again"],
    );
    check_refused(
        set("format", json!(0)),
        &["format 0", "export the network again"],
    );
    check_refused(
        set("format", json!(99)),
        &["format 99", "newer version of the program"],
    );
    check_refused(
        |folder| {
            change(folder, |manifest| {
                manifest["forms"][0]["name"] = json!("chess")
            })
        },
        &["model.json", "\"chess\""],
    );
    check_refused(
        |folder| {
            change(folder, |manifest| {
                manifest["play"]["search"]["considered"] = json!("many")
            })
        },
        &["model.json", "play.search", "many"],
    );
    check_refused(
        |folder| {
            change(folder, |manifest| {
                manifest["levels"] = json!([level(manifest, 1, 0, true)])
            });
        },
        &["model.json", "level 1 of xiangqi", "visits"],
    );
    // Only the safetensors were exported.
    check_refused(
        |folder| {
            change(folder, |manifest| {
                let mut files = manifest["files"].as_array().expect("a list").clone();
                files.retain(|file| file["kind"] != "onnx");
                manifest["files"] = json!(files);
            })
        },
        &["no network as ONNX", "--format onnx"],
    );
    let output = player(Some(Path::new("/nowhere")))
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fanqi export"));
}
