//! The report of a run: its parts as laws, then the page that the binary writes.
mod binary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use binary::{fanqi, games, ok, refused, start, train, until};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Game, Outcome, Reason, Referee, Turn, random_move};
use selfplay::rules::{Kind, Ruleset, Square, World};
use serde_json::{Value, json};
use train::games::GameText;
use train::report::choice::{Summary, choose};
use train::report::curves::Curves;
use train::report::replay::{Replay, replay};
use train::report::tally::Tally;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A game of random moves, as a run keeps it, and its worlds: before each ply and at the end.
fn random_game(rules: &'static Ruleset, seed: u64) -> (GameText, Vec<World>) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::start(rules, &mut rng);
    let (start, mut worlds, mut moves) = (world.fen(), vec![world.clone()], Vec::new());
    let mut ending = Ending {
        outcome: Outcome::Draw,
        reason: Reason::PlyCap,
    };
    loop {
        let color = match world.turn() {
            Turn::Decision(color) => color,
            Turn::Over(found) => {
                ending = found;
                break;
            }
            Turn::Chance => unreachable!("the truth holds no chance"),
        };
        if moves.len() == 160 {
            break;
        }
        let (view, mut legal) = (world.view(color), Vec::new());
        view.legal_moves(&mut legal);
        let mv = random_move(&view, &legal, &mut rng);
        let light = world.apply(mv, &mut rng);
        moves.push(mv.to_string() + &light.map_or(String::new(), |light| light.to_string()));
        worlds.push(world.clone());
    }
    let game = GameText {
        id: seed,
        run: "run".into(),
        seed,
        form: rules.name.into(),
        start,
        moves,
        ending,
        net_step_first: 0,
        net_step_last: 0,
        would_resign: None,
    };
    (game, worlds)
}

/// Lays `SQUARE:TEXT` of each changed square on a board.
fn lay(board: &mut [String], changes: &str) {
    for text in changes.split_whitespace() {
        let (square, cell) = text.split_once(':').expect("a square and its text");
        board[square.parse::<usize>().expect("an index")] = cell.to_owned();
    }
}

/// What a viewer knows of a square, by its text: letter of what it plays as, whether it is down, what it is.
fn told(cell: &str, viewer: Color) -> Option<(char, bool, Option<char>)> {
    let letters: Vec<char> = cell.chars().collect();
    match letters[..] {
        [] => None,
        [up] => Some((up, false, Some(up))),
        [role, truth, known] => {
            let bits = known.to_digit(10).expect("who knows");
            let knows = bits >> (viewer as u32) & 1 == 1;
            Some((role, true, Some(truth).filter(|_| knows)))
        }
        _ => panic!("no square's text: {cell}"),
    }
}

/// The same by the world.
fn known(world: &World, square: Square, viewer: Color) -> Option<(char, bool, Option<char>)> {
    let piece = world.position(viewer).piece_at(square)?;
    let cased = |kind: Kind| match piece.color {
        Color::Red => kind.letter(),
        Color::Black => kind.letter().to_ascii_lowercase(),
    };
    let truth = piece.identity().map(cased);
    Some((cased(piece.kind), piece.is_down(), truth))
}

#[test]
fn the_boards_shown_are_what_each_player_knows() {
    for (i, rules) in Ruleset::all().iter().enumerate() {
        for seed in 0..6 {
            let (game, worlds) = random_game(rules, 100 * i as u64 + seed);
            let shown = replay(&game, rules).expect("a kept game");
            assert_eq!((shown.fault, shown.plies.len()), (None, game.moves.len()));
            assert_eq!(shown.first > 0, rules.arranged());
            let mut board = vec![String::new(); 90];
            lay(&mut board, &shown.start);
            let mut unseen = shown.unseen.clone();
            for (ply, world) in worlds.iter().enumerate() {
                if let Some(ply) = ply.checked_sub(1).map(|last| &shown.plies[last]) {
                    lay(&mut board, &ply.cells);
                    unseen = ply.unseen.clone().or(unseen);
                }
                for square in Square::all() {
                    for viewer in [Color::Red, Color::Black] {
                        assert_eq!(
                            told(&board[square.index()], viewer),
                            known(world, square, viewer),
                            "{} seed {seed} ply {ply} {square} {viewer:?}",
                            rules.name
                        );
                    }
                }
                check_unseen(world, unseen.as_deref());
            }
        }
    }
}

fn check_unseen(world: &World, digits: Option<&str>) {
    let position = |viewer| world.position(viewer);
    let expected: String = [Color::Red, Color::Black]
        .into_iter()
        .flat_map(|viewer| [Color::Red, Color::Black].map(|color| position(viewer).pool(color)))
        .flatten()
        .map(|n| n.to_string())
        .collect();
    let hides = position(Color::Red).rules().hides();
    assert_eq!(digits, hides.then_some(expected.as_str()));
}

#[test]
fn what_was_taken_is_shown_with_who_saw_it() {
    let (mut both, mut captor) = (0, 0);
    for seed in 0..40 {
        for name in ["jieqi", "fanqi-10"] {
            let rules = Ruleset::by_name(name).expect("a form");
            let (game, _) = random_game(rules, seed);
            for ply in replay(&game, rules).expect("a kept game").plies {
                let Some(taken) = ply.taken.filter(|text| text.len() == 3) else {
                    continue;
                };
                let known = taken.as_bytes()[2] - b'0';
                match name {
                    "jieqi" => {
                        assert_eq!(known, [1, 2][usize::from(ply.side)], "the captor alone");
                        captor += 1;
                    }
                    _ => {
                        assert_eq!(known, 3, "both players");
                        both += 1;
                    }
                }
            }
        }
    }
    assert!(both > 20 && captor > 20, "{both} and {captor} captures");
}

/// A game that breaks off where it is damaged says where, and is shown up to there.
#[test]
fn damaged_games_say_what_is_wrong() {
    let rules = Ruleset::by_name("fanqi-10").expect("a form");
    let (game, _) = random_game(rules, 3);
    let check = |change: &dyn Fn(&mut GameText), plies: usize, word: &str| {
        let mut damaged = game.clone();
        change(&mut damaged);
        let shown: Replay = replay(&damaged, rules).expect("its start is sound");
        assert_eq!(shown.plies.len(), plies);
        let fault = shown.fault.expect("a fault");
        assert!(fault.contains(word), "{fault}");
    };
    let all = game.moves.len();
    check(&|g| g.moves[4] = "a0a9".into(), 4, "ply 5");
    check(&|g| g.moves[7] = "nonsense".into(), 7, "ply 8");
    check(&|g| g.moves[0] = "a0a9".into(), 0, "ply 1");
    if game.ending.reason != Reason::PlyCap {
        check(&|g| g.ending.reason = Reason::GameRule, all, "rules end it");
    }
    let mut startless = game.clone();
    startless.start = "9/9 w".into();
    assert!(replay(&startless, rules).is_err());
}

fn any_summaries() -> impl Strategy<Value = Vec<Summary>> {
    let outcome = prop_oneof![
        Just(Outcome::Draw),
        Just(Outcome::Win(Color::Red)),
        Just(Outcome::Win(Color::Black)),
    ];
    let reason = prop_oneof![
        8 => Just(Reason::Checkmate),
        1 => Just(Reason::Stalemate),
        1 => Just(Reason::Resignation),
    ];
    let summary = (0..3usize, outcome, reason, 1..120u32);
    let made = |(form, outcome, reason, plies)| Summary {
        form,
        ending: Ending { outcome, reason },
        plies,
    };
    prop::collection::vec(summary.prop_map(made), 0..400)
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn the_choice_is_bounded_and_has_every_kind(games in any_summaries(), limit in 0..120usize) {
        let chosen = choose(&games, limit);
        prop_assert!(chosen.len() == limit.min(games.len()), "as many as there is room for");
        prop_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
        if limit >= 100 && !games.is_empty() {
            let kind = |i: usize| (games[i].form, games[i].ending);
            for game in 0..games.len() {
                prop_assert!(chosen.iter().any(|&c| kind(c) == kind(game)));
            }
            let longest = |of: &[usize]| of.iter().map(|&i| games[i].plies).max();
            let all: Vec<_> = (0..games.len()).collect();
            prop_assert_eq!(longest(&chosen), longest(&all));
            prop_assert!(chosen.contains(&(games.len() - 1)), "the newest");
        }
    }

    #[test]
    fn a_histogram_has_every_game(lengths in prop::collection::vec(0..3000usize, 0..200)) {
        let mut tally = Tally::default();
        let (game, _) = random_game(Ruleset::by_name("xiangqi").expect("a form"), 1);
        for plies in &lengths {
            tally.add(&GameText { moves: vec!["a0a1".into(); *plies], ..game.clone() });
        }
        let histogram = tally.histogram();
        let counted: u64 = histogram.bars.iter().flatten().sum();
        prop_assert_eq!(counted, lengths.len() as u64);
        prop_assert!(histogram.bars.len() <= 41);
        let [least, middle, most] = tally.spread();
        prop_assert!(least <= middle && middle <= most);
    }
}

fn curves(lines: &[Value]) -> Curves {
    let map = |line: &Value| line.as_object().expect("an object").clone();
    Curves::of(lines.iter().map(map).collect())
}

#[test]
fn curves_leave_out_what_a_killed_process_logged_too_far() {
    let line = |step: u64, loss: f64| json!({"step": step, "train/loss": loss});
    let found = curves(&[line(0, 5.0), line(10, 4.0), line(20, 9.0), line(12, 3.0)]);
    assert_eq!(found.axes.step, [0.0, 10.0, 12.0]);
    let losses = found.column("train/loss").expect("a column");
    assert_eq!(losses, [Some(5.0), Some(4.0), Some(3.0)]);
    assert_eq!(found.column("train/value_loss"), None);
    assert_eq!(found.at(11.0), (0.0, 0.0));
}

#[test]
fn a_reason_that_is_left_out_ended_no_game() {
    let found = curves(&[
        json!({"step": 1, "selfplay/plies_per_game": 80.0, "endings/checkmate": 1.0}),
        json!({"step": 2, "selfplay/plies_per_game": 90.0, "endings/repetition": 1.0}),
        json!({"step": 3}),
        json!({"step": 3, "strength/random": 0.75}),
    ]);
    let mate = found.reason("checkmate").expect("a column");
    assert_eq!(mate, [Some(1.0), Some(0.0), None]);
    assert_eq!(found.scores, [(3, "random".to_owned(), 0.75)]);
}

#[test]
fn ratings_of_the_ladder_are_no_reports() {
    let found = curves(&[
        json!({"step": 1, "train/loss": 2.0}),
        json!({"step": 1, "ladder/step": 0, "ladder/elo": 12.0}),
        json!({"step": 2, "train/loss": 1.0}),
    ]);
    assert_eq!(found.axes.step, [1.0, 2.0]);
    assert!(found.scores.is_empty());
}

#[test]
fn many_reports_become_few_points() {
    let lines: Vec<_> = (0..5000)
        .map(|step| json!({"step": step, "train/loss": 2.0}))
        .collect();
    let found = curves(&lines);
    assert!(found.axes.step.len() <= 400 && found.merged == 13);
    assert_eq!(found.axes.step.last(), Some(&4999.0));
    assert!(
        found
            .column("train/loss")
            .expect("losses")
            .iter()
            .all(|x| *x == Some(2.0))
    );
}

/// A tiny run with its matches.
fn tiny_run(folder: &Path, sets: &[&str]) -> PathBuf {
    let run = folder.join("run");
    ok(&mut train(&run, sets));
    run
}

fn report(run: &Path, more: &[&str]) -> Command {
    let mut command = fanqi(["report"]);
    command.arg(run).args(more);
    command
}

fn page(run: &Path) -> String {
    fs::read_to_string(run.join("report.html")).expect("a page")
}

/// The data that the page's scripts read.
fn data(page: &str) -> Value {
    let (_, rest) = page
        .split_once(r#"<script type="application/json" id="data">"#)
        .expect("data");
    let (json, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn the_binary_writes_a_page_with_every_section() {
    let folder = tempfile::tempdir().expect("a folder");
    let sets = ["arena.every_checkpoints=2", "ladder.every_checkpoints=1"];
    let run = tiny_run(folder.path(), &sets);
    let before: Vec<_> = files(&run);
    let said = ok(&mut report(&run, &[]));
    assert!(
        said.contains("report.html") && said.contains("games to replay"),
        "{said}"
    );
    assert!(!said.contains("damaged"), "{said}");
    let mut after = files(&run);
    after.retain(|path| !path.ends_with("report.html"));
    assert_eq!(after, before, "nothing else was written");

    let page = page(&run);
    for id in [
        "strength", "training", "selfplay", "speed", "games", "config",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    for text in [
        "Matches of step",
        "random",
        "produced_rows",
        "ply cap",
        "uPlot",
        "楚",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains(r#"src=""#) && !page.contains("href=\"http"),
        "it loads nothing"
    );
    let data = data(&page);
    let charts = data["charts"].as_array().expect("charts");
    for id in [
        "policy-loss",
        "value-loss",
        "results",
        "endings",
        "game-length",
        "lengths",
        "positions-speed",
    ] {
        let chart = charts.iter().find(|chart| chart["id"] == id);
        assert!(
            chart.is_some_and(|c| c["lines"][0]["values"].is_array()),
            "{id}"
        );
    }
    let curve = &data["strength"][0]["points"];
    assert!(
        curve.as_array().is_some_and(|points| points.len() > 1),
        "{curve}"
    );
    assert!(curve[0]["low"].is_number() && curve[0]["high"].is_number());
    let points = data["ladder"][0]["points"].as_array().expect("a ladder");
    assert!(points.len() > 1 && points[0]["step"] == 0, "{points:?}");
    assert!(points[1]["low"].as_f64() < points[1]["high"].as_f64());
    let opponents = &data["ladder"][0]["opponents"];
    assert!(
        opponents
            .as_array()
            .is_some_and(|all| all.contains(&json!(["random", 0.0]))),
        "{opponents}"
    );
    assert!(page.contains("<table class=\"cross\">") && page.contains("the ratings expect"));
    let games = data["games"].as_array().expect("games");
    assert!(!games.is_empty() && games.iter().all(|game| game["fault"].is_null()));

    ok(&mut report(&run, &["--games", "3"]));
    let page = self::page(&run);
    assert_eq!(self::data(&page)["games"].as_array().map(Vec::len), Some(3));
}

/// All files below a folder, with their sizes.
fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path.display().to_string()),
        }
    }
    all.sort();
    all
}

#[test]
fn only_a_report_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &["run.produced_rows=1"]);
    let own = folder.path().join("mine.html");
    let to = |path: &Path| report(&run, &["--out", path.to_str().expect("UTF-8")]);
    for text in ["", "<!doctype html>\n<p>mine</p>"] {
        fs::write(&own, text).expect("written");
        refused(&mut to(&own), &["mine.html", "no report", "--out"]);
        assert_eq!(fs::read_to_string(&own).expect("there"), text);
    }
    fs::remove_file(&own).expect("removed");
    ok(&mut to(&own));
    ok(&mut to(&own));
    refused(
        &mut to(folder.path()),
        &[folder.path().to_str().expect("UTF-8")],
    );
    refused(&mut to(&folder.path().join("none/page.html")), &["none"]);
    refused(&mut report(folder.path(), &[]), &["not a run directory"]);
}

#[test]
fn what_is_missing_or_damaged_is_said_in_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &["run.produced_rows=900"]);
    let games: Vec<_> = files(&run.join("games"));
    assert!(games.len() > 2, "{games:?}");
    fs::write(&games[0], "[Id \"1\"]\n[Broken").expect("written");
    fs::remove_file(&games[1]).expect("removed");
    let third = fs::read_to_string(&games[2]).expect("there");
    let first_line = third.find("\n1: ").expect("moves") + 4;
    let damaged = third[..first_line].to_owned() + "a0a8" + &third[first_line + 4..];
    fs::write(&games[2], damaged).expect("written");
    fs::remove_dir_all(run.join("strength")).expect("removed");
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).expect("there");
    let kept: Vec<_> = metrics
        .lines()
        .filter(|line| !line.contains("strength/"))
        .collect();
    fs::write(run.join("metrics.jsonl"), kept.join("\n") + "\n{broken\n").expect("written");

    let said = ok(&mut report(&run, &[]));
    assert!(said.contains("4 things missing or damaged"), "{said}");
    let page = page(&run);
    for text in [
        "4 things are",
        "1 of ",
        "files are missing",
        "000001.txt cannot be read",
        "ply 1",
        "metrics.jsonl: line",
        "has kept no table of matches yet",
    ] {
        assert!(page.contains(text), "{text}");
    }
    fs::remove_dir_all(run.join("games")).expect("removed");
    fs::remove_file(run.join("metrics.jsonl")).expect("removed");
    ok(&mut report(&run, &[]));
    let page = self::page(&run);
    for text in [
        "There is no game to replay",
        "No finished game",
        "Nothing has been reported",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_run_is_reported_while_it_trains() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let mut child = start(&mut train(&run, &["run.produced_rows=0"]));
    until("committed games", || games(&run) > 0);
    ok(&mut report(&run, &[]));
    assert!(
        child.try_wait().expect("a child").is_none(),
        "training goes on"
    );
    assert!(page(&run).contains("at work"));
}

#[test]
fn a_run_of_another_machine_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = tiny_run(folder.path(), &["run.produced_rows=1"]);
    let path = run.join("config.toml");
    let config = fs::read_to_string(&path).expect("there");
    let other = config.replace("device = \"cpu\"", "device = \"cuda\"");
    assert_ne!(config, other);
    fs::write(&path, other).expect("written");
    ok(&mut report(&run, &[]));
    assert!(page(&run).contains("cuda"));
}

/// Opens the page in Chromium, if there is one.
fn browse(run: &Path) {
    ok(&mut report(run, &[]));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/report_page.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(run.join("report.html"))
        .output();
    let Ok(out) = out else {
        eprintln!("skipped: python3 is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    match out.status.code() {
        Some(0) => {}
        Some(77) => eprintln!("skipped: {text}"),
        code => panic!("{code:?}: {text}"),
    }
}

#[test]
fn a_browser_draws_the_page_of_an_open_form() {
    let folder = tempfile::tempdir().expect("a folder");
    let sets = ["arena.every_checkpoints=2", "ladder.every_checkpoints=1"];
    browse(&tiny_run(folder.path(), &sets));
}

#[test]
fn a_browser_draws_the_page_of_hidden_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let forms = "ruleset.forms=[\"jieqi\",\"fanqi-9\",\"fanqi-10\"]";
    let sets = [forms, "selfplay.ply_cap=60", "ladder.every_checkpoints=1"];
    browse(&tiny_run(folder.path(), &sets));
}
