//! Minimax by plain recursion, beside alpha-beta.
#![allow(dead_code, reason = "each test file uses its own part")]
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Past, Turn, Wdl};
use selfplay::opponent::{AlphaBeta, Material};

/// Value for `side` by plain recursion.
pub fn minimax<G: Material>(
    game: &G,
    side: Color,
    history: &mut G::History,
    ply: i32,
    depth: u8,
) -> i32 {
    match game.turn(history) {
        Turn::Over(ending) => Wdl::of(ending.outcome, side).q() as i32 * (1_000_000 - ply),
        Turn::Chance => {
            let mut reveals = Vec::new();
            game.reveals(&mut reveals);
            let (mut sum, mut total) = (0, 0);
            for (reveal, weight) in reveals {
                let (mark, mut child) = (history.mark(), *game);
                child.reveal(reveal, history);
                sum += i64::from(weight) * i64::from(minimax(&child, side, history, ply, depth));
                total += i64::from(weight);
                history.rewind(mark);
            }
            (sum / total) as i32
        }
        Turn::Decision(_) if depth == 0 => game.balance(side),
        Turn::Decision(_) => values(game, side, history, ply, depth)
            .into_iter()
            .map(|(_, v)| v)
            .max()
            .expect("a move"),
    }
}

/// Every legal move with its minimax value.
pub fn values<G: Material>(
    game: &G,
    side: Color,
    history: &mut G::History,
    ply: i32,
    depth: u8,
) -> Vec<(G::Move, i32)> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut value_of = |mv| {
        let (mark, mut child) = (history.mark(), *game);
        child.play(mv, history);
        let value = if child.turn(history) == Turn::Decision(side) {
            minimax(&child, side, history, ply + 1, depth - 1)
        } else {
            -minimax(&child, side.other(), history, ply + 1, depth - 1)
        };
        history.rewind(mark);
        (mv, value)
    };
    moves.into_iter().map(&mut value_of).collect()
}

/// Alpha-beta's value equals minimax's, and its moves are those of that value.
pub fn check_minimax<G: Material>(game: &G, history: &G::History, depth: u8) {
    let Turn::Decision(side) = game.turn(history) else {
        return;
    };
    let all = values(game, side, &mut history.clone(), 0, depth);
    let expected = all.iter().map(|&(_, v)| v).max().expect("a move");
    for seed in 0..3 {
        let (mv, value) = choose(game, history, depth, seed).expect("a move");
        assert_eq!(value, expected, "depth {depth} of {game:?}");
        assert!(
            all.contains(&(mv, expected)),
            "{mv}, depth {depth} of {game:?}"
        );
    }
}

pub fn choose<G: Material>(
    game: &G,
    history: &G::History,
    depth: u8,
    seed: u64,
) -> Option<(G::Move, i32)> {
    AlphaBeta::default().choose(game, history, depth, &mut Pcg64Mcg::seed_from_u64(seed))
}
