//! The games of a file, one after the other.
//!
//! In PGN a game begins with tags: behind a result or moves, or where tags that stand together repeat one that the game
//! has. A tag also ends a comment that is never closed.
use std::fs::{self, File};
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
    /// Opens a regular file; of anything else, which might never end, an error says so.
    pub fn open(path: &'a Path) -> Result<Self, FileError> {
        check(path)?;
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

/// Whether a file can be read: it is regular and can be opened.
pub fn check(path: &Path) -> Result<(), FileError> {
    let opening = |e| FileError::io(path, "opening", e);
    // A look first: opening a pipe waits for its writer.
    if !fs::metadata(path).map_err(opening)?.is_file() {
        let why = "not a regular file; games are read from files, save what comes from elsewhere";
        return Err(FileError::content(path, why));
    }
    File::open(path).map(drop).map_err(opening)
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
        if pgn::tag(line.text()).is_some() {
            lines.put_back(line);
            let in_tags = movetext.is_open() && !movetext.has_ended() && game.moves.is_empty();
            if !in_tags || !read_tags(lines, &mut game)? {
                break;
            }
        } else if let Some(read) = movetext.read(&mut game, line.number, line.text()) {
            lines.put_back(line.behind(read));
            break;
        }
    }
    movetext.end(&mut game);
    Ok((!game.is_empty()).then_some(game))
}

/// Reads the tags that stand together; false if another game begins with them, and nothing of them is read.
fn read_tags(lines: &mut Lines, game: &mut RecordedGame) -> Result<bool, FileError> {
    let mut block: Vec<Line> = Vec::new();
    while let Some(line) = lines.next_line()? {
        if block.last().is_some_and(|last| last.text() == line.text()) {
            continue;
        }
        let tag = pgn::tag(line.text()).filter(|_| block.len() < pgn::MOST_TAGS);
        let comes_again = |(name, _): (&str, &str)| {
            let mut names = block.iter().filter_map(|line| pgn::tag(line.text()));
            names.any(|(earlier, _)| earlier.eq_ignore_ascii_case(name))
        };
        if tag.is_none_or(comes_again) {
            lines.put_back(line);
            break;
        }
        block.push(line);
    }
    let tags = || block.iter().filter_map(|line| pgn::tag(line.text()));
    // The tag Game may stand before all others.
    let has_begun = game.tags.iter().any(|(name, _)| name != "Game");
    if tags().any(|(name, _)| game.tag(name).is_some() || has_begun && name == "Event") {
        block
            .into_iter()
            .rev()
            .for_each(|line| lines.put_back(line));
        return Ok(false);
    }
    game.begin(block.first().map_or(0, |line| line.number));
    for (name, value) in tags() {
        pgn::note_tag(game, name, value);
    }
    Ok(true)
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
