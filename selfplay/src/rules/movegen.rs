//! Legal moves (RULES.md §1).
use super::geometry::{crossed, may_stand};
use super::position::Position;
use super::types::{Kind, Move, Square};
use crate::game::Color;

const ORTHOGONAL: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

fn offset(square: Square, file: i8, rank: i8) -> Option<Square> {
    Square::new(
        square.file().wrapping_add_signed(file.into()),
        square.rank().wrapping_add_signed(rank.into()),
    )
}

/// Replaces `out` with the legal moves of the side to move.
pub(super) fn legal(position: &Position, out: &mut Vec<Move>) {
    out.clear();
    for (from, piece) in position
        .pieces()
        .filter(|(_, piece)| piece.color == position.turn())
    {
        targets(position, from, piece.kind, piece.color, &mut |to| {
            out.push(Move::new(from, to))
        });
    }
    out.retain(|&mv| {
        let mut after = *position;
        after.shift(mv);
        !attacked(&after, after.king(position.turn()), position.turn())
    });
}

/// Whether an enemy of `color` attacks `square`, on which a piece of `color` stands.
pub(super) fn attacked(position: &Position, square: Square, color: Color) -> bool {
    let mut found = false;
    for (from, piece) in position.pieces().filter(|(_, piece)| piece.color != color) {
        targets(position, from, piece.kind, piece.color, &mut |to| {
            found |= to == square
        });
    }
    let (own, other) = (position.king(color), position.king(color.other()));
    let (low, high) = (own.rank().min(other.rank()), own.rank().max(other.rank()));
    let mut between = (low + 1..high).filter_map(|rank| Square::new(own.file(), rank));
    found || own.file() == other.file() && between.all(|s| position.piece_at(s).is_none())
}

/// Calls `emit` with every square that a piece standing on `from` could move to, its king's safety aside.
fn targets(
    position: &Position,
    from: Square,
    kind: Kind,
    color: Color,
    emit: &mut impl FnMut(Square),
) {
    let empty = |s: Square| position.piece_at(s).is_none();
    let mut step = |to: Option<Square>| {
        let free = |s: &Square| position.piece_at(*s).is_none_or(|p| p.color != color);
        if let Some(to) = to.filter(free).filter(|&s| may_stand(color, kind, s)) {
            emit(to);
        }
    };
    match kind {
        Kind::King => ORTHOGONAL
            .iter()
            .for_each(|&(f, r)| step(offset(from, f, r))),
        Kind::Advisor => DIAGONAL.iter().for_each(|&(f, r)| step(offset(from, f, r))),
        Kind::Bishop => {
            for (f, r) in DIAGONAL {
                if offset(from, f, r).is_some_and(empty) {
                    step(offset(from, 2 * f, 2 * r));
                }
            }
        }
        Kind::Knight => {
            for (f, r) in ORTHOGONAL {
                if offset(from, f, r).is_some_and(empty) {
                    step(offset(from, 2 * f + r, 2 * r + f));
                    step(offset(from, 2 * f - r, 2 * r - f));
                }
            }
        }
        Kind::Pawn => {
            let forward = if color == Color::Red { 1 } else { -1 };
            step(offset(from, 0, forward));
            if crossed(color, from) {
                step(offset(from, 1, 0));
                step(offset(from, -1, 0));
            }
        }
        Kind::Rook | Kind::Cannon => {
            for (f, r) in ORTHOGONAL {
                let mut ray = (1..10).map_while(|n| offset(from, n * f, n * r));
                let blocker = ray.by_ref().find(|&s| {
                    let open = empty(s);
                    if open {
                        step(Some(s));
                    }
                    !open
                });
                step(if kind == Kind::Rook {
                    blocker
                } else {
                    ray.find(|&s| !empty(s))
                });
            }
        }
    }
}
