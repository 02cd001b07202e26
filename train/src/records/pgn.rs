//! PGN as Xiangqi programs write it: tags, moves in any notation, comments and variations, which are skipped.
use super::{MOST_PLIES, RecordedGame, RecordedMove, outcome};

/// Characters of a move's text that are kept.
const LONGEST: usize = 64;

/// Characters of a tag's value that are kept.
const LONGEST_VALUE: usize = 1000;

/// The name and the value of a tag's line, `[Name "value"]`.
pub(super) fn tag(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    let (name, value) = inner.trim().split_once(char::is_whitespace)?;
    let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
    let named = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    named.then_some((name, value))
}

/// Notes a tag of a game, and what it says of the result.
pub(super) fn note_tag(game: &mut RecordedGame, name: &str, value: &str) {
    let value: String = value.chars().take(LONGEST_VALUE).collect();
    let value = value.replace("\\\"", "\"").replace("\\\\", "\\");
    if name.eq_ignore_ascii_case("Result") {
        game.tell(&value);
    }
    game.tags.push((name.to_owned(), value));
}

/// How far the reading of a game's moves has come.
#[derive(Debug, Default)]
pub(super) struct Movetext {
    in_comment: bool,
    /// The line on which the comment or the outermost variation was opened.
    opened: usize,
    /// Variations that are open.
    depth: usize,
    token: String,
}

impl Movetext {
    /// Whether neither a comment nor a variation is open.
    pub fn is_open(&self) -> bool {
        !self.in_comment && self.depth == 0
    }

    /// Reads a line of moves; where the game ends on it, the offset behind its result.
    pub fn read(&mut self, game: &mut RecordedGame, number: usize, line: &str) -> Option<usize> {
        if line.starts_with('%') {
            return None;
        }
        for (at, c) in line.char_indices() {
            if self.in_comment {
                self.in_comment = c != '}';
                continue;
            }
            let ends_word = c.is_whitespace() || matches!(c, '{' | '(' | ')' | ';');
            if self.depth == 0 && ends_word && self.flush(game, number) {
                return Some(at);
            }
            match c {
                '{' | '(' => {
                    self.opened = if self.depth == 0 { number } else { self.opened };
                    self.in_comment = c == '{';
                    self.depth += usize::from(c == '(');
                }
                ')' => self.depth = self.depth.saturating_sub(1),
                ';' => return None,
                _ if self.depth > 0 || ends_word || self.token.len() >= LONGEST => {}
                _ => self.token.push(c),
            }
        }
        (self.is_open() && self.flush(game, number)).then_some(line.len())
    }

    /// Ends the game at the end of the file or before another game's tags.
    pub fn end(&self, game: &mut RecordedGame) {
        if !self.is_open() {
            let what = if self.in_comment {
                "comment"
            } else {
                "variation"
            };
            let line = self.opened;
            game.begin(line);
            game.blame(format!("the {what} opened on line {line} is never closed"));
        }
    }

    /// Takes the word that is complete; whether it is the game's result.
    fn flush(&mut self, game: &mut RecordedGame, number: usize) -> bool {
        let word = std::mem::take(&mut self.token);
        let word = behind_number(&word).trim_end_matches(['!', '?']);
        if word.is_empty() || word.starts_with('$') {
            return false;
        }
        game.begin(number);
        if word == "*" || outcome(word).is_some() {
            game.tell(word);
            return true;
        }
        if game.moves.len() == MOST_PLIES {
            game.blame(format!("more than {MOST_PLIES} plies (line {number})"));
        } else if game.fault.is_none() {
            game.moves.push(RecordedMove {
                text: word.to_owned(),
                line: number,
            });
        }
        false
    }
}

/// A word without the move number in front of it; nothing, if it is only that.
fn behind_number(word: &str) -> &str {
    let digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
    let rest = word.trim_start_matches(digit);
    let behind = rest.trim_start_matches(['.', '．', '、', '…']);
    if rest.is_empty() || behind.len() < rest.len() {
        behind
    } else {
        word
    }
}
