//! Chance nodes: means converge to the weighted mean, exact values are the expectation.
mod common;

use common::{Chain, ChainEvaluator, Nim, Pick, TICKETS, Trail, begun, config, minimax, think};
use selfplay::belief::Beliefs;
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator};
use selfplay::game::{Color, Features};
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::rules::{Kind, Ruleset, View};

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

/// Jieqi. Red's unknown piece goes to a9 and mates if it is a chariot (the other one holds rank 8); else Black
/// mates with i5i0. Three of Red's pieces were taken unseen.
const ALL_OR_NOTHING: &str = "4k4/1R7/9/9/8r/9/9/9/7r1/X2K5 w R1N1P2 0 1 red";

fn jieqi(fen: &str) -> View {
    let rules = Ruleset::by_name("jieqi").expect("a known form");
    View::from_fen(rules, fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// What search makes of a0a9 in [`ALL_OR_NOTHING`]: Red's score, and whether it is exact.
fn gamble(config: SearchConfig, evaluator: &mut dyn Evaluator) -> (f32, bool) {
    let mut search = begun(config, jieqi(ALL_OR_NOTHING), 3);
    think(&mut search, evaluator, 20_000, false);
    let tree = search.root().expect("begun");
    let (_, _, child) = tree
        .moves()
        .find(|m| m.0.to_string() == "a0a9")
        .expect("a legal move");
    let child = child.expect("visited");
    assert!(child.is_chance());
    (child.wdl(Color::Red).q(), child.exact())
}

/// Believes that the piece on a0 is a chariot with that probability.
struct Believing(f32);

impl Evaluator for Believing {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        HashEvaluator::default().evaluate(batch)?;
        let rest = (1.0 - self.0) / 5.0;
        let belief = [rest, rest, rest, self.0, rest, rest];
        batch.beliefs.iter_mut().for_each(|b| *b = belief);
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

/// By PUCT with much exploration, which looks at every reply.
#[test]
fn a_hidden_piece_is_worth_the_weighted_mean() {
    let config = SearchConfig {
        c_puct: 20.0,
        ..config(RootKind::Puct)
    };
    let uniform = SearchConfig {
        belief: false,
        secret_anchor: 1.0,
        ..config.clone()
    };
    let (q, exact) = gamble(uniform, &mut HashEvaluator::default());
    assert!(exact);
    assert_eq!(q, 0.25 - 0.75);
    // A belief shifts the weights, to the exact value that goes with them.
    for sure in [0.1, 0.5, 0.9] {
        let mut beliefs = Beliefs::default();
        let rest = (1.0 - sure) / 5.0;
        let believed = [[rest, rest, rest, sure, rest, rest]];
        jieqi(ALL_OR_NOTHING).believe(&[0], &believed, &mut beliefs);
        let rook = beliefs.ratio[0][Kind::Rook.index()] / 4.0;
        let (q, exact) = gamble(config.clone(), &mut Believing(sure));
        assert!(exact);
        assert!((q - (2.0 * rook - 1.0)).abs() < 1e-3, "{q} {rook}");
    }
}

/// Until all outcomes are exact, visits fall by the weights: chi-squared, 99.9 %.
#[test]
fn hidden_pieces_turn_up_by_the_pool() {
    let start = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1 red";
    let config = SearchConfig {
        considered: 2,
        ..config(RootKind::Gumbel)
    };
    let mut search = begun(config, jieqi(start), 9);
    think(&mut search, &mut HashEvaluator::default(), 4000, false);
    let tree = search.root().expect("begun");
    let mut seen = 0;
    for (_, _, child) in tree.moves() {
        let Some(chance) = child.filter(|c| c.is_chance() && c.visits() > 500) else {
            continue;
        };
        let n = chance.visits() as f32;
        let total: u32 = chance.outcomes().map(|o| o.1).sum();
        let squares = chance.outcomes().map(|(_, weight, outcome)| {
            let expected = n * weight as f32 / total as f32;
            let visits = outcome.map_or(0, |o| o.visits()) as f32;
            (visits - expected) * (visits - expected) / expected
        });
        // 20.5: five degrees of freedom; a capture has 35.
        let limit = if chance.outcomes().count() == 6 {
            20.5
        } else {
            66.6
        };
        let chi_squared: f32 = squares.sum();
        assert!(chi_squared < limit, "{chi_squared}");
        seen += 1;
    }
    assert!(seen > 0);
}
