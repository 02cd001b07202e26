//! Printing of WXF, four-character and short texts.
use super::Notation;
use super::name::{Name, Pick};
use super::squares;
use super::steps::{self, Action};
use super::words::{self, NUMERALS};
use crate::game::Color;
use crate::rules::geometry::home_kind;
use crate::rules::position::{Position, Reveal};
use crate::rules::types::{Kind, Move};

/// A legal move's text in one of the three notations; a placement's in coordinates.
pub(super) fn write(notation: Notation, position: &Position, mv: Move, reveal: Reveal) -> String {
    let Some(name) = Name::of(position, mv).filter(|_| mv.placed().is_none()) else {
        return squares::Style::COORDINATES.write(mv, reveal);
    };
    let color = position.turn();
    let change = change(position, mv, reveal);
    let (action, number) = steps::describe(color, mv.from(), mv.to());
    let mut text = match notation {
        Notation::Wxf => wxf_name(&name),
        _ => chinese_name(notation, color, &name),
    };
    if notation != Notation::Short || action != Action::Traverse || change.is_some() {
        text.push(action_char(notation, action));
    }
    text.push(digit(notation, color, number));
    if let Some(kind) = change {
        text.push(match (notation, mv.turns_down()) {
            (Notation::Chinese, _) => '变',
            (_, true) => '~',
            (_, false) => '=',
        });
        text.push(piece_char(notation, color, kind));
    }
    if let Some(kind) = reveal.taken {
        text.push('x');
        text.push(piece_char(notation, color.other(), kind));
    }
    text
}

/// What the piece turns into: laid down, the kind that it will play as; turned up, what it is.
fn change(position: &Position, mv: Move, reveal: Reveal) -> Option<Kind> {
    if mv.turns_down() {
        return home_kind(position.turn(), mv.to());
    }
    let piece = position.piece_at(mv.from()).filter(|p| p.is_down())?;
    piece.identity().or(reveal.mover)
}

fn wxf_name(name: &Name) -> String {
    let Name { file, place, .. } = name;
    let letter = words::wxf_letter(name.kind);
    match name.pick {
        Pick::File => format!("{letter}{file}"),
        Pick::Front if name.on_file == 2 => format!("{letter}+"),
        Pick::Rear if name.on_file == 2 => format!("{letter}-"),
        // Tandem pawns need no letter: no other kind had so many on files before there were fakes.
        _ if name.kind == Kind::Pawn => format!("{place}{file}"),
        _ => format!("{letter}{place}{file}"),
    }
}

fn chinese_name(notation: Notation, color: Color, name: &Name) -> String {
    let piece = words::piece(color, name.kind);
    let mark = match name.pick {
        Pick::File => return format!("{piece}{}", digit(notation, color, name.file)),
        Pick::Front => '前',
        Pick::Middle => '中',
        Pick::Rear => '后',
        Pick::Nth(n) => numeral(n),
    };
    format!("{mark}{piece}")
}

fn action_char(notation: Notation, action: Action) -> char {
    match (notation, action) {
        (Notation::Chinese, Action::Advance) => '进',
        (Notation::Chinese, Action::Retreat) => '退',
        (Notation::Chinese, Action::Traverse) => '平',
        (_, Action::Advance) => '+',
        (_, Action::Retreat) => '-',
        (_, Action::Traverse) => '=',
    }
}

fn piece_char(notation: Notation, color: Color, kind: Kind) -> char {
    match notation {
        Notation::Wxf => words::wxf_letter(kind),
        _ => words::piece(color, kind),
    }
}

/// A file or a number of ranks, 1..=9.
fn digit(notation: Notation, color: Color, number: u8) -> char {
    match (notation, color) {
        (Notation::Chinese, Color::Red) => numeral(number),
        _ => (b'0' + number) as char,
    }
}

/// 1..=10.
fn numeral(number: u8) -> char {
    NUMERALS[usize::from(number).clamp(1, NUMERALS.len()) - 1]
}
