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

/// Most tags of a game.
pub(super) const MOST_TAGS: usize = 1000;

/// Notes a tag of a game, and what it says of the result.
pub(super) fn note_tag(game: &mut RecordedGame, name: &str, value: &str) {
    if game.tags.len() == MOST_TAGS {
        return game.blame(format!("more than {MOST_TAGS} tags"));
    }
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
    /// Where the token begins on its line, in bytes.
    token_at: usize,
    /// Whether the game's result has been read.
    ended: bool,
}

impl Movetext {
    /// Whether neither a comment nor a variation is open.
    pub fn is_open(&self) -> bool {
        !self.in_comment && self.depth == 0
    }

    /// Whether the game's result has been read.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Reads a line of moves; where another game begins on it, the offset of that.
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
                return Some(self.token_at);
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
                _ => {
                    if self.token.is_empty() {
                        self.token_at = at;
                    }
                    self.token.push(c);
                }
            }
        }
        (self.is_open() && self.flush(game, number)).then_some(self.token_at)
    }

    /// Ends the game at the end of the file or before another game's tags.
    pub fn end(&self, game: &mut RecordedGame) {
        if self.is_open() {
            return;
        }
        if self.ended {
            game.behind.get_or_insert(self.opened);
        } else {
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

    /// Takes the word that is complete; whether another game begins with it. Behind a result one without tags does so
    /// with move 1, if the one before has no tags either.
    fn flush(&mut self, game: &mut RecordedGame, number: usize) -> bool {
        let token = std::mem::take(&mut self.token);
        let (move_number, word) = divide(&token);
        if self.ended && game.tags.is_empty() && matches!(move_number, "1" | "１") {
            return true;
        }
        let word = word.split_once('$').map_or(word, |(word, _nag)| word);
        let word = word.trim_end_matches(['!', '?']);
        if word.is_empty() {
            return false;
        }
        game.begin(number);
        let is_result = word == "*" || outcome(word).is_some();
        if is_result && game.behind.is_none() {
            game.tell(word);
            self.ended = true;
        } else if self.ended {
            game.behind.get_or_insert(number);
        } else if game.moves.len() == MOST_PLIES {
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

/// A word's move number, empty if it has none, and what is behind it.
fn divide(word: &str) -> (&str, &str) {
    let digit = |c: char| c.is_ascii_digit() || ('０'..='９').contains(&c);
    let rest = word.trim_start_matches(digit);
    let behind = rest.trim_start_matches(['.', '．', '、', '…']);
    if rest.is_empty() || behind.len() < rest.len() {
        (&word[..word.len() - rest.len()], behind)
    } else {
        ("", word)
    }
}
