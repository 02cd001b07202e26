//! Xiangqi's moves (RULES.md §1) in the plainest way, from `Position::piece_at` alone: every piece's
//! steps, each tried out on a copy of the board. It shares nothing with the generator it checks.
use std::collections::HashSet;

use selfplay::rules::{Color, Kind, Move, Piece, Position, Square};

const ORTHOGONAL: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

#[derive(Clone)]
struct Board(Vec<Option<Piece>>);

/// The legal moves.
pub fn legal_moves(position: &Position) -> HashSet<Move> {
    let board = Board::of(position);
    let mut moves = HashSet::new();
    for from in Square::all() {
        for to in board.targets(from, position.turn()) {
            let mut after = board.clone();
            after.0[to.index()] = after.0[from.index()].take();
            if !after.king_attacked(position.turn()) {
                moves.insert(Move::new(from, to));
            }
        }
    }
    moves
}

/// Whether the side to move is in check.
pub fn in_check(position: &Position) -> bool {
    Board::of(position).king_attacked(position.turn())
}

fn offset(square: Square, files: i8, ranks: i8) -> Option<Square> {
    let file = square.file().checked_add_signed(files.into())?;
    Square::new(file, square.rank().checked_add_signed(ranks.into())?)
}

fn rank_from(color: Color, square: Square) -> usize {
    if color == Color::Red {
        square.rank()
    } else {
        9 - square.rank()
    }
}

impl Board {
    fn of(position: &Position) -> Board {
        Board(
            Square::all()
                .map(|square| position.piece_at(square))
                .collect(),
        )
    }

    fn empty(&self, square: Square) -> bool {
        self.0[square.index()].is_none()
    }

    fn king_attacked(&self, color: Color) -> bool {
        let king = |color| {
            let is_king = |s: &Square| self.0[s.index()] == Some(Piece::up(color, Kind::King));
            Square::all().find(is_king).unwrap()
        };
        let (own, other) = (king(color), king(color.other()));
        let ranks = own.rank().min(other.rank()) + 1..own.rank().max(other.rank());
        let facing = own.file() == other.file()
            && ranks
                .into_iter()
                .all(|rank| self.empty(Square::new(own.file(), rank).unwrap()));
        facing || Square::all().any(|from| self.targets(from, color.other()).contains(&own))
    }

    /// Where a piece of `color` on `from` could go, its king's safety aside.
    fn targets(&self, from: Square, color: Color) -> Vec<Square> {
        let Some(kind) = self.0[from.index()]
            .filter(|p| p.color == color)
            .map(|p| p.kind)
        else {
            return Vec::new();
        };
        let mut targets = match kind {
            Kind::King => ORTHOGONAL
                .iter()
                .filter_map(|&(f, r)| offset(from, f, r))
                .collect(),
            Kind::Advisor => DIAGONAL
                .iter()
                .filter_map(|&(f, r)| offset(from, f, r))
                .collect(),
            Kind::Bishop => self.bishop(from),
            Kind::Knight => self.knight(from),
            Kind::Rook | Kind::Cannon => self.along_lines(from, kind),
            Kind::Pawn => pawn(from, color),
        };
        targets.retain(|&to| {
            let palace = (3..=5).contains(&to.file()) && rank_from(color, to) <= 2;
            let allowed = match kind {
                Kind::King | Kind::Advisor => palace,
                Kind::Bishop => rank_from(color, to) <= 4,
                _ => true,
            };
            allowed && self.0[to.index()].is_none_or(|p| p.color != color)
        });
        targets
    }

    fn bishop(&self, from: Square) -> Vec<Square> {
        let open = |&&(f, r): &&(i8, i8)| offset(from, f, r).is_some_and(|eye| self.empty(eye));
        DIAGONAL
            .iter()
            .filter(open)
            .filter_map(|&(f, r)| offset(from, 2 * f, 2 * r))
            .collect()
    }

    fn knight(&self, from: Square) -> Vec<Square> {
        let open = |&&(f, r): &&(i8, i8)| offset(from, f, r).is_some_and(|leg| self.empty(leg));
        let steps = |&(f, r): &(i8, i8)| [(2 * f + r, 2 * r + f), (2 * f - r, 2 * r - f)];
        ORTHOGONAL
            .iter()
            .filter(open)
            .flat_map(steps)
            .filter_map(|(f, r)| offset(from, f, r))
            .collect()
    }

    fn along_lines(&self, from: Square, kind: Kind) -> Vec<Square> {
        let mut targets = Vec::new();
        for (f, r) in ORTHOGONAL {
            let mut pieces = 0;
            for to in (1..10).map_while(|n| offset(from, n * f, n * r)) {
                let open = self.empty(to);
                if open && pieces == 0 {
                    targets.push(to);
                } else if !open {
                    pieces += 1;
                    if pieces == if kind == Kind::Rook { 1 } else { 2 } {
                        targets.push(to);
                    }
                }
            }
        }
        targets
    }
}

fn pawn(from: Square, color: Color) -> Vec<Square> {
    let forward = if color == Color::Red { 1 } else { -1 };
    let sideways = if rank_from(color, from) >= 5 {
        [offset(from, 1, 0), offset(from, -1, 0)]
    } else {
        [None; 2]
    };
    sideways
        .into_iter()
        .chain([offset(from, 0, forward)])
        .flatten()
        .collect()
}
