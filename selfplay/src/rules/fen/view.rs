//! What one player, or both, know of a position.
use super::board::{self, Board, Mark, Written};
use super::{FenError, FenField, Fields, Pools, Who, error, number_of, tail};
use crate::game::Color;
use crate::policy::SQUARES;
use crate::rules::geometry::bit;
use crate::rules::geometry::home_kind;
use crate::rules::position::{Position, Setup};
use crate::rules::ruleset::{Layout, Ruleset, SeenBy};
use crate::rules::types::{Face, Kind, Piece, Square};

/// Reads a view.
pub fn parse(rules: &'static Ruleset, text: &str) -> Result<Position, FenError> {
    let fields = Fields::parse(rules, text)?;
    let viewer = match fields.who {
        Who::World => {
            let why = "'world' is the truth, which no player may know; expected what one knows, \
                       ending in red, black or nothing, with X for what is unknown";
            return error(FenField::Who, why);
        }
        Who::Player(color) => Some(color).filter(|_| !rules.open_to_both()),
        Who::Both => None,
    };
    let written = &fields.board;
    check_marks(rules, written, viewer)?;
    let pools = pools(rules, written, fields.pool, viewer)?;
    let (mut board, mut secret) = ([None; SQUARES], 0);
    for square in Square::all() {
        let Some(piece) = written[square.index()] else {
            continue;
        };
        board[square.index()] = laid(piece, square);
        if piece.mark == Mark::Owner {
            secret |= bit(square);
        }
    }
    let position = Position::new(Setup {
        rules,
        board,
        secret,
        pools,
        viewer,
        turn: fields.turn,
        no_capture: fields.no_capture,
        ply: fields.ply,
    });
    check_safety(&position)?;
    if let Some(color) = position.arranging() {
        board::check_unmoved(rules, &fields)?;
        board::check_order(written, color)?;
    }
    Ok(position)
}

/// The side that has just moved must not be in check.
pub(super) fn check_safety(position: &Position) -> Result<(), FenError> {
    if position.king_attacked(position.turn().other()) {
        let why = "the side that is not to move is in check (or the kings face each other)";
        return error(FenField::Side, why);
    }
    Ok(())
}

/// The piece as it plays on its square.
pub(super) fn laid(piece: Written, square: Square) -> Option<Piece> {
    let Written { color, kind, mark } = piece;
    if mark == Mark::Up {
        return Some(Piece::up(color, kind?));
    }
    let (kind, identity) = (home_kind(color, square)?, kind);
    let face = Face::Down { identity };
    Some(Piece { color, kind, face })
}

fn check_marks(rules: &Ruleset, board: &Board, viewer: Option<Color>) -> Result<(), FenError> {
    for (at, piece) in board.iter().enumerate() {
        let Some(piece) = piece else { continue };
        let field = FenField::Rank(at / 9);
        let own = viewer == Some(piece.color) && rules.layout == Layout::Arranged;
        match piece.mark {
            Mark::Nobody => {
                let why = "'?' tells what nobody knows, but the FEN does not end in 'world', as the truth \
                           does; in what a player or both know an unknown piece is X";
                return error(field, why);
            }
            Mark::Owner if !own => {
                let why = "'!' tells what only the owner knows; only the owner's view of an \
                           arranged form can, which ends in red or black, and the truth, which ends in \
                           'world'";
                return error(field, why);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The pools of unseen pieces, checked against the board; worked out where the text has none.
fn pools(
    rules: &Ruleset,
    board: &Board,
    told: Option<Pools>,
    viewer: Option<Color>,
) -> Result<Pools, FenError> {
    board::check_numbers(board, &told.unwrap_or_default())?;
    let mut pools = told.unwrap_or_default();
    for color in [Color::Red, Color::Black] {
        let pool = &mut pools[color as usize];
        if told.is_none() {
            *pool = missing(rules, board, color);
        }
        let unknown = board
            .iter()
            .flatten()
            .filter(|p| p.color == color && p.mark == Mark::Unknown)
            .count();
        let unseen: u8 = pool.iter().sum();
        let outside = Kind::ALL
            .into_iter()
            .find(|&kind| pool[kind.index()] > 0 && !rules.takes_part.has(kind));
        if told.is_none() && unknown == 0 {
            *pool = [0; 7];
        } else if let Some(kind) = outside {
            return takes_no_part(rules, kind);
        } else if usize::from(unseen) < unknown
            || usize::from(unseen) > unknown
                && (told.is_none() || !may_lose_unseen(rules, color, viewer))
        {
            let side = if color == Color::Red { "Red" } else { "Black" };
            let why = format!(
                "{unseen} pieces of {side} unseen, but {unknown} unknown ones on the board"
            );
            return error(FenField::Pool, why);
        }
    }
    Ok(pools)
}

pub(super) fn takes_no_part<T>(rules: &Ruleset, kind: Kind) -> Result<T, FenError> {
    let (letter, name) = (kind.letter(), rules.name);
    let why = format!("{letter} takes no part in {name}: it never lies face down");
    error(FenField::Pool, why)
}

/// The pieces that take part and that the text does not tell.
fn missing(rules: &Ruleset, board: &Board, color: Color) -> [u8; 7] {
    let seen = board::count(board, color);
    let mut missing = [0; 7];
    for kind in Kind::ALL {
        if rules.hides() && rules.takes_part.has(kind) {
            missing[kind.index()] = (number_of(kind) as u8).saturating_sub(seen[kind.index()]);
        }
    }
    missing
}

/// Whether unknown pieces of that side may have been taken without the viewer seeing them.
fn may_lose_unseen(rules: &Ruleset, color: Color, viewer: Option<Color>) -> bool {
    let own = viewer == Some(color);
    rules.hides()
        && !(own && rules.layout == Layout::Arranged)
        && match rules.captured_seen_by {
            SeenBy::Both => false,
            SeenBy::Captor => own || viewer.is_none(),
            SeenBy::Nobody => true,
        }
}

/// Writes a view.
pub fn write(position: &Position) -> String {
    let written = |square: Square| {
        let piece = position.piece_at(square)?;
        let mark = match piece.face {
            Face::Up => Mark::Up,
            Face::Down { identity: None } => Mark::Unknown,
            Face::Down { .. } if position.is_secret(square) => Mark::Owner,
            Face::Down { .. } => Mark::Known,
        };
        Some(Written {
            color: piece.color,
            kind: piece.identity(),
            mark,
        })
    };
    let who = match position.viewer() {
        None => "",
        Some(Color::Red) => "red",
        Some(Color::Black) => "black",
    };
    let pools = [Color::Red, Color::Black].map(|color| position.pool(color));
    let counters = (position.no_capture(), position.ply());
    board::write(written) + &tail(position.rules(), position.turn(), &pools, counters, who)
}
