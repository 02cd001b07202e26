//! The king's safety: what each enemy piece that bears on it allows the other pieces to do.
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

/// A threat that no single move can bring about.
const FAR: Threat = Threat {
    free: BOARD,
    blockers: 0,
    bound: BOARD,
};

/// Where the side to move's pieces other than the king may go without leaving it attacked.
#[derive(Clone, Copy)]
pub(super) struct Safety {
    /// The safe targets of every piece that is none of `blockers`.
    pub free: Bits,
    /// The own pieces whose safe targets are [`of_blocker`]'s.
    pub blockers: Bits,
}

impl Safety {
    /// The safety of the side to move's king.
    #[inline(always)]
    pub(super) fn new(position: &Position) -> Safety {
        let mut safety = Safety {
            free: BOARD,
            blockers: 0,
        };
        each_threat(position, |threat| {
            safety.free &= threat.free;
            safety.blockers |= threat.blockers;
        });
        safety.blockers &= position.side(position.turn());
        safety
    }
}

/// The safe targets of any piece but the king. Threats are found anew: blockers are too few to keep
/// a list of threats for every position.
pub(super) fn of_blocker(position: &Position, from: Square) -> Bits {
    let mut targets = BOARD;
    each_threat(position, |threat| {
        targets &= if has(threat.blockers, from) {
            threat.bound
        } else {
            threat.free
        };
    });
    targets
}

#[inline(always)]
fn each_threat(position: &Position, mut each: impl FnMut(Threat)) {
    let (us, them) = (position.turn(), position.turn().other());
    let (king, occupied) = (position.king(us), position.occupied());
    let pawns = attacks::PAWN_ONTO[them as usize][king.index()] & position.set(them, Kind::Pawn);
    let knights = attacks::KNIGHT_RING[king.index()] & position.set(them, Kind::Knight);
    let liners = attacks::CROSS[king.index()] & position.liners(them);
    if pawns != 0 {
        Squares(pawns).for_each(|at| {
            each(Threat {
                free: bit(at),
                blockers: 0,
                bound: 0,
            })
        });
    }
    if !position.rules().roams.is_empty() {
        each_roamer(position, king, occupied, &mut each);
    }
    if knights != 0 {
        Squares(knights).for_each(|at| each(leaper(attacks::knight_leg(at, king), at, occupied)));
    }
    for at in Squares(liners) {
        let screened = has(position.set(them, Kind::Cannon), at);
        each(if screened {
            cannon(king, at, occupied)
        } else {
            rook(king, at, occupied)
        });
    }
}

/// Advisors and bishops that have left their range: an advisor must be taken, a bishop taken or blocked.
fn each_roamer(position: &Position, king: Square, occupied: Bits, each: &mut impl FnMut(Threat)) {
    let them = position.turn().other();
    let comes = |kind: Kind| move |from: &Square| has(position.zone(them, kind, *from), king);
    let near = attacks::DIAGONAL_STEPS[king.index()] & position.set(them, Kind::Advisor);
    for at in Squares(near).filter(comes(Kind::Advisor)) {
        each(Threat {
            free: bit(at),
            blockers: 0,
            bound: 0,
        });
    }
    let ring = attacks::bishop(king, 0) & position.set(them, Kind::Bishop);
    for at in Squares(ring).filter(comes(Kind::Bishop)) {
        each(leaper(attacks::bishop_eye(at, king), at, occupied));
    }
}

/// A knight or bishop: blocked on its leg or eye, taken, or held back by the piece that stands there.
fn leaper(leg: Bits, at: Square, occupied: Bits) -> Threat {
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
        _ => FAR,
    }
}

/// A cannon: attacks over exactly one piece.
fn cannon(king: Square, at: Square, occupied: Bits) -> Threat {
    let between = attacks::between(king, at);
    let blockers = between & occupied;
    let screened_or_taken = between & !occupied | bit(at);
    match count(blockers) {
        0 => Threat {
            free: !between,
            blockers,
            bound: 0,
        },
        1 => Threat {
            free: screened_or_taken,
            blockers,
            bound: !between,
        },
        2 => Threat {
            free: BOARD,
            blockers,
            bound: screened_or_taken,
        },
        _ => FAR,
    }
}

/// Number of squares of a set, 3 standing for more.
fn count(set: Bits) -> u32 {
    let rest = set & set.wrapping_sub(1);
    let rest_of_rest = rest & rest.wrapping_sub(1);
    u32::from(set != 0) + u32::from(rest != 0) + u32::from(rest_of_rest != 0)
}
