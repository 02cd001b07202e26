//! The moves of every form (RULES.md §1, §2) in the plainest way, from `Position::piece_at` alone: every
//! piece's steps, each tried out on a copy of the board. It shares nothing with the generator it checks.
use std::collections::HashSet;

use selfplay::rules::{Color, Kind, Layout, Move, Position, Ruleset, Square};

/// Red's first ranks at the start.
const HOME: [&str; 4] = ["RNBAKABNR", ".........", ".C.....C.", "P.P.P.P.P"];

const ORTHOGONAL: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];

/// A piece as it plays.
#[derive(Clone, Copy)]
struct Man {
    color: Color,
    kind: Kind,
    down: bool,
}

#[derive(Clone)]
struct Board {
    men: [Option<Man>; 90],
    rules: &'static Ruleset,
}

/// The legal moves.
pub fn legal_moves(position: &Position) -> HashSet<Move> {
    if let Some(placements) = placements(position) {
        return placements;
    }
    let board = Board::of(position);
    let mut moves = HashSet::new();
    for from in Square::all() {
        for to in squares(board.targets(from, position.turn())) {
            let mut after = board.clone();
            after.men[to.index()] = after.men[from.index()].take();
            if after.king_attacked(position.turn()) {
                continue;
            }
            moves.insert(Move::new(from, to));
            if board.may_lay(from, to) {
                moves.insert(Move::new(from, to).turning_down());
            }
        }
    }
    moves
}

/// What the viewer may place next, while it arranges its pieces: rank by rank from its own side, file by file.
fn placements(position: &Position) -> Option<HashSet<Move>> {
    let viewer = position.viewer()?;
    if position.rules().layout != Layout::Arranged {
        return None;
    }
    let own = |square: &Square| position.piece_at(*square).filter(|p| p.color == viewer);
    let unknown = |square: &Square| own(square).is_some_and(|p| p.identity().is_none());
    let next = Square::all()
        .filter(unknown)
        .min_by_key(|square| (rank_from(viewer, *square), square.file()))?;
    let left = |kind: Kind| {
        let count = |squares: &dyn Fn(Square) -> Option<Kind>| {
            Square::all().filter(|&s| squares(s) == Some(kind)).count()
        };
        count(&|s| home(viewer, s)) - count(&|s| own(&s)?.identity())
    };
    let kinds = Kind::ALL.into_iter().filter(|&kind| left(kind) > 0);
    Some(kinds.map(|kind| Move::place(kind, next)).collect())
}

/// A square as a set of one.
fn bit(square: Square) -> u128 {
    1 << square.index()
}

/// The squares of a set.
fn squares(mut set: u128) -> impl Iterator<Item = Square> {
    std::iter::from_fn(move || {
        let square = Square::from_index(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(square)
    })
}

/// The set of some squares.
fn set(squares: impl Iterator<Item = Square>) -> u128 {
    squares.fold(0, |set, square| set | bit(square))
}

/// The kind that starts on a square.
fn home(color: Color, square: Square) -> Option<Kind> {
    let rank = HOME.get(rank_from(color, square))?;
    Kind::from_letter(rank.as_bytes()[square.file()].into())
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
        let man = |square: Square| {
            let piece = position.piece_at(square)?;
            let (color, down) = (piece.color, piece.is_down());
            let kind = if down {
                home(color, square)?
            } else {
                piece.identity()?
            };
            Some(Man { color, kind, down })
        };
        let men = std::array::from_fn(|i| man(Square::from_index(i)?));
        let rules = position.rules();
        Board { men, rules }
    }

    fn empty(&self, square: Square) -> bool {
        self.men[square.index()].is_none()
    }

    /// Whether the piece may be laid face down where it lands (真子变假子).
    fn may_lay(&self, from: Square, to: Square) -> bool {
        self.men[from.index()].is_some_and(|man| {
            self.rules.turns_down
                && !man.down
                && self.rules.takes_part.has(man.kind)
                && home(man.color, to).is_some_and(|kind| kind != Kind::King)
        })
    }

    fn king_attacked(&self, color: Color) -> bool {
        let king = |color| {
            let is_king = |man: Man| man.color == color && man.kind == Kind::King;
            let found = |s: &Square| self.men[s.index()].is_some_and(is_king);
            Square::all().find(found).unwrap()
        };
        let (own, other) = (king(color), king(color.other()));
        let enemy = |from: &Square| self.men[from.index()].is_some_and(|m| m.color != color);
        let ranks = own.rank().min(other.rank()) + 1..own.rank().max(other.rank());
        let facing = own.file() == other.file()
            && ranks
                .into_iter()
                .all(|rank| self.empty(Square::new(own.file(), rank).unwrap()));
        // Nothing reaches the king but along its lines or from two steps away.
        let near = |from: &Square| {
            let (files, ranks) = (
                from.file().abs_diff(own.file()),
                from.rank().abs_diff(own.rank()),
            );
            files == 0 || ranks == 0 || files.max(ranks) <= 2
        };
        let reaches = |from| self.targets(from, color.other()) & bit(own) != 0;
        facing || Square::all().filter(near).filter(enemy).any(reaches)
    }

    /// Where a piece of `color` on `from` could go, its king's safety aside.
    fn targets(&self, from: Square, color: Color) -> u128 {
        let Some(Man { kind, down, .. }) = self.men[from.index()].filter(|m| m.color == color)
        else {
            return 0;
        };
        let roams = self.rules.roams.has(kind) && (!down || self.rules.fake_roams);
        let step = |&(f, r): &(i8, i8)| offset(from, f, r);
        let targets = match kind {
            Kind::King => set(ORTHOGONAL.iter().filter_map(step)),
            Kind::Advisor => set(DIAGONAL.iter().filter_map(step)),
            Kind::Bishop => self.bishop(from),
            Kind::Knight => self.knight(from),
            Kind::Rook | Kind::Cannon => self.along_lines(from, kind),
            Kind::Pawn => pawn(from, color),
        };
        let allowed = |&to: &Square| {
            let palace = (3..=5).contains(&to.file()) && rank_from(color, to) <= 2;
            let allowed = match kind {
                Kind::King => palace,
                Kind::Advisor => palace || roams,
                Kind::Bishop => rank_from(color, to) <= 4 || roams,
                _ => true,
            };
            allowed && self.men[to.index()].is_none_or(|m| m.color != color)
        };
        set(squares(targets).filter(allowed))
    }

    fn bishop(&self, from: Square) -> u128 {
        let open = |&&(f, r): &&(i8, i8)| offset(from, f, r).is_some_and(|eye| self.empty(eye));
        let ways = DIAGONAL.iter().filter(open);
        set(ways.filter_map(|&(f, r)| offset(from, 2 * f, 2 * r)))
    }

    fn knight(&self, from: Square) -> u128 {
        let open = |&&(f, r): &&(i8, i8)| offset(from, f, r).is_some_and(|leg| self.empty(leg));
        let steps = |&(f, r): &(i8, i8)| [(2 * f + r, 2 * r + f), (2 * f - r, 2 * r - f)];
        let ways = ORTHOGONAL.iter().filter(open).flat_map(steps);
        set(ways.filter_map(|(f, r)| offset(from, f, r)))
    }

    fn along_lines(&self, from: Square, kind: Kind) -> u128 {
        let mut targets = 0;
        for (f, r) in ORTHOGONAL {
            let mut pieces = 0;
            for to in (1..10).map_while(|n| offset(from, n * f, n * r)) {
                let open = self.empty(to);
                if open && pieces == 0 {
                    targets |= bit(to);
                } else if !open {
                    pieces += 1;
                    if pieces == if kind == Kind::Rook { 1 } else { 2 } {
                        targets |= bit(to);
                    }
                }
            }
        }
        targets
    }
}

fn pawn(from: Square, color: Color) -> u128 {
    let forward = if color == Color::Red { 1 } else { -1 };
    let sideways = if rank_from(color, from) >= 5 {
        [offset(from, 1, 0), offset(from, -1, 0)]
    } else {
        [None; 2]
    };
    let steps = sideways.into_iter().chain([offset(from, 0, forward)]);
    set(steps.flatten())
}
