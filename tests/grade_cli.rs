//! Levels of strength by the real binary: a run is graded, and its levels are played by the arena and the engine.
mod binary;
#[path = "support/gui.rs"]
mod gui;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use binary::{fanqi, ok, refused, start, state, stderr, train, until};
use gui::Gui;
use train::levels::{Level, Levels};

/// A run of seconds with a few checkpoints.
fn run(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    let small = [
        "run.produced_rows=400",
        "checkpoint.every_rows=128",
        "arena.games=2",
        "arena.first_checkpoint=false",
    ];
    ok(&mut train(&run, &small));
    run
}

/// The command on a run, as small as it can be.
fn grade(run: &Path, more: &[&str]) -> Command {
    let mut command = fanqi(["grade"]);
    let small = [
        "--levels",
        "3",
        "--games",
        "2",
        "--visits",
        "2",
        "--min-gap",
        "1",
        "--set",
        "arena.ply_cap=30",
    ];
    command.arg(run).args(small).args(more);
    command
}

/// Steps of the checkpoints that are there, ascending.
fn steps(run: &Path) -> Vec<u64> {
    let files = fs::read_dir(run.join("checkpoints")).expect("checkpoints");
    let names = files.map(|file| {
        file.expect("an entry")
            .file_name()
            .into_string()
            .expect("a name")
    });
    let mut steps: Vec<_> = names
        .filter_map(|name| name.split('.').next()?.parse().ok())
        .collect();
    steps.sort_unstable();
    steps
}

fn checkpoint(run: &Path, step: u64) -> PathBuf {
    run.join(format!("checkpoints/{step:09}.safetensors"))
}

/// Gives a run three levels, whatever they are worth: of its first, its second and its newest checkpoint.
fn write_levels(run: &Path) -> Levels {
    let name = state(run).expect("a state")["run"]
        .as_str()
        .expect("a name")
        .to_owned();
    let steps = steps(run);
    let wanted = [steps[0], steps[1], steps[steps.len() - 1]];
    let level = |(place, &step): (usize, &u64)| {
        let about = model::checkpoint::inspect(&checkpoint(run, step)).expect("a checkpoint");
        let elo = 100.0 * place as f64;
        Level {
            form: "xiangqi".to_owned(),
            level: place as u32 + 1,
            elo,
            elo_interval: [elo - 50.0, elo + 50.0],
            step,
            crc32c: about.crc32c,
            visits: 1 + 2 * place as u32,
            temperature: if place == 0 { 1.0 } else { 0.0 },
            noise: 0.0,
            policy_loss: 1.0,
        }
    };
    let mut levels = Levels::new(name);
    levels.replace("xiangqi", wanted.iter().enumerate().map(level).collect());
    levels.write(&run.join("levels.toml")).expect("written");
    levels
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("a kind").is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("copied")),
        }
    }
}

#[test]
fn a_run_is_graded_and_goes_on_after_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let broken = folder.path().join("broken");
    copy(&run, &broken);
    let table = ok(&mut grade(&run, &[]));
    for word in ["level", "visits", "policy loss", "levels.toml", "xiangqi"] {
        assert!(table.contains(word), "no {word:?} in\n{table}");
    }
    let levels = Levels::read(&run.join("levels.toml"))
        .expect("read")
        .expect("levels");
    let of_form = levels.of("xiangqi");
    assert!((1..=3).contains(&of_form.len()), "{levels}");
    let top = of_form.last().expect("a level");
    assert!(
        steps(&run).contains(&top.step) && top.visits <= 2,
        "{levels}"
    );
    assert!(
        of_form.iter().all(|level| level.policy_loss > 0.0),
        "{levels}"
    );

    let mut killed = start(&mut grade(&broken, &[]));
    let games = broken.join("grade/xiangqi/fit/games.pgn");
    until("games", || {
        let text = fs::read_to_string(&games).unwrap_or_default();
        text.matches("[Game ").count() > 3 || killed.try_wait().expect("a process").is_some()
    });
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let output = grade(&broken, &[]).output().expect("fanqi starts");
    let said = stderr(&output);
    assert!(
        output.status.success() && said.contains("going on after"),
        "{said}"
    );
    let again = Levels::read(&broken.join("levels.toml")).expect("read");
    assert_eq!(again.as_ref(), Some(&levels));
    // All is there: the same again says the same.
    assert_eq!(ok(&mut grade(&run, &[])), table);

    refused(
        &mut grade(&run, &["--set", "run.seed=5"]),
        &["another grading", "run.seed: `1` there, `5` now", "--fresh"],
    );
    ok(&mut grade(&run, &["--set", "run.seed=5", "--fresh"]));
    let foreign = levels.to_string().replace(&levels.run, "0123");
    fs::write(run.join("levels.toml"), foreign).expect("written");
    refused(&mut grade(&run, &[]), &["levels.toml", "another run (0123"]);
}

#[test]
fn a_wrong_command_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    refused(
        &mut grade(&run, &["--form", "jieqi"]),
        &["--form jieqi", "trained xiangqi"],
    );
    let mut odd = fanqi(["grade"]);
    refused(odd.arg(&run).args(["--games", "3"]), &["--games 3", "even"]);
    refused(
        &mut grade(&run, &["--set", "search.root=puct"]),
        &["--set", "[search]"],
    );
    refused(
        fanqi(["grade"]).arg(folder.path()),
        &["not a run directory"],
    );
    assert!(!run.join("grade").exists() && !run.join("levels.toml").exists());
}

#[test]
fn levels_play_in_the_arena() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let text = run.display().to_string();
    let arena = |player: &str| {
        let mut command = fanqi(["arena", "random", player, "--games", "2"]);
        command.args(["--set", "arena.ply_cap=20"]);
        command
    };
    let weak = format!("{text}?level=1");
    refused(&mut arena(&weak), &["no levels", "fanqi grade"]);
    let levels = write_levels(&run);
    let out = folder.path().join("out");
    let table = ok(arena(&weak).arg("--out").arg(&out));
    assert!(table.contains("level=1"), "{table}");
    let facts = fs::read_to_string(out.join("arena.json")).expect("settings");
    let first = &levels.of("xiangqi")[0];
    for fact in [
        format!("\"player 2: checkpoint\": \"{:08x}\"", first.crc32c),
        "\"player 2: visits\": \"1\"".to_owned(),
        "\"player 2: temperature\": \"1\"".to_owned(),
    ] {
        assert!(facts.contains(&fact), "no {fact} in {facts}");
    }
    let check = |player: &str, words: &[&str]| drop(refused(&mut arena(player), words));
    check(&format!("{text}?level=4"), &["level 4", "1 to 3"]);
    check(
        &format!("{text}?level=1&visits=3"),
        &["`level=1`", "`visits`"],
    );
    check(&format!("{text}?step=0&level=1"), &["`level=1`", "`step`"]);
    let file = checkpoint(&run, 0).display().to_string();
    check(&format!("{file}?level=1"), &["not a run directory"]);
    refused(
        arena(&weak).args(["--form", "jieqi", "--force"]),
        &["no levels of jieqi", "graded: xiangqi"],
    );
    let broken = levels.to_string().replace("visits = 3", "visits = many");
    fs::write(run.join("levels.toml"), broken).expect("written");
    check(&weak, &["levels.toml", "not a table of levels"]);
    // Another checkpoint in the place of the one that was graded, and none.
    write_levels(&run);
    let all = steps(&run);
    fs::copy(checkpoint(&run, all[1]), checkpoint(&run, 0)).expect("copied");
    check(
        &weak,
        &["level 1 of xiangqi", "checksum", "grade the run again"],
    );
    fs::remove_file(checkpoint(&run, 0)).expect("removed");
    check(&weak, &["level 1 of xiangqi", "no checkpoint of step 0"]);
}

/// The value of a word in lines of analysis.
fn nodes(lines: &[String]) -> Vec<u64> {
    let nodes = |line: &String| {
        let mut words = line.split(' ').skip_while(|word| *word != "nodes");
        words.nth(1).and_then(|number| number.parse().ok())
    };
    lines.iter().filter_map(nodes).collect()
}

#[test]
fn levels_play_in_the_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let options = |gui: &mut Gui| -> Vec<String> {
        gui.send(&["uci"]);
        let lines = gui.until("uciok");
        lines
            .into_iter()
            .filter(|line| {
                line.contains("Level") || line.contains("UCI_Elo") || line.contains("Limit")
            })
            .collect()
    };
    let mut gui = Gui::uci(&mut fanqi(["uci"]));
    assert!(options(&mut gui).is_empty());
    let model = format!("setoption name Model value {}", run.display());
    gui.send(&[&model, "setoption name Level value 1", "isready"]);
    let said = gui.until("readyok").join("\n");
    assert!(said.contains("no network with levels"), "{said}");
    write_levels(&run);
    gui.send(&[&model]);
    let declared = options(&mut gui);
    assert_eq!(
        declared,
        [
            "option name Level type spin default 0 min 0 max 3",
            "option name UCI_LimitStrength type check default false",
            "option name UCI_Elo type spin default 200 min 0 max 200",
        ]
    );
    // Level, LimitStrength and Elo say how many simulations a move takes.
    let mut check = |set: &[&str], nodes_expected: u64| {
        let lines: Vec<_> = set
            .iter()
            .map(|line| format!("setoption name {line}"))
            .collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        gui.send(&[&lines[..], &["position startpos", "go nodes 40"]].concat());
        let said = gui.until("bestmove");
        assert!(
            !said.iter().any(|line| line.contains("info string")),
            "{said:?}"
        );
        assert_eq!(
            nodes(&said).last(),
            Some(&nodes_expected),
            "{set:?}: {said:?}"
        );
    };
    check(&[], 40);
    check(&["Level value 1"], 1);
    check(&["Level value 3"], 5);
    check(&["Level value 0"], 40);
    check(&["UCI_LimitStrength value true"], 5);
    check(&["UCI_Elo value 110"], 3);
    check(&["Level value 1"], 1);
    check(&["Level value 0", "UCI_LimitStrength value false"], 40);
    gui.send(&["setoption name Level value 4", "isready"]);
    let said = gui.until("readyok").join("\n");
    assert!(said.contains("whole number from 0 to 3"), "{said}");
    gui.send(&[
        "setoption name Level value 2",
        "setoption name UCI_Variant value jieqi",
        "isready",
    ]);
    let said = gui.until("readyok").join("\n");
    assert!(said.contains("no levels of jieqi"), "{said}");
    fs::remove_file(checkpoint(&run, 0)).expect("removed");
    gui.send(&[
        "setoption name UCI_Variant value xiangqi",
        "setoption name Level value 1",
        "isready",
    ]);
    let said = gui.until("readyok").join("\n");
    assert!(
        said.contains("no checkpoint of step 0") && said.contains("stays as it was"),
        "{said}"
    );
    gui.send(&["quit"]);
    gui.ended();

    fs::write(run.join("levels.toml"), "format = 9").expect("written");
    let mut gui = Gui::uci(fanqi(["uci"]).arg(&run));
    gui.send(&["uci"]);
    let said = gui.until("uciok").join("\n");
    assert!(
        said.contains("levels.toml") && said.contains("format = 9"),
        "{said}"
    );
    assert!(!said.contains("option name Level"), "{said}");
    gui.send(&["quit"]);
    gui.ended();
}

#[test]
fn checkpoints_that_levels_name_outlive_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path());
    let before = steps(&run);
    assert!(before.len() > 2, "{before:?}");
    write_levels(&run);
    let more = [
        "run.produced_rows=1200",
        "checkpoint.every_rows=128",
        "checkpoint.keep=2",
        "arena.games=2",
        "arena.first_checkpoint=false",
    ];
    ok(&mut train(&run, &more));
    let after = steps(&run);
    let (old, new) = (before[before.len() - 1], after[after.len() - 1]);
    assert!(new > old, "{after:?}");
    assert_eq!(after, [0, before[1], old, new]);
    // Where nobody knows what levels name, nothing is removed.
    fs::write(run.join("levels.toml"), "damaged").expect("written");
    let output = train(&run, &["run.produced_rows=1600", "checkpoint.keep=2"]).output();
    let output = output.expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no checkpoint is removed"),
        "{}",
        stderr(&output)
    );
    assert!(after.iter().all(|step| steps(&run).contains(step)));
}
