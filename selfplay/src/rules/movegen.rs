//! Legal moves (RULES.md §1): targets by table, the king's safety by the pieces that bear on it.
use std::ops::ControlFlow;

use super::attacks;
use super::geometry::{Bits, Squares, bit, has};
use super::position::Position;
use super::safety::{self, Safety};
use super::types::{Kind, Move, Square};
use crate::game::Color;

/// More than the moves of any position: a rook or cannon has at most 17, a knight 8, and so on; a second
/// time those onto the 15 home squares, where a piece may be laid down.
const MAX_MOVES: usize = 256;

/// Replaces `out` with the legal moves of the side to move.
pub(super) fn legal(position: &Position, out: &mut Vec<Move>) {
    out.resize(MAX_MOVES, Move::default());
    let Some(room) = out.first_chunk_mut::<MAX_MOVES>() else {
        return;
    };
    let mut len = 0;
    let mut add = |mv| {
        room[len % MAX_MOVES] = mv;
        len += 1;
    };
    if let Some(square) = position.next_placed() {
        placements(position, square).for_each(add);
    } else if position.rules().turns_down {
        let _ = visit(position, |from, targets| {
            Squares(targets).for_each(|to| add(Move::new(from, to)));
            let laying = targets & position.laying_squares(from);
            Squares(laying).for_each(|to| add(Move::new(from, to).turning_down()));
            ControlFlow::Continue(())
        });
    } else {
        let _ = visit(position, |from, targets| {
            Squares(targets).for_each(|to| add(Move::new(from, to)));
            ControlFlow::Continue(())
        });
    }
    out.truncate(len);
}

/// The kinds that the arranging player has left to place on `square`.
fn placements(position: &Position, square: Square) -> impl Iterator<Item = Move> {
    let pool = position.pool(position.decider());
    Kind::ALL
        .into_iter()
        .filter(move |kind| pool[kind.index()] > 0)
        .map(move |kind| Move::place(kind, square))
}

/// Whether the side to move has a legal move.
pub(super) fn any(position: &Position) -> bool {
    if position.arranging().is_some() {
        return true;
    }
    let found = |_, targets| {
        if targets == 0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    visit(position, found).is_break()
}

/// Whether any move at all is legal.
pub(super) fn is_legal(position: &Position, mv: Move) -> bool {
    if let Some(square) = position.next_placed() {
        return placements(position, square).any(|placement| placement == mv);
    }
    if mv.placed().is_some() || mv.turns_down() && !has(position.laying_squares(mv.from()), mv.to())
    {
        return false;
    }
    has(legal_targets(position, mv.from()), mv.to())
}

/// Where the side to move's piece on `from` may go; nowhere if it has none there.
pub(super) fn legal_targets(position: &Position, from: Square) -> Bits {
    let us = position.turn();
    let Some(kind) = position
        .piece_at(from)
        .filter(|p| p.color == us)
        .map(|p| p.kind)
    else {
        return 0;
    };
    let safe = if kind == Kind::King {
        safe_king_steps(position)
    } else {
        safety::of_blocker(position, from)
    };
    targets_of(position, us, kind, from) & safe
}

/// Whether an enemy of `color` attacks `square`, where a king of `color` stands or would stand;
/// `occupied`: the pieces on the board without that king.
pub(super) fn attacked(position: &Position, square: Square, color: Color, occupied: Bits) -> bool {
    let (them, at) = (color.other(), square.index());
    if attacks::PAWN_ONTO[them as usize][at] & position.set(them, Kind::Pawn) != 0 {
        return true;
    }
    if !position.rules().roams.is_empty() && attacked_by_roamers(position, square, them, occupied) {
        return true;
    }
    let knights = attacks::KNIGHT_RING[at] & position.set(them, Kind::Knight);
    if knights != 0 && attacks::knight_onto(square, occupied) & knights != 0 {
        return true;
    }
    let cannons = position.set(them, Kind::Cannon);
    Squares(attacks::CROSS[at] & position.liners(them)).any(|from| {
        let screens = attacks::between(square, from) & occupied;
        if has(cannons, from) {
            screens != 0 && screens & (screens - 1) == 0
        } else {
            screens == 0
        }
    })
}

/// Whether an advisor or bishop of `them`, far from home, attacks `square`.
fn attacked_by_roamers(position: &Position, square: Square, them: Color, occupied: Bits) -> bool {
    let advisors = attacks::DIAGONAL_STEPS[square.index()] & position.set(them, Kind::Advisor);
    let bishops = attacks::bishop(square, occupied) & position.set(them, Kind::Bishop);
    Squares(advisors).any(|from| has(position.zone(them, Kind::Advisor, from), square))
        || Squares(bishops).any(|from| has(position.zone(them, Kind::Bishop, from), square))
}

/// Calls `visit` with each piece of the side to move and its legal targets, until it breaks.
#[inline(always)]
fn visit<F>(position: &Position, mut visit: F) -> ControlFlow<()>
where
    F: FnMut(Square, Bits) -> ControlFlow<()>,
{
    let us = position.turn();
    let safety = Safety::new(position);
    visit_free(position, &safety, Kind::Rook, &mut visit)?;
    visit_free(position, &safety, Kind::Cannon, &mut visit)?;
    visit_free(position, &safety, Kind::Knight, &mut visit)?;
    visit_free(position, &safety, Kind::Pawn, &mut visit)?;
    visit_free(position, &safety, Kind::Bishop, &mut visit)?;
    visit_free(position, &safety, Kind::Advisor, &mut visit)?;
    for (from, piece) in position.pieces_on(safety.blockers) {
        visit(
            from,
            targets_of(position, us, piece.kind, from) & safety::of_blocker(position, from),
        )?;
    }
    visit(position.king(us), safe_king_steps(position))
}

/// The pieces of one kind that block nothing.
#[inline(always)]
fn visit_free<F>(position: &Position, safety: &Safety, kind: Kind, visit: &mut F) -> ControlFlow<()>
where
    F: FnMut(Square, Bits) -> ControlFlow<()>,
{
    let us = position.turn();
    for from in Squares(position.set(us, kind) & !safety.blockers) {
        visit(from, targets(position, us, kind, from) & safety.free)?;
    }
    ControlFlow::Continue(())
}

/// Where a piece of the side to move may go, its king's safety aside; nowhere if it has none there.
pub(super) fn reached(position: &Position, from: Square) -> Bits {
    let us = position.turn();
    match position.piece_at(from) {
        Some(piece) if piece.color == us => targets_of(position, us, piece.kind, from),
        _ => 0,
    }
}

/// Whether nothing stands between two squares of one file.
pub(super) fn faces(position: &Position, a: Square, b: Square) -> bool {
    a.file() == b.file() && attacks::between(a, b) & position.occupied() == 0
}

/// [`targets`], not inlined.
fn targets_of(position: &Position, us: Color, kind: Kind, from: Square) -> Bits {
    targets(position, us, kind, from)
}

/// Where a piece may go, its king's safety aside.
#[inline(always)]
fn targets(position: &Position, us: Color, kind: Kind, from: Square) -> Bits {
    let (own, occupied) = (position.side(us), position.occupied());
    let reached = match kind {
        Kind::King => attacks::ORTHOGONAL_STEPS[from.index()],
        Kind::Advisor => attacks::DIAGONAL_STEPS[from.index()],
        Kind::Bishop => attacks::bishop(from, occupied),
        Kind::Knight => attacks::knight(from, occupied),
        Kind::Rook => attacks::rook(from, occupied),
        Kind::Cannon => {
            attacks::rook(from, occupied) & !occupied | attacks::cannon(from, occupied) & occupied
        }
        Kind::Pawn => attacks::PAWN[us as usize][from.index()],
    };
    reached & position.zone(us, kind, from) & !own
}

/// The king's legal targets.
fn safe_king_steps(position: &Position) -> Bits {
    let us = position.turn();
    let king = position.king(us);
    let without = position.occupied() & !bit(king);
    Squares(targets(position, us, Kind::King, king))
        .filter(|&to| !attacked(position, to, us, without))
        .fold(0, |safe, to| safe | bit(to))
}
