//! Reading of WXF, four-character and short texts, whatever the position: one grammar for all three.
use super::steps::Action;
use super::words::{self, Token};
use crate::rules::types::Kind;

/// The most characters of a move text, generously.
const MOST: usize = 16;

/// What a text says of the piece that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub kind: Kind,
    pub place: Place,
    /// The file that is named, 1..=9 from the mover's right.
    pub file: Option<u8>,
    pub action: Action,
    /// A file or a number of ranks, 1..=9.
    pub number: u8,
    pub change: Change,
    pub taken: Option<Kind>,
}

/// Which of the pieces of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Any of them.
    Any,
    Front,
    Middle,
    Rear,
    /// From 1: on the file, if one is named, else among all that share a file with another.
    Nth(u8),
}

/// What a text says that the piece turns into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// 变: it depends on the piece.
    Becomes(Kind),
    /// `=`: face down before, this now.
    TurnsUp(Kind),
    /// `~`: face up before, laid down as this.
    LiesDown(Option<Kind>),
}

/// Reads a text; `None` if it is none of the three notations.
pub(super) fn read(text: &str) -> Option<Said> {
    let mut tokens = Vec::with_capacity(MOST);
    let chars = text.trim().chars().map(words::plain);
    for c in chars.filter(|c| !c.is_whitespace()) {
        if tokens.len() == MOST {
            return None;
        }
        tokens.push(words::token(c)?);
    }
    let (taken, rest) = split_taken(&tokens);
    let (change, rest) = split_change(rest);
    let (action, number, head) = split_step(rest)?;
    let (kind, place, file) = read_head(head)?;
    Some(Said {
        kind,
        place,
        file,
        action,
        number,
        change,
        taken,
    })
}

fn split_taken(tokens: &[Token]) -> (Option<Kind>, &[Token]) {
    if let [rest @ .., Token::Takes, last] = tokens
        && let Some(kind) = piece(*last)
    {
        return (Some(kind), rest);
    }
    (None, tokens)
}

fn split_change(tokens: &[Token]) -> (Change, &[Token]) {
    if let [rest @ .., Token::Lies] = tokens {
        return (Change::LiesDown(None), rest);
    }
    if let [rest @ .., sign, last] = tokens
        && let Some(kind) = piece(*last)
    {
        match sign {
            Token::Becomes => return (Change::Becomes(kind), rest),
            Token::Action(Action::Traverse) => return (Change::TurnsUp(kind), rest),
            Token::Lies => return (Change::LiesDown(Some(kind)), rest),
            _ => {}
        }
    }
    (Change::None, tokens)
}

/// The action and the number behind it; a missing action is 平.
fn split_step(tokens: &[Token]) -> Option<(Action, u8, &[Token])> {
    let [before @ .., Token::Number(number @ 1..=9)] = tokens else {
        return None;
    };
    Some(match before {
        [head @ .., Token::Action(action)] => (*action, *number, head),
        [head @ .., Token::Dot] => (Action::Traverse, *number, head),
        _ => (Action::Traverse, *number, before),
    })
}

fn read_head(head: &[Token]) -> Option<(Kind, Place, Option<u8>)> {
    let file = |token: Token| match token {
        Token::Number(file @ 1..=9) => Some(file),
        _ => None,
    };
    match *head {
        [p, f] if piece(p).is_some() && file(f).is_some() => Some((piece(p)?, Place::Any, file(f))),
        [p, Token::Dot, f] => Some((piece(p)?, Place::Any, Some(file(f)?))),
        // Tandem pawns: the place on the file, then the file.
        [Token::Number(n), f] if file(f).is_some() => Some((Kind::Pawn, Place::Nth(n), file(f))),
        [a, b] => piece_and_place(a, b).map(|(kind, place)| (kind, place, None)),
        [a, b, f] => {
            let (kind, place) = piece_and_place(a, b)?;
            Some((kind, place, Some(file(f)?)))
        }
        _ => None,
    }
}

/// The two in either order; a letter that stands second is a place (`Pa`).
fn piece_and_place(a: Token, b: Token) -> Option<(Kind, Place)> {
    match (a, b) {
        (_, Token::Letter(letter @ b'a'..=b'j')) if piece(a).is_some() => {
            Some((piece(a)?, Place::Nth(letter - b'a' + 1)))
        }
        _ => match place(a) {
            Some(place) => Some((piece(b)?, place)),
            None => Some((piece(a)?, place(b)?)),
        },
    }
}

fn piece(token: Token) -> Option<Kind> {
    match token {
        Token::Piece(kind) => Some(kind),
        // Some write G for the king.
        Token::Letter(b'g') => Some(Kind::King),
        Token::Letter(letter) => Kind::from_letter(letter.into()),
        _ => None,
    }
}

fn place(token: Token) -> Option<Place> {
    match token {
        Token::Front | Token::Action(Action::Advance) => Some(Place::Front),
        Token::Middle | Token::Dot => Some(Place::Middle),
        Token::Rear | Token::Action(Action::Retreat) => Some(Place::Rear),
        Token::Number(n) => Some(Place::Nth(n)),
        _ => None,
    }
}
