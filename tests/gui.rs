//! Scripted sessions of a program with the real engine, whose network a real run has trained.
mod binary;
#[path = "support/gui.rs"]
mod gui;

use std::fs;
use std::path::Path;

use binary::{fanqi, ok, refused, start, state, train, until};
use gui::{Gui, check_starts};

/// A run of seconds.
fn run(folder: &Path, sets: &[&str]) -> std::path::PathBuf {
    let run = folder.join("run");
    let small = [
        "run.produced_rows=100",
        "arena.games=2",
        "arena.first_checkpoint=false",
    ];
    ok(&mut train(&run, &[&small, sets].concat()));
    run
}

/// Names, sizes and times of all files.
fn files(folder: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, about) = (entry.path(), entry.metadata().expect("there"));
        if about.is_dir() {
            all.extend(files(&path));
        }
        let time = about.modified().expect("a time");
        all.push((path.display().to_string(), about.len(), time));
    }
    all.sort();
    all
}

#[test]
fn a_uci_program_plays_and_analyses() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path(), &[]);
    let before = files(&run);
    let mut gui = Gui::uci(fanqi(["uci"]).arg(&run));
    gui.send(&["uci"]);
    let hello = gui.until("uciok");
    let starts = [
        "id name fanqi",
        "id author",
        "option name MultiPV type spin default 1 min 1",
    ];
    check_starts(&hello, &starts);
    assert!(hello.contains(&"option name UCI_ShowWDL type check default false".to_owned()));
    gui.send(&["setoption name Hash value 32", "isready"]);
    gui.until("readyok");
    gui.send(&["ucinewgame", "position startpos"]);
    let first = gui.best(&["go movetime 20"]);
    let second = gui.best(&[
        &format!("position startpos moves {first}"),
        "go wtime 1000 btime 1000 winc 10 binc 10",
    ]);
    gui.send(&[
        &format!("position startpos moves {first} {second}"),
        "go infinite",
    ]);
    gui.until("info");
    gui.send(&["isready"]);
    gui.until("readyok");
    gui.best(&["stop"]);
    gui.send(&["go ponder wtime 1000 btime 1000"]);
    gui.until("info");
    gui.best(&["ponderhit"]);
    gui.send(&["setoption name UCI_ShowWDL value true", "go depth 2"]);
    let lines = gui.until("bestmove");
    for part in [
        "depth ",
        "seldepth ",
        "multipv 1",
        "score ",
        "wdl ",
        "nodes ",
        "nps ",
        "time ",
        "pv ",
    ] {
        assert!(lines[lines.len() - 2].contains(part), "{part}: {lines:?}");
    }
    gui.send(&["go infinite", "quit"]);
    gui.until("bestmove");
    gui.ended();
    assert_eq!(files(&run), before, "the engine wrote into the run");
}

#[test]
fn a_ucci_program_plays() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path(), &[]);
    let words = &[
        "id",
        "option",
        "ucciok",
        "readyok",
        "info",
        "bestmove",
        "nobestmove",
        "bye",
    ];
    let mut gui = Gui::new(fanqi(["ucci"]).arg(&run), words);
    gui.send(&["ucci"]);
    let hello = gui.until("ucciok");
    let starts = [
        "option usemillisec type check",
        "option hashsize type spin",
        "option UCI_Variant",
    ];
    check_starts(&hello, &starts);
    gui.send(&[
        "setoption usemillisec true",
        "setoption hashsize 32",
        "isready",
    ]);
    gui.until("readyok");
    let fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR r - - 0 1";
    let first = gui.best(&[&format!("position fen {fen}"), "go time 1000 increment 10"]);
    let other = gui.best(&[
        &format!("position fen {fen}"),
        &format!("banmoves {first}"),
        "go nodes 20",
    ]);
    assert_ne!(first, other);
    gui.best(&[
        "setoption newgame",
        &format!("position fen {fen} moves {first}"),
        "go depth 2",
    ]);
    gui.send(&["go ponder time 1000 movestogo 5 opptime 1000"]);
    gui.until("info");
    gui.best(&["stop"]);
    gui.send(&["quit"]);
    gui.until("bye");
    gui.ended();
}

#[test]
fn the_end_of_input_ends_the_engine() {
    for name in ["uci", "ucci"] {
        let mut gui = Gui::uci(&mut fanqi([name]));
        gui.ended();
        let mut gui = Gui::uci(&mut fanqi([name]));
        gui.send(&["position startpos", "go infinite"]);
        gui.words = &["info", "bestmove"];
        drop(gui.child.stdin.take());
        let said = gui.until("bestmove").join("\n");
        assert!(said.contains("the input ended"), "{said}");
        gui.ended();
    }
}

#[test]
fn a_run_is_trained_while_an_engine_reads_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut training = start(&mut train(&run, &["run.produced_rows=0"]));
    until("a checkpoint", || state(&run).is_some());
    let mut gui = Gui::uci(fanqi(["uci"]).arg(&run));
    assert_ne!(gui.best(&["position startpos", "go nodes 5"]), "(none)");
    // As an option, and of one file.
    let first = run.join("checkpoints/000000000.safetensors");
    let mut file = Gui::uci(&mut fanqi(["uci"]));
    file.send(&[&format!("setoption name Model value {}", first.display())]);
    file.send(&["position startpos", "go nodes 5"]);
    let lines = file.until("bestmove");
    assert!(
        lines.iter().any(|line| line.contains("nodes 5")),
        "{lines:?}"
    );
    // What only looks needs no lock either.
    let looked = ok(fanqi(["strength"]).arg(&run).args([
        "--set",
        "arena.games=2",
        "--set",
        "arena.first_checkpoint=false",
    ]));
    assert!(looked.contains("random"), "{looked}");
    assert!(
        training.try_wait().expect("a process").is_none(),
        "training ended"
    );
    gui.send(&["quit"]);
    gui.ended();
}

#[test]
fn a_wrong_network_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path(), &["ruleset.base=jieqi"]);
    refused(&mut fanqi(["uci", "/nowhere"]), &["/nowhere", "state.json"]);
    refused(
        fanqi(["ucci"]).arg(&run).args(["--step", "7"]),
        &["step 7", "choose one"],
    );
    let file = run.join("checkpoints/000000000.safetensors");
    refused(
        fanqi(["uci"]).arg(&file).args(["--step", "0"]),
        &["one checkpoint"],
    );
    refused(
        fanqi(["uci"]).arg(run.join("config.toml")),
        &["config.toml"],
    );
    // The form is the network's; another can be played, aloud.
    let mut gui = Gui::uci(fanqi(["uci"]).arg(&run));
    gui.send(&["uci"]);
    let hello = gui.until("uciok");
    assert!(
        hello
            .iter()
            .any(|line| line.contains("UCI_Variant type combo default jieqi")),
        "{hello:?}"
    );
    gui.send(&["setoption name UCI_Variant value xiangqi", "go nodes 3"]);
    let lines = gui.until("bestmove");
    assert!(lines[0].contains("never seen xiangqi"), "{lines:?}");
    gui.send(&["setoption name Model value config.toml", "go nodes 3"]);
    let lines = gui.until("bestmove");
    assert!(lines[0].contains("config.toml"), "{lines:?}");
}
