//! Chance nodes: means converge to the weighted mean, exact values are the expectation.
mod common;

use common::{Chain, ChainEvaluator, Nim, Pick, TICKETS, Trail, begun, config, minimax, think};
use selfplay::eval::HashEvaluator;
use selfplay::game::Color;
use selfplay::mcts::RootKind;

const ROOTS: [RootKind; 2] = [RootKind::Gumbel, RootKind::Puct];

#[test]
fn means_converge_to_the_weighted_mean() {
    let total: f32 = TICKETS.iter().map(|t| t.1 as f32).sum();
    let luck: f32 = TICKETS.iter().map(|t| t.0 * t.1 as f32).sum::<f32>() / total;
    for root in ROOTS {
        let mut search = begun(config(root), Chain::lottery(2), 5);
        let arms = vec![(0.1, 0.5), (0.3, 0.5)];
        think(
            &mut search,
            &mut ChainEvaluator::new(arms.clone()),
            6000,
            false,
        );
        let tree = search.root().expect("begun");
        for (arm, (_, _, child)) in arms.iter().zip(tree.moves()) {
            let child = child.expect("visited");
            assert!(child.is_chance());
            let n = child.visits() as f32;
            let spread = 0.35 / n.sqrt();
            let q = child.wdl(Color::Red).q();
            assert!((q - arm.0 - luck).abs() < 3.0 * spread, "{q} after {n}");
            for (reveal, weight, outcome) in child.outcomes() {
                let share = outcome.map_or(0, |o| o.visits()) as f32 / n;
                let expected = weight as f32 / total;
                assert!(
                    (share - expected).abs() < 2.0 / n.sqrt(),
                    "{reveal}: {share}"
                );
            }
        }
        assert_eq!(search.decision().best, Pick(1));
    }
}

#[test]
fn chance_costs_no_row() {
    for root in ROOTS {
        let mut search = begun(config(root), Chain::lottery(3), 5);
        let mut evaluator = ChainEvaluator::new(vec![(0.0, 0.4), (0.1, 0.3), (0.2, 0.3)]);
        assert_eq!(think(&mut search, &mut evaluator, 100, true), 100);
        assert_eq!(search.decision().visits, 100);
    }
}

#[test]
fn exact_values_are_expectations() {
    // The Gumbel rule of inner nodes is made for few visits: under many it leaves alone what once looked bad.
    for (root, largest) in [(RootKind::Gumbel, 5), (RootKind::Puct, 9)] {
        for pile in 2..=largest {
            let game = Nim::lucky(pile);
            let mut search = begun(config(root), game, 2);
            think(&mut search, &mut HashEvaluator::default(), 20_000, false);
            let d = search.decision();
            // A search may rest on a proven move that looks best and leave the others open.
            assert!(d.exact || pile > 5, "pile {pile}");
            let tolerance = if d.exact { 1e-5 } else { 0.05 };
            let truth = minimax(game, &mut Trail::default());
            assert!(
                (f64::from(d.q) - truth).abs() < tolerance,
                "pile {pile}: {} {truth}",
                d.q
            );
            assert_eq!(
                d.proven.is_some(),
                d.exact && truth.abs() == 1.0,
                "pile {pile}"
            );
        }
    }
}

#[test]
fn a_reveal_keeps_what_is_known() {
    for root in ROOTS {
        let mut search = begun(config(root), Chain::lottery(2), 5);
        let mut evaluator = ChainEvaluator::new(vec![(0.1, 0.5), (0.3, 0.5)]);
        think(&mut search, &mut evaluator, 300, false);
        search.advance(Pick(1));
        let node = search.root().expect("begun");
        let known = node
            .outcomes()
            .nth(2)
            .and_then(|o| o.2)
            .expect("likely")
            .visits();
        search.reveal(2);
        let node = search.root().expect("begun");
        assert_eq!((node.visits(), node.turn()), (known, Some(Color::Black)));
        // Another arm's ticket was never known: the tree starts anew.
        search.advance(Pick(0));
        think(&mut search, &mut evaluator, 20, false);
        assert!((search.decision().q - 0.6).abs() < 1e-4);
    }
}
