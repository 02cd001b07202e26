//! `fanqi arena` from the command line to the table: its games, going on after a kill, and what is refused.
mod binary;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use binary::{fanqi, ok, refused, start, stderr, stdout, train, until};
use train::records::RecordedGame;
use train::records::games::Games;

/// The command with players, into a folder.
fn arena(players: &[&str], out: &Path, more: &[&str]) -> std::process::Command {
    let mut command = fanqi(["arena"]);
    command.args(players).arg("--out").arg(out).args(more);
    command
}

/// The games kept in a folder.
fn kept(out: &Path) -> Vec<RecordedGame> {
    let path = out.join("games.pgn");
    let mut games = Games::open(&path).expect("games");
    std::iter::from_fn(|| games.next_game().expect("a game")).collect()
}

/// The games as texts, in no order.
fn texts(out: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(out.join("games.pgn")).expect("games");
    let games: Vec<_> = text.split("[Game ").skip(1).map(str::to_owned).collect();
    let set: BTreeSet<_> = games.iter().cloned().collect();
    assert_eq!(set.len(), games.len(), "a game is there twice");
    set
}

fn tag<'a>(game: &'a RecordedGame, name: &str) -> &'a str {
    game.tag(name)
        .unwrap_or_else(|| panic!("no {name} in {game:?}"))
}

/// A run of seconds.
fn run(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    let small = [
        "run.produced_rows=100",
        "arena.games=2",
        "arena.first_checkpoint=false",
    ];
    ok(&mut train(&run, &small));
    run
}

/// Each pair of players meets in each opening twice, with colours swapped; a deal is the same both times.
fn check_pairs(out: &Path, players: &[&str], games: usize, form: &str) {
    let kept = kept(out);
    let matches = players.len() * (players.len() - 1) / 2;
    assert_eq!(kept.len(), games * matches);
    let mut rounds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut openings: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for game in &kept {
        assert_eq!(tag(game, "Variant"), form);
        let (red, black) = (tag(game, "Red"), tag(game, "Black"));
        assert!(
            players.contains(&red) && players.contains(&black),
            "{game:?}"
        );
        let pair = tag(game, "Round")
            .split('.')
            .next()
            .expect("a pair")
            .to_owned();
        let plies: usize = tag(game, "OpeningPlies").parse().expect("a number");
        let opening: Vec<_> = game.moves[..plies]
            .iter()
            .map(|mv| mv.text.as_str())
            .collect();
        let start = game.tag("FEN").unwrap_or_default();
        let opening = format!("{start} {}", opening.join(" "));
        openings.entry(pair.clone()).or_default().insert(opening);
        rounds
            .entry((red.min(black), red.max(black), pair))
            .or_default()
            .push(red);
    }
    for (round, reds) in &rounds {
        assert!(reds.len() == 2 && reds[0] != reds[1], "{round:?}: {reds:?}");
    }
    assert_eq!(openings.len(), games / 2);
    assert!(
        openings.values().all(|opening| opening.len() == 1),
        "{openings:?}"
    );
    let different: BTreeSet<_> = openings.values().flatten().collect();
    assert_eq!(different.len(), games / 2, "openings repeat");
}

#[test]
fn colours_are_swapped_and_deals_replayed() {
    let players = ["random", "greedy", "random?name=another"];
    for form in ["xiangqi", "jieqi", "fanqi-4"] {
        let folder = tempfile::tempdir().expect("a folder");
        let more = ["--form", form, "--games", "6", "--set", "arena.ply_cap=40"];
        let table = ok(&mut arena(&players, folder.path(), &more));
        for word in ["random", "greedy", "another", "score %", "Elo", "endings:"] {
            assert!(table.contains(word), "no {word:?} in\n{table}");
        }
        check_pairs(folder.path(), &["random", "greedy", "another"], 6, form);
        // Players of one kind share openings, not their chance.
        let line = |game: &RecordedGame| -> Vec<_> {
            game.moves.iter().map(|mv| mv.text.clone()).collect()
        };
        let lines: BTreeSet<_> = kept(folder.path()).iter().map(line).collect();
        assert_eq!(lines.len(), 18, "games repeat");
        // All is there: the same again says the same.
        let before = fs::read(folder.path().join("games.pgn")).expect("games");
        assert_eq!(ok(&mut arena(&players, folder.path(), &more)), table);
        assert_eq!(
            fs::read(folder.path().join("games.pgn")).expect("games"),
            before
        );
    }
}

/// Kills the command once a few games are kept, and lets it go on: the games and the table of an unbroken run.
fn check_going_on(players: &[&str], more: &[&str], folder: &Path) {
    let (whole, broken) = (folder.join("whole"), folder.join("broken"));
    let table = ok(&mut arena(players, &whole, more));
    let all = texts(&whole);
    let mut killed = start(&mut arena(players, &broken, more));
    let games = broken.join("games.pgn");
    until("games", || {
        let text = fs::read_to_string(&games).unwrap_or_default();
        text.matches("[Game ").count() > 3 || killed.try_wait().expect("a process").is_some()
    });
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let there = texts(&broken).len();
    eprintln!("killed after {there} of {} games", all.len());
    // A half game, as a full disk leaves it.
    let text = fs::read_to_string(&games).expect("games");
    let torn = &all.iter().next().expect("a game")[..40];
    fs::write(&games, format!("{text}[Game {torn}")).expect("written");
    let output = arena(players, &broken, more)
        .output()
        .expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("half game"), "{}", stderr(&output));
    assert_eq!(texts(&broken), all);
    assert_eq!(stdout(&output), table);
}

#[test]
fn a_killed_tournament_goes_on_with_the_same_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let players = ["random", "alphabeta:2", "greedy"];
    check_going_on(
        &players,
        &["--games", "20", "--form", "fanqi-2"],
        folder.path(),
    );
}

#[test]
fn networks_play_and_go_on_with_the_same_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = run(folder.path()).display().to_string();
    let young = format!("{run}?step=0&visits=8&temperature=0.5&name=young");
    let old = format!("{run}?name=old");
    let players = [old.as_str(), young.as_str(), "random"];
    check_going_on(
        &players,
        &["--games", "12", "--set", "arena.ply_cap=60"],
        folder.path(),
    );
    check_pairs(
        &folder.path().join("whole"),
        &["old", "young", "random"],
        12,
        "xiangqi",
    );
    // A checkpoint's file plays as well as the run.
    let file = format!("{run}/checkpoints/000000000.safetensors");
    let table =
        ok(fanqi(["arena", "greedy", &file, "--games", "2"]).args(["--set", "arena.ply_cap=20"]));
    assert!(table.contains("000000000.safetensors"), "{table}");
    let other = ["random", &run, "--form", "jieqi", "--games", "2"];
    refused(
        fanqi(["arena"]).args(other),
        &["xiangqi", "jieqi", "--force"],
    );
    ok(fanqi(["arena"])
        .args(other)
        .args(["--force", "--set", "arena.ply_cap=20"]));
    refused(
        fanqi(["arena", "random", &format!("{run}?step=77")]).args(["--games", "2"]),
        &["step 77"],
    );
}

#[test]
fn more_games_of_a_tournament_may_be_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let (grown, at_once) = (folder.path().join("grown"), folder.path().join("at once"));
    let players = ["random", "greedy"];
    ok(&mut arena(&players, &grown, &["--games", "4"]));
    ok(&mut arena(&players, &grown, &["--games", "10"]));
    ok(&mut arena(&players, &at_once, &["--games", "10"]));
    assert_eq!(texts(&grown), texts(&at_once));
    refused(
        &mut arena(&players, &grown, &["--games", "4"]),
        &["games.pgn", "--games"],
    );
}

#[test]
fn another_tournament_in_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let games = ["--games", "2"];
    ok(&mut arena(&["random", "greedy"], &out, &games));
    let check = |players: &[&str], more: &[&str], words: &[&str]| {
        let before = texts(&out);
        let all = [&["--out DIR"], words].concat();
        refused(&mut arena(players, &out, &[&games, more].concat()), &all);
        assert_eq!(texts(&out), before);
    };
    check(
        &["greedy", "random"],
        &[],
        &["player 1: `random` there, `greedy` now"],
    );
    check(
        &["random", "alphabeta:1"],
        &[],
        &["player 2", "alphabeta:1"],
    );
    check(
        &["random", "greedy", "alphabeta:1"],
        &[],
        &["player 3: none there"],
    );
    check(
        &["random", "greedy"],
        &["--form", "jieqi"],
        &["form: `xiangqi` there, `jieqi` now"],
    );
    check(
        &["random", "greedy"],
        &["--set", "run.seed=2"],
        &["run.seed: `1` there, `2` now"],
    );
    check(
        &["random", "greedy"],
        &["--opening-plies", "6"],
        &["openings: `4 random plies`"],
    );
    let other = folder.path().join("mine");
    fs::create_dir(&other).expect("a folder");
    fs::write(other.join("letter.txt"), "dear").expect("a file");
    refused(
        &mut arena(&["random", "greedy"], &other, &games),
        &["mine", "neither empty"],
    );
    fs::remove_file(out.join("arena.json")).expect("removed");
    refused(
        &mut arena(&["random", "greedy"], &out, &games),
        &["arena.json is missing"],
    );
}

#[test]
fn openings_come_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("openings.txt");
    let fen = "4k4/9/9/9/9/9/9/9/4R4/4K4 b - - 0 1";
    fs::write(&file, format!("# two\n\nh2e2 炮８平５ H0-G2\n{fen}\n")).expect("written");
    let path = file.display().to_string();
    let out = folder.path().join("out");
    let players = ["random", "greedy"];
    ok(&mut arena(
        &players,
        &out,
        &["--games", "4", "--openings", &path],
    ));
    check_pairs(&out, &players, 4, "xiangqi");
    let games = kept(&out);
    let of = |pair: &str| {
        let game = games
            .iter()
            .find(|game| tag(game, "Round").starts_with(pair));
        game.expect("a game")
    };
    let texts: Vec<_> = of("1.").moves[..3]
        .iter()
        .map(|mv| mv.text.as_str())
        .collect();
    assert_eq!(texts, ["H2-E2", "H7-E7", "H0-G2"]);
    assert_eq!(tag(of("2."), "FEN"), fen);

    let check = |text: &str, more: &[&str], words: &[&str]| {
        fs::write(&file, text).expect("written");
        let mut command = fanqi(["arena", "random", "greedy", "--openings", &path]);
        refused(command.args(more), words);
    };
    check(
        "h2e2\n",
        &["--games", "4"],
        &["openings.txt", "1 openings", "--games 2"],
    );
    check("h2e2\nh2e2 h2e2\n", &["--games", "4"], &["line 2", "h2e2"]);
    check("#\n", &["--games", "2"], &["no opening"]);
    check("hello\n", &["--games", "2"], &["line 1", "hello"]);
    check("4k4/9/9 w\n", &["--games", "2"], &["line 1", "board"]);
    check(
        "R2k5/8R/9/9/9/9/9/9/9/4K4 b - - 0 1\n",
        &["--games", "2"],
        &["over", "checkmate"],
    );
    check(
        "h2e2\n",
        &["--games", "2", "--form", "fanqi-9"],
        &["arrange", "world"],
    );
    let hidden = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w - 0 1\n";
    check(
        hidden,
        &["--games", "2", "--form", "jieqi"],
        &["line 1", "world"],
    );
}

#[test]
fn a_wrong_command_is_refused_with_a_reason() {
    let check = |args: &[&str], words: &[&str]| {
        refused(fanqi(["arena"]).args(args), words);
    };
    check(&["random"], &["PLAYER"]);
    check(&["random", "random"], &["two players", "`random`", "name="]);
    check(
        &["random", "greedier"],
        &["greedier", "no such run or checkpoint"],
    );
    check(&["random", "greedy?visits=3"], &["`visits`"]);
    check(
        &["random", "greedy", "--games", "3"],
        &["--games 3", "even"],
    );
    check(
        &["random", "greedy", "--form", "chess"],
        &["--form chess", "xiangqi"],
    );
    for set in [
        "ruleset.base=fanqi-9",
        "ruleset.forms=[\"fanqi-9\"]",
        "ruleset.no_capture_plies=1",
        "net.blocks=2",
    ] {
        let words = ["--set cannot change", "--form F"];
        check(&["random", "greedy", "--set", set], &words);
    }
    check(
        &["random", "greedy", "--set", "arena.gmaes=3"],
        &["arena.gmaes"],
    );
    check(
        &[
            "random",
            "greedy",
            "--set",
            "arena.ply_cap=5",
            "--opening-plies",
            "5",
        ],
        &["ply_cap", "5 plies"],
    );
    check(
        &["random", "engine:no-such-engine?nodes=1"],
        &["no-such-engine", "cannot be started"],
    );
    check(&["random", "engine:no-such-engine"], &["nodes="]);
}

#[test]
fn an_engine_plays_from_the_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = format!(
        "engine:{} uci?nodes=1&name=first move",
        env!("CARGO_BIN_EXE_fanqi").replace(' ', "%20")
    );
    let more = [
        "--games",
        "4",
        "--engines",
        "2",
        "--set",
        "arena.ply_cap=20",
        "--form",
        "jieqi",
    ];
    let table = ok(&mut arena(&["random", &engine], folder.path(), &more));
    assert!(table.contains("first move"), "{table}");
    check_pairs(folder.path(), &["random", "first move"], 4, "jieqi");
}
