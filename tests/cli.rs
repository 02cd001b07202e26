//! The command line: what it prints, and what it refuses with which words.
mod binary;

use std::fs::File;
use std::io::pipe;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use binary::{data, fanqi, ok, refused, state, stderr, train, train_config};

#[test]
fn a_flag_that_is_no_sensible_number_is_refused_with_its_name() {
    for seconds in ["-1", "0", "nan", "inf", "1e300", "long", ""] {
        let flag = format!("--seconds={seconds}");
        let words = ["--seconds", "expected a number in 0.1..=86400"];
        refused(&mut fanqi(["bench", "selfplay", &flag]), &words);
    }
    for flag in ["--depth=-1", "--depth=99999999999", "--depth=deep"] {
        refused(&mut fanqi(["perft", flag]), &["--depth"]);
    }
    for flag in ["--step=-1", "--step=1e3"] {
        refused(&mut fanqi(["strength", "runs/none", flag]), &["--step"]);
    }
    let bench = ["bench", "selfplay", "--rounds=0"];
    refused(&mut fanqi(bench), &["--rounds", "1..=100"]);
}

#[test]
fn a_wrong_config_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let check = |text: &str, words: &[&str]| {
        let config = folder.path().join("config.toml");
        std::fs::write(&config, text).expect("written");
        let mut words = words.to_vec();
        words.push("config.toml");
        refused(&mut train_config(&config, &run, &[]), &words);
        assert!(!run.exists(), "{text}: something was written");
    };
    check(
        "[selfplay]\nvists = 3\n",
        &["unknown key `selfplay.vists`", "`selfplay.visits`"],
    );
    check(
        "[serach]\nroot = \"puct\"\n",
        &["unknown key `serach.root`", "`search.root`"],
    );
    check(
        "[optim]\nlearning_rate = -1.0\n",
        &["`optim.learning_rate` = -1.0", "out of range", "..=1"],
    );
    check(
        "[optim]\nlearning_rate = nan\n",
        &["`optim.learning_rate`", "out of range"],
    );
    check(
        "[net]\nchannels = \"many\"\n",
        &[
            "`net.channels`",
            "expected an integer in 8..=1024, found a string",
        ],
    );
    check(
        "[net]\nchannels = 1.5\n",
        &["`net.channels`", "expected an integer"],
    );
    check(
        "[search]\nroot = \"alphabeta\"\n",
        &["root", "alphabeta", "gumbel"],
    );
    check("[run\n", &["not valid", "line 1"]);
    check("[nonsense]\n", &["unknown key `nonsense`"]);
    check(
        "[run.seed]\n",
        &[
            "`run.seed`",
            "expected an integer in 0..=4294967295, found a table",
        ],
    );
    check("run = 1\n", &["`run` = 1", "[run]"]);
    check(
        "[ruleset]\nbase = \"chess\"\n",
        &["ruleset.base", "chess", "xiangqi"],
    );
    check(
        "[selfplay]\nvisits = 4\nfast_visits = 5\n",
        &["selfplay.fast_visits", "selfplay.visits"],
    );
    check("[arena]\nopponents = [\"alphabeta:0\"]\n", &["alphabeta:0"]);
    check("[arena]\nopponents = [\"gredy\"]\n", &["gredy", "greedy"]);
    check("[replay]\nratio = 0\n", &["`replay.ratio`", "out of range"]);
    check(
        "[replay]\nburst_rows = 10\n",
        &["`replay.burst_rows` = 10", "`samples.shard_rows`"],
    );
    check(
        "[replay]\nmin_rows = 20\nmax_rows = 10\n",
        &["`replay.min_rows`", "`replay.max_rows`"],
    );
    check(
        "[samples]\ngzip_level = 10\n",
        &["`samples.gzip_level` = 10", "0..=9"],
    );
    check("[arena]\ngames = 3\n", &["arena.games", "even"]);
    check(
        "[device]\ndevice = \"gpu\"\n",
        &["gpu", "cpu", "cuda"].map(|w| w),
    );
    check("[device]\ninference_precision = \"f8\"\n", &["f8", "bf16"]);
}

#[test]
fn other_bad_inputs_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    refused(
        &mut train_config(Path::new("no/such.toml"), &run, &[]),
        &["no/such.toml", "cannot read"],
    );
    refused(
        &mut train(&run, &["selfplay.visits=none"]),
        &["--set selfplay.visits=none", "integer"],
    );
    refused(
        &mut train(&run, &["selfplay.visits"]),
        &["--set", "TABLE.KEY=VALUE"],
    );
    refused(&mut train(&run, &["device.device=cuda:x"]), &["cuda:x"]);
    refused(
        &mut fanqi(["strength", "no/such/run"]),
        &["no/such/run", "not a run directory"],
    );
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").expect("written");
    for run in [file.clone(), file.join("below")] {
        refused(&mut train(&run, &[]), &["file: not a folder", "--run DIR"]);
        let words = ["not a run directory", "file"];
        refused(fanqi(["strength"]).arg(&run), &words);
    }
    refused(
        &mut train(Path::new(""), &[]),
        &["--run", "none was supplied"],
    );
    assert!(!run.exists(), "something was written");
    let full = folder.path().join("full");
    std::fs::create_dir(&full).expect("created");
    std::fs::write(full.join("thesis.txt"), "precious").expect("written");
    refused(&mut train(&full, &[]), &["full", "neither empty nor a run"]);
    assert_eq!(std::fs::read_dir(&full).expect("readable").count(), 1);
}

#[test]
fn too_large_a_window_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let [new, empty, old] = ["new", "empty", "old"].map(|name| folder.path().join(name));
    std::fs::create_dir(&empty).expect("created");
    ok(&mut train(&old, &["run.produced_rows=1"]));
    let before = state(&old);
    for run in [&new, &empty, &old] {
        let sets = [
            "replay.max_rows=100000000",
            "replay.policy_entries_per_row=512",
            "run.produced_rows=2",
        ];
        let words = ["tiny.toml", "`replay.max_rows` = 100000000", "GB", "lower"];
        refused(&mut train(run, &sets), &words);
    }
    assert!(!new.exists());
    assert_eq!(std::fs::read_dir(&empty).expect("readable").count(), 0);
    assert_eq!(state(&old), before);
    ok(&mut train(&old, &["run.produced_rows=2"]));
}

#[test]
fn every_shipped_config_is_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "a file where the run would be").expect("written");
    let configs = std::fs::read_dir(data("../../configs")).expect("configs");
    for config in configs.map(|entry| entry.expect("an entry").path()) {
        // The config is read and checked before the run directory is looked at.
        let error = refused(&mut train_config(&config, &blocked, &[]), &["blocked"]);
        assert!(!error.contains("unknown key"), "{error}");
    }
}

/// A pipe whose reader has gone.
fn closed() -> Stdio {
    pipe().expect("a pipe").1.into()
}

/// A disk without space.
fn full() -> Stdio {
    let file = File::options().write(true).open("/dev/full");
    file.expect("/dev/full").into()
}

/// Runs a command with given outputs; it must end by itself and not by a panic.
fn run_with(command: &mut Command, out: Stdio, err: Stdio) -> Output {
    let child = command.stdout(out).stderr(err).spawn();
    let output = child.and_then(|c| c.wait_with_output()).expect("it ran");
    let text = stderr(&output);
    assert!(
        output.status.code().is_some_and(|code| code <= 2) && !text.contains("panicked"),
        "{command:?}: {}\n{text}",
        output.status
    );
    output
}

#[test]
fn outputs_that_are_closed_or_full_never_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut train(&run, &["run.produced_rows=1"]));
    let (run, tiny) = (run.display().to_string(), data("tiny.toml"));
    let tiny = tiny.display().to_string();
    let printing: [&[&str]; 10] = [
        &["legal"],
        &["notate", "--to", "chinese", "h2e2", "h9g7"],
        &["perft", "--depth", "2"],
        &["perft", "--depth", "2", "--divide"],
        &["--help"],
        &["train", "--help"],
        &["--version"],
        &["strength", &run],
        &[
            "bench",
            "runtimes",
            &run,
            "--seconds",
            "0.1",
            "--rounds",
            "1",
        ],
        &[
            "bench",
            "selfplay",
            &tiny,
            "--seconds",
            "0.1",
            "--rounds",
            "1",
        ],
    ];
    for args in printing {
        let code = |out: Stdio, err: Stdio| run_with(&mut fanqi(args), out, err).status.code();
        let output = run_with(&mut fanqi(args), closed(), Stdio::piped());
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
        let output = run_with(&mut fanqi(args), full(), Stdio::piped());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let error = stderr(&output);
        assert!(error.contains("error: standard output: "), "{error}");
        assert_eq!(code(Stdio::piped(), closed()), Some(0), "{args:?}");
        assert_eq!(code(Stdio::piped(), full()), Some(0), "{args:?}");
        assert_eq!(code(full(), full()), Some(2), "{args:?}");
        assert_eq!(code(closed(), closed()), Some(0), "{args:?}");
    }
    let wrong: [&[&str]; 4] = [
        &["legal", "--form", "chess"],
        &["strength", "no/such/run"],
        &["train", "no/such.toml"],
        &["nonsense"],
    ];
    for args in wrong {
        for err in [closed, full] {
            let output = run_with(&mut fanqi(args), Stdio::piped(), err());
            assert_eq!(output.status.code(), Some(2), "{args:?}");
        }
    }
}

#[test]
fn a_run_that_nobody_reads_works_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    for (i, (out, err)) in [
        (closed(), closed()),
        (full(), full()),
        (full(), Stdio::piped()),
    ]
    .into_iter()
    .enumerate()
    {
        let run = folder.path().join(i.to_string());
        let output = run_with(&mut train(&run, &["run.report_seconds=0.1"]), out, err);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let state = state(&run).expect("a state");
        assert_eq!(state["working"], false);
        let rows = &state["selfplay"]["rows"];
        let rows = ["training", "held_out"].map(|kind| rows[kind].as_u64().expect("rows"));
        assert!(rows.iter().sum::<u64>() >= 600, "{rows:?}");
        let step = state["training"]["step"].as_u64().expect("a step");
        let table = format!("strength/{step:09}.txt");
        let kept = std::fs::read_to_string(run.join(&table)).expect("a table");
        assert!(kept.contains("random"), "{kept}");
        let said = stderr(&output);
        assert!(said.is_empty() || said.contains(&table), "{said}");
    }
}
