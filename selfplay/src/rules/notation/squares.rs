//! Texts that name two squares: coordinates, UCI, ICCS.
use super::resolve::{self, Found};
use super::words;
use crate::rules::position::{Position, Reveal};
use crate::rules::types::{Kind, Move, Square};

/// How ranks are counted from Red's back rank on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranks {
    /// 0 to 9, as Pikafish and UCCI have them.
    #[default]
    FromZero,
    /// 1 to 10, as Fairy-Stockfish has them.
    FromOne,
}

impl Ranks {
    /// A move's text, such as `h2e2` or `h3e3`.
    pub fn write(self, mv: Move) -> String {
        let style = Style {
            ranks: self,
            ..Style::COORDINATES
        };
        style.write(mv, Reveal::default())
    }

    /// What a text such as `h2e2`, `h2e2=RxN`, `h2e2~` or `R@a0` says, whatever the position; `None` if it names no
    /// squares.
    pub fn read(self, text: &str) -> Option<Said> {
        read(self, text)
    }
}

/// How squares are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    ranks: Ranks,
    hyphen: bool,
    upper: bool,
}

impl Style {
    pub const COORDINATES: Style = Style {
        ranks: Ranks::FromZero,
        hyphen: false,
        upper: false,
    };
    pub const UCI: Style = Style {
        ranks: Ranks::FromOne,
        ..Style::COORDINATES
    };
    pub const ICCS: Style = Style {
        hyphen: true,
        upper: true,
        ..Style::COORDINATES
    };

    /// A move's text, with what came to light.
    pub fn write(self, mv: Move, reveal: Reveal) -> String {
        let (from, to) = (self.square(mv.from()), self.square(mv.to()));
        if let Some(kind) = mv.placed() {
            return format!("{}@{from}", kind.letter());
        }
        let hyphen = if self.hyphen { "-" } else { "" };
        let down = if mv.turns_down() { "~" } else { "" };
        format!("{from}{hyphen}{to}{down}{reveal}")
    }

    fn square(self, square: Square) -> String {
        let first = if self.upper { b'A' } else { b'a' };
        let file = (first + square.file() as u8) as char;
        let rank = match self.ranks {
            Ranks::FromZero => square.rank(),
            Ranks::FromOne => square.rank() + 1,
        };
        format!("{file}{rank}")
    }
}

/// What a text says, whatever the position.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// The move.
    pub mv: Move,
    /// What it brought to light, as far as that is told.
    pub reveal: Reveal,
}

impl Said {
    /// The move and what it brought to light of pieces that `position` does not know, if the move is legal and
    /// that can be so; else what is wrong.
    pub fn check(self, position: &Position) -> Result<(Move, Reveal), String> {
        resolve::check(position, self.mv, self.reveal).map_err(|(_, why)| why)
    }

    pub(super) fn is_placement(&self) -> bool {
        self.mv.placed().is_some()
    }
}

/// The legal move that a text names, and what it says came to light; `None` if the text names no squares.
pub(super) fn parse(ranks: Ranks, position: &Position, text: &str) -> Option<Found> {
    let said = read(ranks, text)?;
    Some(resolve::check(position, said.mv, said.reveal))
}

/// Reads a text; `None` if it names no squares.
pub(super) fn read(ranks: Ranks, text: &str) -> Option<Said> {
    let text = text.trim();
    let mut chars = Chars(text.chars());
    let first = chars.clone().next()?;
    if chars.clone().nth(1) == Some('@') {
        chars.nth(1);
        let kind = Kind::from_letter(first).filter(|&kind| kind != Kind::King)?;
        let square = chars.square(ranks)?;
        let (mv, reveal) = (Move::place(kind, square), Reveal::default());
        return chars.next().is_none().then_some(Said { mv, reveal });
    }
    let from = chars.square(ranks)?;
    chars.accept('-');
    let to = chars.square(ranks)?;
    if from == to {
        return None;
    }
    let mut mv = Move::new(from, to);
    if chars.accept('~') {
        mv = mv.turning_down();
    }
    let mut kind_behind = |sign| {
        if chars.accept(sign) {
            chars.next().and_then(Kind::from_letter).map(Some)
        } else {
            Some(None)
        }
    };
    let reveal = Reveal {
        mover: kind_behind('=')?,
        taken: kind_behind('x')?,
    };
    chars.next().is_none().then_some(Said { mv, reveal })
}

/// The characters in plain form, without white space.
#[derive(Clone)]
struct Chars<'a>(std::str::Chars<'a>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0
            .by_ref()
            .map(words::plain)
            .find(|c| !c.is_whitespace())
    }
}

impl Chars<'_> {
    /// Takes the next character if it is that one, in either case.
    fn accept(&mut self, expected: char) -> bool {
        let there = self.clone().next();
        let there = there.is_some_and(|c| c.eq_ignore_ascii_case(&expected));
        if there {
            self.next();
        }
        there
    }

    fn square(&mut self, ranks: Ranks) -> Option<Square> {
        let file = self.next()?.to_ascii_lowercase();
        let file = ('a'..='i').position(|c| c == file)?;
        let digit = self.next()?.to_digit(10)? as usize;
        let rank = match ranks {
            Ranks::FromZero => digit,
            Ranks::FromOne if digit == 1 && self.accept('0') => 9,
            Ranks::FromOne => digit.checked_sub(1)?,
        };
        Square::new(file, rank)
    }
}
