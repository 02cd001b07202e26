//! Material of the hidden forms: a face-down piece counts as what it is, or may be; alpha-beta averages over
//! what may come to light.
#[path = "support/hidden_games.rs"]
mod hidden_games;
#[path = "support/minimax.rs"]
mod minimax;

use hidden_games::{COLORS, Walk, form, forms_and_variants};
use minimax::{check_minimax, choose};
use proptest::prelude::*;
use selfplay::game::{Game, Referee};
use selfplay::opponent::Material;
use selfplay::rules::{Color, History, Kind, Layout, Position, Square, View};

/// By kind, in centipawns: K A B N R C P, a pawn at home.
const TABLE: [i32; 7] = [0, 200, 200, 400, 900, 450, 100];

/// A side's material by the table.
fn material(position: &Position, color: Color) -> f64 {
    let crossed = |square: Square| (square.rank() >= 5) == (color == Color::Red);
    let pool = position.pool(color);
    let weighed = pool
        .iter()
        .zip(TABLE)
        .map(|(&n, value)| f64::from(n) * f64::from(value));
    let mean = weighed.sum::<f64>() / f64::from(pool.iter().sum::<u8>());
    let worth = |(square, piece): (Square, selfplay::rules::Piece)| match piece.identity() {
        Some(Kind::Pawn) if crossed(square) => 200.0,
        Some(kind) => f64::from(TABLE[kind.index()]),
        None => mean,
    };
    let own = position.pieces().filter(|(_, piece)| piece.color == color);
    own.map(worth).sum()
}

fn check_balance(view: &View) {
    let [red, black] = COLORS.map(|color| material(view.position(), color));
    let balance = view.balance(Color::Red);
    assert_eq!(view.balance(Color::Black), -balance);
    // Each side's is rounded down.
    assert!(
        (f64::from(balance) - (red - black)).abs() < 1.0 + 1e-6,
        "{balance} of {view:?}"
    );
}

/// What a move gains is what the balance rises by, unless something comes to light.
fn check_gains(view: &View) {
    let (mut legal, side) = (Vec::new(), view.position().decider());
    view.legal_moves(&mut legal);
    for mv in legal {
        let mut after = *view;
        after.play(mv, &mut History::default());
        if after.position().awaits_reveal() {
            continue;
        }
        let rise = after.balance(side) - view.balance(side);
        assert_eq!(view.gain(mv), rise, "{mv} in {view:?}");
        assert!(mv.placed().is_none() || rise == 0, "{mv} in {view:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, failure_persistence: None, ..Default::default() })]

    #[test]
    fn balances_and_gains_are_the_tables(seed: u64) {
        for rules in forms_and_variants() {
            Walk::start(rules, seed).on(150, |walk| {
                for viewer in COLORS {
                    check_balance(&walk.world.view(viewer));
                    check_gains(&walk.world.view(viewer));
                }
            });
        }
    }

    #[test]
    fn alphabeta_is_expectimax_of_the_view(seed: u64, plies in 0..120_usize) {
        for rules in forms_and_variants() {
            let walk = Walk::after(rules, seed, plies);
            for viewer in COLORS {
                check_minimax(&walk.world.view(viewer), walk.world.history(viewer), 1);
            }
        }
    }

    #[test]
    fn alphabeta_is_expectimax_where_little_is_left(seed: u64) {
        for rules in forms_and_variants() {
            let walk = Walk::after(rules, seed, 150);
            if walk.truth.board.iter().flatten().count() < 12 {
                check_minimax(&walk.world.view(Color::Red), walk.world.history(Color::Red), 2);
            }
        }
    }
}

#[test]
fn the_last_placement_is_followed_by_reds_move() {
    // The same side decides twice, or Black places and Red moves: whose value it is goes by who decides.
    for (name, seed) in [("fanqi-3", 1), ("fanqi-9", 2)] {
        for viewer in COLORS {
            let rules = form(name);
            let mut walk = Walk::start(rules, seed);
            while walk.position(viewer).arranging().is_some() {
                let left: u8 = walk.position(viewer).pool(viewer).iter().sum();
                if left <= 2 {
                    check_minimax(&walk.world.view(viewer), walk.world.history(viewer), 2);
                }
                walk.on(1, |_| {});
            }
            assert_eq!(rules.layout, Layout::Arranged);
        }
    }
}

/// The balance of the side to move, and the value of one of the moves that greedy plays.
fn check(form_name: &str, fen: &str, balance: i32, greedy: &[&str], value: i32) {
    let view = View::from_fen(form(form_name), fen).unwrap_or_else(|e| panic!("{fen}: {e}"));
    assert_eq!(view.balance(view.position().decider()), balance, "{fen}");
    for seed in 0..10 {
        let (mv, found) = choose(&view, &History::default(), 1, seed).expect("a move");
        assert!(greedy.contains(&mv.to_string().as_str()), "{mv} in {fen}");
        assert_eq!(found, value, "{mv} in {fen}");
    }
}

#[test]
fn face_down_pieces_count_as_what_they_are() {
    let with = |rank: &str, rest: &str| format!("4k4/9/9/{rank}/9/9/9/9/9/3K5 w {rest}");
    // A chariot and a pawn, both known, on pawns' squares.
    check("fanqi-10", &with("r~Rp~6", "- 0 1"), -100, &["b6a6"], 800);
    // Of one unknown piece the pool tells all.
    check("fanqi-10", &with("xR1c5", "r1 0 1"), -450, &["b6a6"], 450);
    check("fanqi-10", &with("xR1c5", "p1 0 1"), 350, &["b6d6"], 800);
    // Of two it tells the mean: either is taken for a chariot or a pawn, and the other is what is left.
    check(
        "fanqi-10",
        &with("xR2x4", "r1p1 0 1"),
        -100,
        &["b6a6", "b6e6"],
        400,
    );
    // Of two pieces of which one was lost unseen, the one on the board counts as the mean.
    check(
        "jieqi",
        "5k3/9/9/9/9/9/9/9/p8/X3K4 w R1C1 0 1 red",
        475,
        &["a0a1"],
        675,
    );
}
