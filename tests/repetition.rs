//! 棋例 (RULES.md §5): the cases of `data/repetition.jsonl` and the laws that hold for each, then adjudications
//! from elsewhere.
mod common;

use std::fmt::Write;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::HashEvaluator;
use selfplay::game::{Color, Outcome, Referee, Turn};
use selfplay::mcts::{RootKind, Search};
use selfplay::rules::{
    Move, Position, Repetition, RepetitionRule, Ruleset, Square, World, judge_repetition,
};
use serde::Deserialize;

/// A position, moves that lead back to it, and what their repetition means under each rule: the verdict, the reason,
/// and the pieces that were chased by an offender.
#[derive(Deserialize)]
struct Case {
    what: String,
    form: String,
    fen: String,
    cycle: String,
    wxf: String,
    cxa: String,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("data/repetition.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}")))
        .collect()
}

fn under(form: &str, rule: RepetitionRule) -> &'static Ruleset {
    let mut rules = *Ruleset::by_name(form).expect("a form");
    rules.repetition = rule;
    rules.keep()
}

fn world(rules: &'static Ruleset, fen: &str) -> World {
    if fen.ends_with("world") {
        return World::from_fen(rules, fen).unwrap_or_else(|e| panic!("{fen}: {e}"));
    }
    World::from_position(Position::from_fen(rules, fen).unwrap_or_else(|e| panic!("{fen}: {e}")))
}

fn moves(text: &str) -> Vec<Move> {
    let parse = |text: &str| text.parse().unwrap_or_else(|e| panic!("{e}"));
    text.split_whitespace().map(parse).collect()
}

fn play(world: &mut World, moves: &[Move]) {
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    for &mv in moves {
        world
            .try_apply(mv, &mut rng)
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

/// The judgement of what stands, which both players share.
fn judged(world: &World) -> Option<Repetition> {
    let [red, black] = [Color::Red, Color::Black]
        .map(|viewer| judge_repetition(world.position(viewer), world.history(viewer)));
    assert_eq!(red, black, "{}", world.fen());
    red
}

fn verdict(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Color::Red) => "red_wins",
        Outcome::Win(Color::Black) => "black_wins",
        Outcome::Draw => "draw",
    }
}

/// The judgement as a case has it.
fn told(judgement: Repetition) -> String {
    let ending = judgement.ending;
    let mut text = format!("{} {}", verdict(ending.outcome), ending.reason);
    for color in [Color::Red, Color::Black] {
        for square in judgement.chased_by(color) {
            write!(text, " {square}").expect("a string takes all");
        }
    }
    text
}

/// What two rounds of `cycle` mean, after which the position stands for the third time and not before.
fn twice(rules: &'static Ruleset, fen: &str, cycle: &[Move]) -> String {
    let mut world = world(rules, fen);
    for &mv in [cycle, cycle].concat().iter() {
        assert_eq!(judged(&world), None, "{fen}: too early");
        play(&mut world, &[mv]);
    }
    let judgement = judged(&world).unwrap_or_else(|| panic!("{fen}: not the third time"));
    assert_eq!(judgement.plies, 2 * cycle.len());
    assert_eq!(world.turn(), Turn::Over(judgement.ending), "{fen}");
    told(judgement)
}

#[test]
fn each_rule_has_its_verdict() {
    let mut wrong = Vec::new();
    for case in cases() {
        let cycle = moves(&case.cycle);
        for (rule, expected) in [
            (RepetitionRule::Wxf, &case.wxf[..]),
            (RepetitionRule::Cxa, &case.cxa),
            (RepetitionRule::Draw, "draw repetition"),
        ] {
            let got = twice(under(&case.form, rule), &case.fen, &cycle);
            if got != expected {
                wrong.push(format!("{} ({rule:?}): {got}, not {expected}", case.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first two words: verdict and reason.
fn short(text: &str) -> Vec<&str> {
    text.split(' ').take(2).collect()
}

#[test]
fn it_does_not_matter_where_the_cycle_begins() {
    for case in cases() {
        for (rule, expected) in [
            (RepetitionRule::Wxf, &case.wxf),
            (RepetitionRule::Cxa, &case.cxa),
        ] {
            let (rules, mut cycle) = (under(&case.form, rule), moves(&case.cycle));
            let mut start = world(rules, &case.fen);
            for _ in 0..cycle.len() {
                play(&mut start, &cycle[..1]);
                cycle.rotate_left(1);
                let got = twice(rules, &start.fen(), &cycle);
                assert_eq!(short(&got), short(expected), "{} {cycle:?}", case.what);
            }
        }
    }
}

/// The board seen in a mirror, left and right exchanged, or with sides, and ranks, exchanged.
fn transformed(fen: &str, mirror: bool) -> String {
    let (board, rest) = fen.split_once(' ').expect("a side");
    let mut ranks: Vec<String> = board.split('/').map(String::from).collect();
    if mirror {
        ranks.iter_mut().for_each(|rank| *rank = reversed(rank));
        return format!("{} {rest}", ranks.join("/"));
    }
    ranks.reverse();
    let swap = |c: char| match c.is_ascii_uppercase() {
        true => c.to_ascii_lowercase(),
        false => c.to_ascii_uppercase(),
    };
    let side = if rest.starts_with('w') { "b" } else { "w" };
    let board: String = ranks.join("/").chars().map(swap).collect();
    format!("{board} {side}{}", &rest[1..])
}

/// A rank of a FEN from right to left; a mark stays behind its piece.
fn reversed(rank: &str) -> String {
    let mut pieces: Vec<String> = Vec::new();
    for c in rank.chars() {
        match pieces.last_mut() {
            Some(last) if "~?!".contains(c) => last.push(c),
            _ => pieces.push(c.into()),
        }
    }
    pieces.reverse();
    pieces.concat()
}

#[test]
fn the_verdict_is_that_of_the_board_turned_round() {
    let turned = |mv: Move, mirror: bool| {
        let turn = |square: Square| {
            let (file, rank) = (square.file(), square.rank());
            let (file, rank) = if mirror {
                (8 - file, rank)
            } else {
                (file, 9 - rank)
            };
            Square::new(file, rank).expect("on the board")
        };
        let turned = Move::new(turn(mv.from()), turn(mv.to()));
        if mv.turns_down() {
            turned.turning_down()
        } else {
            turned
        }
    };
    for case in cases() {
        for (rule, expected) in [
            (RepetitionRule::Wxf, &case.wxf),
            (RepetitionRule::Cxa, &case.cxa),
        ] {
            for mirror in [true, false] {
                let cycle: Vec<Move> = moves(&case.cycle)
                    .into_iter()
                    .map(|mv| turned(mv, mirror))
                    .collect();
                let fen = transformed(&case.fen, mirror);
                let got = twice(under(&case.form, rule), &fen, &cycle);
                let expected = match (mirror, short(expected)[..].to_vec()) {
                    (false, words) if words[0] == "red_wins" => vec!["black_wins", words[1]],
                    (false, words) if words[0] == "black_wins" => vec!["red_wins", words[1]],
                    (_, words) => words,
                };
                assert_eq!(short(&got), expected, "{} {fen}", case.what);
            }
        }
    }
}

/// Every round counts, not the last alone: one that is quiet makes up for one that is not.
#[test]
fn all_moves_since_the_first_occurrence_are_judged() {
    let fen = "3k5/9/9/9/9/9/c8/1R7/9/4K4 w";
    let (chase, quiet) = (moves("b2a2 a3b3 a2b2 b3a3"), moves("b2b1 a3a4 b1b2 a4a3"));
    for rounds in [[&chase, &quiet], [&quiet, &chase]] {
        let mut world = world(under("xiangqi", RepetitionRule::Wxf), fen);
        rounds.into_iter().for_each(|round| play(&mut world, round));
        assert_eq!(judged(&world).map(told).as_deref(), Some("draw repetition"));
    }
}

/// Whoever is about to play the last move of a cycle finds out in its search what that means.
#[test]
fn a_search_sees_the_verdict() {
    for case in cases() {
        let cycle = moves(&case.cycle);
        let all = [&cycle[..], &cycle[..]].concat();
        let (&last, before) = all.split_last().expect("a move");
        let mut world = world(under(&case.form, RepetitionRule::Wxf), &case.fen);
        play(&mut world, before);
        let Turn::Decision(mover) = world.turn() else {
            panic!("{}: over too early", case.what)
        };
        let mut search = Search::new(common::config(RootKind::Puct));
        search.begin(world.view(mover), world.history(mover), 1);
        common::think(&mut search, &mut HashEvaluator::default(), 4000, false);
        let decision = search.decision();
        let info = decision.moves.iter().find(|info| info.mv == last);
        let info = info.unwrap_or_else(|| panic!("{}: {last}", case.what));
        let loser = match short(&case.wxf)[0] {
            "draw" => None,
            "red_wins" => Some(Color::Black),
            _ => Some(Color::Red),
        };
        let worth = loser.map_or(0.0, |loser| if loser == mover { -1.0 } else { 1.0 });
        if decision.moves.len() == 1 {
            continue; // The search of an only move ends before it begins.
        }
        let known = info.exact && info.q == worth;
        assert!(known || info.visits == 0, "{} {last}: {info:?}", case.what);
        assert!(known || decision.exact, "{} {last}: {info:?}", case.what);
        if loser.is_some_and(|loser| loser != mover) {
            let won = Some(Outcome::Win(mover));
            assert_eq!(decision.proven, won, "{}", case.what);
        }
    }
}

/// What differs from the shared adjudications, and why.
const DISPUTED: [(&str, &str); 1] = [(
    "fsf-201",
    "its source gives no verdict; here Black's king, stepping on and off the file, frees and makes pins so that \
     its knight threatens the cannon anew each time",
)];

#[test]
fn shared_adjudications() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/adjudication.jsonl"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: {path} is absent");
        return;
    };
    let (mut different, mut all) = (Vec::new(), 0);
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| case[name].as_str();
        let (Some(id), Some(fen)) = (field("id"), field("fen")) else {
            panic!("{line}")
        };
        let Some(played) = field("moves_3fold").or(field("moves")) else {
            panic!("{line}")
        };
        let mut world = world(under("xiangqi", RepetitionRule::Wxf), fen);
        play(&mut world, &moves(played));
        let got = judged(&world).map(|judgement| verdict(judgement.ending.outcome));
        all += 1;
        if got != field("expected") {
            different.push(id.to_owned());
        }
    }
    let disputed: Vec<_> = DISPUTED.iter().map(|(id, _)| *id).collect();
    eprintln!("{} of {all} agree", all - different.len());
    for (id, why) in DISPUTED {
        eprintln!("{id}: {why}");
    }
    assert_eq!(different, disputed);
    assert!(all >= 100);
}
