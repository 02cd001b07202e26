//! The truth of a position.
use super::board::{self, Board, Mark, Written};
use super::view::{check_safety, laid, takes_no_part};
use super::{FenError, FenField, Fields, Pools, Who, error, number_of, tail};
use crate::game::Color;
use crate::policy::SQUARES;
use crate::rules::geometry::{Squares, bit};
use crate::rules::position::{Position, Setup};
use crate::rules::ruleset::{Layout, Ruleset};
use crate::rules::types::{Face, Kind, Square};

/// What a world's text says: what each player knows, and the truth.
#[derive(Debug)]
pub struct WorldSetup {
    /// `[viewer]`.
    pub positions: [Position; 2],
    /// What each unknown or secret face-down piece is.
    pub hidden: [Option<Kind>; SQUARES],
}

/// Reads a world.
pub fn parse_world(rules: &'static Ruleset, text: &str) -> Result<WorldSetup, FenError> {
    let fields = Fields::parse(rules, text)?;
    if rules.hides() && fields.who != Who::World {
        let whose = match fields.who {
            Who::Player(Color::Red) => "what Red knows",
            Who::Player(Color::Black) => "what Black knows",
            Who::Both | Who::World => "what both players know",
        };
        let why = format!(
            "found {whose}; expected the truth, which tells every piece, such as R?, and ends in 'world'"
        );
        return error(FenField::Who, why);
    }
    let board = &fields.board;
    check_marks(rules, board)?;
    let lost = fields.pool.unwrap_or_default();
    check_lost(rules, &lost)?;
    board::check_numbers(board, &lost)?;
    let unplaced = [Color::Red, Color::Black].map(|color| unplaced(rules, board, color));
    check_complete(rules, &fields, &lost)?;
    let position = |viewer| {
        let pools = [Color::Red, Color::Black].map(|color| {
            let mut pool = unplaced[color as usize];
            add(&mut pool, &on_board(board, color, viewer));
            if !sees_lost(rules, color, viewer) {
                add(&mut pool, &lost[color as usize]);
            }
            pool
        });
        view_of(rules, board, &fields, viewer, pools)
    };
    let positions = [position(Color::Red), position(Color::Black)];
    check_safety(&positions[0])?;
    let hidden = board.map(|piece| {
        piece
            .filter(|p| p.mark != Mark::Up && p.mark != Mark::Known)?
            .kind
    });
    Ok(WorldSetup { positions, hidden })
}

fn add(pool: &mut [u8; 7], more: &[u8; 7]) {
    for (n, m) in pool.iter_mut().zip(more) {
        *n += m;
    }
}

/// Whether `viewer` knows a face-down piece marked so.
fn knows(mark: Mark, owner: Color, viewer: Color) -> bool {
    match mark {
        Mark::Up | Mark::Known => true,
        Mark::Owner => owner == viewer,
        Mark::Nobody | Mark::Unknown => false,
    }
}

fn view_of(
    rules: &'static Ruleset,
    board: &Board,
    fields: &Fields,
    viewer: Color,
    pools: Pools,
) -> Position {
    let (mut known, mut secret) = ([None; SQUARES], 0);
    for square in Square::all() {
        let Some(mut piece) = board[square.index()] else {
            continue;
        };
        if !knows(piece.mark, piece.color, viewer) {
            piece.kind = None;
        } else if piece.mark == Mark::Owner {
            secret |= bit(square);
        }
        known[square.index()] = laid(piece, square);
    }
    Position::new(Setup {
        rules,
        board: known,
        secret,
        pools,
        viewer: Some(viewer).filter(|_| !rules.open_to_both()),
        turn: fields.turn,
        no_capture: fields.no_capture,
        ply: fields.ply,
    })
}

/// The kinds of a side's face-down pieces on the board that `viewer` does not know.
fn on_board(board: &Board, color: Color, viewer: Color) -> [u8; 7] {
    let mut unknown = [0; 7];
    for piece in board.iter().flatten().filter(|p| p.color == color) {
        if let Some(kind) = piece.kind.filter(|_| !knows(piece.mark, color, viewer)) {
            unknown[kind.index()] += 1;
        }
    }
    unknown
}

fn check_marks(rules: &Ruleset, board: &Board) -> Result<(), FenError> {
    for (at, piece) in board.iter().enumerate() {
        let Some(piece) = piece else { continue };
        let why = match (piece.mark, rules.layout) {
            (Mark::Nobody, layout) if layout != Layout::Dealt => {
                "'?' marks what nobody knows; pieces are not dealt in this form"
            }
            (Mark::Owner, layout) if layout != Layout::Arranged => {
                "'!' marks what only the owner knows; pieces are not arranged in this form"
            }
            (Mark::Unknown, layout) if layout != Layout::Arranged => {
                "'X' is a piece that is not told, but the FEN ends in 'world', the truth, which tells \
                 every piece, such as R?; what a player or both know ends in red, black or nothing"
            }
            _ => continue,
        };
        return error(FenField::Rank(at / 9), why);
    }
    Ok(())
}

fn check_lost(rules: &Ruleset, lost: &Pools) -> Result<(), FenError> {
    for color in [Color::Red, Color::Black] {
        let both_see = [Color::Red, Color::Black]
            .into_iter()
            .all(|viewer| sees_lost(rules, color, viewer));
        for kind in Kind::ALL {
            if lost[color as usize][kind.index()] == 0 {
                continue;
            }
            if both_see {
                let why = "both players know every piece taken in this form; expected '-'";
                return error(FenField::Pool, why);
            }
            if !rules.takes_part.has(kind) {
                return takes_no_part(rules, kind);
            }
        }
    }
    Ok(())
}

/// Whether `viewer` knows the pieces of a side that were taken face down.
fn sees_lost(rules: &Ruleset, owner: Color, viewer: Color) -> bool {
    let arranged_it = rules.layout == Layout::Arranged && owner == viewer;
    arranged_it || rules.sees_captured(Some(viewer), owner.other())
}

/// The kinds that a side has yet to place: as many as its `X`.
fn unplaced(rules: &Ruleset, board: &Board, color: Color) -> [u8; 7] {
    let unplaced = |p: &&Written| p.color == color && p.mark == Mark::Unknown;
    let mut kinds = [0; 7];
    if board.iter().flatten().any(|p| unplaced(&p)) {
        let seen = board::count(board, color);
        for kind in Kind::ALL
            .into_iter()
            .filter(|&kind| rules.takes_part.has(kind))
        {
            kinds[kind.index()] = (number_of(kind) as u8).saturating_sub(seen[kind.index()]);
        }
    }
    kinds
}

/// While a side still arranges its pieces, all of them are there.
fn check_complete(rules: &Ruleset, fields: &Fields, lost: &Pools) -> Result<(), FenError> {
    let unplaced = |p: &Written| p.mark == Mark::Unknown;
    if !fields.board.iter().flatten().any(unplaced) {
        return Ok(());
    }
    if lost != &Pools::default() {
        let why = "pieces are still arranged; none is lost then";
        return error(FenField::Pool, why);
    }
    board::check_unmoved(rules, fields)?;
    board::check_order(&fields.board, Color::Red)?;
    board::check_order(&fields.board, Color::Black)?;
    let squares = |color, mark| {
        let all = Square::all().zip(&fields.board);
        all.filter(move |(_, piece)| piece.is_some_and(|p| p.color == color && p.mark == mark))
    };
    let waiting = squares(Color::Red, Mark::Unknown).next();
    let early = squares(Color::Black, Mark::Owner).next();
    if let (Some((red, _)), Some((black, _))) = (waiting, early) {
        let why =
            format!("{black} has its piece, but Red, who places first, has none on {red} yet");
        return error(FenField::Rank(black.rank()), why);
    }
    Ok(())
}

/// Writes a world: what each player knows, and what is `hidden`.
pub fn write_world(views: [&Position; 2], hidden: &[Option<Kind>; SQUARES]) -> String {
    let [red, _] = views;
    let rules = red.rules();
    let written = |square: Square| {
        let piece = red.piece_at(square)?;
        let knowing = views.map(|view| view.piece_at(square).and_then(|p| p.identity()));
        let secret = views.iter().any(|view| view.is_secret(square));
        let mark = match (piece.face, hidden[square.index()]) {
            (Face::Up, _) => Mark::Up,
            (_, None) if knowing == [None; 2] => Mark::Unknown,
            _ if secret => Mark::Owner,
            _ if knowing == [None; 2] => Mark::Nobody,
            _ => Mark::Known,
        };
        let kind = hidden[square.index()].or(knowing[0]).or(knowing[1]);
        let color = piece.color;
        Some(Written { color, kind, mark })
    };
    let lost = lost(views, hidden);
    let who = if rules.hides() { "world" } else { "" };
    let counters = (red.no_capture(), red.ply());
    board::write(written) + &tail(rules, red.turn(), &lost, counters, who)
}

/// The pieces taken that some player has not seen: what is left of the pools.
fn lost(views: [&Position; 2], hidden: &[Option<Kind>; SQUARES]) -> Pools {
    let mut lost = Pools::default();
    for view in views {
        for color in [Color::Red, Color::Black] {
            let mut pool = view.pool(color);
            let mut placed_all = true;
            for square in Squares(view.side(color)) {
                let unknown = view
                    .piece_at(square)
                    .is_some_and(|p| p.identity().is_none());
                match hidden[square.index()].filter(|_| unknown) {
                    Some(kind) => pool[kind.index()] = pool[kind.index()].saturating_sub(1),
                    None => placed_all &= !unknown,
                }
            }
            if placed_all {
                for kind in Kind::ALL {
                    let n = &mut lost[color as usize][kind.index()];
                    *n = (*n).max(pool[kind.index()]);
                }
            }
        }
    }
    lost
}
