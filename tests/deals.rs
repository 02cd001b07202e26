//! Chance is fair: deals are uniform, the search samples reveals by their weights, and the weights are what
//! truly comes to light. Seeds are fixed; each bound is met by chance alone but once in a million times.
mod common;
#[path = "support/hidden_games.rs"]
mod hidden_games;

use std::collections::HashMap;
use std::hash::Hash;

use common::{config, think};
use hidden_games::{COLORS, Man, Walk, form, forms_and_variants};
use selfplay::eval::{Batch, EvalError, Evaluator, UniformEvaluator};
use selfplay::game::{Features, Game, Referee};
use selfplay::mcts::{RootKind, Search};
use selfplay::opponent::{Builtin, Opponent};
use selfplay::rules::{Color, History, Kind, Layout, Move, Ruleset, View};

/// The standard normal's one-sided quantile of a millionth.
const MILLIONTH: f64 = 4.753;

/// Pearson's statistic by Wilson and Hilferty's normal approximation (1931); expected counts are at least 5.
fn check_chi_squared<K: Eq + Hash>(counts: &HashMap<K, f64>, expected: &HashMap<K, f64>, of: &str) {
    assert!(counts.keys().all(|key| expected.contains_key(key)), "{of}");
    assert!(expected.values().all(|&e| e >= 5.0), "{of}");
    let term = |(key, e): (&K, &f64)| {
        let o = counts.get(key).copied().unwrap_or(0.0);
        (o - e) * (o - e) / e
    };
    let (chi2, dof) = (
        expected.iter().map(term).sum::<f64>(),
        expected.len() as f64 - 1.0,
    );
    let spread = 2.0 / (9.0 * dof);
    let z = ((chi2 / dof).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(z < MILLIONTH, "{of}: chi-squared {chi2} of {dof}");
}

/// Deals of each form.
const DEALS: usize = 3000;

fn dealt_forms() -> impl Iterator<Item = &'static Ruleset> {
    let all = Ruleset::all().iter().copied();
    all.filter(|rules| rules.layout == Layout::Dealt)
}

/// The dealt kinds by home square.
fn deal(rules: &'static Ruleset, seed: u64, color: Color) -> Vec<Kind> {
    let truth = Walk::start(rules, seed).truth;
    let down = |man: &Man| man.down;
    let kinds = truth.men(color).map(|(_, man)| man).filter(down);
    kinds.filter_map(|man| man.kind).collect()
}

/// How many of each kind are dealt.
fn numbers(deal: &[Kind]) -> Vec<(Kind, f64)> {
    let number = |kind| deal.iter().filter(|&&k| k == kind).count() as f64;
    let numbers = Kind::ALL.into_iter().map(|kind| (kind, number(kind)));
    numbers.filter(|n| n.1 > 0.0).collect()
}

#[test]
fn deals_are_uniform() {
    for rules in dealt_forms() {
        let deals: Vec<[Vec<Kind>; 2]> = (0..DEALS as u64)
            .map(|seed| COLORS.map(|color| deal(rules, seed, color)))
            .collect();
        for color in COLORS {
            let side: Vec<&[Kind]> = deals.iter().map(|d| &d[color as usize][..]).collect();
            check_squares(&side, rules.name);
        }
        check_sides(&deals, rules.name);
    }
}

/// The kinds that an opponent without a preference places, in the order of the squares.
fn arrange(rules: &'static Ruleset, builtin: Builtin, seed: u64) -> Vec<Kind> {
    let mut opponent = Opponent::new(builtin, seed);
    let mut view = Walk::start(rules, seed).world.view(Color::Red);
    let mut history = History::default();
    let unplaced: u8 = view.position().pool(Color::Red).iter().sum();
    let place = |_| {
        let mv = opponent.choose(&view, &history);
        view.play(mv, &mut history);
        mv.placed().expect("a placement")
    };
    (0..unplaced).map(place).collect()
}

#[test]
fn arrangements_without_a_preference_are_uniform() {
    for rules in Ruleset::all().iter().filter(|rules| rules.arranged()) {
        for builtin in [Builtin::Random, Builtin::Greedy] {
            let all: Vec<_> = (0..DEALS as u64)
                .map(|seed| arrange(rules, builtin, seed))
                .collect();
            let of = format!("{} by {builtin}", rules.name);
            check_squares(&all.iter().map(Vec::as_slice).collect::<Vec<_>>(), &of);
        }
    }
}

/// Each kind is as likely on each square, and each pair of kinds on neighbouring ones.
fn check_squares(deals: &[&[Kind]], of: &str) {
    let (numbers, squares) = (numbers(deals[0]), deals[0].len() as f64);
    let single = DEALS as f64 / squares;
    let one = numbers.iter().map(|&(k, n)| (k, single * n)).collect();
    let mut two = HashMap::new();
    for &(a, n) in &numbers {
        for &(b, m) in &numbers {
            let ways = n * (m - f64::from(u8::from(a == b)));
            two.insert((a, b), single / (squares - 1.0) * ways);
        }
    }
    two.retain(|_, e| *e > 0.0);
    for square in 0..deals[0].len() {
        check_chi_squared(&tally(deals.iter().map(|d| d[square])), &one, of);
        let next = (square + 1) % deals[0].len();
        check_chi_squared(&tally(deals.iter().map(|d| (d[square], d[next]))), &two, of);
    }
}

/// What one side has on its first square tells nothing of the other side's.
fn check_sides(deals: &[[Vec<Kind>; 2]], of: &str) {
    let numbers = numbers(&deals[0][0]);
    let squares = deals[0][0].len() as f64;
    let mut expected = HashMap::new();
    for &(a, n) in &numbers {
        for &(b, m) in &numbers {
            expected.insert((a, b), DEALS as f64 * n * m / (squares * squares));
        }
    }
    let pairs = deals.iter().map(|[red, black]| (red[0], black[0]));
    check_chi_squared(&tally(pairs), &expected, of);
}

fn tally<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> HashMap<K, f64> {
    let mut counts = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1.0);
    counts
}

/// Gives one move of the root nearly all of the prior.
struct Favour {
    index: u16,
}

impl Evaluator for Favour {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        UniformEvaluator.evaluate(batch)?;
        let favoured = batch.legal.iter().position(|&index| index == self.index);
        if let Some(at) = favoured {
            batch.log_priors[at] = 10.0;
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

/// The search lets chance fall by weight behind `mv`.
fn check_sampling(rules: &'static Ruleset, fen: &str, mv: &str) {
    let view = View::from_fen(rules, fen).unwrap_or_else(|e| panic!("{fen}: {e}"));
    let mv: Move = mv.parse().expect("a move");
    for (seed, root) in [RootKind::Gumbel, RootKind::Puct].into_iter().enumerate() {
        let mut search = Search::new(config(root));
        search.begin(view, &History::default(), seed as u64);
        let index = view.policy_index(mv);
        think(&mut search, &mut Favour { index }, 4000, false);
        let tree = search.root().expect("begun");
        let (_, _, chance) = tree.moves().find(|m| m.0 == mv).expect("legal");
        let chance = chance.expect("visited");
        assert!(chance.is_chance());
        let total: u32 = chance.outcomes().map(|o| o.1).sum();
        let visits = f64::from(chance.visits());
        assert!(visits > 900.0, "{mv}: {visits} visits");
        let share = |weight: u32| visits * f64::from(weight) / f64::from(total);
        let expected = chance.outcomes().map(|o| (o.0, share(o.1))).collect();
        let counts = |node: Option<u32>| f64::from(node.unwrap_or(0));
        let counts = chance
            .outcomes()
            .map(|o| (o.0, counts(o.2.map(|n| n.visits()))))
            .collect();
        check_chi_squared(&counts, &expected, fen);
    }
}

#[test]
fn the_search_samples_by_weight() {
    let dealt = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w";
    for rules in [form("jieqi"), form("fanqi-10"), form("fanqi-9")] {
        check_sampling(rules, dealt, "h2e2");
        // The taken horse comes to light as well, where both see it.
        check_sampling(rules, dealt, "h2h9");
    }
    let uneven =
        "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/2X1X1X1X/1X5X1/9/XXXXKXXXX w R2N2A1B2C2P5a2b2n2r2c2p5";
    check_sampling(form("fanqi-10"), uneven, "b2a2");
}

/// Over many games of a form, what a player sees turn up or taken is what the weights had it expect.
fn check_calibration(rules: &'static Ruleset, games: u64) {
    let (mut surprise, mut spread) = ([[0.0; 7]; 2], [[0.0; 7]; 2]);
    for seed in 0..games {
        let (mut walk, mut before) = (Walk::start(rules, seed), Walk::start(rules, seed));
        walk.on(80, |walk| {
            if let Some(&mv) = walk.moves.last() {
                note(&before, mv, &mut surprise, &mut spread);
            }
            before = walk.clone();
        });
    }
    for (sums, squares) in surprise.iter().zip(&spread) {
        for (sum, square) in sums.iter().zip(squares) {
            assert!(
                sum * sum <= MILLIONTH * MILLIONTH * square,
                "{sums:?} {squares:?}"
            );
        }
    }
    assert!(
        spread.iter().all(|s| s.iter().sum::<f64>() > 500.0),
        "{spread:?}"
    );
}

/// Adds each viewer's surprise about what the move's piece and the taken one turn out to be, by kind.
fn note(walk: &Walk, mv: Move, surprise: &mut [[f64; 7]; 2], spread: &mut [[f64; 7]; 2]) {
    for viewer in COLORS {
        let truth = walk.truth.reveal(viewer, mv);
        let mut next = *walk.position(viewer);
        next.play(mv);
        let mut reveals = Vec::new();
        next.reveals(&mut reveals);
        let total: f64 = reveals.iter().map(|r| f64::from(r.1)).sum();
        for (part, truth) in [(0, truth.mover), (1, truth.taken)] {
            for kind in Kind::ALL.into_iter().filter(|_| truth.is_some()) {
                let is = |r: &selfplay::rules::Reveal| [r.mover, r.taken][part] == Some(kind);
                let ways: f64 = reveals
                    .iter()
                    .filter(|r| is(&r.0))
                    .map(|r| f64::from(r.1))
                    .sum();
                let p = ways / total;
                let hit = f64::from(u8::from(truth == Some(kind)));
                surprise[viewer as usize][kind.index()] += hit - p;
                spread[viewer as usize][kind.index()] += p * (1.0 - p);
            }
        }
    }
}

#[test]
fn weights_are_what_comes_to_light() {
    for rules in forms_and_variants() {
        if rules.layout == Layout::Dealt {
            check_calibration(rules, 60);
        }
    }
}
