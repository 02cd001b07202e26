//! Laws that hold in every search, whatever the game and the evaluator.
mod common;

use common::{
    Chain, ChainEvaluator, Nim, Pick, Shuttle, TicTacToe, Trail, Wide, begun, config, minimax,
    think,
};
use proptest::prelude::*;
use selfplay::eval::{Batch, Evaluation, Evaluator, HashEvaluator};
use selfplay::game::{Color, Features, Game, Outcome, Past, Turn};
use selfplay::mcts::{NodeRef, RootKind, Search, SearchConfig};

const ROOTS: [RootKind; 2] = [RootKind::Gumbel, RootKind::Puct];

fn either_root() -> impl Strategy<Value = RootKind> {
    prop::sample::select(ROOTS.to_vec())
}

fn evaluator(seed: u64) -> HashEvaluator {
    HashEvaluator {
        seed,
        sharpness: 1.5,
    }
}

/// Checks the books of a whole tree: an open decision was visited once for itself and once for each visit
/// of its children, chance for its children's only; probabilities are probabilities; only what follows
/// from exact children is exact.
fn audit<M: Copy, R: Copy>(node: NodeRef<M, R>) {
    if node.visits() == 0 && node.turn().is_some() {
        return;
    }
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
    if let Some(turn) = node.turn() {
        let priors: f32 = node.moves().map(|m| m.1).sum();
        assert!((priors - 1.0).abs() < 1e-4);
        let won = |child: &&NodeRef<M, R>| child.exact() && child.wdl(turn).win == 1.0;
        let all = children.len() == node.moves().count() && children.iter().all(|c| c.exact());
        assert_eq!(node.exact(), all || children.iter().any(|c| won(&c)));
    }
    children.into_iter().chain(outcomes).for_each(audit);
}

/// Plays a game with a search a ply and calls `check` after each.
fn play_out<G: Features>(
    search: &mut Search<G>,
    visits: u32,
    seed: u64,
    mut check: impl FnMut(&Search<G>),
) {
    while !search.is_over() {
        think(search, &mut evaluator(seed), visits, true);
        check(search);
        let mv = search.choose(1.0);
        search.advance(mv);
        let position = *search.position().expect("begun");
        if position.turn(search.history()) == Turn::Chance {
            let mut reveals = Vec::new();
            position.reveals(&mut reveals);
            search.reveal(reveals[seed as usize % reveals.len()].0);
        }
        audit(search.root().expect("begun"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn books_balance(root in either_root(), seed: u64, visits in 1u32..120) {
        let mut wide = begun(config(root), Wide::new(seed, 12), seed);
        play_out(&mut wide, visits, seed, |s| audit(s.root().expect("begun")));
        let mut nim = begun(config(root), Nim::lucky(14), seed);
        play_out(&mut nim, visits, seed, |s| audit(s.root().expect("begun")));
    }

    #[test]
    fn plans_are_kept(
        root in either_root(),
        seed: u64,
        visits in 1u32..70,
        considered in 2u32..50,
        explore: bool,
    ) {
        let config = SearchConfig { considered, ..config(root) };
        let mut search = begun(config, Wide::new(seed, 400), seed);
        for _ in 0..3 {
            let before = search.root().expect("begun").visits();
            let rows = think(&mut search, &mut evaluator(seed), visits, explore);
            let d = search.decision();
            prop_assert_eq!(rows, d.evaluations);
            prop_assert!(rows <= visits);
            prop_assert!(d.exact || d.visits == before + visits);
            let total: f32 = d.moves.iter().map(|m| m.target).sum();
            prop_assert!((total - 1.0).abs() < 1e-4);
            prop_assert!(d.moves.iter().any(|m| m.mv == d.best && m.target > 0.0));
            prop_assert_eq!(search.choose(0.0), d.best);
            search.advance(d.best);
            prop_assume!(!search.is_over());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_search(root in either_root(), seed: u64) {
        let run = |search_seed| {
            let mut search = begun(config(root), Wide::new(1, 400), search_seed);
            let mut moves = Vec::new();
            for _ in 0..4 {
                think(&mut search, &mut evaluator(1), 40, true);
                moves.push(search.choose(1.0));
                search.advance(moves[moves.len() - 1]);
            }
            (moves, format!("{:?}", search.root()))
        };
        prop_assert_eq!(run(seed), run(seed));
        prop_assert_ne!(run(seed).1, run(seed ^ 1).1);
    }

    #[test]
    fn advancing_keeps_what_is_known(root in either_root(), seed: u64) {
        let mut search = begun(config(root), Wide::new(seed, 400), seed);
        think(&mut search, &mut evaluator(seed), 150, true);
        let d = search.decision();
        let before = search.root().expect("begun");
        let pick = d.moves.iter().max_by_key(|m| m.visits).expect("moves");
        let child = before.moves().find(|m| m.0 == pick.mv).and_then(|m| m.2).expect("visited");
        let expected = sketch(child);
        search.advance(pick.mv);
        prop_assert_eq!(sketch(search.root().expect("begun")), expected);
    }

    #[test]
    fn exact_is_true(root in either_root(), seed: u64, moves in prop::collection::vec(0usize..9, 3..8)) {
        let (mut game, mut past) = (TicTacToe::default(), Trail::default());
        for pick in moves {
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            game.play(legal[pick % legal.len()], &mut past);
            prop_assume!(matches!(game.turn(&past), Turn::Decision(_)));
        }
        let Turn::Decision(turn) = game.turn(&past) else { unreachable!() };
        let mut search = begun(config(root), game, seed);
        think(&mut search, &mut evaluator(seed), 10_000, true);
        let d = search.decision();
        // A search may rest on a proven draw and leave the other moves open.
        prop_assume!(d.exact);
        let red = minimax(game, &mut past);
        let truth = if turn == Color::Red { red } else { -red };
        prop_assert_eq!(f64::from(d.q), truth);
        // The moves of the target keep the value, and so does the one played.
        for m in d.moves.iter().filter(|m| m.target > 0.0 || m.mv == d.best) {
            let mut next = game;
            next.play(m.mv, &mut past);
            prop_assert_eq!(minimax(next, &mut past), red);
            past.rewind(past.mark() - 1);
        }
    }
}

/// Everything a tree says of a node and below, for comparison.
fn sketch<M: Copy + std::fmt::Debug, R: Copy>(node: NodeRef<M, R>) -> String {
    let mut text = format!(
        "{} {:?} {} {}",
        node.visits(),
        node.wdl(Color::Red),
        node.moves_left(),
        node.exact()
    );
    for (mv, prior, child) in node.moves() {
        let below = child.map(sketch);
        text += &format!("\n{mv:?} {prior} {below:?}");
    }
    text
}

#[test]
fn nim_is_solved() {
    for root in ROOTS {
        for pile in 2..=17 {
            let mut search = begun(config(root), Nim::new(pile), 7);
            think(&mut search, &mut evaluator(0), 20_000, true);
            let d = search.decision();
            let won = pile % 4 != 0;
            assert_eq!((d.exact, d.wdl.win == 1.0), (true, won), "pile {pile}");
            assert!(!won || d.best == Pick(pile % 4), "pile {pile}");
        }
    }
}

#[test]
fn the_past_decides_in_the_tree() {
    for root in ROOTS {
        for (square, history) in [
            (1, vec![]),
            (2, vec![]),
            (3, vec![]),
            (2, vec![4, 7, 4, 7]),
            (2, vec![5, 2, 5, 2]),
        ] {
            let game = Shuttle {
                square,
                turn: Color::Red,
            };
            let mut past = Trail(history);
            if matches!(game.turn(&past), Turn::Over(_)) {
                continue;
            }
            let mut search = Search::new(config(root));
            search.begin(game, &past, 3);
            think(&mut search, &mut evaluator(0), 20_000, false);
            let d = search.decision();
            assert_eq!(search.history().mark(), past.mark());
            if !d.exact {
                continue;
            }
            assert_eq!(
                f64::from(d.q),
                minimax(game, &mut past),
                "{game:?} {past:?}"
            );
        }
    }
}

#[test]
fn a_proven_win_is_played_at_once_and_a_proven_loss_never() {
    for root in ROOTS {
        // Red wins on square 2; every other move lets Black win on square 5.
        let mut search = begun(config(root), TicTacToe::parse("XX.OO...."), 1);
        let rows = think(&mut search, &mut evaluator(0), 1000, true);
        let d = search.decision();
        assert_eq!(d.proven, Some(Outcome::Win(Color::Red)));
        assert_eq!((d.best, d.moves_left), (Pick(2), 1.0));
        assert!(rows < 50, "stopped early");
        assert_eq!(search.choose(5.0), Pick(2));
        // Black must take square 2, or loses at once.
        let mut search = begun(config(root), TicTacToe::parse("XX..O...."), 1);
        think(&mut search, &mut evaluator(0), 600, true);
        assert!((0..20).all(|_| search.choose(2.0) == Pick(2)));
    }
}

#[test]
fn a_forced_move_costs_one_row_and_a_reused_one_none() {
    for root in ROOTS {
        let arms = vec![(0.5, 0.5), (-0.5, 0.5)];
        let mut chain = ChainEvaluator::new(arms);
        let mut search = begun(config(root), Chain::new(2), 1);
        think(&mut search, &mut chain, 50, false);
        search.advance(Pick(0));
        assert_eq!(think(&mut search, &mut chain, 50, false), 0);
        let mut fresh = begun(config(root), Nim::new(1), 1);
        assert_eq!(think(&mut fresh, &mut evaluator(0), 50, true), 1);
        assert_eq!(fresh.choose(1.0), Pick(1));
    }
}

#[test]
fn puct_prefers_the_better_move_and_the_likelier_of_equals() {
    let cases = [
        (vec![(0.3, 0.2), (0.6, 0.2), (-0.2, 0.6)], 1),
        (vec![(0.1, 0.2), (0.1, 0.5), (0.1, 0.3)], 1),
        (vec![(-0.9, 0.9), (0.0, 0.1)], 1),
    ];
    for (arms, expected) in cases {
        let mut search = begun(config(RootKind::Puct), Chain::new(arms.len() as u8), 1);
        think(&mut search, &mut ChainEvaluator::new(arms), 800, true);
        let d = search.decision();
        let most = d.moves.iter().max_by_key(|m| m.visits).expect("moves");
        assert_eq!((most.mv, d.best), (Pick(expected), Pick(expected)));
        assert!(most.target > 0.4);
        assert!((most.target - most.visits as f32 / (d.visits - 1) as f32).abs() < 1e-5);
    }
}

#[test]
fn a_stand_in_answers_the_row_and_not_its_place() {
    let mut search = begun(config(RootKind::Puct), Wide::new(1, 400), 1);
    let mut batch = Batch::default();
    for _ in 0..2 {
        search.plan(1, false);
        assert!(search.gather(&mut batch));
        let n = batch.legal_range(batch.len() - 1).len();
        search.apply(Evaluation {
            log_priors: &vec![-(n as f32).ln(); n],
            ..Default::default()
        });
        search.advance(Pick(3));
    }
    let mut swapped = Batch::default();
    for row in [1, 0] {
        swapped.records.push(batch.records[row]);
        swapped
            .legal
            .extend_from_slice(&batch.legal[batch.legal_range(row)]);
        swapped.legal_end.push(swapped.legal.len() as u32);
    }
    for batch in [&mut batch, &mut swapped] {
        evaluator(5)
            .evaluate(batch)
            .expect("a stand-in does not fail");
        for row in 0..2 {
            let priors = &batch.log_priors[batch.legal_range(row)];
            let sum: f32 = priors.iter().map(|p| p.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-5);
        }
    }
    assert_eq!(batch.wdl[0], swapped.wdl[1]);
    assert_eq!(
        batch.log_priors[batch.legal_range(0)],
        swapped.log_priors[swapped.legal_range(1)]
    );
}
