//! 捉: which pieces a move threatens to win (RULES.md §5).
use super::capture::{Capture, may_take_when_safe};
use crate::rules::geometry::{Bits, Squares, bit, crossed};
use crate::rules::movegen;
use crate::rules::position::Position;
use crate::rules::types::{Kind, Move, Piece, Square};

/// The squares of `among` whose pieces `mv`, which led from `before` to `after`, threatened anew: some piece
/// would win them if its side were to move again, and would not have before.
pub(super) fn threatened_anew(before: &Position, mv: Move, after: &Position, among: Bits) -> Bits {
    let by = before.turn();
    let after = after.with_turn(by);
    let among = after
        .pieces_on(among & after.side(by.other()))
        .filter(|&(square, piece)| can_be_chased(piece, square))
        .fold(0, |set, (square, _)| set | bit(square));
    if among == 0 {
        return 0;
    }
    attackers(&after).fold(0, |found, from| {
        let came_from = if from == mv.to() { mv.from() } else { from };
        let targets = movegen::legal_targets(&after, from) & among & !found;
        Squares(targets)
            .filter(|&to| Capture::new(&after, from, to).wins())
            .filter(|&to| is_new(before, came_from, to, || is_threatened(&after, from)))
            .fold(found, |found, to| found | bit(to))
    })
}

/// Whether a threat of a piece that stood on `from` is new.
///
/// It is if the piece could not have taken the other before, a check apart that the move answered. Where it could,
/// and only a root was lost, nothing else may have won the other before, and the move must be more than a defence: it
/// must not have parried a threat to the attacker, as putting a piece in the line of a cannon does.
fn is_new(
    before: &Position,
    from: Square,
    to: Square,
    still_threatened: impl Fn() -> bool,
) -> bool {
    if !may_take_when_safe(before, from, to) {
        return true;
    }
    let old = Capture::new(before, from, to);
    !old.wins()
        && !is_won(before, to)
        && (!old.is_protected() || !is_threatened(before, from) || still_threatened())
}

/// Whether the opponent of the side to move would win the piece on `square` if it were to move.
fn is_threatened(position: &Position, square: Square) -> bool {
    is_won(&position.with_turn(position.turn().other()), square)
}

/// Whether the side to move would win the piece on `square`.
fn is_won(position: &Position, square: Square) -> bool {
    attackers(position).any(|from| {
        may_take_when_safe(position, from, square) && Capture::new(position, from, square).wins()
    })
}

/// The side to move's pieces whose attacks count: kings and pawns may chase.
fn attackers(position: &Position) -> impl Iterator<Item = Square> + '_ {
    position
        .pieces_on(position.side(position.turn()))
        .filter(|(_, piece)| !matches!(piece.kind, Kind::King | Kind::Pawn))
        .map(|(square, _)| square)
}

/// Whether an attack on a piece counts: not on a king, nor on a pawn at home.
fn can_be_chased(victim: Piece, square: Square) -> bool {
    match victim.kind {
        Kind::King => false,
        Kind::Pawn => crossed(victim.color, square),
        _ => true,
    }
}
