//! A position of the board: pieces, turn and counters, without history.
mod hidden;
mod setup;
mod what_if;

use std::fmt;

pub use hidden::Reveal;
pub(super) use setup::Setup;

use super::geometry::{BOARD, Bits, HOMES, Squares, ZONES, bit, has};
use super::ruleset::{CheckDiscount, Layout, Ruleset};
use super::types::{Cell, Kind, Move, Piece, Square};
use super::{fen, movegen, zobrist};
use crate::game::Color;
use crate::policy::SQUARES;
use hidden::Pending;

/// What is known of a position, `Copy` and without history; there is no undo, callers keep the copy they
/// came from.
///
/// It is sound by construction: one king a side, every piece where it may stand, and the side that
/// has just moved not in check. Equality leaves the counters out, as repetition does.
#[derive(Clone, Copy)]
pub struct Position {
    /// `[kind code]`: the squares of either side's pieces that play as that kind; first the empty ones.
    kinds: [Bits; 8],
    /// `[color]`: the squares of that side's pieces.
    sides: [Bits; 2],
    /// The squares of face-down pieces.
    down: Bits,
    /// Those of them that their owner, the viewer, knows and the opponent does not.
    secret: Bits,
    board: [Cell; SQUARES],
    /// `[color][kind]`: pieces that the viewer has never seen: the unknown ones on the board and
    /// those taken unseen.
    pools: [[u8; 7]; 2],
    /// Whose knowledge this is; `None`: what both players know.
    viewer: Option<Color>,
    pending: Option<Pending>,
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
    /// Where games of that form start, as both players know it.
    pub fn start(rules: &'static Ruleset) -> Position {
        Position::new(Setup::start(rules, None))
    }

    /// Where games of that form start, as one player knows it.
    pub fn start_for(rules: &'static Ruleset, viewer: Color) -> Position {
        Position::new(Setup::start(rules, Some(viewer)))
    }

    /// Parses a FEN and checks that the position can stand.
    pub fn from_fen(rules: &'static Ruleset, text: &str) -> Result<Position, fen::FenError> {
        fen::parse(rules, text)
    }

    /// The position as a FEN, with both counters. While a reveal is awaited, the piece that will turn up
    /// is missing.
    pub fn fen(&self) -> String {
        fen::write(self)
    }

    /// Builds a position from a setup that the caller has checked: one king a side.
    pub(super) fn new(setup: Setup) -> Position {
        let board = setup.board.map(Cell::from);
        let (mut kinds, mut sides, mut down) = ([0; 8], [0; 2], 0);
        for square in Square::all() {
            kinds[board[square.index()].kind_code()] |= bit(square);
            if let Some(piece) = setup.board[square.index()] {
                sides[piece.color as usize] |= bit(square);
                down |= if piece.is_down() { bit(square) } else { 0 };
            }
        }
        let mut position = Position {
            kinds,
            sides,
            down,
            secret: setup.secret,
            board,
            pools: setup.pools,
            viewer: setup.viewer,
            pending: None,
            turn: setup.turn,
            checks: [0; 2],
            no_capture: setup.no_capture,
            ply: setup.ply,
            hash: 0,
            rules: setup.rules,
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

    /// Whose knowledge this is; `None`: what both players know.
    pub fn viewer(&self) -> Option<Color> {
        self.viewer
    }

    /// The side that acts next: the side to move, or the viewer while it arranges its pieces.
    pub fn decider(&self) -> Color {
        self.arranging().unwrap_or(self.turn)
    }

    /// The viewer, while it still has pieces to place in an arrangement.
    pub fn arranging(&self) -> Option<Color> {
        if self.rules.layout != Layout::Arranged {
            return None;
        }
        self.viewer.filter(|&v| self.pools[v as usize] != [0; 7])
    }

    /// The home square whose piece is to be placed next: they are filled by rank from the player's own
    /// side, and by file.
    pub fn next_placed(&self) -> Option<Square> {
        let color = self.arranging()?;
        let mut own = self.unknown(color);
        match color {
            Color::Red => own.next(),
            Color::Black => own.max_by_key(|s| (s.rank(), 9 - s.file())),
        }
    }

    /// Pieces of each kind (K A B N R C P) of a side that the viewer has never seen.
    pub fn pool(&self, color: Color) -> [u8; 7] {
        self.pools[color as usize]
    }

    /// Whether the viewer knows its own piece on `square` and the opponent does not.
    pub fn is_secret(&self, square: Square) -> bool {
        has(self.secret, square)
    }

    /// Whether a face-down piece that the viewer does not know lies on the square of that index.
    pub(super) fn is_unknown(&self, square: usize) -> bool {
        self.board[square].is_unknown()
    }

    /// The squares of a side's face-down pieces that the viewer does not know.
    pub(super) fn unknown(&self, color: Color) -> impl Iterator<Item = Square> + '_ {
        Squares(self.down & self.side(color)).filter(|s| self.board[s.index()].is_unknown())
    }

    /// The squares of the pieces that only their owner, the viewer, knows.
    pub(super) fn secrets(&self) -> Squares {
        Squares(self.secret)
    }

    /// Every piece's square and cell, as a byte.
    pub(super) fn bytes(&self) -> impl Iterator<Item = (Square, u8)> + '_ {
        Squares(self.occupied()).map(|square| (square, self.board[square.index()].byte()))
    }

    /// Whether some piece lies face down.
    pub fn any_down(&self) -> bool {
        self.down != 0
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

    /// Where a piece may go that plays as `kind`: the usual range, unless it roams.
    #[inline(always)]
    pub(super) fn zone(&self, color: Color, kind: Kind, from: Square) -> Bits {
        match kind {
            Kind::King => ZONES[color as usize][kind.index()],
            Kind::Advisor | Kind::Bishop if self.rules.roams(kind, has(self.down, from)) => BOARD,
            Kind::Advisor | Kind::Bishop => ZONES[color as usize][kind.index()],
            Kind::Knight | Kind::Rook | Kind::Cannon | Kind::Pawn => BOARD,
        }
    }

    /// The home squares on which the side to move's piece may be laid down (真子变假子) as it lands.
    pub(super) fn laying_squares(&self, from: Square) -> Bits {
        let lays = match self.board[from.index()].piece() {
            Some(piece) => !piece.is_down() && self.rules.takes_part.has(piece.kind),
            None => false,
        };
        if lays && self.rules.turns_down {
            HOMES[self.turn as usize]
        } else {
            0
        }
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

    /// Zobrist hash of pieces, who knows them, pools and turn; equal for equal positions whatever the counters.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The hash computed anew; always equal to [`Position::hash`].
    pub fn fresh_hash(&self) -> u64 {
        let key = |square: Square| zobrist::cell(self.board[square.index()], square);
        let pools = [Color::Red, Color::Black]
            .into_iter()
            .flat_map(|c| (0..7).map(move |kind| (c, kind)));
        let pool = |(c, kind)| zobrist::pool(c, kind, self.pools[c as usize][kind]);
        Square::all()
            .map(key)
            .chain(pools.map(pool))
            .chain(self.secrets().map(zobrist::secret))
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
        mv.placed().is_none() && self.board[mv.to().index()] != Cell::EMPTY
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

    /// Plays any move, if it is legal; a reveal may be awaited then.
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

    /// Plays a legal move, after which [`Position::reveal`] must follow where
    /// [`Position::awaits_reveal`]. An illegal one leaves a position that breaks what the type promises
    /// (a king may be missing or in check), and everything computed from it is nonsense.
    pub fn play(&mut self, mv: Move) {
        debug_assert!(self.is_legal(mv), "{mv} in {self:?}");
        if let Some(kind) = mv.placed() {
            return self.place(kind, mv.from());
        }
        let was_check = self.rules.check_discount != CheckDiscount::None && self.in_check();
        let taken = self.shift(mv);
        self.ply = self.ply.saturating_add(1);
        if self.pending.is_none() {
            return self.count_ply(was_check, taken != Cell::EMPTY);
        }
        if let Some(pending) = &mut self.pending {
            (pending.captured, pending.was_check) = (taken != Cell::EMPTY, was_check);
        }
    }

    /// Moves the piece, takes what stood there, and passes the turn; what was taken.
    fn shift(&mut self, mv: Move) -> Cell {
        let (from, to) = (mv.from(), mv.to());
        let (mover, taken) = (self.board[from.index()], self.board[to.index()]);
        if mover.is_down() || taken.is_down() || mv.turns_down() {
            self.shift_hidden(mv);
        } else {
            self.board[from.index()] = Cell::EMPTY;
            self.board[to.index()] = mover;
            self.kinds[mover.kind_code()] ^= bit(from) | bit(to);
            self.kinds[taken.kind_code()] ^= bit(to);
            self.kinds[Cell::EMPTY.kind_code()] ^= bit(from);
            self.sides[self.turn as usize] ^= bit(from) | bit(to);
            self.sides[self.turn.other() as usize] &= !bit(to);
            self.hash ^= zobrist::cell(taken, to);
            self.hash ^= zobrist::cell(mover, from) ^ zobrist::cell(mover, to);
        }
        self.hash ^= zobrist::BLACK_TO_MOVE;
        self.turn = self.turn.other();
        taken
    }

    /// Counts the ply that is over towards the natural limit.
    fn count_ply(&mut self, was_check: bool, captured: bool) {
        if captured {
            self.no_capture = 0;
            self.checks = [0; 2];
        } else {
            self.count_quiet_ply(was_check);
        }
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
        self.turn == other.turn
            && self.board == other.board
            && self.pools == other.pools
            && self.secret == other.secret
            && self.viewer == other.viewer
            && self.pending == other.pending
            && self.rules == other.rules
    }
}

impl Eq for Position {}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rules.name, self.fen())
    }
}
