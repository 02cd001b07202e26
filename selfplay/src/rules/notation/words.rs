//! The characters of the notations.
use super::steps::Action;
use crate::game::Color;
use crate::rules::types::Kind;

/// One to ten.
pub(super) const NUMERALS: [char; 10] =
    ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十'];

/// `[color][kind]`: a side's characters.
const PIECES: [[char; 7]; 2] = [
    ['帅', '仕', '相', '马', '车', '炮', '兵'],
    ['将', '士', '象', '马', '车', '炮', '卒'],
];

/// A side's character of a kind.
pub(super) const fn piece(color: Color, kind: Kind) -> char {
    PIECES[color as usize][kind.index()]
}

/// The kind's letter in WXF.
pub(super) const fn wxf_letter(kind: Kind) -> char {
    match kind {
        Kind::Bishop => 'E',
        Kind::Knight => 'H',
        _ => kind.letter(),
    }
}

/// What a character of a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Piece(Kind),
    /// A Latin letter: a piece, or the place in an order (`Pa=5`).
    Letter(u8),
    /// 1..=10.
    Number(u8),
    /// `+` and `-` also stand for the piece in front and the one at the rear.
    Action(Action),
    /// `.`: sideways, the piece in the middle, or nothing at all (`R.3+2`).
    Dot,
    Front,
    Middle,
    Rear,
    /// 变: turned up, or laid down.
    Becomes,
    /// `~`: laid down.
    Lies,
    /// What was taken follows.
    Takes,
}

/// Full-width forms as their ASCII ones, and all dashes alike.
pub(super) fn plain(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        '–' | '—' | '−' => '-',
        '〜' => '~',
        '×' => 'x',
        _ => c,
    }
}

/// Whether a character names an action in four-character texts.
pub(super) fn is_action_word(c: char) -> bool {
    "进進退平".contains(c)
}

/// The meaning of a character that is [`plain`]; `None` if it has none.
pub(super) fn token(c: char) -> Option<Token> {
    Some(match c {
        '帅' | '帥' | '将' | '將' => Token::Piece(Kind::King),
        '仕' | '士' => Token::Piece(Kind::Advisor),
        '相' | '象' => Token::Piece(Kind::Bishop),
        '马' | '馬' | '傌' => Token::Piece(Kind::Knight),
        '车' | '車' | '俥' | '伡' => Token::Piece(Kind::Rook),
        '炮' | '砲' | '包' => Token::Piece(Kind::Cannon),
        '兵' | '卒' => Token::Piece(Kind::Pawn),
        '1'..='9' => Token::Number(c as u8 - b'0'),
        '进' | '進' | '+' => Token::Action(Action::Advance),
        '退' | '-' => Token::Action(Action::Retreat),
        '平' | '=' => Token::Action(Action::Traverse),
        '.' => Token::Dot,
        '前' => Token::Front,
        '中' => Token::Middle,
        '后' | '後' => Token::Rear,
        '变' | '變' => Token::Becomes,
        '~' => Token::Lies,
        'x' | 'X' | '吃' => Token::Takes,
        'a'..='z' | 'A'..='Z' => Token::Letter(c.to_ascii_lowercase() as u8),
        _ => {
            let at = NUMERALS.iter().position(|&numeral| numeral == c)?;
            Token::Number(at as u8 + 1)
        }
    })
}
