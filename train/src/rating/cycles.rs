//! Cycles among the results: A beats B, B beats C, C beats A, each of them significantly.
use std::collections::BTreeSet;

use petgraph::algo::astar;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::Serialize;

use super::cross::CrossCell;
use super::list::PlayerRating;

/// Players each of which beat the next, and the last the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cycle {
    /// Names, from the highest rated on.
    pub players: Vec<String>,
    /// Scores, 0..=1, of each against the next, the last one's against the first.
    pub scores: Vec<f64>,
}

/// For every significant result that lies on a cycle of such results, a shortest one through it; each cycle once. A
/// result is significant if the 95 % interval of its score lies above 1/2: of results between equals one in forty is,
/// for either side.
pub(super) fn cycles(players: &[PlayerRating], table: &[Vec<Option<CrossCell>>]) -> Vec<Cycle> {
    let mut beats = DiGraph::<(), f64>::new();
    let nodes: Vec<NodeIndex> = players.iter().map(|_| beats.add_node(())).collect();
    for (row, cells) in table.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell.filter(|cell| cell.score_interval.lower > 0.5) {
                beats.add_edge(nodes[row], nodes[column], cell.score);
            }
        }
    }
    let found: BTreeSet<Vec<usize>> = beats
        .edge_references()
        .filter_map(|edge| {
            let (winner, loser) = (edge.source(), edge.target());
            let (_, path) = astar(&beats, loser, |node| node == winner, |_| 1, |_| 0)?;
            let mut cycle: Vec<usize> = path.into_iter().map(NodeIndex::index).collect();
            let highest = cycle
                .iter()
                .enumerate()
                .min_by_key(|(_, player)| **player)?
                .0;
            cycle.rotate_left(highest);
            Some(cycle)
        })
        .collect();
    found
        .into_iter()
        .map(|cycle| Cycle {
            scores: (0..cycle.len())
                .filter_map(|i| table[cycle[i]][cycle[(i + 1) % cycle.len()]])
                .map(|cell| cell.score)
                .collect(),
            players: cycle
                .iter()
                .map(|&player| players[player].name.clone())
                .collect(),
        })
        .collect()
}
