//! Whole runs of the real binary: to the table, over interruptions, kills and changed configs.
mod binary;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use binary::{games, ok, refused, signal, start, state, stderr, stdout, train, until, with_space};
use train::metrics;

/// Every committed game's id, from the text files.
fn ids(run: &Path) -> Vec<u64> {
    let files = fs::read_dir(run.join("games")).expect("games");
    let texts = files.map(|f| fs::read_to_string(f.expect("an entry").path()).expect("text"));
    let tags = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    tags.filter_map(|line| {
        line.strip_prefix("[Id \"")?
            .strip_suffix("\"]")?
            .parse()
            .ok()
    })
    .collect()
}

/// The state's counts are those of the files, and no game is there twice.
fn check_counts(run: &Path) {
    let ids = ids(run);
    assert_eq!(
        ids.iter().collect::<HashSet<_>>().len(),
        ids.len(),
        "a game is there twice"
    );
    assert_eq!(ids.len() as u64, games(run));
    let state = state(run).expect("a state");
    let commits = state["selfplay"]["commits"].as_u64().expect("a number");
    assert_eq!(
        fs::read_dir(run.join("samples")).expect("samples").count() as u64,
        commits
    );
}

#[test]
fn a_run_shorter_than_a_report_is_in_the_metrics() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(&run, &["run.report_seconds=3600"]));
    let lines = metrics::read(&run.join("metrics.jsonl")).expect("metrics");
    let last = |name: &str| lines.iter().rev().find_map(|line| line.get(name)?.as_f64());
    assert_eq!(last("selfplay/games"), Some(games(&run) as f64));
    let rows = &state(&run).expect("a state")["training"]["rows_trained"];
    assert_eq!(last("train/rows"), rows.as_f64());
}

#[test]
fn a_run_goes_to_its_table_and_says_so_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let output = train(&run, &["arena.every_checkpoints=2"])
        .output()
        .expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(
        table.contains("random") && table.contains("first checkpoint (step 0)"),
        "{table}"
    );
    check_counts(&run);
    let lines = fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    for name in [
        "train/value_loss",
        "selfplay/positions_per_second",
        "strength/random",
        "validation/value_gap",
    ] {
        assert!(lines.contains(name), "no {name} in the metrics");
    }
    let tables = fs::read_dir(run.join("strength")).expect("tables").count();
    let shown = stderr(&output).matches("Strength at step").count();
    assert!(
        tables > 1,
        "matches in the middle of the run leave a table too"
    );
    assert!(shown > 0, "a table in the middle is shown as it comes");
    let checkpoints = fs::read_dir(run.join("checkpoints"))
        .expect("checkpoints")
        .count();
    assert_eq!(checkpoints, 4, "checkpoint.keep");
    assert!(
        run.join("checkpoints/000000000.safetensors").exists(),
        "the first one is kept"
    );
    let before = state(&run);
    let again = ok(&mut train(&run, &[]));
    assert!(again.contains("Strength"), "{again}");
    assert_eq!(state(&run), before, "a complete run was changed");
    let strength =
        ok(binary::fanqi(["strength"])
            .arg(&run)
            .args(["--step", "0", "--set", "run.seed=7"]));
    let heading = "\nStrength at step 0, 4 visits a move\n\n";
    assert!(strength.contains(heading), "{strength}");
}

#[test]
fn rows_carry_the_step_of_the_net_that_searched_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut child = start(&mut train(&run, &["run.produced_rows=0"]));
    until("a game of a trained net", || {
        let files = fs::read_dir(run.join("games"))
            .into_iter()
            .flatten()
            .flatten();
        let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.into_iter().any(|text| {
            text.lines()
                .any(|line| line.starts_with("[NetStep") && !line.ends_with(" 0\"]"))
        })
    });
    signal(child.id(), "-INT");
    assert!(child.wait().expect("ends").success());
}

#[test]
fn an_interrupted_run_is_saved_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut child = start(&mut train(&run, &["run.produced_rows=0"]));
    until("a commit", || games(&run) > 0);
    signal(child.id(), "-INT");
    assert!(
        child.wait().expect("ends").success(),
        "Ctrl-C ends a run in order"
    );
    check_counts(&run);
    let saved = state(&run).expect("a state");
    let count = |column: &str| {
        saved["selfplay"]["rows"][column]
            .as_u64()
            .expect("a number")
    };
    let rows = count("training") + count("held_out") + 300;
    let output = train(&run, &[&format!("run.produced_rows={rows}")])
        .output()
        .expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("going on with"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains(&format!("config: run.produced_rows: 0 -> {rows}")),
        "{}",
        stderr(&output)
    );
    assert!(games(&run) > saved["selfplay"]["games"].as_u64().expect("a number"));
    check_counts(&run);
}

/// Kills a run `kills` times at moments spread over its work; every resume goes on.
fn kill_and_resume(kills: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut committed = 0;
    for kill in 0..kills {
        let mut child = start(&mut train(&run, &["run.produced_rows=0"]));
        until("a commit", || games(&run) > committed);
        std::thread::sleep(Duration::from_millis(kill * 37 % 300));
        child.kill().expect("killed");
        child.wait().expect("gone");
        assert!(games(&run) >= committed, "a committed game is lost");
        committed = games(&run);
    }
    let output = train(&run, &["run.produced_rows=1"])
        .output()
        .expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = "the last process was killed";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    assert_eq!(games(&run), committed);
    check_counts(&run);
}

#[test]
fn a_killed_run_goes_on_and_counts_every_game_once() {
    kill_and_resume(4);
}

#[test]
#[ignore = "minutes; the issue of release"]
fn a_run_killed_thirty_times_goes_on() {
    kill_and_resume(30);
}

#[test]
fn a_second_process_and_an_incompatible_config_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut child = start(&mut train(&run, &["run.produced_rows=0"]));
    until("a checkpoint", || state(&run).is_some());
    let pid = child.id().to_string();
    refused(&mut train(&run, &[]), &["another process", &pid]);
    signal(child.id(), "-INT");
    child.wait().expect("ends");
    let before = state(&run);
    refused(
        &mut train(&run, &["net.channels=16"]),
        &["cannot change", "`net.channels`: 8 -> 16", "--run"],
    );
    refused(&mut train(&run, &["run.seed=2"]), &["`run.seed`: 1 -> 2"]);
    assert_eq!(state(&run), before);
}

#[test]
fn parts_of_another_run_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    // Alike in everything but their name: the same config, the same seed.
    let [run, other] = ["run", "other"].map(|name| folder.path().join(name));
    for run in [&run, &other] {
        ok(&mut train(run, &["run.produced_rows=100"]));
    }
    let before = state(&run);
    let swap = |name: &str, words: &[&str]| {
        let exchange = || {
            let aside = folder.path().join("aside");
            fs::rename(run.join(name), &aside).expect("moved");
            fs::rename(other.join(name), run.join(name)).expect("moved");
            fs::rename(aside, other.join(name)).expect("moved");
        };
        exchange();
        let words = [words, &["put the run's own"]].concat();
        refused(&mut train(&run, &["run.produced_rows=200"]), &words);
        exchange();
        assert_eq!(state(&run), before);
    };
    swap("samples", &["samples/000001.h5", "of another run"]);
    swap("games", &["games/000001.txt", "of another run"]);
    let first = "checkpoints/000000000.safetensors";
    swap(first, &[first, "of another run"]);
    // They need not have come to the same step.
    swap("checkpoints", &["checkpoints/"]);
    swap("state.json", &["checkpoints/"]);
    ok(&mut train(&run, &["run.produced_rows=200"]));
    check_counts(&run);
}

#[test]
fn damaged_files_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(&run, &["run.produced_rows=100"]));
    let step = state(&run).expect("a state")["training"]["step"]
        .as_u64()
        .expect("a step");
    let check = |file: &str, damage: &dyn Fn(Vec<u8>) -> Vec<u8>, words: &[&str]| {
        let path = run.join(file);
        let whole = fs::read(&path).expect("readable");
        fs::write(&path, damage(whole.clone())).expect("written");
        let mut words = words.to_vec();
        words.push(file);
        let error = refused(&mut train(&run, &["run.produced_rows=0"]), &words);
        let advice = [" back", "--run DIR", "with the build that wrote it"];
        assert!(advice.iter().any(|words| error.contains(words)), "{error}");
        fs::write(&path, whole).expect("written");
    };
    let checkpoint = format!("checkpoints/{step:09}.safetensors");
    check(
        &checkpoint,
        &|bytes| bytes[..bytes.len() / 2].to_vec(),
        &["truncated"],
    );
    check(&checkpoint, &|_| b"PK\x03\x04 something else".to_vec(), &[]);
    let flipped = |mut bytes: Vec<u8>| {
        let last = bytes.len() - 5;
        bytes[last] ^= 1;
        bytes
    };
    check(&checkpoint, &flipped, &["damaged", "checksum"]);
    // The first one plays in the matches at the end; that it cannot is said at the start.
    let first = "checkpoints/000000000.safetensors";
    let without = ["arena.first_checkpoint", "first checkpoint"];
    check(first, &flipped, &[&without[..], &["damaged"]].concat());
    check(first, &|_| Vec::new(), &without);
    // Each in the other's place.
    let other = |name: &str| fs::read(run.join(name)).expect("readable");
    let (newest, oldest) = (other(&checkpoint), other(first));
    let wrong = format!("a checkpoint of step 0 of the form xiangqi, expected step {step} ");
    check(&checkpoint, &|_| oldest.clone(), &[&wrong]);
    let wrong = format!("a checkpoint of step {step} of the form xiangqi, expected step 0 ");
    check(first, &|_| newest.clone(), &[&wrong, without[0]]);
    let counted = |bytes: Vec<u8>| {
        let mut state: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        state["training"]["rows_trained"] = 1.into();
        state.to_string().into_bytes()
    };
    check(
        "state.json",
        &counted,
        &["trained rows", "counts 1;", &checkpoint],
    );
    check(
        "samples/000001.h5",
        &|bytes| bytes[..bytes.len() / 2].to_vec(),
        &[],
    );
    check("samples/000001.h5", &|_| b"not HDF5".to_vec(), &[]);
    check(
        "state.json",
        &|_| b"{\"version\": 0}".to_vec(),
        &["version 0"],
    );
    check("state.json", &|_| b"{".to_vec(), &[]);
    let changed = |from: &'static str, to: &'static str| {
        move |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("text");
            assert!(text.contains(from), "{text}");
            text.replace(from, to).into_bytes()
        }
    };
    let own = "the run's own config";
    check("config.toml", &|_| b"[net".to_vec(), &[own]);
    check(
        "config.toml",
        &changed("seed = 1", "sed = 1"),
        &[own, "run.sed"],
    );
    check(
        "config.toml",
        &changed("seed = 1", "seed = 7"),
        &["= 7", "state.json"],
    );
    check(
        "state.json",
        &changed("xiangqi", "jieqi"),
        &["jieqi", "config.toml"],
    );
    check("state.json", &|_| vec![0xff; 9], &["not a run's state"]);
    check(
        "samples/000001.h5",
        &|_| b"not HDF5".to_vec(),
        &["take it away"],
    );
    for name in ["config.toml", first, &checkpoint] {
        let (path, aside) = (run.join(name), run.join("aside"));
        fs::rename(&path, &aside).expect("moved");
        let words = [name, "the run's own", "back", "--run DIR"];
        refused(&mut train(&run, &["run.produced_rows=0"]), &words);
        fs::rename(&aside, &path).expect("moved");
    }
    ok(&mut train(&run, &["run.produced_rows=100"]));
}

#[test]
fn a_full_disk_ends_a_run_in_order_wherever_it_strikes() {
    let tiny = binary::data("tiny.toml").display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let mut ended_well = Vec::new();
    // From the lock over the config, the first checkpoint, shards and metrics to none at all.
    for blocks in [0, 1, 4, 16, 64, 1024] {
        let run = folder.path().join(blocks.to_string());
        let name = run.display().to_string();
        let command = [
            "train",
            &tiny,
            "--run",
            &name,
            "--set",
            "run.report_seconds=0.1",
        ];
        ended_well.push(with_space(blocks, &command));
        let before = games(&run);
        ok(&mut train(&run, &[]));
        assert!(games(&run) >= before.max(1));
        check_counts(&run);
    }
    assert!(!ended_well[0] && ended_well[ended_well.len() - 1]);
    assert!(ended_well.is_sorted(), "{ended_well:?}");
}

#[test]
fn a_full_disk_in_the_matches_ends_a_run_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(&run, &[]));
    let (before, name) = (state(&run), run.display().to_string());
    let tiny = binary::data("tiny.toml").display().to_string();
    // The lines of metrics fill the disk, so that only what comes after the opening of the run is short of space.
    let metrics = run.join("metrics.jsonl");
    let lines = fs::read_to_string(&metrics).expect("metrics");
    let line = "{\"time\":1.0,\"step\":0}\n";
    fs::write(&metrics, lines + &line.repeat(65536 / line.len() + 1)).expect("written");
    assert!(!with_space(64, &["train", &tiny, "--run", &name]));
    assert!(with_space(0, &["strength", &name]), "it only looks");
    assert_eq!(state(&run), before);
    assert!(ok(&mut train(&run, &[])).contains("Strength"));
}
