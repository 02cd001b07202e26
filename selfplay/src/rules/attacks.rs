//! Where a piece goes on a board with given pieces, by table.
//!
//! Targets are not yet limited to the kind's zone, to squares without own pieces, and to moves that keep
//! the king safe. Knights and bishops are looked up by the four squares that can block them; rooks and
//! cannons by the pieces of their rank and file, the two edges left out, where a line ends anyway.
use super::geometry::{Bits, bit, crossed};
use super::types::Square;
use crate::game::Color;
use crate::policy::SQUARES;

type Step = (i8, i8);
/// (files, ranks); the order is that of the bits of [`orthogonal_blocks`].
const ORTHOGONAL: [Step; 4] = [(0, -1), (-1, 0), (1, 0), (0, 1)];
/// The same for [`diagonal_blocks`].
const DIAGONAL: [Step; 4] = [(-1, -1), (1, -1), (-1, 1), (1, 1)];

/// One step orthogonally.
pub(super) static ORTHOGONAL_STEPS: [Bits; SQUARES] = step_table(&ORTHOGONAL);
/// One step diagonally.
pub(super) static DIAGONAL_STEPS: [Bits; SQUARES] = step_table(&DIAGONAL);
/// `[color]`: where a pawn of that colour goes.
pub(super) static PAWN: [[Bits; SQUARES]; 2] = [pawn_table(Color::Red), pawn_table(Color::Black)];
/// `[color]`: where a pawn of that colour attacks the square from.
pub(super) static PAWN_ONTO: [[Bits; SQUARES]; 2] = [inverse(&PAWN[0]), inverse(&PAWN[1])];
/// Where a knight attacks the square from if nothing blocks it.
pub(super) static KNIGHT_RING: [Bits; SQUARES] = knight_ring();
/// The square's rank and file without itself.
pub(super) static CROSS: [Bits; SQUARES] = cross_table();

static BISHOP: [[Bits; 16]; SQUARES] = bishop_table();
static KNIGHT: [[Bits; 16]; SQUARES] = knight_table();
static KNIGHT_ONTO: [[Bits; 16]; SQUARES] = knight_onto_table();
/// `[file][inner pieces of the rank]`.
static RANK_LINES: [[Line; 1 << 7]; 9] = line_tables();
/// `[rank][inner pieces of the file]`.
static FILE_LINES: [[Line; 1 << 8]; 10] = line_tables();
/// A word of ten ranks as a set of squares of file 0.
static FILE_OF_WORD: [Bits; 1 << 10] = file_of_word_table();

/// Both ways along a rank or file, one bit a square of the line.
#[derive(Clone, Copy)]
struct Line {
    /// Up to and with the first piece.
    rook: u16,
    /// The second piece.
    cannon: u16,
}

/// Targets of a bishop.
#[inline(always)]
pub(super) fn bishop(square: Square, occupied: Bits) -> Bits {
    BISHOP[square.index()][diagonal_blocks(square, occupied)]
}

/// Targets of a knight.
#[inline(always)]
pub(super) fn knight(square: Square, occupied: Bits) -> Bits {
    KNIGHT[square.index()][orthogonal_blocks(square, occupied)]
}

/// The squares from which a knight attacks `square`.
#[inline(always)]
pub(super) fn knight_onto(square: Square, occupied: Bits) -> Bits {
    KNIGHT_ONTO[square.index()][diagonal_blocks(square, occupied)]
}

/// Targets of a rook.
#[inline(always)]
pub(super) fn rook(square: Square, occupied: Bits) -> Bits {
    let (rank, file) = lines(square, occupied);
    on_board(square, rank.rook, file.rook)
}

/// Targets of a cannon's captures; squares without a piece may be among them.
#[inline(always)]
pub(super) fn cannon(square: Square, occupied: Bits) -> Bits {
    let (rank, file) = lines(square, occupied);
    on_board(square, rank.cannon, file.cannon)
}

/// The square where a knight's move from `from` to `to` can be blocked.
pub(super) fn knight_leg(from: Square, to: Square) -> Bits {
    let (files, ranks) = (
        to.file() as i32 - from.file() as i32,
        to.rank() as i32 - from.rank() as i32,
    );
    let leg = if files.abs() == 2 {
        files / 2
    } else {
        ranks / 2 * 9
    };
    1 << (from.index() as i32 + leg)
}

/// The square where a bishop's move from `from` to `to` can be blocked.
pub(super) fn bishop_eye(from: Square, to: Square) -> Bits {
    1 << ((from.index() + to.index()) / 2)
}

/// The squares strictly between two on one rank or file.
pub(super) fn between(a: Square, b: Square) -> Bits {
    let (low, high) = (a.min(b), a.max(b));
    (bit(high) - 1) & !(2 * bit(low) - 1) & CROSS[a.index()] & CROSS[b.index()]
}

/// The pieces around `square` in one word: bit `10 + d` is square `index + d`. Over the edge of a
/// rank it reads the next one's end, where no step leads that could be blocked.
#[inline(always)]
fn around(square: Square, occupied: Bits) -> u32 {
    (occupied << 10 >> square.index()) as u32
}

#[inline(always)]
fn orthogonal_blocks(square: Square, occupied: Bits) -> usize {
    let word = around(square, occupied);
    (word >> 1 & 1 | word >> 8 & 2 | word >> 9 & 4 | word >> 16 & 8) as usize
}

#[inline(always)]
fn diagonal_blocks(square: Square, occupied: Bits) -> usize {
    let word = around(square, occupied);
    (word & 1 | word >> 1 & 2 | word >> 16 & 4 | word >> 17 & 8) as usize
}

/// The lines through a square, its rank's and its file's.
#[inline(always)]
fn lines(square: Square, occupied: Bits) -> (Line, Line) {
    /// Ranks 1 to 8 of file 0.
    const INNER_FILE: Bits =
        1 << 9 | 1 << 18 | 1 << 27 | 1 << 36 | 1 << 45 | 1 << 54 | 1 << 63 | 1 << 72;
    /// Moves bit `9 * rank` to `64 + rank`, for ranks 1 to 8, and no other bit there.
    const GATHER: Bits = 0x0101_0101_0101_0101;
    let (file, rank) = (square.file(), square.rank());
    let in_rank = (occupied >> (9 * rank + 1)) as usize & 0x7f;
    let in_file = ((occupied >> file & INNER_FILE).wrapping_mul(GATHER) >> 65) as usize & 0xff;
    (RANK_LINES[file][in_rank], FILE_LINES[rank][in_file])
}

#[inline(always)]
fn on_board(square: Square, rank: u16, file: u16) -> Bits {
    Bits::from(rank) << (9 * square.rank()) | FILE_OF_WORD[file as usize & 0x3ff] << square.file()
}

const fn offset(square: Square, (files, ranks): Step) -> Option<Square> {
    let (file, rank) = (square.file() as i8 + files, square.rank() as i8 + ranks);
    if file < 0 || rank < 0 {
        None
    } else {
        Square::new(file as usize, rank as usize)
    }
}

const fn offset_bit(square: Square, step: Step) -> Bits {
    match offset(square, step) {
        Some(to) => bit(to),
        None => 0,
    }
}

const fn square_at(index: usize) -> Square {
    Square::from_index(index).unwrap()
}

const fn step_table(steps: &[Step; 4]) -> [Bits; SQUARES] {
    let mut table = [0; SQUARES];
    let mut i = 0;
    while i < 4 * SQUARES {
        table[i / 4] |= offset_bit(square_at(i / 4), steps[i % 4]);
        i += 1;
    }
    table
}

const fn pawn_table(color: Color) -> [Bits; SQUARES] {
    let forward = match color {
        Color::Red => 1,
        Color::Black => -1,
    };
    let mut table = [0; SQUARES];
    let mut i = 0;
    while i < SQUARES {
        let square = square_at(i);
        table[i] = offset_bit(square, (0, forward));
        if crossed(color, square) {
            table[i] |= offset_bit(square, (-1, 0)) | offset_bit(square, (1, 0));
        }
        i += 1;
    }
    table
}

const fn inverse(table: &[Bits; SQUARES]) -> [Bits; SQUARES] {
    let mut inverse = [0; SQUARES];
    let mut i = 0;
    while i < SQUARES * SQUARES {
        let (from, to) = (i / SQUARES, i % SQUARES);
        if table[from] >> to & 1 != 0 {
            inverse[to] |= 1 << from;
        }
        i += 1;
    }
    inverse
}

/// The two knight steps that begin with an orthogonal one.
const fn knight_steps((files, ranks): Step) -> [Step; 2] {
    [
        (2 * files + ranks, 2 * ranks + files),
        (2 * files - ranks, 2 * ranks - files),
    ]
}

const fn bishop_table() -> [[Bits; 16]; SQUARES] {
    let mut table = [[0; 16]; SQUARES];
    let mut i = 0;
    while i < SQUARES * 16 * 4 {
        let (square, blocks, way) = (i / 64, i / 4 % 16, i % 4);
        if blocks >> way & 1 == 0 {
            let (files, ranks) = DIAGONAL[way];
            table[square][blocks] |= offset_bit(square_at(square), (2 * files, 2 * ranks));
        }
        i += 1;
    }
    table
}

const fn knight_table() -> [[Bits; 16]; SQUARES] {
    let mut table = [[0; 16]; SQUARES];
    let mut i = 0;
    while i < SQUARES * 16 * 4 {
        let (square, blocks, way) = (i / 64, i / 4 % 16, i % 4);
        if blocks >> way & 1 == 0 {
            let [one, two] = knight_steps(ORTHOGONAL[way]);
            table[square][blocks] |=
                offset_bit(square_at(square), one) | offset_bit(square_at(square), two);
        }
        i += 1;
    }
    table
}

const fn knight_ring() -> [Bits; SQUARES] {
    let (table, mut ring) = (knight_table(), [0; SQUARES]);
    let mut i = 0;
    while i < SQUARES {
        ring[i] = table[i][0];
        i += 1;
    }
    ring
}

const fn knight_onto_table() -> [[Bits; 16]; SQUARES] {
    let mut table = [[0; 16]; SQUARES];
    let mut i = 0;
    while i < SQUARES * 16 * 4 {
        let (square, blocks, way) = (i / 64, i / 4 % 16, i % 4);
        if blocks >> way & 1 == 0 {
            let (files, ranks) = DIAGONAL[way];
            let (one, two) = ((2 * files, ranks), (files, 2 * ranks));
            table[square][blocks] |=
                offset_bit(square_at(square), one) | offset_bit(square_at(square), two);
        }
        i += 1;
    }
    table
}

const fn cross_table() -> [Bits; SQUARES] {
    let mut table = [0; SQUARES];
    let mut i = 0;
    while i < SQUARES * SQUARES {
        let (a, b) = (i / SQUARES, i % SQUARES);
        if a != b && (a % 9 == b % 9 || a / 9 == b / 9) {
            table[a] |= 1 << b;
        }
        i += 1;
    }
    table
}

/// The lines through each place of a line of `LENGTH`, by the pieces between its two edges.
const fn line_tables<const SETS: usize, const LENGTH: usize>() -> [[Line; SETS]; LENGTH] {
    let mut tables = [[Line { rook: 0, cannon: 0 }; SETS]; LENGTH];
    let mut i = 0;
    while i < SETS * LENGTH {
        let (at, inner) = (i / SETS, i % SETS);
        let pieces = (inner as u32) << 1 | 1 | 1 << (LENGTH - 1);
        tables[at][inner] = line(at, LENGTH, pieces);
        i += 1;
    }
    tables
}

const fn line(at: usize, length: usize, pieces: u32) -> Line {
    let mut line = Line { rook: 0, cannon: 0 };
    let mut way = 0;
    while way < 2 {
        let (mut place, mut met) = (at, 0);
        while met < 2
            && if way == 0 {
                place > 0
            } else {
                place + 1 < length
            }
        {
            place = if way == 0 { place - 1 } else { place + 1 };
            let piece = pieces >> place & 1;
            if met == 0 {
                line.rook |= 1 << place;
            } else if piece == 1 {
                line.cannon |= 1 << place;
            }
            met += piece;
        }
        way += 1;
    }
    line
}

const fn file_of_word_table() -> [Bits; 1 << 10] {
    let mut table = [0; 1 << 10];
    let mut i = 0;
    while i < 10 << 10 {
        let (word, rank) = (i / 10, i % 10);
        if word >> rank & 1 != 0 {
            table[word] |= 1 << (9 * rank);
        }
        i += 1;
    }
    table
}
