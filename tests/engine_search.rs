//! The engine: how it searches and when it answers.
#[path = "support/talk.rs"]
mod talk;

use play::engine::Protocol;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Referee, Turn};
use selfplay::rules::{Move, Ruleset, World};
use talk::{Talk, model, notes};

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

/// What a program is told to expect, it can tell without knowing what it brings to light.
#[test]
fn an_expected_reply_brings_nothing_to_light() {
    for form in ["jieqi", "fanqi-4", "fanqi-10"] {
        let rules = Ruleset::by_name(form).expect("a form");
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        talk.tell(&[&format!("setoption name UCI_Variant value {form}")]);
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let (mut world, mut moves, mut expected) =
            (World::start(rules, &mut rng), String::new(), 0);
        for _ in 0..120 {
            let Turn::Decision(_) = world.turn() else {
                break;
            };
            let position = format!("position startpos moves{moves}");
            talk.tell(&[&position]);
            let answer = talk.go("go nodes 24").pop().expect("an answer");
            let words: Vec<_> = answer.split(' ').collect();
            if let ["bestmove", mv, "ponder", reply] = words[..] {
                expected += 1;
                let told = talk.tell(&[&format!("{position} {mv} {reply}")]);
                assert!(told.is_empty(), "{answer}: {told:?}");
            }
            let mv: Move = words[1].parse().expect("a move");
            let light = world.apply(mv, &mut rng).unwrap_or_default();
            moves += &format!(" {mv}{light}");
        }
        assert!(expected > 0, "{form}");
    }
}

#[test]
fn a_secret_arrangement_varies() {
    let mut arrangements = std::collections::HashSet::new();
    for _ in 0..4 {
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        talk.tell(&[
            "setoption name UCI_Variant value fanqi-9",
            "setoption name Side value red",
        ]);
        let mut placed = String::new();
        for _ in 0..15 {
            talk.tell(&[&format!("position startpos moves{placed}")]);
            placed += &format!(" {}", talk.best("go nodes 8"));
        }
        arrangements.insert(placed);
    }
    assert!(arrangements.len() > 1, "{arrangements:?}");
}

#[test]
fn a_temperature_varies_the_choice_and_none_does_not() {
    let choices = |temperature: &str| {
        let choice = |_| {
            let mut talk = Talk::new(Protocol::Uci, Some(model()));
            talk.tell(&[&format!("setoption name Temperature value {temperature}")]);
            talk.best("go nodes 64")
        };
        (0..12)
            .map(choice)
            .collect::<std::collections::HashSet<_>>()
    };
    assert!(choices("5").len() > 1);
    assert_eq!(choices("0").len(), 1);
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
