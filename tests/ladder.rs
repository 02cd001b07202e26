//! The ladder in whole runs of the real binary, over kills and changes.
mod binary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use binary::{games, ok, refused, start, state, stderr, train, until, with_space};
use serde_json::Value;
use train::ladder::list::LadderList;
use train::ladder::schedule::{Rung, meetings};
use train::metrics;
use train::records::RecordedGame;
use train::records::games::Games;

/// A tiny run without matches at its end, with a ladder.
fn climb(run: &Path, sets: &[&str]) -> Command {
    let alone = [
        "ladder.every_checkpoints=1",
        "arena.opponents=[]",
        "arena.first_checkpoint=false",
    ];
    train(run, &[&alone[..], sets].concat())
}

/// The forms that are trained here.
const FORMS: [&str; 2] = ["xiangqi", "jieqi"];

/// The ladder's file of that name.
fn file(run: &Path, name: &str) -> PathBuf {
    run.join("ladder").join(name)
}

fn roster(run: &Path) -> Value {
    let text = fs::read_to_string(file(run, "ladder.json")).expect("a roster");
    serde_json::from_str(&text).expect("JSON")
}

/// What stands on the ladder.
fn rungs(run: &Path) -> Vec<Rung> {
    serde_json::from_value(roster(run)["rungs"].clone()).expect("rungs")
}

fn kept(run: &Path, form: &str) -> Vec<RecordedGame> {
    let path = file(run, &format!("{form}.pgn"));
    if !path.exists() {
        return Vec::new();
    }
    let mut file = Games::open(&path).expect("a file");
    std::iter::from_fn(|| file.next_game().expect("a game")).collect()
}

/// The numbers of that name in the metrics, each with the training step that it is of.
fn rated(run: &Path, name: &str) -> Vec<(u64, f64)> {
    let lines = metrics::read(&run.join("metrics.jsonl")).expect("metrics");
    let found = lines.iter().filter_map(|line| {
        let step = line.get("ladder/step")?.as_f64()? as u64;
        Some((step, line.get(name)?.as_f64()?))
    });
    found.collect()
}

/// All games of every match are kept, each once, and nothing else.
fn check_whole(run: &Path) {
    let mut expected = BTreeMap::new();
    let rungs = rungs(run);
    let all = FORMS.into_iter().flat_map(|form| {
        let all = meetings(&rungs, form);
        all.into_iter().map(move |meeting| (form, meeting))
    });
    for (form, meeting) in all {
        let [first, second] = meeting.players.map(|player| player.to_string());
        for game in 0..meeting.games {
            let (red, black) = match game % 2 {
                0 => (&first, &second),
                _ => (&second, &first),
            };
            let round = format!("{}.{}", game / 2 + 1, game % 2 + 1);
            expected.insert((form, red.clone(), black.clone(), round), 1);
        }
    }
    let mut found = BTreeMap::new();
    for form in FORMS {
        for game in kept(run, form) {
            let tag = |name: &str| game.tag(name).expect("a tag").to_owned();
            let key = (form, tag("Red"), tag("Black"), tag("Round"));
            *found.entry(key).or_insert(0) += 1;
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_run_rates_its_checkpoints() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let output = climb(&run, &[]).output().expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    let last = state(&run).expect("a state")["training"]["step"].as_u64();
    let steps: Vec<_> = rungs(&run).iter().map(|rung| rung.step).collect();
    assert_eq!(
        (steps[0], steps.last().copied()),
        (0, last),
        "first and last"
    );
    check_whole(&run);

    let elo = rated(&run, "ladder/elo");
    let of: Vec<_> = elo.iter().map(|(step, _)| *step).collect();
    assert_eq!(of, steps, "a line each, in order");
    let (lower, upper) = (
        rated(&run, "ladder/elo_lower"),
        rated(&run, "ladder/elo_upper"),
    );
    for ((low, high), mid) in lower.iter().zip(&upper).zip(&elo) {
        assert!(low.1 < mid.1 && mid.1 < high.1, "{low:?} {mid:?} {high:?}");
    }
    for step in &steps {
        let line = format!("ladder: xiangqi, step {step}: Elo ");
        assert_eq!(said.matches(&line).count(), 1, "{line} in {said}");
    }
    let list = LadderList::read(&file(&run, "xiangqi.json")).expect("a list");
    assert_eq!(
        list.players.iter().filter(|p| p.step.is_some()).count(),
        steps.len()
    );
    let random = list.players.iter().find(|p| p.name == "random");
    assert_eq!(random.expect("the anchor").elo, 0.0);

    let files = || {
        ["ladder.json", "xiangqi.pgn", "xiangqi.json"]
            .map(|name| fs::read(file(&run, name)).expect("there"))
    };
    let before = files();
    ok(&mut climb(&run, &[]));
    assert_eq!(files(), before, "a ladder that is complete was changed");
}

#[test]
fn a_killed_run_goes_on_without_repeating_kept_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let path = file(&run, "xiangqi.pgn");
    let mut before = Vec::new();
    for kill in 0..3 {
        let mut child = start(&mut climb(
            &run,
            &["run.produced_rows=0", "ladder.games=40"],
        ));
        let size = before.len();
        until("kept games", || {
            fs::metadata(&path).is_ok_and(|m| m.len() as usize > size + 3000)
        });
        child.kill().expect("killed");
        child.wait().expect("gone");
        let now = fs::read(&path).expect("games");
        assert!(
            now.starts_with(&before),
            "kill {kill}: kept games were changed"
        );
        before = now;
    }
    // As a full disk leaves it.
    let half = &before[..200];
    fs::write(&path, [&before[..], half].concat()).expect("written");
    let output = climb(&run, &["run.produced_rows=1"])
        .output()
        .expect("fanqi starts");
    let said = stderr(&output);
    assert!(
        output.status.success() && said.contains("dropped a half game"),
        "{said}"
    );
    assert!(fs::read(&path).expect("games").starts_with(&before));
    check_whole(&run);
}

#[test]
fn ctrl_c_ends_the_ladder_too_and_the_next_start_finishes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let long = [
        "run.produced_rows=0",
        "ladder.games=400",
        "ladder.share=0.5",
    ];
    let mut child = start(&mut climb(&run, &long));
    until("a commit", || {
        games(&run) > 0 && file(&run, "ladder.json").exists()
    });
    let kill = format!("kill -INT {}", child.id());
    Command::new("sh")
        .args(["-c", &kill])
        .status()
        .expect("a shell");
    assert!(child.wait().expect("ends").success());
    let entered = rungs(&run).len();
    assert!(
        rated(&run, "ladder/elo").len() < entered,
        "its matches are not over"
    );
    let ended = climb(&run, &["run.produced_rows=1"])
        .output()
        .expect("fanqi starts");
    assert!(ended.status.success(), "{}", stderr(&ended));
    check_whole(&run);
    assert_eq!(rated(&run, "ladder/elo").len(), rungs(&run).len());
}

#[test]
fn forms_of_a_run_take_turns_and_have_ratings_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut climb(&run, &["ruleset.forms=[\"xiangqi\",\"jieqi\"]"]));
    let rungs = rungs(&run);
    for (place, rung) in rungs.iter().enumerate() {
        assert_eq!(rung.form, FORMS[place % 2]);
    }
    check_whole(&run);
    let [open, hidden] = FORMS.map(|form| rated(&run, &format!("ladder/{form}/elo")));
    assert_eq!(
        (open.len(), hidden.len()),
        (rungs.len().div_ceil(2), rungs.len() / 2)
    );
    assert!(rated(&run, "ladder/elo").is_empty());
}

#[test]
fn players_that_search_otherwise_begin_a_new_ladder() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut climb(&run, &[]));
    let old = fs::read(file(&run, "xiangqi.pgn")).expect("games");
    // The schedule may change, the players may not.
    ok(&mut climb(
        &run,
        &[
            "ladder.games=6",
            "ladder.rivals=1",
            "ladder.opponents=[\"random\"]",
        ],
    ));
    assert_eq!(fs::read(file(&run, "xiangqi.pgn")).expect("games"), old);
    let output = climb(&run, &["ladder.visits=3"])
        .output()
        .expect("fanqi starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    for words in ["visits: 2 -> 3", "a new ladder begins", "ladder-1"] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    assert_eq!(
        fs::read(run.join("ladder-1/xiangqi.pgn")).expect("kept"),
        old
    );
    assert_eq!(rungs(&run).len(), 1, "the last checkpoint");
    check_whole(&run);
}

#[test]
fn matches_of_a_checkpoint_that_is_gone_are_dropped_aloud() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    // The checkpoint in the middle is none that the run itself needs.
    for rows in ["run.produced_rows=300", "run.produced_rows=600"] {
        ok(&mut climb(&run, &["checkpoint.keep=100", rows]));
    }
    let gone = rungs(&run)[1].step;
    fs::remove_file(run.join(format!("checkpoints/{gone:09}.safetensors"))).expect("removed");
    fs::write(file(&run, "xiangqi.pgn"), "").expect("written");
    let output = climb(&run, &["checkpoint.keep=100"])
        .output()
        .expect("fanqi starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    let words = format!("step {gone} is dropped");
    let other = format!("step {gone} against random is dropped");
    assert!(said.contains(&words) && said.contains(&other), "{said}");
    check_whole(&run);
    let again = climb(&run, &["checkpoint.keep=100"])
        .output()
        .expect("fanqi starts");
    assert!(!stderr(&again).contains("dropped"), "{}", stderr(&again));
}

#[test]
fn checkpoints_beyond_the_runs_own_step_are_dropped_with_their_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut climb(&run, &[]));
    let mut roster = roster(&run);
    let all = rungs(&run);
    let beyond = Rung {
        step: 1_000_000,
        rivals: vec![all[0].step],
        ..all[0].clone()
    };
    let list = roster["rungs"].as_array_mut().expect("rungs");
    list.push(serde_json::to_value(&beyond).expect("JSON"));
    fs::write(file(&run, "ladder.json"), roster.to_string()).expect("written");
    let games = fs::read_to_string(file(&run, "xiangqi.pgn")).expect("games");
    let own = games
        .split("[Game ")
        .find(|game| game.contains("\"step 0\""));
    let stray = own
        .expect("a game")
        .replace("\"step 0\"", "\"step 1000000\"");
    let stray = format!("[Game {stray}");
    fs::write(file(&run, "xiangqi.pgn"), games.clone() + &stray).expect("written");
    let output = climb(&run, &[]).output().expect("fanqi starts");
    let said = stderr(&output);
    assert!(
        output.status.success() && said.contains("what stood beyond step"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(file(&run, "xiangqi.pgn")).expect("games"),
        games
    );
    check_whole(&run);
}

#[test]
fn a_full_disk_stops_the_ladder_alone_and_leaves_whole_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut climb(&run, &["run.produced_rows=300"]));
    // Empty lines fill the disk up to the middle of the next game.
    let path = file(&run, "xiangqi.pgn");
    let games = fs::read_to_string(&path).expect("games");
    let padded = "\n".repeat(1024 * 1024 - 300 - games.len()) + &games;
    fs::write(&path, &padded).expect("written");
    let command = climb(&run, &["run.produced_rows=600"]);
    let arguments: Vec<_> = command.get_args().filter_map(|arg| arg.to_str()).collect();
    assert!(with_space(1024, &arguments), "the run goes on without it");
    assert_eq!(fs::read_to_string(&path).expect("games"), padded);
    ok(&mut climb(&run, &["run.produced_rows=600"]));
    assert!(
        fs::read_to_string(&path)
            .expect("games")
            .starts_with(&padded)
    );
    check_whole(&run);
}

#[test]
fn damaged_files_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    ok(&mut climb(&run, &["run.produced_rows=100"]));
    let check = |name: &str, damage: &dyn Fn(String) -> Option<String>, words: &[&str]| {
        let path = file(&run, name);
        let whole = fs::read_to_string(&path).expect("readable");
        match damage(whole.clone()) {
            Some(text) => fs::write(&path, text).expect("written"),
            None => fs::remove_file(&path).expect("removed"),
        }
        let words = [
            words,
            &["put the run's own back", "a new ladder begins then"],
        ]
        .concat();
        refused(&mut climb(&run, &[]), &words);
        fs::write(&path, whole).expect("written");
    };
    let roster = "ladder.json";
    check(
        roster,
        &|_| Some("{".into()),
        &[roster, "not a ladder's roster"],
    );
    check(roster, &|_| None, &[roster, "is missing"]);
    let replaced = |from: &'static str, to: &'static str| {
        move |text: String| {
            assert!(text.contains(from), "{text}");
            Some(text.replace(from, to))
        }
    };
    check(
        roster,
        &replaced("\"version\": 1", "\"version\": 9"),
        &[roster, "version 9"],
    );
    check(
        roster,
        &replaced("\"run\": \"", "\"run\": \"x"),
        &["of another run (x"],
    );
    check(
        roster,
        &replaced("\"random\"", "\"ramdon\""),
        &[roster, "ramdon"],
    );
    let pgn = "xiangqi.pgn";
    check(
        pgn,
        &replaced("\"greedy\"", "\"nobody\""),
        &[pgn, "nobody", "none of the players"],
    );
    check(
        pgn,
        &|text| Some(text.clone() + &text),
        &[pgn, "there twice"],
    );
    ok(&mut climb(&run, &["run.produced_rows=100"]));
}
