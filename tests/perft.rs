//! Published perft counts (RULES.md §1): one position a line in `data/perft.jsonl`.
use selfplay::rules::{Move, Position, Ruleset, divide};
use serde_json::Value;

fn check(depths: std::ops::RangeInclusive<u32>) {
    let rules = Ruleset::by_name("xiangqi").unwrap();
    for line in include_str!("data/perft.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let fen = case["fen"].as_str().unwrap();
        let position = Position::from_fen(rules, fen).unwrap();
        for (depth, nodes) in case["nodes"].as_object().unwrap() {
            let (depth, nodes) = (depth.parse().unwrap(), nodes.as_u64().unwrap());
            if depths.contains(&depth) {
                assert_eq!(position.perft(depth), nodes, "depth {depth} of {fen}");
            }
        }
    }
}

#[test]
fn counts_to_depth_4() {
    check(0..=4);
}

#[test]
#[ignore = "over a billion nodes; run with --release"]
fn counts_from_depth_5() {
    check(5..=u32::MAX);
}

#[test]
fn division_sums_to_the_count() {
    let start = Position::start(Ruleset::by_name("xiangqi").unwrap());
    let parts = divide(&start, 3);
    assert_eq!(parts.len(), 44);
    assert_eq!(parts.iter().map(|(_, nodes)| nodes).sum::<u64>(), 79_666);
    let cannon_takes_horse: Move = "h2h9".parse().unwrap();
    assert!(parts.iter().any(|&(mv, _)| mv == cannon_takes_horse));
    assert_eq!(start.perft(0), 1);
}

/// The counts of `data/forms_perft.jsonl` from each form's start (RULES.md §2): a move of an unknown piece
/// branches over its identities.
fn check_forms(depths: std::ops::RangeInclusive<usize>) {
    for line in include_str!("data/forms_perft.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let form = case["form"].as_str().unwrap();
        let start = Position::start(Ruleset::by_name(form).unwrap());
        for (i, nodes) in case["counts"].as_array().unwrap().iter().enumerate() {
            if depths.contains(&(i + 1)) {
                let counted = start.perft(i as u32 + 1);
                assert_eq!(
                    counted,
                    nodes.as_u64().unwrap(),
                    "depth {} of {form}",
                    i + 1
                );
            }
        }
    }
}

#[test]
fn counts_of_every_form() {
    check_forms(1..=3);
}
