//! The games of a file, one after the other.
use std::path::Path;

use super::pgn::Movetext;
use super::text::{Line, Lines};
use super::{RecordedGame, dhtmlxq, pgn, xqf};
use crate::atomic::FileError;
use crate::samples;

/// Reads a file game by game; only one game is in memory.
pub struct Games<'a> {
    source: Source<'a>,
    read: usize,
}

enum Source<'a> {
    /// PGN, DhtmlXQ.
    Text(Lines<'a>),
    /// An XQF file's one game, until it is taken.
    Xqf(Option<RecordedGame>),
}

impl<'a> Games<'a> {
    /// Opens a file.
    pub fn open(path: &'a Path) -> Result<Self, FileError> {
        if samples::is_hdf5(path)? {
            let why = "no records of games, but an HDF5 file; samples need no import: name them in `pretrain.shards`";
            return Err(FileError::content(path, why));
        }
        let source = match xqf::read(path)? {
            Some(game) => Source::Xqf(Some(game)),
            None => Source::Text(Lines::open(path)?),
        };
        Ok(Games { source, read: 0 })
    }

    /// The next game; `None` at the end.
    pub fn next_game(&mut self) -> Result<Option<RecordedGame>, FileError> {
        let next = match &mut self.source {
            Source::Text(lines) => next_in(lines)?,
            Source::Xqf(game) => game.take(),
        };
        Ok(next.map(|mut game| {
            self.read += 1;
            game.number = self.read;
            game
        }))
    }
}

/// The next game of a text.
fn next_in(lines: &mut Lines) -> Result<Option<RecordedGame>, FileError> {
    let (mut game, mut movetext) = (RecordedGame::default(), Movetext::default());
    while let Some(line) = lines.next_line()? {
        if dhtmlxq::starts(line.text()) {
            if game.is_empty() {
                game = read_dhtmlxq(lines, &line)?;
            } else {
                lines.put_back(line);
            }
            break;
        }
        let tag = pgn::tag(line.text());
        let tag = tag.filter(|(name, _)| movetext.is_open() || *name == "Event");
        if let Some((name, value)) = tag {
            if !game.moves.is_empty() || !movetext.is_open() {
                lines.put_back(line);
                break;
            }
            game.begin(line.number);
            pgn::note_tag(&mut game, name, value);
        } else if let Some(read) = movetext.read(&mut game, line.number, line.text()) {
            lines.put_back(line.behind(read));
            break;
        }
    }
    movetext.end(&mut game);
    Ok((!game.is_empty()).then_some(game))
}

/// A game in DhtmlXQ's tags, whose first line is given.
fn read_dhtmlxq(lines: &mut Lines, first: &Line) -> Result<RecordedGame, FileError> {
    let mut block = dhtmlxq::Block::new(first.number);
    let mut whole = block.read(first.text());
    while !whole {
        match lines.next_line()? {
            None => break,
            Some(line) if dhtmlxq::opens(line.text()) => {
                lines.put_back(line);
                break;
            }
            Some(line) => whole = block.read(line.text()),
        }
    }
    Ok(block.game())
}
