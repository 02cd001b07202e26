//! The games of a file, one after the other.
use std::path::Path;

use super::pgn::Movetext;
use super::text::Lines;
use super::{RecordedGame, dhtmlxq, pgn};
use crate::atomic::FileError;

/// Reads a file game by game; only one game is in memory.
pub struct Games<'a> {
    lines: Lines<'a>,
    read: usize,
}

impl<'a> Games<'a> {
    /// Opens a file.
    pub fn open(path: &'a Path) -> Result<Self, FileError> {
        let lines = Lines::open(path)?;
        Ok(Games { lines, read: 0 })
    }

    /// The next game; `None` at the end.
    pub fn next_game(&mut self) -> Result<Option<RecordedGame>, FileError> {
        let (mut game, mut movetext) = (RecordedGame::default(), Movetext::default());
        while let Some((number, line)) = self.lines.next_line()? {
            if dhtmlxq::starts(&line) {
                if game.is_empty() {
                    game = self.read_dhtmlxq(number, line)?;
                } else {
                    self.lines.put_back(number, line);
                }
                break;
            }
            let tag = pgn::tag(&line).filter(|(name, _)| movetext.is_open() || *name == "Event");
            if let Some((name, value)) = tag {
                if !game.moves.is_empty() || !movetext.is_open() {
                    self.lines.put_back(number, line);
                    break;
                }
                game.line = if game.line == 0 { number } else { game.line };
                pgn::note_tag(&mut game, name, value);
                continue;
            }
            if let Some(rest) = movetext.read(&mut game, number, &line) {
                let rest = line[rest..].trim_start().to_owned();
                if !rest.is_empty() {
                    self.lines.put_back(number, rest);
                }
                break;
            }
        }
        movetext.end(&mut game);
        if game.is_empty() {
            return Ok(None);
        }
        self.read += 1;
        game.number = self.read;
        Ok(Some(game))
    }

    /// A game in DhtmlXQ's tags, whose first line is given.
    fn read_dhtmlxq(&mut self, number: usize, first: String) -> Result<RecordedGame, FileError> {
        let mut block = dhtmlxq::Block::new(number);
        let mut whole = block.read(&first);
        while !whole {
            match self.lines.next_line()? {
                None => break,
                Some((number, line)) if dhtmlxq::opens(&line) => {
                    self.lines.put_back(number, line);
                    break;
                }
                Some((_, line)) => whole = block.read(&line),
            }
        }
        Ok(block.game())
    }
}
