//! A position of the board: pieces, turn and counters, without history.
use std::fmt;

use super::geometry::{Bits, Squares, bit};
use super::ruleset::{CheckDiscount, Ruleset};
use super::types::{Cell, Kind, Move, Piece, Square};
use super::{fen, movegen, zobrist};
use crate::game::Color;
use crate::policy::SQUARES;

/// A position, `Copy` and without history; there is no undo, callers keep the copy they came from.
///
/// It is sound by construction: one king a side, every piece where it may stand, and the side that
/// has just moved not in check. Equality leaves the counters out, as repetition does.
#[derive(Clone, Copy)]
pub struct Position {
    /// `[kind code]`: the squares of either side's pieces that move as that kind; first the empty ones.
    kinds: [Bits; 8],
    /// `[color]`: the squares of that side's pieces.
    sides: [Bits; 2],
    board: [Cell; SQUARES],
    turn: Color,
    /// `[color]`: checks given since the last capture; counted only where the rules discount them.
    checks: [u8; 2],
    no_capture: u16,
    ply: u16,
    hash: u64,
    rules: &'static Ruleset,
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

    /// Parses a FEN and checks that the position can stand.
    pub fn from_fen(rules: &'static Ruleset, text: &str) -> Result<Position, fen::FenError> {
        fen::parse(rules, text)
    }

    /// The position as a FEN, with both counters.
    pub fn fen(&self) -> String {
        fen::write(self)
    }

    /// Builds a position from pieces that the caller has checked: one king a side.
    pub(super) fn from_setup(
        rules: &'static Ruleset,
        pieces: &[Option<Piece>; SQUARES],
        turn: Color,
        no_capture: u16,
        ply: u16,
    ) -> Position {
        let board = pieces.map(Cell::from);
        let (mut kinds, mut sides) = ([0; 8], [0; 2]);
        for square in Square::all() {
            kinds[board[square.index()].kind_code()] |= bit(square);
            if let Some(piece) = pieces[square.index()] {
                sides[piece.color as usize] |= bit(square);
            }
        }
        let checks = [0; 2];
        let mut position = Position {
            kinds,
            sides,
            board,
            turn,
            checks,
            no_capture,
            ply,
            hash: 0,
            rules,
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
        self.board[square.index()].piece()
    }

    /// Every piece and its square, by square.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        self.pieces_on(self.occupied())
    }

    /// The pieces that stand on `set`.
    pub(super) fn pieces_on(&self, set: Bits) -> impl Iterator<Item = (Square, Piece)> + '_ {
        Squares(set).filter_map(|square| Some((square, self.piece_at(square)?)))
    }

    /// Where a side's king stands.
    pub fn king(&self, color: Color) -> Square {
        Squares(self.set(color, Kind::King))
            .next()
            .expect("each side has its king")
    }

    /// The squares of a side's pieces.
    pub(super) fn side(&self, color: Color) -> Bits {
        self.sides[color as usize]
    }

    /// The squares of all pieces.
    pub(super) fn occupied(&self) -> Bits {
        self.sides[0] | self.sides[1]
    }

    /// The squares of a side's pieces that move as `kind`.
    pub(super) fn set(&self, color: Color, kind: Kind) -> Bits {
        self.kinds[kind.index() + 1] & self.side(color)
    }

    /// The squares of a side's pieces that bear on a king along a line.
    pub(super) fn liners(&self, color: Color) -> Bits {
        self.set(color, Kind::King) | self.set(color, Kind::Rook) | self.set(color, Kind::Cannon)
    }

    /// Plies without a capture that count towards the natural limit.
    pub fn no_capture(&self) -> u16 {
        self.no_capture
    }

    /// Plies played since Red's move 1, as the FEN's move number has it.
    pub fn ply(&self) -> u16 {
        self.ply
    }

    /// Zobrist hash of pieces and turn; equal for equal positions whatever the counters.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash computed anew; always equal to [`Position::hash`].
    pub fn fresh_hash(&self) -> u64 {
        let key = |square: Square| zobrist::cell(self.board[square.index()], square);
        Square::all()
            .map(key)
            .fold(zobrist::turn(self.turn), |hash, key| hash ^ key)
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.king_attacked(self.turn)
    }

    /// Whether that side's king can be taken; only the side to move's can in a sound position.
    pub(super) fn king_attacked(&self, color: Color) -> bool {
        let king = self.king(color);
        movegen::attacked(self, king, color, self.occupied() & !bit(king))
    }

    /// Whether a legal move captures.
    pub fn is_capture(&self, mv: Move) -> bool {
        self.board[mv.to().index()] != Cell::EMPTY
    }

    /// Replaces `out` with the legal moves.
    pub fn legal_moves(&self, out: &mut Vec<Move>) {
        movegen::legal(self, out);
    }

    /// Whether the side to move has a legal move.
    pub fn has_legal_move(&self) -> bool {
        movegen::any(self)
    }

    /// Whether the rules allow `mv`, which may be any pair of squares.
    pub fn is_legal(&self, mv: Move) -> bool {
        movegen::is_legal(self, mv)
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
        debug_assert!(self.is_legal(mv), "{mv} in {self:?}");
        let was_check = self.rules.check_discount != CheckDiscount::None && self.in_check();
        let captured = self.shift(mv);
        self.ply = self.ply.saturating_add(1);
        if captured {
            self.no_capture = 0;
            self.checks = [0; 2];
        } else {
            self.count_quiet_ply(was_check);
        }
    }

    /// Moves the piece, takes what stood there, and passes the turn; whether something was taken.
    fn shift(&mut self, mv: Move) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let (mover, taken) = (self.board[from.index()], self.board[to.index()]);
        self.board[from.index()] = Cell::EMPTY;
        self.board[to.index()] = mover;
        self.kinds[mover.kind_code()] ^= bit(from) | bit(to);
        self.kinds[taken.kind_code()] ^= bit(to);
        self.kinds[Cell::EMPTY.kind_code()] ^= bit(from);
        self.sides[self.turn as usize] ^= bit(from) | bit(to);
        self.sides[self.turn.other() as usize] &= !bit(to);
        self.hash ^= zobrist::BLACK_TO_MOVE ^ zobrist::cell(taken, to);
        self.hash ^= zobrist::cell(mover, from) ^ zobrist::cell(mover, to);
        self.turn = self.turn.other();
        taken != Cell::EMPTY
    }

    /// Counts the quiet ply that has just been played; `was_check`: it answered a check.
    fn count_quiet_ply(&mut self, was_check: bool) {
        let counts = match self.rules.check_discount {
            CheckDiscount::None => true,
            CheckDiscount::Beyond(free) => {
                let (mover, other) = (self.turn.other() as usize, self.turn as usize);
                let gives_check = self.in_check();
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
