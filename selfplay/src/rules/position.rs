//! A position of the board: pieces, turn and counters, without history.
use std::fmt;

use super::ruleset::{CheckDiscount, Ruleset};
use super::types::{Kind, Move, Piece, Square};
use super::{fen, movegen, zobrist};
use crate::game::Color;
use crate::policy::SQUARES;

/// A position, `Copy` and without history; there is no undo, callers keep the copy they came from.
///
/// It is sound by construction: one king a side, every piece where it may stand, and the side that
/// has just moved not in check. Equality leaves the counters out, as repetition does.
#[derive(Clone, Copy)]
pub struct Position {
    rules: &'static Ruleset,
    board: [Option<Piece>; SQUARES],
    kings: [Square; 2],
    hash: u64,
    no_capture: u16,
    ply: u16,
    checks: [u8; 2],
    turn: Color,
}

/// A move that the rules forbid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{mv} is not legal in {fen}")]
pub struct IllegalMove {
    /// The move.
    pub mv: Move,
    /// The position it was tried in.
    pub fen: String,
}

impl Position {
    /// Where games of that form start.
    pub fn start(rules: &'static Ruleset) -> Position {
        Position::from_fen(rules, rules.start).expect("a ruleset's start position is sound")
    }

    /// Builds a position from pieces that the caller has checked: one king a side.
    pub(super) fn from_setup(
        rules: &'static Ruleset,
        board: [Option<Piece>; SQUARES],
        turn: Color,
        no_capture: u16,
        ply: u16,
    ) -> Position {
        let king = |color| {
            let king = Some(Piece {
                color,
                kind: Kind::King,
            });
            Square::all()
                .find(|s| board[s.index()] == king)
                .expect("a setup has both kings")
        };
        let kings = [king(Color::Red), king(Color::Black)];
        let mut position = Position {
            rules,
            board,
            kings,
            hash: 0,
            no_capture,
            ply,
            checks: [0; 2],
            turn,
        };
        position.hash = position.fresh_hash();
        position
    }

    /// Its form.
    pub fn rules(&self) -> &'static Ruleset {
        self.rules
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// The piece on a square.
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.board[square.index()]
    }

    /// Every piece and its square, by square.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        Square::all().filter_map(|square| Some((square, self.piece_at(square)?)))
    }

    /// Where a side's king stands.
    pub fn king(&self, color: Color) -> Square {
        self.kings[color as usize]
    }

    /// Plies without a capture that count towards the natural limit.
    pub fn no_capture(&self) -> u16 {
        self.no_capture
    }

    /// Plies played since move 1 of Red, as the FEN's move number has it.
    pub fn ply(&self) -> u16 {
        self.ply
    }

    /// Zobrist hash of pieces and turn; equal for equal positions whatever the counters.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash computed anew; always equal to [`Position::hash`].
    pub fn fresh_hash(&self) -> u64 {
        self.pieces()
            .fold(zobrist::turn(self.turn), |hash, (square, piece)| {
                hash ^ zobrist::piece(piece, square)
            })
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        movegen::attacked(self, self.king(self.turn), self.turn)
    }

    /// Whether a legal move captures.
    pub fn is_capture(&self, mv: Move) -> bool {
        self.piece_at(mv.to()).is_some()
    }

    /// Replaces `out` with the legal moves.
    pub fn legal_moves(&self, out: &mut Vec<Move>) {
        movegen::legal(self, out);
    }

    /// Whether the side to move has a legal move.
    pub fn has_legal_move(&self) -> bool {
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        !moves.is_empty()
    }

    /// Whether the rules allow `mv`, which may be any pair of squares.
    pub fn is_legal(&self, mv: Move) -> bool {
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        moves.contains(&mv)
    }

    /// Plays any move, if it is legal.
    pub fn try_play(&mut self, mv: Move) -> Result<(), IllegalMove> {
        if !self.is_legal(mv) {
            return Err(IllegalMove {
                mv,
                fen: self.fen(),
            });
        }
        self.play(mv);
        Ok(())
    }

    /// Plays a legal move. An illegal one leaves a position that breaks what the type promises
    /// (a king may be missing or in check), and everything computed from it is nonsense.
    pub fn play(&mut self, mv: Move) {
        debug_assert!(
            self.piece_at(mv.from())
                .is_some_and(|p| p.color == self.turn),
            "{mv} in {self:?}"
        );
        let was_check = self.rules.check_discount != CheckDiscount::None && self.in_check();
        let captures = self.is_capture(mv);
        self.shift(mv);
        self.ply = self.ply.saturating_add(1);
        if captures {
            self.no_capture = 0;
            self.checks = [0; 2];
        } else {
            self.count_quiet_ply(was_check);
        }
    }

    /// Moves the piece, takes what stood there, and passes the turn.
    pub(super) fn shift(&mut self, mv: Move) {
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.board[from.index()].take() else {
            return;
        };
        if let Some(taken) = self.board[to.index()].replace(piece) {
            self.hash ^= zobrist::piece(taken, to);
        }
        self.hash ^=
            zobrist::piece(piece, from) ^ zobrist::piece(piece, to) ^ zobrist::BLACK_TO_MOVE;
        if piece.kind == Kind::King {
            self.kings[piece.color as usize] = to;
        }
        self.turn = self.turn.other();
    }

    /// Counts the quiet ply that has just been played; `was_check`: it answered a check.
    fn count_quiet_ply(&mut self, was_check: bool) {
        let counts = match self.rules.check_discount {
            CheckDiscount::None => true,
            CheckDiscount::Beyond(free) => {
                let (gives_check, mover, other) = (
                    self.in_check(),
                    self.turn.other() as usize,
                    self.turn as usize,
                );
                self.checks[mover] = self.checks[mover].saturating_add(gives_check.into());
                !(gives_check && self.checks[mover] > free
                    || was_check && self.checks[other] > free)
            }
        };
        self.no_capture = self.no_capture.saturating_add(counts.into());
    }

    /// Number of legal move sequences of that length.
    pub fn perft(&self, depth: u32) -> u64 {
        super::perft::perft(self, depth)
    }

    /// Parses a FEN and checks that the position can stand.
    pub fn from_fen(rules: &'static Ruleset, text: &str) -> Result<Position, fen::FenError> {
        fen::parse(rules, text)
    }

    /// The position as a FEN, with both counters.
    pub fn fen(&self) -> String {
        fen::write(self)
    }
}

impl PartialEq for Position {
    fn eq(&self, other: &Self) -> bool {
        self.turn == other.turn && self.board == other.board && self.rules == other.rules
    }
}

impl Eq for Position {}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rules.name, self.fen())
    }
}
