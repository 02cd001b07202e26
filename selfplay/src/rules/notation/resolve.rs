//! What a text means in a position.
use super::error::Fault;
use super::name::Namesakes;
use super::reader::{self, Change, Place, Said};
use super::steps::{self, file_number};
use super::{squares, words};
use crate::game::Color;
use crate::rules::geometry::home_kind;
use crate::rules::position::{Position, Reveal};
use crate::rules::ruleset::Layout;
use crate::rules::types::{Kind, Move, Piece, Square};

/// The legal move that is meant and what it brings to light of unknown pieces, or what is wrong.
pub(super) type Found = Result<(Move, Reveal), (Fault, String)>;

/// The legal move that a WXF, four-character or short text names; `None` if it is none of them.
pub(super) fn parse(position: &Position, text: &str) -> Option<Found> {
    let Some(said) = reader::read(text) else {
        // A placement has no text of its own in these notations.
        return squares::read(squares::Ranks::FromZero, text)
            .filter(squares::Said::is_placement)
            .and_then(|_| squares::parse(squares::Ranks::FromZero, position, text));
    };
    Some(find(position, &said))
}

fn find(position: &Position, said: &Said) -> Found {
    let candidates = candidates(position, said)?;
    let mut found = None;
    let mut refused = None;
    for &from in &candidates {
        let this = go(position, said, from);
        match (this, &found) {
            (Ok((mv, _)), Some((other, _))) => {
                let why = format!(
                    "both {other} and {mv} fit; say which: 前 (+), 中, 后 (-), or by its place 一二三四五 \
                     (WXF: place and file, such as 15=6)"
                );
                return Err((Fault::Ambiguous, why));
            }
            (Ok(this), None) => found = Some(this),
            (Err(why), _) => refused = refused.or(Some(why)),
        }
    }
    match (found, refused) {
        (Some(found), _) => Ok(found),
        (None, Some(why)) => Err(why),
        (None, None) => Err((Fault::NoPiece, "no such piece is there".into())),
    }
}

/// The squares of the pieces that may be meant; at least one.
fn candidates(position: &Position, said: &Said) -> Result<Vec<Square>, (Fault, String)> {
    let color = position.turn();
    let namesakes = Namesakes::of(position, color, said.kind);
    let name = format!("{} {}", side(color), label(color, said.kind));
    let none = |why: String| Err((Fault::NoPiece, why));
    let here = match said.file {
        Some(file) => namesakes.on_file(file),
        None if said.place == Place::Any => namesakes.all().to_vec(),
        None => namesakes.crowded(),
    };
    if here.is_empty() {
        return none(match said.file {
            _ if namesakes.all().is_empty() => format!("{name} is not on the board"),
            Some(file) => format!(
                "{name} is not on file {file}, counted from {} right",
                side(color)
            ),
            None => format!("no two of {name} share a file, so none is in front or behind"),
        });
    }
    let found: Vec<_> = match said.place {
        Place::Any => here.clone(),
        Place::Nth(n) => here
            .get(usize::from(n).wrapping_sub(1))
            .copied()
            .into_iter()
            .collect(),
        place => {
            let fits = |&&s: &&Square| stands(place, &namesakes.on_file(file_number(color, s)), s);
            here.iter().filter(fits).copied().collect()
        }
    };
    if found.is_empty() {
        return none(format!("only {} of {name} are there to count", here.len()));
    }
    Ok(found)
}

/// Whether a piece is the first, the last, or one between them of those on its file, front first.
fn stands(place: Place, on_file: &[Square], square: Square) -> bool {
    let (front, rear) = (
        on_file.first() == Some(&square),
        on_file.last() == Some(&square),
    );
    match place {
        Place::Front => front,
        Place::Rear => rear,
        Place::Middle => !front && !rear,
        Place::Any | Place::Nth(_) => true,
    }
}

/// What the text means if the piece on `from` is the one.
fn go(position: &Position, said: &Said, from: Square) -> Found {
    let color = position.turn();
    let Some(to) = steps::reach(color, said.kind, from, (said.action, said.number)) else {
        let why = format!("{} on {from} never goes so", label(color, said.kind));
        return Err((Fault::Illegal, why));
    };
    let down = position.piece_at(from).is_some_and(Piece::is_down);
    let plain = Move::new(from, to);
    let (mv, mover) = match said.change {
        Change::None => (plain, None),
        Change::TurnsUp(kind) => (plain, Some(kind)),
        Change::Becomes(kind) if down => (plain, Some(kind)),
        Change::Becomes(kind) => (laid(color, plain, Some(kind))?, None),
        Change::LiesDown(kind) => (laid(color, plain, kind)?, None),
    };
    let taken = said.taken;
    check(position, mv, Reveal { mover, taken })
}

/// The move with the piece laid down, if it would lie as that kind's fake there.
fn laid(color: Color, mv: Move, told: Option<Kind>) -> Result<Move, (Fault, String)> {
    match home_kind(color, mv.to()) {
        Some(home) if told.is_none_or(|kind| kind == home) => Ok(mv.turning_down()),
        Some(home) => {
            let why = format!(
                "on {} it would lie as a fake {}",
                mv.to(),
                label(color, home)
            );
            Err((Fault::Illegal, why))
        }
        None => {
            let why = format!(
                "it cannot be laid down on {}, which is no home square",
                mv.to()
            );
            Err((Fault::Illegal, why))
        }
    }
}

/// A move as it is told, if it is legal and what is told can be so.
pub(super) fn check(position: &Position, mv: Move, told: Reveal) -> Found {
    if !position.is_legal(mv) {
        return Err((Fault::Illegal, why_illegal(position, mv)));
    }
    let (from, to) = (position.piece_at(mv.from()), position.piece_at(mv.to()));
    let mover = come_to_light(position, told.mover, from.filter(|_| mv.placed().is_none()))?;
    let taken = come_to_light(position, told.taken, to)?;
    Ok((mv, Reveal { mover, taken }))
}

/// What is told of a piece that the position does not know; `None` if it knows the piece to be just that.
fn come_to_light(
    position: &Position,
    told: Option<Kind>,
    piece: Option<Piece>,
) -> Result<Option<Kind>, (Fault, String)> {
    let Some(kind) = told else { return Ok(None) };
    let Some(piece) = piece else {
        let why = "it takes nothing, so nothing taken comes to light".to_owned();
        return Err((Fault::Reveal, why));
    };
    let is = label(piece.color, kind);
    match piece.identity() {
        Some(known) if known == kind => Ok(None),
        Some(known) => {
            let known = label(piece.color, known);
            let lies = if piece.is_down() { "down" } else { "up" };
            let why =
                format!("the piece is known to be {known}, face {lies}: no {is} comes to light");
            Err((Fault::Reveal, why))
        }
        None if position.pool(piece.color)[kind.index()] > 0 => Ok(Some(kind)),
        None => {
            let why = format!(
                "none of {} {is} is left to come to light: it may be any of {}",
                side(piece.color),
                letters(position, piece.color)
            );
            Err((Fault::Reveal, why))
        }
    }
}

/// The kinds of which the pool of a side has pieces.
fn letters(position: &Position, color: Color) -> String {
    let pool = position.pool(color);
    let kinds = Kind::ALL.into_iter().filter(|kind| pool[kind.index()] > 0);
    kinds.map(Kind::letter).collect()
}

fn why_illegal(position: &Position, mv: Move) -> String {
    let (us, from, to) = (position.turn(), mv.from(), mv.to());
    if let (Some(square), Some(color)) = (position.next_placed(), position.arranging()) {
        let left = letters(position, color);
        let first = left.get(..1).unwrap_or_default();
        return format!(
            "a piece is to be placed on {square} next, any of {left}: {first}@{square}"
        );
    }
    if mv.placed().is_some() {
        return match position.rules().layout {
            Layout::Arranged => "no piece is to be placed: an arrangement starts from a FEN that ends in red, black or world".into(),
            Layout::Open | Layout::AtHome | Layout::Dealt => format!(
                "no piece is to be placed: pieces are not arranged in {}",
                position.rules().name
            ),
        };
    }
    let own = |square| position.piece_at(square).filter(|p: &Piece| p.color == us);
    match own(from) {
        None => format!("no piece of {} side stands on {from}", side(us)),
        Some(_) if own(to).is_some() => format!("{to} holds a piece of the same side"),
        Some(_) if mv.turns_down() && position.is_legal(Move::new(from, to)) => {
            format!("{from}{to} is legal, but the piece cannot be laid down on {to}")
        }
        Some(piece) => format!(
            "{} cannot go from {from} to {to}: it does not move so, something blocks it, or its king could be taken",
            label(us, piece.kind)
        ),
    }
}

fn side(color: Color) -> &'static str {
    match color {
        Color::Red => "Red's",
        Color::Black => "Black's",
    }
}

/// A kind's character and letter.
fn label(color: Color, kind: Kind) -> String {
    format!("{} ({})", words::piece(color, kind), kind.letter())
}
