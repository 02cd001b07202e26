//! Published perft counts (RULES.md §1).
use selfplay::rules::{Position, Ruleset};
use serde_json::Value;

fn check(max_depth: u32, max_nodes: u64) {
    let rules = Ruleset::by_name("xiangqi").unwrap();
    for line in include_str!("data/perft.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let fen = case["fen"].as_str().unwrap();
        let position = Position::from_fen(rules, fen).unwrap();
        for (depth, nodes) in case["nodes"].as_object().unwrap() {
            let (depth, nodes) = (depth.parse().unwrap(), nodes.as_u64().unwrap());
            if depth <= max_depth && nodes <= max_nodes {
                assert_eq!(position.perft(depth), nodes, "depth {depth} of {fen}");
            }
        }
    }
}

#[test]
fn published_counts_to_depth_4() {
    check(4, 100_000);
}
