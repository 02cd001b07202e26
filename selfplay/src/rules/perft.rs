//! Counting move sequences, the check that a generator is right.
//!
//! A move of an unknown piece branches over every distinct identity it may turn out to have. What a taken
//! unknown piece was is not told apart: it stays unseen.
use super::position::{Position, Reveal};
use super::types::Move;

/// Number of legal move sequences of length `depth`; the last ply is counted, not played.
pub(super) fn perft(position: &Position, depth: u32) -> u64 {
    let mut plies: Vec<Ply> = Vec::new();
    plies.resize_with(depth as usize, Ply::default);
    count(position, &mut plies)
}

/// The count below each legal move; the counts sum to `position.perft(depth)`. `depth` is at least 1.
pub fn divide(position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    let mut plies: Vec<Ply> = Vec::new();
    plies.resize_with(depth as usize, Ply::default);
    let Some((first, rest)) = plies.split_first_mut() else {
        return Vec::new();
    };
    let below = |mv| (mv, after(position, mv, &mut first.reveals, rest));
    moves.into_iter().map(below).collect()
}

/// One ply's memory.
#[derive(Default)]
struct Ply {
    moves: Vec<Move>,
    reveals: Vec<(Reveal, u32)>,
}

fn count(position: &Position, plies: &mut [Ply]) -> u64 {
    let Some((Ply { moves, reveals }, rest)) = plies.split_first_mut() else {
        return 1;
    };
    position.legal_moves(moves);
    if rest.is_empty() {
        return moves.len() as u64;
    }
    let after = |&mv: &Move| after(position, mv, reveals, rest);
    moves.iter().map(after).sum()
}

/// The sequences behind `mv`.
#[inline]
fn after(position: &Position, mv: Move, reveals: &mut Vec<(Reveal, u32)>, rest: &mut [Ply]) -> u64 {
    if rest.is_empty() {
        return 1;
    }
    let mut next = *position;
    next.play(mv);
    if !next.awaits_reveal() {
        return count(&next, rest);
    }
    next.reveals(reveals);
    reveals
        .iter_mut()
        .for_each(|(reveal, _)| reveal.taken = None);
    reveals.dedup_by_key(|(reveal, _)| *reveal);
    let turned = |&(reveal, _): &(Reveal, u32)| {
        let mut next = next;
        next.reveal(reveal);
        count(&next, rest)
    };
    reveals.iter().map(turned).sum()
}
