//! A file of games: PGN, one write a game.
//!
//! Any program for Xiangqi shows it, its tags have a place for the players and for why a game ended, and `fanqi records
//! import` reads it. A half game at the end, left by a full disk, is cut off when the file is opened again.
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use selfplay::rules::Ruleset;

use super::{KeptGame, number, pgn};
use crate::arena::PlayedGame;
use crate::atomic::FileError;
use crate::records::games::Games;

/// A file that games are added to.
pub struct GamesFile {
    path: PathBuf,
    file: Mutex<File>,
}

/// What a file held.
pub struct OpenedGames {
    /// The file.
    pub file: GamesFile,
    /// Its games.
    pub games: Vec<KeptGame>,
    /// Bytes of a half game that were cut off.
    pub dropped: usize,
}

impl GamesFile {
    /// Opens `path`, or makes it, with games of at most `pairs` pairs a match between players of `names`.
    pub fn open(
        path: &Path,
        rules: &'static Ruleset,
        names: &[&str],
        pairs: usize,
    ) -> anyhow::Result<OpenedGames> {
        let dropped = drop_half_game(path)?;
        let games = read(path, rules, names, pairs)?;
        let options = OpenOptions::new().append(true).create(true).open(path);
        let file = options.map_err(|e| FileError::io(path, "opening", e))?;
        let (path, file) = (path.to_path_buf(), Mutex::new(file));
        Ok(OpenedGames {
            file: GamesFile { path, file },
            games,
            dropped,
        })
    }

    /// Adds a game between two players, the first one's name first; whole, or not at all.
    pub fn append(
        &self,
        rules: &'static Ruleset,
        names: [&str; 2],
        game: &PlayedGame,
    ) -> Result<(), FileError> {
        let text = pgn::text(rules, names, game)
            .map_err(|why| FileError::content(&self.path, format!("{why:#}")))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut add = || {
            let before = file.metadata()?.len();
            let written = file.write_all(text.as_bytes());
            if written.is_err() {
                // Best effort: the error that matters is the one already at hand.
                let _ = file.set_len(before);
            }
            written
        };
        add().map_err(|e| FileError::io(&self.path, "writing", e))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Cuts off what follows the last whole game; how many bytes.
fn drop_half_game(path: &Path) -> Result<usize, FileError> {
    let failed = |e| FileError::io(path, "reading", e);
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(failed(e)),
    };
    let whole = pgn::whole(&bytes);
    if whole < bytes.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
    }
    Ok(bytes.len() - whole)
}

/// The games in a file, none if it is missing; each once, of at most `pairs` pairs a match between players of `names`.
pub fn read(
    path: &Path,
    rules: &'static Ruleset,
    names: &[&str],
    pairs: usize,
) -> anyhow::Result<Vec<KeptGame>> {
    let (mut kept, mut seen) = (Vec::new(), HashSet::new());
    if !path.exists() {
        return Ok(kept);
    }
    let mut file = Games::open(path)?;
    while let Some(record) = file.next_game()? {
        let about = format!(
            "{}, game {} (line {})",
            path.display(),
            record.number,
            record.line
        );
        let game = pgn::read(&record, rules, names).with_context(|| about.clone())?;
        let pair = game.game.pair as usize;
        ensure!(
            pair < pairs,
            "{about}: pair {}, of a tournament of more games; give --games as before, or more",
            pair + 1
        );
        ensure!(
            seen.insert((game.players, number(&game.game))),
            "{about}: the game is there twice; remove one"
        );
        kept.push(game);
    }
    Ok(kept)
}
