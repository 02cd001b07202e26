//! What a capture would win (RULES.md §5).
use crate::game::Color;
use crate::rules::geometry::{Bits, Squares, bit, has};
use crate::rules::movegen;
use crate::rules::position::Position;
use crate::rules::types::{Kind, Square};

/// What a legal capture would win if its side were to move.
pub(super) struct Capture {
    gains: bool,
    trades: bool,
    protected: bool,
}

impl Capture {
    /// The side to move's piece on `from` takes the one on `to`.
    ///
    /// Its opponent may be in check, from a move that checked and attacked at once; that check will be answered
    /// first, so it keeps no piece from protecting another.
    pub(super) fn new(position: &Position, from: Square, to: Square) -> Capture {
        let kind = |square| position.piece_at(square).map(|piece| piece.kind);
        let (attacker, victim) = (kind(from), kind(to));
        let them = position.turn().other();
        let checkers = checkers(position, them);
        let after = position.with_capture(from, to);
        let takes_back =
            |position: &Position, from, to| may_take_but_for(position, from, to, checkers);
        Capture {
            gains: gains(attacker, victim),
            trades: attacker == victim && takes_back(&position.with_turn(them), to, from),
            protected: Squares(after.side(them)).any(|root| takes_back(&after, root, to)),
        }
    }

    /// Whether it wins something: a better piece, or one without a root, unless equals offer an exchange.
    pub(super) fn wins(&self) -> bool {
        self.gains || !self.trades && !self.protected
    }

    /// Whether the victim has a true root 真根: the attacker could legally be taken back.
    pub(super) fn is_protected(&self) -> bool {
        self.protected
    }
}

/// Whether the capture gains even if the piece is protected.
fn gains(attacker: Option<Kind>, victim: Option<Kind>) -> bool {
    match attacker {
        Some(Kind::Knight | Kind::Cannon) => victim == Some(Kind::Rook),
        Some(Kind::Advisor | Kind::Bishop) => {
            matches!(victim, Some(Kind::Rook | Kind::Knight | Kind::Cannon))
        }
        _ => false,
    }
}

/// Whether the side to move's piece on `from` may legally go to `to`.
pub(super) fn may_take(position: &Position, from: Square, to: Square) -> bool {
    has(movegen::legal_targets(position, from), to)
}

/// Whether it may, once the check that it is in is answered.
pub(super) fn may_take_when_safe(position: &Position, from: Square, to: Square) -> bool {
    may_take_but_for(position, from, to, checkers(position, position.turn()))
}

/// Whether it may, or might if `checkers` were gone.
fn may_take_but_for(position: &Position, from: Square, to: Square, checkers: Bits) -> bool {
    may_take(position, from, to)
        || checkers != 0
            && has(movegen::reached(position, from), to)
            && self::checkers(&position.with_capture(from, to), position.turn()) & !checkers == 0
}

/// The squares of the pieces that attack that side's king, the other king among them.
fn checkers(position: &Position, color: Color) -> Bits {
    let (position, king) = (position.with_turn(color.other()), position.king(color));
    let facing = position.king(color.other());
    let attackers = Squares(position.side(color.other()))
        .filter(|&from| has(movegen::reached(&position, from), king))
        .fold(0, |set, from| set | bit(from));
    attackers
        | if movegen::faces(&position, king, facing) {
            bit(facing)
        } else {
            0
        }
}
