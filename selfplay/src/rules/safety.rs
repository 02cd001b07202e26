//! The king's safety: what each enemy piece that bears on it allows the other pieces to do.
use arrayvec::ArrayVec;

use super::attacks;
use super::geometry::{BOARD, Bits, Squares, bit, has};
use super::position::Position;
use super::types::{Kind, Square};

/// An enemy piece that attacks the king, or would after some move of another piece.
///
/// A move answers it if it ends in `free`, or in `bound` where it starts on one of `blockers`.
#[derive(Clone, Copy)]
struct Threat {
    free: Bits,
    blockers: Bits,
    bound: Bits,
}

/// Where the side to move's pieces other than the king may go without leaving it attacked.
pub(super) struct Safety {
    free: Bits,
    blockers: Bits,
    threats: ArrayVec<Threat, 16>,
}

impl Safety {
    /// The safety of the side to move's king.
    #[inline(always)]
    pub(super) fn new(position: &Position) -> Safety {
        let mut safety = Safety {
            free: BOARD,
            blockers: 0,
            threats: ArrayVec::new(),
        };
        let (us, them) = (position.turn(), position.turn().other());
        let king = position.king(us);
        let pawns =
            attacks::PAWN_ONTO[them as usize][king.index()] & position.set(them, Kind::Pawn);
        let knights = attacks::KNIGHT_RING[king.index()] & position.set(them, Kind::Knight);
        let liners = attacks::CROSS[king.index()] & position.liners(them);
        if pawns | knights | liners != 0 {
            let (own, occupied) = (position.side(us), position.occupied());
            Squares(pawns).for_each(|at| {
                safety.add(
                    own,
                    Threat {
                        free: bit(at),
                        blockers: 0,
                        bound: 0,
                    },
                )
            });
            Squares(knights).for_each(|at| safety.add(own, knight(king, at, occupied)));
            for at in Squares(liners) {
                let cannon = has(position.set(them, Kind::Cannon), at);
                safety.add(
                    own,
                    if cannon {
                        cannon_threat(king, at, occupied)
                    } else {
                        rook(king, at, occupied)
                    },
                );
            }
        }
        safety
    }

    fn add(&mut self, own: Bits, threat: Threat) {
        self.free &= threat.free;
        self.blockers |= threat.blockers & own;
        self.threats.push(threat);
    }

    /// The safe targets of the piece on `from`.
    #[inline(always)]
    pub(super) fn targets(&self, from: Square) -> Bits {
        if !has(self.blockers, from) {
            return self.free;
        }
        let allowed = |threat: &Threat| {
            if has(threat.blockers, from) {
                threat.bound
            } else {
                threat.free
            }
        };
        self.threats
            .iter()
            .fold(BOARD, |targets, threat| targets & allowed(threat))
    }
}

/// A knight: blocked on its leg, taken, or held back by the piece that stands there.
fn knight(king: Square, at: Square, occupied: Bits) -> Threat {
    let leg = attacks::knight_leg(at, king);
    let free = if occupied & leg == 0 {
        leg | bit(at)
    } else {
        BOARD
    };
    Threat {
        free,
        blockers: occupied & leg,
        bound: bit(at),
    }
}

/// A rook, or the other king: needs a piece between.
fn rook(king: Square, at: Square, occupied: Bits) -> Threat {
    let between = attacks::between(king, at);
    let (blockers, line) = (between & occupied, between | bit(at));
    match count(blockers) {
        0 => Threat {
            free: line,
            blockers,
            bound: 0,
        },
        1 => Threat {
            free: BOARD,
            blockers,
            bound: line,
        },
        _ => Threat {
            free: BOARD,
            blockers: 0,
            bound: 0,
        },
    }
}

/// A cannon: attacks over exactly one piece.
fn cannon_threat(king: Square, at: Square, occupied: Bits) -> Threat {
    let between = attacks::between(king, at);
    let blockers = between & occupied;
    let new_screen_or_taken = between & !occupied | bit(at);
    match count(blockers) {
        0 => Threat {
            free: !between,
            blockers,
            bound: 0,
        },
        1 => Threat {
            free: new_screen_or_taken,
            blockers,
            bound: !between,
        },
        2 => Threat {
            free: BOARD,
            blockers,
            bound: new_screen_or_taken,
        },
        _ => Threat {
            free: BOARD,
            blockers: 0,
            bound: 0,
        },
    }
}

/// Number of squares of a set, 3 standing for more.
fn count(set: Bits) -> u32 {
    let rest = set & set.wrapping_sub(1);
    let rest_of_rest = rest & rest.wrapping_sub(1);
    u32::from(set != 0) + u32::from(rest != 0) + u32::from(rest_of_rest != 0)
}
