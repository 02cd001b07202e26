//! Laws that hold in every search, whatever the game and the evaluator.
mod common;

use common::{Nim, Pick, Wide, begun, config, think};
use selfplay::eval::HashEvaluator;
use selfplay::game::Color;
use selfplay::mcts::{NodeRef, RootKind};

const ROOTS: [RootKind; 2] = [RootKind::Gumbel, RootKind::Puct];

/// Checks the books of a whole tree: an inner node was visited once for itself and once for each visit of
/// its children (chance: not for itself); probabilities are probabilities; links are a tree's.
fn audit<M: Copy, R: Copy>(node: NodeRef<M, R>) {
    let wdl = node.wdl(Color::Red);
    assert!(
        (wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-5,
        "{wdl:?}"
    );
    assert!(
        [wdl.win, wdl.draw, wdl.loss]
            .iter()
            .all(|p| (-1e-6..=1.0 + 1e-6).contains(p))
    );
    let children: Vec<_> = node.moves().filter_map(|m| m.2).collect();
    let outcomes: Vec<_> = node.outcomes().filter_map(|o| o.2).collect();
    let below: u32 = children.iter().chain(&outcomes).map(|c| c.visits()).sum();
    if !node.exact() {
        let own = u32::from(node.turn().is_some());
        assert_eq!(node.visits(), below + own);
    }
    children.into_iter().chain(outcomes).for_each(audit);
}

#[test]
fn books_balance() {
    for root in ROOTS {
        let mut search = begun(config(root), Wide::new(3, 40), 1);
        for _ in 0..12 {
            think(&mut search, &mut HashEvaluator::default(), 200, true);
            audit(search.root().expect("begun"));
            let mv = search.choose(1.0);
            search.advance(mv);
            audit(search.root().expect("begun"));
            if search.is_over() {
                break;
            }
        }
    }
}

#[test]
fn nim_is_solved() {
    for root in ROOTS {
        for pile in 2..=13 {
            let mut search = begun(config(root), Nim::new(pile), 7);
            think(&mut search, &mut HashEvaluator::default(), 2000, true);
            let d = search.decision();
            assert!(d.exact, "pile {pile}");
            let won = pile % 4 != 0;
            assert_eq!(d.wdl.win == 1.0, won, "pile {pile}");
            if won {
                assert_eq!(d.best, Pick(pile % 4), "pile {pile}");
            }
        }
    }
}
