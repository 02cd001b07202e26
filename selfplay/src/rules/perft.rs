//! Counting move sequences, the check that a generator is right.
use super::position::Position;
use super::types::Move;

/// Number of legal move sequences of length `depth`; the last ply is counted, not played.
pub(super) fn perft(position: &Position, depth: u32) -> u64 {
    let mut moves = vec![Vec::new(); depth as usize];
    count(position, &mut moves)
}

/// The count below each legal move; the counts sum to `position.perft(depth)`. `depth` is at least 1.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    let below = |mv: Move| {
        let mut after = *position;
        after.play(mv);
        (mv, after.perft(depth.saturating_sub(1)))
    };
    moves.into_iter().map(below).collect()
}

fn count(position: &Position, lists: &mut [Vec<Move>]) -> u64 {
    let Some((moves, rest)) = lists.split_first_mut() else {
        return 1;
    };
    position.legal_moves(moves);
    if rest.is_empty() {
        return moves.len() as u64;
    }
    let after = |&mv: &Move| {
        let mut after = *position;
        after.play(mv);
        count(&after, rest)
    };
    moves.iter().map(after).sum()
}
