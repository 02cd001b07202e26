//! The policy index space, one for all forms: `index = plane * 90 + from`, both squares flipped so
//! that the side to move sits at rank 0.
//!
//! | planes | move |
//! |---|---|
//! | 0..=7 | 1..=8 files to the right |
//! | 8..=15 | 1..=8 files to the left |
//! | 16..=24 | 1..=9 ranks forward |
//! | 25..=33 | 1..=9 ranks back |
//! | 34..=41 | the eight horse steps, (file, rank): (1,2) (2,1) (2,-1) (1,-2) (-1,-2) (-2,-1) (-2,1) (-1,2) |
//! | 42..=45 | one step diagonally: (1,1) (1,-1) (-1,-1) (-1,1) |
//! | 46..=49 | two steps diagonally, the same order |
//! | 50..=99 | the move of plane - 50, with the piece laid face down where it lands |
//! | 100..=106 | no move: a piece of kind plane - 100 (K A B N R C P) is placed on `from` in an arrangement |

/// Squares of the board, file + 9 * rank.
pub const SQUARES: usize = 90;
/// Planes of plain moves.
pub const STEPS: usize = 50;
/// First plane of placements.
pub const PLACEMENTS: usize = 2 * STEPS;
/// Planes of the policy.
pub const PLANES: usize = PLACEMENTS + 7;
/// Size of the index space.
pub const INDICES: usize = PLANES * SQUARES;

const HORSE: [(i8, i8); 8] = [
    (1, 2),
    (2, 1),
    (2, -1),
    (1, -2),
    (-1, -2),
    (-2, -1),
    (-2, 1),
    (-1, 2),
];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

/// (files to the right, ranks forward) of a plane's move.
pub const fn step(plane: usize) -> (i8, i8) {
    let (p, (df, dr)) = (plane as i8, DIAGONAL[(plane + 2) % 4]);
    match plane {
        0..=7 => (p + 1, 0),
        8..=15 => (7 - p, 0),
        16..=24 => (0, p - 15),
        25..=33 => (0, 24 - p),
        34..=41 => HORSE[plane - 34],
        42..=45 => (df, dr),
        46..=49 => (2 * df, 2 * dr),
        _ => panic!("no such policy plane"),
    }
}

/// `[from][to]`; `u16::MAX` where no piece of any form goes.
static INDEX: [[u16; SQUARES]; SQUARES] = index_table();
/// `[index]`; `u16::MAX` where the move would leave the board.
static MIRROR: [u16; INDICES] = mirror_table();

const fn target(from: usize, plane: usize) -> Option<usize> {
    let (df, dr) = step(plane);
    let (file, rank) = ((from % 9) as i8 + df, (from / 9) as i8 + dr);
    if file < 0 || file > 8 || rank < 0 || rank > 9 {
        return None;
    }
    Some(file as usize + 9 * rank as usize)
}

const fn index_table() -> [[u16; SQUARES]; SQUARES] {
    let mut table = [[u16::MAX; SQUARES]; SQUARES];
    let mut index = 0;
    while index < STEPS * SQUARES {
        let from = index % SQUARES;
        if let Some(to) = target(from, index / SQUARES) {
            table[from][to] = index as u16;
        }
        index += 1;
    }
    table
}

const fn mirror_table() -> [u16; INDICES] {
    let squares = index_table();
    let mut table = [u16::MAX; INDICES];
    let mut index = 0;
    while index < INDICES {
        let (plane, from) = (index / SQUARES, index % SQUARES);
        let laying = plane / STEPS * STEPS;
        if plane >= PLACEMENTS {
            table[index] = (plane * SQUARES + mirror_square(from)) as u16;
        } else if let Some(to) = target(from, plane - laying) {
            let step = squares[mirror_square(from)][mirror_square(to)];
            table[index] = step + (laying * SQUARES) as u16;
        }
        index += 1;
    }
    table
}

/// The square with left and right exchanged.
pub const fn mirror_square(square: usize) -> usize {
    square + 8 - 2 * (square % 9)
}

/// The square seen from the other side of the board: ranks exchanged, files kept.
pub const fn flip_square(square: usize) -> usize {
    square % 9 + 9 * (9 - square / 9)
}

/// Index of the move `from`, `to` (0..90, side to move at rank 0), or `None` where no piece goes so.
pub fn index(from: usize, to: usize) -> Option<u16> {
    Some(INDEX[from][to]).filter(|&i| i != u16::MAX)
}

/// Index of the move `from`, `to` with the piece laid face down on `to`.
pub fn laid_down(from: usize, to: usize) -> Option<u16> {
    index(from, to).map(|index| index + (STEPS * SQUARES) as u16)
}

/// Index of the placement of a kind (0..7) on a square (0..90, its owner's side at rank 0).
pub fn placement(kind: usize, square: usize) -> u16 {
    ((PLACEMENTS + kind) * SQUARES + square) as u16
}

/// (from, to) of an index, twice the square of a placement; `None` where it leaves the board.
pub fn squares(index: u16) -> Option<(usize, usize)> {
    let (plane, from) = (index as usize / SQUARES, index as usize % SQUARES);
    if plane >= PLACEMENTS {
        return Some((from, from));
    }
    target(from, plane % STEPS).map(|to| (from, to))
}

/// The index of the same move with left and right exchanged. `index` must lie on the board.
pub fn mirror(index: u16) -> u16 {
    MIRROR[index as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_squares_are_inverse_and_mirroring_twice_is_nothing() {
        let mut on_board = 0;
        for i in 0..INDICES as u16 {
            let Some((from, to)) = squares(i) else {
                continue;
            };
            on_board += 1;
            let again = match i as usize / SQUARES {
                plane @ PLACEMENTS.. => Some(placement(plane - PLACEMENTS, from)),
                STEPS.. => laid_down(from, to),
                _ => index(from, to),
            };
            assert_eq!(again, Some(i));
            assert_eq!(mirror(mirror(i)), i);
            assert_eq!(
                squares(mirror(i)),
                Some((mirror_square(from), mirror_square(to)))
            );
        }
        // 1530 straight, 508 horse, 288 and 224 diagonal, all twice; 7 kinds on 90 squares.
        assert_eq!(on_board, 2 * 2550 + 630);
    }

    #[test]
    fn flipping_keeps_files() {
        assert_eq!(flip_square(0), 81);
        assert_eq!(flip_square(flip_square(31)), 31);
    }
}
