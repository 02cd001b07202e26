//! The only place where a game ends.
use super::history::History;
use super::position::Position;
use super::repetition;
use super::types::Kind;
use crate::game::{Ending, Outcome, Reason};

/// How the game has ended, if it has (RULES.md §1, §5). In this order: mate, dead position,
/// repetition, natural limit.
pub fn judge(position: &Position, history: &History) -> Option<Ending> {
    if position.arranging().is_some() {
        return None;
    }
    if !position.has_legal_move() {
        let reason = if position.in_check() {
            Reason::Checkmate
        } else {
            Reason::Stalemate
        };
        return Some(Ending {
            outcome: Outcome::Win(position.turn().other()),
            reason,
        });
    }
    let draw = |reason| Ending {
        outcome: Outcome::Draw,
        reason,
    };
    if is_dead(position) {
        return Some(draw(Reason::DeadPosition));
    }
    repetition::judge(position, history)
        .map(|repetition| repetition.ending)
        .or_else(|| limit_reached(position).then(|| draw(Reason::NaturalLimit)))
}

/// Whether no piece is left that can cross the river and attack, and none may yet turn out to be one.
/// Kings, advisors and bishops that stay at home can neither check nor leave a side without a move.
fn is_dead(position: &Position) -> bool {
    let roams = position.rules().roams;
    let attacks = |kind| match kind {
        Kind::Rook | Kind::Knight | Kind::Cannon | Kind::Pawn => true,
        Kind::Advisor | Kind::Bishop => roams.has(kind),
        Kind::King => false,
    };
    !position.any_down() && !position.pieces().any(|(_, piece)| attacks(piece.kind))
}

/// 自然限着.
fn limit_reached(position: &Position) -> bool {
    let limit = position.rules().no_capture_plies;
    limit > 0 && position.no_capture() >= limit
}
