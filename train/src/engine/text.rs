//! Numbers and moves as protocols write them.
use selfplay::rules::Move;

/// How ranks are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranks {
    /// 0 to 9, as Pikafish and UCCI have them.
    #[default]
    FromZero,
    /// 1 to 10, as Fairy-Stockfish has them.
    FromOne,
}

/// A whole number; below 0 it is 0, beyond 64 bits the largest.
pub fn number(word: &str) -> Option<u64> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(if digits.len() < word.len() {
        0
    } else {
        digits.parse().unwrap_or(u64::MAX)
    })
}

impl Ranks {
    /// A move's text, such as `h2e2` or `h3e3`.
    pub fn write(self, mv: Move) -> String {
        let text = mv.to_string();
        match self {
            Ranks::FromZero => text,
            Ranks::FromOne => (text.chars())
                .map(|c| {
                    c.to_digit(10)
                        .map_or(c.to_string(), |d| (d + 1).to_string())
                })
                .collect(),
        }
    }

    /// The text with ranks 0 to 9; `None` where a rank is none of these.
    pub fn read(self, text: &str) -> Option<String> {
        if self == Ranks::FromZero {
            return Some(text.to_owned());
        }
        let (mut out, mut letters) = (String::new(), text.chars().peekable());
        while let Some(letter) = letters.next() {
            let Some(digit) = letter.to_digit(10) else {
                out.push(letter);
                continue;
            };
            let rank = match letters.next_if(char::is_ascii_digit) {
                Some('0') if digit == 1 => 9,
                None if digit >= 1 => digit - 1,
                _ => return None,
            };
            out.push_str(&rank.to_string());
        }
        Some(out)
    }
}
