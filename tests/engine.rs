//! The engine: what it understands, what it answers, and that its moves are legal.
#[path = "support/talk.rs"]
mod talk;

use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Game, Referee, Turn};
use selfplay::rules::{Move, Ruleset, World};
use talk::{Talk, is_protocol, model};
use train::engine::Protocol;

const COLORS: [Color; 2] = [Color::Red, Color::Black];

/// The notes among the lines.
fn notes(lines: &[String]) -> Vec<&String> {
    let note = |line: &&String| line.starts_with("info string") || line.starts_with("info message");
    lines.iter().filter(note).collect()
}

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

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
        &["move 2 'h2e2'", "not legal"],
    );
    check_position("xiangqi", "startpos moves h2e2=C", &[]);
    check_position("xiangqi", "startpos moves h2e2=R", &["no R turned up"]);
    check_position("xiangqi", "startpos moves h2", &["'h2' is no move"]);
    check_position("xiangqi", "startpos h2e2", &["'h2e2'", "moves"]);
    check_position("xiangqi", "h2e2", &["startpos or fen"]);
    check_position("xiangqi", "fen 4k4/9/9 w", &["FEN, board", "10"]);
    check_position("jieqi", jieqi, &[]);
    check_position("jieqi", &format!("{jieqi} moves h2e2=R h7e7=N"), &[]);
    check_position(
        "jieqi",
        &format!("{jieqi} moves h2e2"),
        &["h2e2", "A", "h2e2=A", "FEN"],
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
        &format!("{jieqi} red moves h2h9=CxK"),
        &["takes", "no K"],
    );
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
fn lines_are_of_different_moves_and_their_numbers_fit() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    talk.tell(&[
        "setoption name MultiPV value 4",
        "setoption name UCI_ShowWDL value true",
    ]);
    let lines = talk.go("go nodes 300");
    let last: Vec<_> = lines.iter().rev().skip(1).take(4).collect();
    let after = |line: &str, word: &str| -> String {
        let mut words = line.split(' ').skip_while(|w| *w != word).skip(1);
        words.next().unwrap_or_default().to_owned()
    };
    let mut firsts: Vec<_> = last.iter().map(|line| after(line, "pv")).collect();
    let best = after(&lines[lines.len() - 1], "bestmove");
    assert_eq!(after(last[3], "pv"), best, "{lines:?}");
    firsts.sort();
    firsts.dedup();
    assert_eq!(firsts.len(), 4, "{last:?}");
    for line in last {
        let wdl = line.split(" wdl ").nth(1).expect("wdl");
        let sum: u32 = wdl
            .split(' ')
            .take(3)
            .map(|n| n.parse::<u32>().expect("a number"))
            .sum();
        assert_eq!(sum, 1000, "{line}");
        assert_eq!(after(line, "nodes"), "300");
        let depth: u64 = after(line, "depth").parse().expect("a depth");
        assert!(
            depth <= after(line, "seldepth").parse().expect("a depth"),
            "{line}"
        );
    }
}

#[test]
fn only_the_moves_asked_for_are_played() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    let best = talk.best("go searchmoves a0a1 a3a4 nodes 50");
    assert!(["a0a1", "a3a4"].contains(&best.as_str()), "{best}");
    let lines = talk.go("go nodes 5 searchmoves a0a9");
    assert!(notes(&lines)[0].contains("a0a9"), "{lines:?}");
    let mut talk = Talk::new(Protocol::Ucci, Some(model()));
    let best = talk.best("go nodes 200");
    talk.tell(&["position startpos", &format!("banmoves {best}")]);
    assert_ne!(talk.best("go nodes 200"), best);
    // The ban was for that search alone.
    talk.tell(&["position startpos", "setoption Clear_Hash"]);
    assert_eq!(talk.best("go nodes 200"), best);
}

#[test]
fn a_game_that_goes_on_keeps_its_tree() {
    let mut talk = Talk::new(Protocol::Uci, Some(model()));
    talk.tell(&["position startpos moves h2e2"]);
    let lines = talk.go("go nodes 400");
    let answer = lines.last().expect("an answer");
    let words: Vec<_> = answer.split(' ').collect();
    let ["bestmove", reply, "ponder", expected] = words[..] else {
        panic!("{answer}");
    };
    let next = format!("position startpos moves h2e2 {reply} {expected}");
    talk.tell(&[&next]);
    let kept = talk.go("go nodes 1")[0].clone();
    talk.tell(&["ucinewgame", &next]);
    let fresh = talk.go("go nodes 1")[0].clone();
    assert!(
        kept.len() > fresh.len(),
        "no line was kept: {kept}, {fresh}"
    );
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
        &["Model", "/nowhere/at/all", "state.json"],
    );
    check("name Clear Hash", &[]);
}

#[test]
fn without_a_network_a_legal_move_is_played_and_that_is_said() {
    let mut talk = Talk::new(Protocol::Uci, None);
    let lines = talk.go("go movetime 10");
    assert!(notes(&lines)[0].contains("no network"), "{lines:?}");
    assert!(!lines[lines.len() - 1].contains("none"), "{lines:?}");
}

/// A search runs, and waits for `end`.
fn check_waiting(protocol: Protocol, go: &str, end: &[&str]) {
    let mut talk = Talk::new(protocol, Some(model()));
    let mut lines = talk.tell(&["position startpos moves h2e2 h9g7", go]);
    std::thread::sleep(std::time::Duration::from_millis(30));
    lines.extend(talk.tell(&["isready"]));
    let best = |lines: &[String]| lines.iter().any(|line| line.starts_with("bestmove"));
    assert!(
        lines.contains(&"readyok".to_owned()) && !best(&lines),
        "{go}: {lines:?}"
    );
    let (last, before) = end.split_last().expect("a command");
    lines.extend(talk.tell(before));
    assert!(!best(&lines), "{go}: {lines:?}");
    lines.extend(talk.go(last));
    assert!(best(&lines), "{go}");
}

#[test]
fn an_answer_waits_for_its_time() {
    use Protocol::{Ucci, Uci};
    check_waiting(Uci, "go infinite", &["stop"]);
    check_waiting(Uci, "go", &["stop"]);
    check_waiting(Uci, "go ponder nodes 5", &["ponderhit"]);
    check_waiting(Uci, "go ponder wtime 500 btime 500", &["ponderhit"]);
    check_waiting(Uci, "go ponder movetime 5", &["isready", "stop"]);
    check_waiting(Uci, "go ponder", &["ponderhit", "stop"]);
    check_waiting(Ucci, "go depth infinite", &["stop"]);
    check_waiting(Ucci, "go ponder time 100 increment 1", &["stop"]);
    check_waiting(Ucci, "go ponder nodes 5", &["ponderhit"]);
    // A new search, a new game and the end all end the one under way, which answers.
    check_waiting(Uci, "go infinite", &["go nodes 1"]);
    check_waiting(Uci, "go infinite", &["ucinewgame"]);
    check_waiting(Uci, "go infinite", &["quit"]);
}

/// One of the commands with something in it changed.
fn mutated(rng: &mut Pcg64Mcg) -> Vec<u8> {
    const COMMANDS: [&str; 24] = [
        "uci",
        "ucci",
        "isready",
        "ucinewgame",
        "setoption name UCI_Variant value jieqi",
        "setoption name UCI_Variant value fanqi-9",
        "setoption name UCI_Ranks value 1-10",
        "setoption name MultiPV value 3",
        "setoption name Hash value 1",
        "setoption newgame",
        "setoption usemillisec true",
        "position startpos moves h2e2 h9g7 h0g2",
        "position startpos moves h3e3 h10g8",
        "position startpos moves R@a0 N@b0",
        "position fen xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1 moves h2e2=R h7h0=CxN",
        "position fen 3k5/9/9/9/9/9/9/9/4R4/5K3 w - - 0 1 moves e1d1 d9e9 d1e1 e9d9 e1d1 d9e9 d1e1 e9d9",
        "banmoves h2e2 b2e2",
        "go nodes 3 searchmoves h2e2",
        "go wtime 1 btime 1 winc 0 binc 0 movestogo 1",
        "go time 1 increment 0 opptime 1",
        "go infinite",
        "go ponder movetime 1",
        "ponderhit",
        "stop",
    ];
    let mut bytes = COMMANDS.choose(rng).expect("commands").as_bytes().to_vec();
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..5) {
            0 => bytes.insert(at, rng.random()),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] = rng.random(),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ => {
                let other = COMMANDS.choose(rng).expect("commands").split(' ');
                let words: Vec<_> = other.collect();
                let word = words.choose(rng).expect("words");
                bytes.splice(at..at, word.bytes().chain([b' ']));
            }
        }
    }
    bytes.push(b'\n');
    bytes
}

/// So many bytes of garbage and of changed commands are read to the end, with an answer to each `go` at most.
fn fuzz(protocol: Protocol, seed: u64, bytes: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut talk, mut read) = (Talk::new(protocol, Some(model())), 0);
    while read < bytes {
        let mut text = Vec::new();
        for _ in 0..20 {
            if rng.random_bool(0.2) {
                let length = rng.random_range(0..200);
                text.extend((0..length).map(|_| rng.random::<u8>()));
            }
            text.extend(mutated(&mut rng));
        }
        read += text.len();
        let ended = talk.session.run(&text[..]);
        assert!(ended.is_ok());
        for line in talk.said() {
            assert!(is_protocol(protocol, &line), "{line:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn garbage_is_survived(seed: u64, ucci: bool) {
        fuzz(if ucci { Protocol::Ucci } else { Protocol::Uci }, seed, 4000);
    }
}

#[test]
#[ignore = "minutes; run with --release"]
fn ten_megabytes_of_garbage_are_survived() {
    fuzz(Protocol::Uci, 1, 10_000_000);
    fuzz(Protocol::Ucci, 2, 10_000_000);
}

#[test]
fn long_and_strange_lines_are_survived() {
    let check = |text: &[u8], answer: &str| {
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        assert!(talk.session.run(text).is_ok());
        let said = talk.said();
        assert!(said.iter().any(|line| line.contains(answer)), "{said:?}");
        assert!(said.iter().all(|line| line.len() < 5000));
    };
    let long = |letter: u8, length: usize| vec![letter; length];
    let ready = b"\nisready".to_vec();
    check(&[long(b'x', 1 << 20), ready.clone()].concat(), "readyok");
    check(&[long(b'x', 5 << 20), ready.clone()].concat(), "not read");
    check(&[long(b'x', 5 << 20), ready.clone()].concat(), "readyok");
    check(&[long(0, 1 << 20), ready.clone()].concat(), "readyok");
    check(&[long(b' ', 1 << 20), ready.clone()].concat(), "readyok");
    check(b"isready\r\n", "readyok");
    check(b"  isready \t \n", "readyok");
    let shuttle = b"position startpos moves ".to_vec();
    let moves = b"h0g2 h9g7 g2h0 g7h9 ".repeat(20_000);
    let go = b"\ngo nodes 3\n".to_vec();
    check(&[shuttle, moves, go].concat(), "bestmove");
    check(
        b"go wtime 99999999999999999999999 btime -5 depth 1",
        "bestmove",
    );
    check(b"go movetime soon", "'soon' is no whole number");
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
