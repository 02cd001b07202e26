//! A move as its mover counts it: 进, 退 or 平, and a file or a number of ranks.
use crate::game::Color;
use crate::rules::geometry::rank_from;
use crate::rules::types::{Kind, Square};

/// Which way a piece goes, as its side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// 进.
    Advance,
    /// 退.
    Retreat,
    /// 平.
    Traverse,
}

/// A square's file, 1..=9 from `color`'s right.
pub(super) const fn file_number(color: Color, square: Square) -> u8 {
    match color {
        Color::Red => 9 - square.file() as u8,
        Color::Black => 1 + square.file() as u8,
    }
}

/// The square of a file number and a rank from `color`'s own back rank; `None` outside the board.
fn square(color: Color, number: u8, rank: usize) -> Option<Square> {
    let number = usize::from(number);
    match color {
        Color::Red => Square::new(9usize.checked_sub(number)?, rank),
        Color::Black => Square::new(number.checked_sub(1)?, 9usize.checked_sub(rank)?),
    }
}

/// How a move between two squares is said: the number is the file reached, or the ranks crossed by a piece that
/// keeps its file.
pub(super) fn describe(color: Color, from: Square, to: Square) -> (Action, u8) {
    let (start, end) = (rank_from(color, from), rank_from(color, to));
    let action = match end.cmp(&start) {
        std::cmp::Ordering::Greater => Action::Advance,
        std::cmp::Ordering::Less => Action::Retreat,
        std::cmp::Ordering::Equal => Action::Traverse,
    };
    if from.file() == to.file() {
        (action, end.abs_diff(start) as u8)
    } else {
        (action, file_number(color, to))
    }
}

/// Where a piece of that kind goes by such words, the inverse of [`describe`]; `None` if it never goes so.
pub(super) fn reach(
    color: Color,
    kind: Kind,
    from: Square,
    (action, number): (Action, u8),
) -> Option<Square> {
    let rank = rank_from(color, from);
    let files = file_number(color, from).abs_diff(number);
    let ranks = match kind {
        Kind::King | Kind::Rook | Kind::Cannon | Kind::Pawn => {
            return match action {
                Action::Traverse if files > 0 => square(color, number, rank),
                Action::Traverse => None,
                _ => square(
                    color,
                    file_number(color, from),
                    along(rank, action, number)?,
                ),
            };
        }
        Kind::Advisor if files == 1 => 1,
        Kind::Bishop if files == 2 => 2,
        Kind::Knight if matches!(files, 1 | 2) => 3 - files,
        _ => return None,
    };
    square(color, number, along(rank, action, ranks)?)
}

fn along(rank: usize, action: Action, ranks: u8) -> Option<usize> {
    match action {
        Action::Advance => Some(rank + usize::from(ranks)),
        Action::Retreat => rank.checked_sub(ranks.into()),
        Action::Traverse => None,
    }
}
