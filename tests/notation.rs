//! Move texts (RULES.md §6): what is printed is what is read, of every legal move of every form; examples, one a line of
//! `data/notation.jsonl`.
#[path = "support/crowds.rs"]
mod crowds;
#[path = "support/hidden_games.rs"]
mod hidden_games;

use std::collections::HashMap;

use crowds::{crowd, rotated};
use hidden_games::{COLORS, Walk, form, forms_and_variants};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{Move, Notation, Position, Reveal, Ruleset};
use serde_json::Value;

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

/// Every legal move's text is its own, and is read as that move, also by its looks.
fn check_texts(position: &Position) {
    let moves = legal(position);
    for notation in Notation::ALL {
        let mut texts = HashMap::new();
        for &mv in &moves {
            let text = notation.print(position, mv).unwrap();
            let read = notation.parse(position, &text);
            let expected = Ok((mv, Reveal::default()));
            assert_eq!(read, expected, "{notation} {text} in {position:?}");
            if let Some(other) = texts.insert(text.clone(), mv) {
                panic!("{notation} {text} is both {mv} and {other} in {position:?}");
            }
            if notation != Notation::Uci {
                let looks = Notation::recognise(&text).unwrap();
                assert_eq!(looks.parse(position, &text), read, "{text} {position:?}");
            }
        }
    }
}

/// The same with what a move may bring to light.
fn check_reveals(position: &Position, rng: &mut Pcg64Mcg) {
    let Some(&mv) = legal(position).choose(rng) else {
        return;
    };
    let (mut next, mut reveals) = (*position, Vec::new());
    next.play(mv);
    next.reveals(&mut reveals);
    for (reveal, _) in reveals {
        for notation in Notation::ALL {
            let text = notation.print_revealed(position, mv, reveal).unwrap();
            let read = notation.parse(position, &text);
            assert_eq!(read, Ok((mv, reveal)), "{notation} {text} in {position:?}");
        }
    }
}

/// Seen from the other side of the board, WXF says the same.
fn check_rotated(position: &Position) {
    let texts = |p: &Position, goes: fn(Move) -> Move| {
        let text = |mv| (goes(mv).to_string(), Notation::Wxf.print(p, mv).unwrap());
        let mut all: Vec<_> = legal(p).into_iter().map(text).collect();
        all.sort();
        all
    };
    let (other, turn) = rotated(position);
    assert_eq!(
        texts(position, turn),
        texts(&other, |mv| mv),
        "{position:?}"
    );
}

/// Random games of every form, as each player sees them.
fn check_games(seed: u64, plies: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    for rules in forms_and_variants() {
        Walk::start(rules, seed).on(plies, |walk| {
            let positions = COLORS.map(|viewer| *walk.position(viewer));
            check_texts(&positions[0]);
            if positions[0] != positions[1] {
                check_texts(&positions[1]);
            }
            if positions.iter().all(|p| p.arranging().is_none()) {
                let seen = positions.choose(&mut rng).unwrap();
                check_rotated(seen);
                check_reveals(seen, &mut rng);
            }
        });
    }
}

/// Positions with many pieces of one name on few files.
fn check_crowds(seed: u64, positions: usize) {
    let mut numbered = 0;
    for rules in Ruleset::all() {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut left = positions;
        while left > 0 {
            let Some(position) = crowd(rules, &mut rng) else {
                continue;
            };
            left -= 1;
            check_texts(&position);
            check_rotated(&position);
            check_reveals(&position, &mut rng);
            let text = |mv| Notation::Chinese.print(&position, mv).unwrap();
            let by_place = |mv: &Move| "一二三四五六七八九十".contains(&text(*mv)[..3]);
            numbered += legal(&position).iter().filter(|mv| by_place(mv)).count();
        }
    }
    assert!(numbered > positions, "{numbered} moves of numbered pieces");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_printed_is_read(seed: u64) {
        check_games(seed, 40);
    }

    #[test]
    fn what_is_printed_of_crowded_files_is_read(seed: u64) {
        check_crowds(seed, 12);
    }
}

#[test]
#[ignore = "minutes; run with --release"]
fn what_is_printed_is_read_in_many_games() {
    for seed in 0..8 {
        check_games(seed, 300);
    }
    check_crowds(1, 1000);
}

/// A line of examples: every notation prints the move so and reads it so.
fn check_example(case: &Value) {
    let rules = form(case["form"].as_str().unwrap());
    let position = Position::from_fen(rules, case["fen"].as_str().unwrap()).unwrap();
    let of = |notation: Notation| case[notation.name()].as_str().unwrap();
    let (mv, reveal) = Notation::Coordinates
        .parse(&position, of(Notation::Coordinates))
        .unwrap_or_else(|e| panic!("{case}: {e}"));
    for notation in Notation::ALL {
        let printed = notation.print_revealed(&position, mv, reveal);
        assert_eq!(printed.as_deref(), Ok(of(notation)), "{case}");
        let read = notation.parse(&position, of(notation));
        assert_eq!(read, Ok((mv, reveal)), "{case}");
    }
}

#[test]
fn examples() {
    for line in include_str!("data/notation.jsonl").lines() {
        check_example(&serde_json::from_str(line).unwrap());
    }
}

/// The shared examples: WXF and four characters, of which five are read but printed in four.
#[test]
fn shared_examples() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/notation.jsonl"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        return eprintln!("skipped: {path} is not there");
    };
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let of = |key: &str| case[key].as_str().unwrap();
        let position = Position::from_fen(form("xiangqi"), of("fen")).unwrap();
        let mv: Move = of("ucci").parse().unwrap();
        assert_eq!(Notation::Wxf.print(&position, mv).as_deref(), Ok(of("wxf")));
        let (chinese, remark) = of("chinese").split_once(' ').unwrap_or((of("chinese"), ""));
        let read = Notation::Chinese.parse(&position, chinese);
        assert_eq!(read, Ok((mv, Reveal::default())), "{case}");
        if remark.is_empty() {
            assert_eq!(
                Notation::Chinese.print(&position, mv).as_deref(),
                Ok(chinese)
            );
        }
    }
}
