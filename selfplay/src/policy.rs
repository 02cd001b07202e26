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

/// Squares of the board, file + 9 * rank.
pub const SQUARES: usize = 90;
/// Planes of the policy.
pub const PLANES: usize = 50;
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
    while index < INDICES {
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
        let from = index % SQUARES;
        if let Some(to) = target(from, index / SQUARES) {
            table[index] = squares[mirror_square(from)][mirror_square(to)];
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

/// (from, to) of an index, or `None` where it leaves the board.
pub fn squares(index: u16) -> Option<(usize, usize)> {
    let from = index as usize % SQUARES;
    target(from, index as usize / SQUARES).map(|to| (from, to))
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
            assert_eq!(index(from, to), Some(i));
            assert_eq!(mirror(mirror(i)), i);
            assert_eq!(
                squares(mirror(i)),
                Some((mirror_square(from), mirror_square(to)))
            );
        }
        // 1530 straight, 508 horse, 288 and 224 diagonal.
        assert_eq!(on_board, 2550);
    }

    #[test]
    fn flipping_keeps_files() {
        assert_eq!(flip_square(0), 81);
        assert_eq!(flip_square(flip_square(31)), 31);
    }
}
