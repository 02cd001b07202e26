//! The engine: what it understands and refuses, and that its moves are legal.
#[path = "support/talk.rs"]
mod talk;

use play::engine::{Protocol, nearest};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use selfplay::bundle::Level;
use selfplay::game::{Color, Game, Referee, Turn};
use selfplay::rules::{Move, Ruleset, World};
use talk::{Talk, model, notes};

const COLORS: [Color; 2] = [Color::Red, Color::Black];

/// Plays a game of both sides through one session; each bestmove is legal in the truth.
fn play_form(rules: &'static Ruleset, seed: u64, plies: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::start(rules, &mut rng);
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    talk.tell(&[&format!("setoption name UCI_Variant value {}", rules.name)]);
    let root = ["gumbel", "puct"][seed as usize % 2];
    talk.tell(&[&format!("setoption name Root value {root}")]);
    // Each side's own placements, and what both see.
    let (mut own, mut public) = ([const { Vec::new() }; 2], Vec::new());
    for _ in 0..plies {
        let Turn::Decision(color) = world.turn() else {
            break;
        };
        let side = ["red", "black"][color as usize];
        let moves: Vec<String> = own[color as usize].iter().chain(&public).cloned().collect();
        let told = talk.tell(&[
            &format!("setoption name Side value {side}"),
            &format!("position startpos moves {}", moves.join(" ")),
        ]);
        assert!(told.is_empty(), "{}: {told:?}", rules.name);
        let best = talk.best("go nodes 12");
        let mv: Move = best
            .parse()
            .unwrap_or_else(|e| panic!("{}: {e}", rules.name));
        let mut legal = Vec::new();
        world.view(color).legal_moves(&mut legal);
        assert!(legal.contains(&mv), "{}: {mv} after {moves:?}", rules.name);
        let secret = !world.is_public();
        let light = world
            .apply(mv, &mut rng)
            .map_or(String::new(), |light| light.to_string());
        if secret {
            own[color as usize].push(mv.to_string());
        } else {
            public.push(format!("{mv}{light}"));
        }
    }
}

#[test]
fn every_move_is_legal_in_every_form() {
    for rules in Ruleset::all() {
        play_form(rules, 1, 60);
    }
}

/// Levels, each stronger than the one before.
fn ladder() -> impl Strategy<Value = Vec<Level>> {
    proptest::collection::vec(0.1f64..200.0, 1..12).prop_map(|steps| {
        let mut elo = -500.0;
        let rung = |(place, gap): (usize, f64)| {
            elo += gap;
            Level {
                form: "xiangqi".into(),
                level: place as u32 + 1,
                elo,
                elo_interval: [elo - 20.0, elo + 20.0],
                step: 0,
                crc32c: String::new(),
                visits: 1,
                temperature: 0.0,
                noise: 0.0,
                policy_loss: None,
            }
        };
        steps.into_iter().enumerate().map(rung).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_nearest_level_is_nearest(ladder in ladder(), elo in -200.0f64..3000.0) {
        let number = nearest(&ladder, elo).expect("a level");
        let distance = |level: &Level| (level.elo - elo).abs();
        let found = ladder.iter().find(|level| level.level == number).expect("a level");
        prop_assert!(ladder.iter().all(|other| distance(other) >= distance(found)));
    }

    #[test]
    fn every_move_is_legal(seed: u64, form in 0..12usize) {
        play_form(Ruleset::all()[form], seed, 80);
    }
}

/// A player's view as a FEN says as much as the moves that led to it: what it knows of the pools and pieces.
#[test]
fn a_view_as_a_fen_is_understood() {
    for rules in Ruleset::all() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let mut world = World::start(rules, &mut rng);
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        talk.tell(&[&format!("setoption name UCI_Variant value {}", rules.name)]);
        let mut legal = Vec::new();
        for ply in 0..60 {
            let Turn::Decision(color) = world.turn() else {
                break;
            };
            let fen = world.position(color).fen();
            let told = talk.tell(&[&format!("position fen {fen}"), "d"]);
            let shown = format!("info string fen {fen}");
            assert!(told.contains(&shown), "{shown}\n{told:#?}");
            if ply % 20 == 19 {
                assert_ne!(talk.best("go nodes 4"), "(none)", "{fen}");
            }
            world.view(color).legal_moves(&mut legal);
            let mv = *legal.choose(&mut rng).expect("a move");
            world.apply(mv, &mut rng);
        }
    }
}

/// `position ...` in a form; the words of its complaint, none: it is understood.
fn check_position(form: &str, position: &str, complaint: &[&str]) {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    let told = talk.tell(&[
        &format!("setoption name UCI_Variant value {form}"),
        &format!("position {position}"),
    ]);
    let text = told.join("\n");
    assert_eq!(
        told.is_empty(),
        complaint.is_empty(),
        "{form}, {position}: {text}"
    );
    for word in complaint {
        assert!(
            text.contains(word),
            "{form}, {position}: no {word:?} in {text}"
        );
    }
    let best = talk.best("go nodes 3");
    assert_eq!(
        best == "(none)",
        !complaint.is_empty(),
        "{form}, {position}: {best}"
    );
}

#[test]
fn positions_are_understood_or_refused_with_a_reason() {
    let jieqi = "fen xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1";
    check_position("xiangqi", "startpos", &[]);
    check_position("xiangqi", "startpos moves", &[]);
    check_position("xiangqi", "startpos moves h2e2 h9g7", &[]);
    check_position(
        "xiangqi",
        "startpos moves h2e2 h2e2",
        &["move 2 'h2e2'", "no piece of Black's side stands on h2"],
    );
    check_position("xiangqi", "startpos moves h2e2=C", &[]);
    check_position(
        "xiangqi",
        "startpos moves h2e2=R",
        &["known to be", "(C)", "no", "(R)"],
    );
    check_position("xiangqi", "startpos moves h2", &["'h2' is no move"]);
    check_position(
        "xiangqi",
        "startpos moves h3e3",
        &["move 1 'h3e3'", "UCI_Ranks"],
    );
    check_position(
        "xiangqi",
        "startpos moves h10g8",
        &["'h10g8' is no move", "UCI_Ranks"],
    );
    check_position("xiangqi", "startpos h2e2", &["'h2e2'", "moves"]);
    check_position("xiangqi", "h2e2", &["startpos or fen"]);
    check_position("xiangqi", "fen 4k4/9/9 w", &["FEN, board", "10"]);
    check_position("jieqi", jieqi, &[]);
    check_position("jieqi", &format!("{jieqi} moves h2e2=R h7e7=N"), &[]);
    check_position(
        "jieqi",
        &format!("{jieqi} moves h2e2"),
        &["move 1 'h2e2'", "any of ABNRCP", "h0g2=R", "FEN"],
    );
    check_position(
        "jieqi",
        &format!("{jieqi} moves h2e2=K"),
        &["h2e2", "any of"],
    );
    check_position("jieqi", &format!("{jieqi} moves h2h9=CxR"), &[]);
    check_position("jieqi", &format!("{jieqi} moves h2h9=C"), &[]);
    check_position(
        "jieqi",
        &format!("{jieqi} red moves h2e2=C b7b0=RxN e2d2 b0c0xN d2e2 c0d0xN"),
        &["move 6 'c0d0xN'", "no N of Red's"],
    );
    check_position(
        "jieqi",
        &format!("{jieqi} red moves h2h9=CxK"),
        &["any of ABNRCP", "(K)"],
    );
    // Who sees what it took has to be told, or its pool would not add up any more.
    for (form, position) in [
        ("jieqi", format!("{jieqi} red moves h2h9=C")),
        ("fanqi-10", "startpos moves h2h9=C".to_owned()),
    ] {
        let complaint = ["took a piece that may be any of ABNRCP", "h0g2xN"];
        check_position(form, &position, &complaint);
    }
    // The owner does not learn what was taken.
    check_position(
        "jieqi",
        &format!("{jieqi} black moves h2h9=CxR i9h9=R"),
        &[],
    );
    check_position("fanqi-10", "startpos moves h2e2=R a9a8=P", &[]);
    check_position("fanqi-9", "startpos moves R@a0 R@b0", &[]);
    check_position("fanqi-9", "startpos moves P@a9 R@b9", &[]);
    check_position("fanqi-9", "startpos moves K@a0", &["'K@a0' is no move"]);
    check_position("fanqi-2", "startpos moves h2e2", &[]);
    check_position("fanqi-1", "startpos moves h0g2 h9g7 g2h0~ g7h9~", &[]);
}

#[test]
fn repetitions_are_known_from_the_moves() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    let fen = "position fen 3k5/9/9/9/r8/9/9/9/4R4/5K3 w - - 0 1 moves";
    let cycle = "e1d1 d9e9 d1e1 e9d9";
    talk.tell(&[&format!("{fen} e1d1 d9e9 d1e1")]);
    let lines = talk.go("go nodes 40");
    let proven = |lines: &[String]| lines.iter().any(|line| line.contains("score mate 1 "));
    assert!(!proven(&lines), "{lines:?}");
    // The third occurrence: Red has given check with every move and loses.
    talk.tell(&[&format!("{fen} {cycle} e1d1 d9e9 d1e1")]);
    let lines = talk.go("go nodes 400");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove e9d9"));
    assert!(proven(&lines), "{lines:?}");
    // Where the program plays on all the same, so does the engine.
    talk.tell(&[&format!("{fen} {cycle} {cycle}")]);
    let lines = talk.go("go nodes 40");
    assert!(notes(&lines)[0].contains("perpetual_check"), "{lines:?}");
    assert!(
        !lines.last().expect("an answer").contains("none"),
        "{lines:?}"
    );
}

#[test]
fn a_mated_side_has_no_move() {
    let mated = "position fen R2k5/R8/9/9/9/9/9/9/9/4K4 b - - 0 1";
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    talk.tell(&[mated]);
    assert_eq!(talk.go("go infinite"), ["bestmove (none)"]);
    let mut talk = Talk::new(Protocol::Ucci, Some(model()));
    talk.tell(&[mated]);
    assert_eq!(talk.go("go depth infinite"), ["nobestmove"]);
}

#[test]
fn ranks_are_read_as_they_are_written() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    let legal = |lines: Vec<String>| -> Vec<String> {
        let line = lines
            .iter()
            .find_map(|line| line.strip_prefix("info string legal "));
        line.expect("a list")
            .split(' ')
            .map(str::to_owned)
            .collect()
    };
    let from_zero = legal(talk.tell(&["d"]));
    let from_one = legal(talk.tell(&["setoption name UCI_Ranks value 1-10", "d"]));
    assert!(from_zero.contains(&"h2h9".to_owned()) && from_one.contains(&"h3h10".to_owned()));
    for (mv, other) in from_zero.iter().zip(&from_one) {
        talk.tell(&[&format!("position startpos moves {other}")]);
        let there = talk.tell(&["d"])[1].clone();
        talk.tell(&[
            "setoption name UCI_Ranks value 0-9",
            &format!("position startpos moves {mv}"),
        ]);
        let here = talk.tell(&["d", "setoption name UCI_Ranks value 1-10"])[1].clone();
        assert_eq!(here, there, "{mv}, {other}");
    }
    for wrong in ["h0e2", "h11e3", "h3e", "h3e20"] {
        let told = talk.tell(&[&format!("position startpos moves {wrong}")]);
        assert!(told[0].contains("is no move"), "{wrong}: {told:?}");
    }
}

#[test]
fn options_are_taken_or_refused_with_what_is_valid() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    let mut check = |option: &str, words: &[&str]| {
        let told = talk.tell(&[&format!("setoption {option}")]).join("\n");
        assert_eq!(told.is_empty(), words.is_empty(), "{option}: {told}");
        for word in words {
            assert!(told.contains(word), "{option}: no {word:?} in {told}");
        }
    };
    check("name Hash value 64", &[]);
    check("name hash value 0", &["Hash", "'0'", "1 to 16384"]);
    check("name Move Overhead value 100", &[]);
    check("name MultiPV value many", &["'many'", "whole number"]);
    check("name UCI_Variant value jieqi", &[]);
    check(
        "name UCI_Variant value chess",
        &["'chess'", "xiangqi", "fanqi-10"],
    );
    check("name Temperature value 0.5", &[]);
    check("name Temperature value nan", &["Temperature", "0 to 10"]);
    check("name Root value puct", &[]);
    check("name Root value alphabeta", &["auto, gumbel, puct"]);
    check("name Ponder value true", &[]);
    check("name Ponder value perhaps", &["true or false"]);
    check(
        "name Nonsense value 1",
        &["no option 'Nonsense'", "MultiPV"],
    );
    check("Hash 64", &["name NAME"]);
    check(
        "name Model value /nowhere/at/all",
        &[
            "Model",
            "the folder of a bundle",
            "/nowhere/at/all",
            "model.json",
        ],
    );
    check("name Clear Hash", &[]);
    check(
        "name usemillisec value true",
        &["usemillisec", "UCI has it not"],
    );
    let mut talk = Talk::new(Protocol::Ucci, None);
    let mut say = |line: &str| talk.tell(&[line]).join("\n");
    let unknown = say("setoption Clear Hash");
    for word in ["'Clear'", "Clear_Hash", "hashsize", "usemillisec"] {
        assert!(unknown.contains(word), "no {word:?} in {unknown}");
    }
    assert!(!unknown.contains("UCI_Ranks"), "{unknown}");
    let other = say("setoption UCI_Ranks 1-10");
    assert!(other.contains("UCI_Ranks: UCCI has it not"), "{other}");
}

#[test]
fn both_colours_own_what_their_side_says() {
    for color in COLORS {
        let side = ["red", "black"][color as usize];
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        talk.tell(&[
            "setoption name UCI_Variant value fanqi-9",
            &format!("setoption name Side value {side}"),
            "position startpos",
        ]);
        let best = talk.best("go nodes 4");
        let rank = ["0", "9"][color as usize];
        assert!(best.contains('@') && best.ends_with(rank), "{side}: {best}");
    }
}
