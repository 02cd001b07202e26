//! Beliefs about unknown pieces: they agree with the pools, and weight what may come to light.
mod common;

use proptest::prelude::*;
use selfplay::belief::Beliefs;
use selfplay::game::{Features, Game};
use selfplay::rules::{History, Kind, Move, Reveal, Ruleset, View};

/// A pool of at least one piece (K A B N R C P), on how many squares they lie, and what is believed of those.
fn believed() -> impl Strategy<Value = ([u8; 7], Vec<[f32; 6]>)> {
    let pool = (0u8..=2, 0u8..=2, 0u8..=2, 0u8..=2, 0u8..=2, 1u8..=5);
    let odds = prop_oneof![Just(0.0f32), Just(1.0f32), 0.0f32..1.0, 0.0f32..0.01];
    let rows = prop::collection::vec(prop::array::uniform6(odds), 1..=15);
    (pool, rows).prop_map(|((a, b, n, r, c, p), mut rows)| {
        let pool = [0, a, b, n, r, c, p];
        rows.truncate(pool.iter().sum::<u8>().into());
        for row in &mut rows {
            let total: f32 = row.iter().sum();
            *row = if total > 0.0 {
                row.map(|odds| odds / total)
            } else {
                [1.0 / 6.0; 6]
            };
        }
        (pool, rows)
    })
}

/// Probabilities of the kinds on a square while the pool is as it was at the root.
fn probabilities(beliefs: &Beliefs, square: usize, pool: &[u8; 7]) -> [f32; 7] {
    let unseen: u8 = pool.iter().sum();
    std::array::from_fn(|kind| {
        beliefs.ratio[square][kind] * f32::from(pool[kind]) / f32::from(unseen)
    })
}

fn balanced(pool: &[u8; 7], rows: &[[f32; 6]]) -> Beliefs {
    let squares: Vec<_> = (20..20 + rows.len()).collect();
    let mut beliefs = Beliefs::default();
    beliefs.balance(&squares, rows, pool);
    beliefs
}

proptest! {
    #[test]
    fn squares_sum_to_one_and_kinds_to_the_pool((pool, rows) in believed()) {
        let beliefs = balanced(&pool, &rows);
        let mut sums = [0.0; 7];
        for square in 20..20 + rows.len() {
            let row = probabilities(&beliefs, square, &pool);
            prop_assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{row:?}");
            prop_assert!(row.iter().all(|p| (0.0..=1.0001).contains(p)));
            sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
        }
        let everywhere = rows.len() == usize::from(pool.iter().sum::<u8>());
        for (sum, n) in sums.iter().zip(pool) {
            let n = f32::from(n);
            prop_assert!(*sum < n + 0.02, "{sums:?} {pool:?}");
            prop_assert!(!everywhere || *sum > n - 0.02, "{sums:?} {pool:?}");
        }
        prop_assert_eq!(beliefs.ratio[19], [1.0; 7]);
    }

    #[test]
    fn believing_the_same_of_all_squares_is_believing_the_pool((pool, rows) in believed()) {
        for believed in [[1.0 / 6.0; 6], rows[0]] {
            let beliefs = balanced(&pool, &vec![believed; rows.len()]);
            for square in 20..20 + rows.len() {
                for kind in (0..7).filter(|&kind| pool[kind] > 0) {
                    let ratio = beliefs.ratio[square][kind];
                    prop_assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
                }
            }
        }
    }
}

#[test]
fn what_one_square_is_the_others_are_not() {
    // Two chariots and two horses on four squares; the first two are surely chariots.
    let pool = [0, 0, 0, 2, 2, 0, 0];
    let (rook, even) = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0 / 6.0; 6]);
    let beliefs = balanced(&pool, &[rook, rook, even, even]);
    for (square, knight) in [(20, 0.0), (21, 0.0), (22, 1.0), (23, 1.0)] {
        let p = probabilities(&beliefs, square, &pool);
        assert!(
            (p[Kind::Knight.index()] - knight).abs() < 0.01,
            "{square}: {p:?}"
        );
    }
    // One more was taken unseen: three squares, of which one is surely a chariot.
    let beliefs = balanced(&pool, &[rook, even, even]);
    let p = probabilities(&beliefs, 21, &pool);
    assert!(p[Kind::Knight.index()] > 0.6, "{p:?}");
}

fn view(form: &str, fen: &str) -> View {
    let rules = Ruleset::by_name(form).expect("a known form");
    View::from_fen(rules, fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// The weights of what a move may bring to light, under beliefs given for each unknown square, and by the pool.
fn weights(view: &View, mv: &str, believe: impl Fn(u8) -> [f32; 6]) -> Vec<(Reveal, u32, u32)> {
    let (mut unknown, mut beliefs) = (Vec::new(), Beliefs::default());
    view.unknown(&mut unknown);
    let believed: Vec<_> = unknown.iter().map(|&square| believe(square)).collect();
    view.believe(&unknown, &believed, &mut beliefs);
    let mut after = *view;
    let mv: Move = mv.parse().expect(mv);
    after.play(mv, &mut History::default());
    let mut reveals = Vec::new();
    after.reveals(&mut reveals);
    let plain = reveals.clone();
    after.weigh(&beliefs, &mut reveals);
    plain
        .into_iter()
        .zip(reveals)
        .map(|((reveal, n), (_, w))| (reveal, n, w))
        .collect()
}

/// Red knows of two pieces that Black took unseen; it is to move, or Black is.
const JIEQI: &str = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X3X1X/1X5X1/9/1XXXKXXXX";
/// Black's pieces are unknown, Red's are Red's secret.
const ARRANGED: &str =
    "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/P!1P!1P!1P!1P!/1C!5C!1/9/R!N!B!A!KA!B!N!R! w - 0 1 red";

#[test]
fn uniform_beliefs_change_no_weight() {
    let pool = "A2B2N2R2C2P5a2b2n2r2c2p5 0 1 red";
    let black = "A2B2N2R2C2P5a2b2n2r2c2p5 0 1 black";
    for (form, fen, mv) in [
        ("jieqi", format!("{JIEQI} w {pool}"), "b2e2"),
        ("jieqi", format!("{JIEQI} w {pool}"), "b2b9"),
        ("fanqi-9", ARRANGED.to_string(), "b2b9"),
        ("fanqi-9", ARRANGED.replace(" w ", " b "), "b7e7"),
        ("jieqi", format!("{JIEQI} b {pool}"), "b7b0"),
        (
            "fanqi-10",
            format!(
                "{} w {black}",
                JIEQI.replace("X3X", "X1X1X").replace("/1XX", "/XXX")
            )
            .replace(" black", ""),
            "b2b9",
        ),
    ] {
        let believed = [0.1, 0.1, 0.1, 0.2, 0.2, 0.3];
        let weights = weights(&view(form, &fen), mv, |_| believed);
        assert!(weights.len() > 4, "{fen}");
        let (_, plain, weighed) = weights[0];
        for (reveal, n, w) in weights {
            assert_eq!(w * plain, n * weighed, "{reveal} in {fen}");
        }
    }
}

#[test]
fn a_sure_belief_makes_a_sure_reveal() {
    // Red takes what lies on b9 with a piece that it knows; it is sure of a chariot there.
    let view = view("fanqi-9", ARRANGED);
    let sure = |square| match square {
        82 => [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        _ => [0.2, 0.2, 0.2, 0.1, 0.1, 0.2],
    };
    let weights = weights(&view, "b2b9", sure);
    let total: u32 = weights.iter().map(|w| w.2).sum();
    assert_eq!(weights.len(), 6);
    for (reveal, _, weight) in weights {
        let share = weight as f32 / total as f32;
        assert!(
            weight > 0 && (share > 0.999) == (reveal.taken == Some(Kind::Rook)),
            "{reveal} {share}"
        );
    }
}

#[test]
fn weights_below_the_root_follow_the_pools_left() {
    let root = view("fanqi-9", &ARRANGED.replace(" w ", " b "));
    let (mut unknown, mut beliefs) = (Vec::new(), Beliefs::default());
    root.unknown(&mut unknown);
    let lively: Vec<_> = unknown
        .iter()
        .map(|&square| {
            let lot = std::array::from_fn(|kind| {
                1.0 + ((usize::from(square) + 1) * (kind + 3) % 7) as f32
            });
            let total: f32 = lot.iter().sum();
            lot.map(|odds| odds / total)
        })
        .collect();
    root.believe(&unknown, &lively, &mut beliefs);
    let mut history = History::default();
    let mut after = root;
    let reveal = |mover| Reveal {
        mover: Some(mover),
        taken: None,
    };
    // Both chariots turn up elsewhere.
    for (mv, mover) in [
        ("b7e7", Some(Kind::Rook)),
        ("b2d2", None),
        ("h7f7", Some(Kind::Rook)),
        ("h2g2", None),
    ] {
        after.play(mv.parse().expect(mv), &mut history);
        if let Some(mover) = mover {
            after.reveal(reveal(mover), &mut history);
        }
    }
    after.play("a9a8".parse().expect("a move"), &mut history);
    let mut reveals = Vec::new();
    after.reveals(&mut reveals);
    after.weigh(&beliefs, &mut reveals);
    assert!(
        reveals
            .iter()
            .all(|(reveal, weight)| reveal.mover != Some(Kind::Rook) && *weight > 0)
    );
    let weight = |kind: Kind| {
        let found = reveals
            .iter()
            .find(|(reveal, _)| reveal.mover == Some(kind));
        found.expect("possible").1 as f32
    };
    let ratio = |kind: Kind| beliefs.ratio[81][kind.index()];
    let expected = 5.0 * ratio(Kind::Pawn) / (2.0 * ratio(Kind::Knight));
    let actual = weight(Kind::Pawn) / weight(Kind::Knight);
    assert!(
        (actual - expected).abs() < 1e-3 * expected,
        "{actual} {expected}"
    );
}
