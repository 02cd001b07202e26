//! DhtmlXQ, the text that Chinese sites keep games in: `[DhtmlXQ_name]value[/DhtmlXQ_name]` within `[DhtmlXQ]`.
//!
//! A square is two digits, the file from 0 at Red's left and the rank from 0 at Black's back rank. `binit` has the squares
//! of the pieces, 99 for one that is not there ([`setup`](super::setup)); `movelist` two squares a move. Other move lists are variations, which are skipped.
use selfplay::rules::Square;

use super::{MOST_PLIES, RecordedGame, RecordedMove, setup};

/// Bytes of a block that are kept.
const LONGEST: usize = 1 << 20;

/// Whether a game in this text begins on a line.
pub(super) fn starts(line: &str) -> bool {
    line.trim_start().starts_with("[DhtmlXQ")
}

/// Whether a line opens a game's block.
pub(super) fn opens(line: &str) -> bool {
    line.trim_start().starts_with("[DhtmlXQ]")
}

/// The text of one game.
pub(super) struct Block {
    line: usize,
    text: String,
}

impl Block {
    /// A game whose first line has that number.
    pub fn new(line: usize) -> Block {
        let text = String::new();
        Block { line, text }
    }

    /// Adds a line; whether it is the last.
    pub fn read(&mut self, line: &str) -> bool {
        if self.text.len() + line.len() <= LONGEST {
            self.text.push_str(line);
            self.text.push('\n');
        }
        line.contains("[/DhtmlXQ]")
    }

    /// The value of a tag.
    fn value(&self, name: &str) -> Option<&str> {
        let (open, close) = (format!("[DhtmlXQ_{name}]"), format!("[/DhtmlXQ_{name}]"));
        let (_, rest) = self.text.split_once(&open)?;
        Some(rest.split_once(&close)?.0.trim())
    }

    /// The game that it tells.
    pub fn game(&self) -> RecordedGame {
        let mut game = RecordedGame {
            line: self.line,
            ..RecordedGame::default()
        };
        for (name, tag) in [
            ("title", "Title"),
            ("event", "Event"),
            ("date", "Date"),
            ("red", "Red"),
            ("black", "Black"),
            ("result", "Result"),
        ] {
            if let Some(value) = self.value(name).filter(|value| !value.is_empty()) {
                game.tags.push((tag.into(), value.into()));
            }
        }
        let result = self.value("result").unwrap_or_default().to_owned();
        game.tell(&result);
        if let Err(why) = self.fill(&mut game) {
            game.blame(why);
        }
        game
    }

    fn fill(&self, game: &mut RecordedGame) -> Result<(), String> {
        let list = self.value("movelist").ok_or("it has no DhtmlXQ_movelist")?;
        let squares = squares(list).map_err(|why| format!("DhtmlXQ_movelist: {why}"))?;
        if !squares.len().is_multiple_of(2) || squares.len() / 2 > MOST_PLIES {
            let plies = squares.len().div_ceil(2);
            return Err(format!(
                "DhtmlXQ_movelist: {plies} moves, the last or too many of them cannot be"
            ));
        }
        for pair in squares.chunks_exact(2) {
            let [Some(from), Some(to)] = pair else {
                return Err("DhtmlXQ_movelist: a move leaves the board".into());
            };
            game.moves.push(RecordedMove {
                text: format!("{from}{to}"),
                line: self.line,
            });
        }
        if let Some(text) = self.value("binit").filter(|text| !text.is_empty()) {
            let first = squares.first().copied().flatten();
            let fen = self::squares(text).and_then(|men| setup::fen(&men, first));
            let fen = fen.map_err(|why| format!("DhtmlXQ_binit: {why}"))?;
            game.tags.push(("FEN".into(), fen));
        }
        Ok(())
    }
}

/// Squares of two digits each; `None` for one off the board.
fn squares(text: &str) -> Result<Vec<Option<Square>>, String> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    if let Some(strange) = digits.iter().find(|b| !b.is_ascii_digit()) {
        return Err(format!("'{}' is no digit", strange.escape_ascii()));
    }
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{} digits, two a square", digits.len()));
    }
    let square = |pair: &[u8]| {
        let (file, rank) = ((pair[0] - b'0').into(), usize::from(pair[1] - b'0'));
        Square::new(file, 9 - rank)
    };
    Ok(digits.chunks_exact(2).map(square).collect())
}
