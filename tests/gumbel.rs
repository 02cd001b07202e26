//! What Danihelka et al. 2022 promise of the Gumbel root.
mod common;

use common::{Chain, ChainEvaluator, Pick, begun, config, think};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use selfplay::mcts::{Decision, MoveInfo, RootKind, SearchConfig};

fn arms() -> impl Strategy<Value = Vec<(f32, f32)>> {
    prop::collection::vec((-0.95f32..0.95, 0.01f32..1.0), 2..40).prop_map(|arms| {
        let total: f32 = arms.iter().map(|arm| arm.1).sum();
        arms.into_iter()
            .map(|(value, weight)| (value, weight / total))
            .collect()
    })
}

fn decide(
    config: SearchConfig,
    arms: &[(f32, f32)],
    visits: u32,
    explore: bool,
    seed: u64,
) -> Decision<Pick> {
    let mut search = begun(config, Chain::new(arms.len() as u8), seed);
    think(
        &mut search,
        &mut ChainEvaluator::new(arms.to_vec()),
        visits,
        explore,
    );
    in_order(search.decision())
}

/// A decision with its moves in the arms' order.
fn in_order(mut decision: Decision<Pick>) -> Decision<Pick> {
    decision.moves.sort_by_key(|m| m.mv.0);
    decision
}

/// The score that drawing from a policy brings.
fn value(arms: &[(f32, f32)], policy: impl Iterator<Item = f32>) -> f32 {
    arms.iter().zip(policy).map(|(arm, p)| arm.0 * p).sum()
}

proptest! {
    /// Their section 4: where every value is known, the improved policy is no worse than the prior.
    #[test]
    fn the_target_improves_on_the_prior(arms in arms(), more in 0u32..200, seed: u64) {
        let moves = arms.len() as u32;
        let config = SearchConfig { considered: moves, ..config(RootKind::Gumbel) };
        let d = decide(config, &arms, 1 + moves + more, true, seed);
        let prior = value(&arms, arms.iter().map(|arm| arm.1));
        let improved = value(&arms, d.moves.iter().map(|m| m.target));
        prop_assert!(improved >= prior - 1e-4, "{improved} < {prior}");
    }

    #[test]
    fn without_a_simulation_the_target_is_the_prior(arms in arms(), seed: u64) {
        let d = decide(config(RootKind::Gumbel), &arms, 1, true, seed);
        prop_assert!(d.moves.iter().all(|m| (m.target - m.prior).abs() < 1e-4));
    }

    #[test]
    fn without_noise_the_seed_does_not_matter(arms in arms(), visits in 1u32..100, seed: u64) {
        let run = |seed| {
            let d = decide(config(RootKind::Gumbel), &arms, visits, false, seed);
            (d.best, d.moves.iter().map(|m| m.visits).collect::<Vec<_>>())
        };
        prop_assert_eq!(run(seed), run(seed.wrapping_add(1)));
    }

    /// Sequential halving: the winner beats each of those visited, by noise-free score when the noise is off.
    #[test]
    fn enough_visits_find_the_best_of_the_considered(arms in arms(), seed: u64) {
        let d = decide(config(RootKind::Gumbel), &arms, 400, false, seed);
        let most = d.moves.iter().map(|m| m.visits).max().unwrap_or(0) as f32;
        let score = |m: &MoveInfo<Pick>, visits: f32| m.prior.ln() + (50.0 + visits) * 0.5 * arms[m.mv.0 as usize].0;
        let best = &d.moves[d.best.0 as usize];
        // The scale of Q grows with the visits: a move was left behind at some scale between the first and the last.
        for m in d.moves.iter().filter(|m| m.visits > 0) {
            let lead = |visits| score(best, visits) - score(m, visits);
            prop_assert!(lead(1.0).max(lead(most)) > -1e-2, "{m:?} {best:?}");
        }
    }
}

/// Where few moves are visited, v_mix stands for the others and may err, but the gain prevails by far.
#[test]
fn few_visits_improve_on_the_prior_by_and_large() {
    let mut runner = TestRunner::deterministic();
    let (mut gain, mut losses) = (0.0, 0);
    for seed in 0..400 {
        let arms = arms()
            .new_tree(&mut runner)
            .expect("a strategy that never fails")
            .current();
        let d = decide(config(RootKind::Gumbel), &arms, 5, true, seed);
        let more = value(&arms, d.moves.iter().map(|m| m.target - m.prior));
        gain += more / 400.0;
        losses += u32::from(more < -1e-4);
    }
    assert!(gain > 0.2 && losses < 40, "{gain} {losses}");
}

/// Visits a move, most first, of equal arms under a budget of new simulations.
fn check_schedule(considered: u32, simulations: u32, expected: &[u32]) {
    let arms = vec![(0.0, 1.0 / 20.0); 20];
    let config = SearchConfig {
        considered,
        ..config(RootKind::Gumbel)
    };
    let d = decide(config, &arms, simulations + 1, true, 1);
    let mut visits: Vec<u32> = d
        .moves
        .iter()
        .map(|m| m.visits)
        .filter(|&v| v > 0)
        .collect();
    visits.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(
        visits, expected,
        "{considered} considered, {simulations} simulations"
    );
}

#[test]
fn halving_spends_the_budget_phase_by_phase() {
    // Their algorithm 2: each of ceil(log2 m) phases gets an equal share, spread evenly.
    check_schedule(4, 16, &[6, 6, 2, 2]);
    check_schedule(4, 8, &[3, 3, 1, 1]);
    check_schedule(16, 64, &[15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1]);
    check_schedule(2, 10, &[5, 5]);
    // Fewer simulations than moves to consider: so many moves, once each.
    check_schedule(16, 5, &[1, 1, 1, 1, 1]);
    check_schedule(16, 2, &[1, 1]);
    check_schedule(16, 1, &[1]);
    check_schedule(16, 0, &[]);
}

/// Where the values say nothing, the winner is a draw from the prior (their section 2: Gumbel-max).
#[test]
fn the_winner_is_a_draw_from_the_prior_where_values_say_nothing() {
    let priors = [0.5, 0.25, 0.15, 0.1];
    let arms: Vec<_> = priors.iter().map(|&p| (0.0, p)).collect();
    for visits in [1, 3, 9] {
        let mut counts = [0f32; 4];
        let games = 4000;
        for seed in 0..games {
            counts[decide(config(RootKind::Gumbel), &arms, visits, true, seed)
                .best
                .0 as usize] += 1.0;
        }
        for (count, prior) in counts.iter().zip(priors) {
            assert!(
                (count / games as f32 - prior).abs() < 0.03,
                "{visits}: {counts:?}"
            );
        }
    }
}

#[test]
fn temperature_draws_from_the_target_among_visited_moves() {
    let arms = [(0.02, 0.3), (0.0, 0.3), (0.01, 0.2), (0.0, 0.2)];
    let config = SearchConfig {
        considered: 3,
        ..config(RootKind::Gumbel)
    };
    let mut search = begun(config, Chain::new(4), 1);
    think(
        &mut search,
        &mut ChainEvaluator::new(arms.to_vec()),
        30,
        false,
    );
    let d = in_order(search.decision());
    for temperature in [1.0, 0.5] {
        let mut counts = [0f32; 4];
        (0..8000).for_each(|_| counts[search.choose(temperature).0 as usize] += 1.0 / 8000.0);
        let weight = |i: usize| match d.moves[i].visits {
            0 => 0.0,
            _ => d.moves[i].target.powf(1.0 / temperature),
        };
        let total: f32 = (0..4).map(weight).sum();
        assert!(
            (0..4).all(|i| (counts[i] - weight(i) / total).abs() < 0.02),
            "{counts:?}"
        );
    }
}
