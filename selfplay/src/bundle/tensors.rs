//! The tensors that every exported network reads and answers, in every format.
use super::{Axis, TensorInfo};
use crate::expand::{GLOBALS, PLANES};
use crate::policy::INDICES;

/// Name of the input of planes.
pub const PLANES_INPUT: &str = "planes";
/// Name of the input of globals.
pub const GLOBALS_INPUT: &str = "globals";
/// Name of the output of moves.
pub const POLICY: &str = "policy";
/// Name of the output of win, draw and loss.
pub const WDL: &str = "wdl";
/// Name of the output of the length of the game.
pub const MOVES_LEFT: &str = "moves_left";
/// Name of the output of what unknown pieces are.
pub const BELIEF: &str = "belief";
/// Name of the free axis.
pub const ROWS: &str = "N";
/// Ranks and files of the board.
const BOARD: [u64; 2] = [10, 9];

fn tensor(name: &str, shape: &[u64], meaning: &str, activation: Option<&str>) -> TensorInfo {
    let fixed = shape.iter().map(|&n| Axis::Fixed(n));
    TensorInfo {
        name: name.into(),
        element: "float32".into(),
        shape: std::iter::once(Axis::Free(ROWS.into()))
            .chain(fixed)
            .collect(),
        meaning: meaning.into(),
        activation: activation.map(str::to_owned),
    }
}

/// What a network reads.
pub fn inputs() -> Vec<TensorInfo> {
    vec![
        tensor(
            PLANES_INPUT,
            &[PLANES as u64, BOARD[0], BOARD[1]],
            "the table `planes`, [row, plane, rank, file], seen from the side to decide: rank 0 is its back rank, \
             files are a..i for both sides (for Black rank = 9 - the board's rank; nothing is mirrored)",
            None,
        ),
        tensor(
            GLOBALS_INPUT,
            &[GLOBALS as u64],
            "the table `globals`, [row, global]: numbers that hold for the whole board",
            None,
        ),
    ]
}

/// What a network answers.
pub fn outputs() -> Vec<TensorInfo> {
    vec![
        tensor(
            POLICY,
            &[INDICES as u64],
            "a logit for every index of the table `policy`, legal or not, for the side to decide",
            Some(
                "softmax over the legal moves of the position alone; the logits of all others mean nothing",
            ),
        ),
        tensor(
            WDL,
            &[3],
            "probabilities that the side to decide wins, draws, loses; they sum to 1",
            None,
        ),
        tensor(
            MOVES_LEFT,
            &[1],
            "expected plies (moves of either side) to the end of the game, at least 0",
            None,
        ),
        tensor(
            BELIEF,
            &[6, BOARD[0], BOARD[1]],
            "[row, kind, rank, file] in the orientation of `planes`: probabilities that the piece on the square is an \
             A, B, N, R, C, P; they sum to 1 over the kinds. They mean something only where a piece lies face down that the \
             opponent of the viewer knows more of than the viewer: the opponent's in the arranged forms, and the viewer's \
             own in the dealt forms once the opponent alone has seen some that it took. Elsewhere the unseen pieces, \
             counted, say all there is to know",
            None,
        ),
    ]
}
