//! A start that is told as the squares of 32 pieces, as DhtmlXQ and XQF do: Red's R N B A K A B N R C C P P P P P,
//! then Black's.
use selfplay::game::Color;
use selfplay::rules::{Kind, Square, board_text};

/// How many pieces there are at the start.
pub(super) const MEN: usize = 32;

const KINDS: [Kind; MEN / 2] = {
    use Kind::{Advisor, Bishop, Cannon, King, Knight, Pawn, Rook};
    [
        Rook, Knight, Bishop, Advisor, King, Advisor, Bishop, Knight, Rook, Cannon, Cannon, Pawn,
        Pawn, Pawn, Pawn, Pawn,
    ]
};

/// The FEN of pieces on those squares, as many as [`MEN`]; the side to move is that of the piece on `first`, Red if none
/// stands there.
pub(super) fn fen(squares: &[Option<Square>], first: Option<Square>) -> Result<String, String> {
    if squares.len() != MEN {
        return Err(format!("{} squares, expected {MEN}", squares.len()));
    }
    for (i, square) in squares.iter().enumerate() {
        if let Some(square) = square.filter(|_| squares[..i].contains(square)) {
            return Err(format!("two pieces stand on {square}"));
        }
    }
    let man_at = |square: Square| {
        let i = squares.iter().position(|&s| s == Some(square))?;
        let color = [Color::Red, Color::Black][i / KINDS.len()];
        Some((color, KINDS[i % KINDS.len()]))
    };
    let side = match first.and_then(man_at) {
        Some((Color::Black, _)) => 'b',
        _ => 'w',
    };
    Ok(format!("{}{side} - - 0 1", board_text(man_at)))
}
