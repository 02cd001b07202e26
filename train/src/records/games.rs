//! The games of a file, one after the other.
use std::path::Path;

use super::pgn::Movetext;
use super::text::{Line, Lines};
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
        while let Some(line) = self.lines.next_line()? {
            if dhtmlxq::starts(line.text()) {
                if game.is_empty() {
                    game = self.read_dhtmlxq(&line)?;
                } else {
                    self.lines.put_back(line);
                }
                break;
            }
            let tag = pgn::tag(line.text());
            let tag = tag.filter(|(name, _)| movetext.is_open() || *name == "Event");
            if let Some((name, value)) = tag {
                if !game.moves.is_empty() || !movetext.is_open() {
                    self.lines.put_back(line);
                    break;
                }
                game.begin(line.number);
                pgn::note_tag(&mut game, name, value);
            } else if let Some(read) = movetext.read(&mut game, line.number, line.text()) {
                self.lines.put_back(line.behind(read));
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
    fn read_dhtmlxq(&mut self, first: &Line) -> Result<RecordedGame, FileError> {
        let mut block = dhtmlxq::Block::new(first.number);
        let mut whole = block.read(first.text());
        while !whole {
            match self.lines.next_line()? {
                None => break,
                Some(line) if dhtmlxq::opens(line.text()) => {
                    self.lines.put_back(line);
                    break;
                }
                Some(line) => whole = block.read(line.text()),
            }
        }
        Ok(block.game())
    }
}
