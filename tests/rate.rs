//! `fanqi rate` and `fanqi arena --sprt`, from the command line to what they print.
mod binary;

use std::fs;
use std::path::Path;

use binary::{fanqi, ok, refused, stderr, stdout};

/// A game of a file: event, round, players, result, form.
type Game<'a> = [&'a str; 6];

/// What `fanqi arena` calls its event.
const ARENA: &str = "fanqi arena";

fn write(path: &Path, games: &[Game]) {
    let text = |[event, round, red, black, result, form]: &Game| {
        let tags = [
            ("Game", "Chinese Chess"),
            ("Event", event),
            ("Round", round),
            ("Red", red),
            ("Black", black),
            ("Result", result),
            ("Variant", form),
        ];
        let tags: String = (tags.iter())
            .map(|(name, value)| format!("[{name} \"{value}\"]\n"))
            .collect();
        format!("{tags}\n1. H2-E2\n{result}\n\n")
    };
    fs::write(path, games.iter().map(text).collect::<String>()).expect("written");
}

/// The list of some games as JSON.
fn rated(games: &[Game], more: &[&str]) -> serde_json::Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.pgn");
    write(&path, games);
    let text = ok(fanqi(["rate", "--json"]).arg(&path).args(more));
    serde_json::from_str(&text).expect("JSON")
}

fn elo(list: &serde_json::Value, name: &str) -> f64 {
    let players = list["players"].as_array().expect("players");
    let player = players.iter().find(|player| player["name"] == name);
    player.expect(name)["elo"]["value"]
        .as_f64()
        .expect("a number")
}

/// Width of a player's interval.
fn width(list: &serde_json::Value, name: &str) -> f64 {
    let players = list["players"].as_array().expect("players");
    let player = players.iter().find(|player| player["name"] == name);
    let interval = &player.expect(name)["elo"]["interval"];
    let end = |end: &str| interval[end].as_f64().expect("a number");
    end("upper") - end("lower")
}

/// The rounds, events, players and results of `count` pairs of a and b; whoever moves first wins.
fn pairs(count: usize, event: &'static str) -> Vec<(String, [&'static str; 4])> {
    (1..=count)
        .flat_map(|n| {
            [
                (format!("{n}.1"), [event, "a", "b", "1-0"]),
                (format!("{n}.2"), [event, "b", "a", "1-0"]),
            ]
        })
        .collect()
}

#[test]
fn a_score_is_its_elo() {
    // Three wins of four: 400 log10(3) Elo, without a prior.
    let games = [
        ["x", "1", "a", "b", "1-0", "xiangqi"],
        ["x", "2", "b", "a", "0-1", "xiangqi"],
        ["x", "3", "a", "b", "1-0", "xiangqi"],
        ["x", "4", "b", "a", "1-0", "xiangqi"],
    ];
    let expected = 400.0 * 3.0_f64.log10();
    let list = rated(&games, &["--prior-games", "0", "--anchor", "b=100"]);
    assert!((elo(&list, "a") - 100.0 - expected).abs() < 0.1, "{list}");
    assert!((elo(&list, "b") - 100.0).abs() < 1e-9, "{list}");
    let list = rated(&games, &["--prior-games", "0"]);
    assert!((elo(&list, "a") - expected / 2.0).abs() < 0.1, "{list}");
}

#[test]
fn pairs_of_the_arena_are_pairs() {
    // Whoever moves first wins: as pairs they say that the two are equals, as single games next to nothing.
    let of = |event: &'static str| {
        let pairs = pairs(20, event);
        let games: Vec<Game> = (pairs.iter())
            .map(|(round, [event, red, black, result])| {
                [*event, round, red, black, result, "xiangqi"]
            })
            .collect();
        rated(&games, &["--anchor", "b=0"])
    };
    let (paired, single) = (of(ARENA), of("another"));
    assert!(elo(&paired, "a").abs() < 1e-6 && elo(&single, "a").abs() < 1e-6);
    assert!(
        width(&paired, "a") < 0.7 * width(&single, "a"),
        "{paired}\n{single}"
    );
}

#[test]
fn what_cannot_be_counted_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, anchors) = (folder.path().join("g.pgn"), folder.path().join("a.toml"));
    let games = [
        ["x", "1", "a", "b", "1-0", "xiangqi"],
        ["x", "2", "a", "b", "*", "xiangqi"],
        ["x", "3", "a", "?", "1-0", "xiangqi"],
        ["x", "4", "a", "a", "1-0", "xiangqi"],
        ["x", "5", "b", "a", "1/2-1/2", "jieqi"],
    ];
    write(&path, &games);
    let rate = |more: &[&str]| {
        let mut command = fanqi(["rate"]);
        command.arg(&path).args(more);
        command
    };
    refused(&mut rate(&[]), &["jieqi, xiangqi", "--form"]);
    let output = rate(&["--form", "xiangqi"]).output().expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    for words in [
        "game 2 (line 12): left out: no result",
        "game 3 (line 23): left out: no player in the tag Black",
        "game 4 (line 34): left out: a plays against itself",
    ] {
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(stdout(&output).starts_with("xiangqi, 1 games\n"));
    let jieqi = ok(&mut rate(&["--form", "jieqi"]));
    assert!(jieqi.starts_with("jieqi, 1 games\n"), "{jieqi}");
    refused(
        &mut rate(&["--form", "fanqi-1"]),
        &["no game of fanqi-1", "jieqi, xiangqi"],
    );
    refused(
        &mut rate(&["--form", "xiangqi", "--anchor", "c=5"]),
        &["anchor c", "a, b"],
    );
    refused(
        &mut rate(&["--form", "xiangqi", "--anchor", "c"]),
        &["PLAYER=ELO"],
    );
    refused(
        &mut rate(&["--form", "xiangqi", "--prior-games", "-1"]),
        &["prior_games"],
    );
    let with = |text: &str, words: &[&str]| {
        fs::write(&anchors, text).expect("written");
        let file = anchors.display().to_string();
        let more = ["--form", "xiangqi", "--anchors", &file];
        if words.is_empty() {
            ok(&mut rate(&more))
        } else {
            refused(&mut rate(&more), words)
        }
    };
    let known = with("[anchors]\n\"a\" = 50\n\"nobody\" = 7\n", &[]);
    assert!(
        known.contains("anchor") && !known.contains("nobody"),
        "{known}"
    );
    with("[anchors]\n\"nobody\" = 7\n", &["a.toml", "none of these"]);
    with("anchors = 3\n", &["a.toml", "[anchors]"]);
    with("[anchors]\n\"a\" = \"x\"\n", &["a.toml", "[anchors]"]);
    refused(
        fanqi(["rate"]).arg(folder.path().join("none.pgn")),
        &["none.pgn"],
    );
    fs::write(&path, "").expect("written");
    refused(&mut rate(&[]), &["no games to rate"]);
}

#[test]
fn a_game_without_moves_counts_for_nobody_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.pgn");
    let game = |red: &str, black: &str, result: &str, moves: &str| {
        format!("[Red \"{red}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{moves}\n")
    };
    let games = [
        game("a", "b", "1-0", ""),
        game("c", "a", "0-1", "1. h2e2\n"),
        game("b", "c", "*", ""),
        game("b", "c", "1/2-1/2", "1. h2e2 1/2-1/2\n1. c3c4 1-0\n"),
    ];
    fs::write(&path, games.concat()).expect("written");
    let output = fanqi(["rate", "--json"]).arg(&path).output();
    let output = output.expect("fanqi starts");
    let said = stderr(&output);
    let words = [
        "game 3 (line 12): left out: no result",
        "game 4 (line 17): left out: the text behind its result (line 22)",
    ];
    assert_eq!(said.lines().count(), words.len(), "{said}");
    words
        .iter()
        .for_each(|words| assert!(said.contains(words), "{said}"));
    let list: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert!(elo(&list, "a") > elo(&list, "b") + 10.0, "{list}");
    assert!((elo(&list, "b") - elo(&list, "c")).abs() < 0.1, "{list}");
}

#[test]
fn a_tournament_is_rated() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let players = ["random", "greedy", "alphabeta:2"];
    let arena = ["--games", "20", "--set", "arena.ply_cap=200"];
    ok(fanqi(["arena"])
        .args(players)
        .arg("--out")
        .arg(&out)
        .args(arena));
    let text = ok(fanqi(["rate", "--anchor", "random=0", "--first-mover"]).arg(&out));
    let line = |name: &str| {
        let found = text
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name));
        found.unwrap_or_else(|| panic!("no {name} in\n{text}"))
    };
    assert!(text.starts_with("xiangqi, 60 games\n"), "{text}");
    assert!(line("alphabeta:2").starts_with('1'), "{text}");
    assert!(line("random").contains("anchor"), "{text}");
    for words in ["LOS %", "draws between equals", "moving first", "(20)"] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
}

#[test]
fn a_test_ends_with_its_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |name: &str, players: [&str; 2], bounds: [&str; 2], verdict: &str| {
        let out = folder.path().join(name);
        let arena = || {
            let mut command = fanqi(["arena"]);
            command.args(players).arg("--out").arg(&out);
            command.args(["--sprt", bounds[0], bounds[1], "--games", "2000"]);
            command.args(["--set", "arena.ply_cap=100"]);
            command
        };
        let text = ok(&mut arena());
        assert!(text.contains(verdict), "no {verdict:?} in\n{text}");
        let games = || fs::read_to_string(out.join("games.pgn")).expect("games");
        let kept = games();
        let count = kept.matches("[Game ").count();
        assert!((10..1500).contains(&count), "{count} games");
        // The verdict stands: the same again plays nothing.
        assert_eq!(ok(&mut arena()), text);
        assert_eq!(games(), kept);
    };
    let h1 = "H1 is accepted: +100 Elo rather than +0";
    check("stronger", ["greedy", "random"], ["0", "100"], h1);
    let h0 = "H0 is accepted: -10 Elo rather than +40";
    check("weaker", ["random", "greedy"], ["-10", "40"], h0);
}

#[test]
fn a_test_that_makes_no_sense_is_refused() {
    let check = |players: &[&str], more: &[&str], words: &[&str]| {
        refused(fanqi(["arena"]).args(players).args(more), words);
    };
    let two = ["random", "greedy"];
    check(&two, &["--sprt", "5", "0"], &["--sprt", "elo0 below elo1"]);
    check(
        &two,
        &["--sprt", "0", "5", "--alpha", "0.7"],
        &["alpha 0.7"],
    );
    check(&two, &["--sprt", "0"], &["--sprt"]);
    check(&two, &["--alpha", "0.1"], &["--sprt"]);
    check(
        &["random", "greedy", "alphabeta:1"],
        &["--sprt", "0", "5"],
        &["two players", "3"],
    );
}
