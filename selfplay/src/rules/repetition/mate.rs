//! 杀: whether a side threatens to mate (RULES.md §5).
use crate::game::Color;
use crate::rules::position::{Position, Reveal};
use crate::rules::types::Move;

/// Checks in a row within which a mate is a threat.
const CHECKS: u32 = 3;

/// Whether `by` would mate with checks alone if it were to move.
///
/// Both players know of such a threat: what a piece turns out to be that one of them does not know counts for
/// nothing. Its moves are no threats, and a defence by one holds.
pub(super) fn is_threatened(position: &Position, by: Color) -> bool {
    mates(&position.with_turn(by), CHECKS)
}

/// Whether the side to move mates within that many checks.
fn mates(position: &Position, checks: u32) -> bool {
    after_each(position)
        .flatten()
        .filter(Position::in_check)
        .any(|next| !next.has_legal_move() || checks > 1 && loses(&next, checks - 1))
}

/// Whether every move of the side to move leads into a mate within that many checks.
fn loses(position: &Position, checks: u32) -> bool {
    after_each(position).all(|next| next.is_some_and(|next| mates(&next, checks)))
}

/// The position after each legal move; `None` where one of the players does not know what has moved.
fn after_each(position: &Position) -> impl Iterator<Item = Option<Position>> {
    let (position, mut moves) = (*position, Vec::<Move>::new());
    position.legal_moves(&mut moves);
    moves.into_iter().map(move |mv| {
        let mut next = position;
        let unseen = next.is_unknown(mv.from().index()) || next.is_secret(mv.from());
        next.play(mv);
        next.reveal(Reveal::default());
        (!unseen).then_some(next)
    })
}
