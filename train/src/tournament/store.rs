//! The folder in which a tournament is kept.
//!
//! ```text
//! arena.lock   held by the process that plays it
//! arena.json   what is played by whom: what must be the same when it goes on
//! games.pgn    every finished game, in the order in which they ended
//! ```
//!
//! The file of games is [`GamesFile`].
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{bail, ensure};
use selfplay::rules::Ruleset;

use super::KeptGame;
use super::file::{GamesFile, OpenedGames};
use crate::arena::PlayedGame;
use crate::atomic::{self, FileError};
use crate::lock;

const LOCK: &str = "arena.lock";
const SETTINGS: &str = "arena.json";
/// Name of the file of games.
pub const GAMES: &str = "games.pgn";

/// What must be the same when a tournament goes on, by what it is.
pub type Settings = BTreeMap<String, String>;

/// A folder that this process has locked.
pub struct Store {
    games: GamesFile,
    // Unlocked when it is closed, also by the system when the process dies.
    _lock: File,
}

/// What a folder held.
pub struct Opened {
    /// The folder.
    pub store: Store,
    /// Its games.
    pub games: Vec<KeptGame>,
    /// Bytes of a half game that were dropped.
    pub dropped: usize,
}

impl Store {
    /// Opens `folder`, or makes it, for a tournament of these settings and players, of `pairs` pairs a match. What was
    /// played with other settings is refused, and nothing changed.
    pub fn open(
        folder: &Path,
        settings: &Settings,
        rules: &'static Ruleset,
        names: &[&str],
        pairs: usize,
    ) -> anyhow::Result<Opened> {
        fs::create_dir_all(folder).map_err(|e| FileError::io(folder, "creating the folder", e))?;
        let there = atomic::names(folder)?;
        let has = |name: &str| there.iter().any(|n| n == name);
        ensure!(
            there.is_empty() || has(LOCK) || has(SETTINGS),
            "{}: this folder is neither empty nor a tournament's; choose another with --out DIR",
            folder.display()
        );
        let lock = take_lock(folder)?;
        let (path, games) = (folder.join(SETTINGS), folder.join(GAMES));
        let known = settings_in(folder)?;
        match &known {
            Some(known) => compare(folder, known, settings)?,
            None => ensure!(
                !games.exists(),
                "{}: {SETTINGS} is missing beside {GAMES}; put it back, or choose another folder with --out DIR",
                folder.display()
            ),
        }
        if known.is_none() {
            atomic::write(&path, |out| {
                serde_json::to_writer_pretty(&mut *out, settings)?;
                out.write_all(b"\n")
            })?;
        }
        let OpenedGames {
            file,
            games: kept,
            dropped,
        } = GamesFile::open(&games, rules, names, pairs)?;
        let store = Store {
            games: file,
            _lock: lock,
        };
        Ok(Opened {
            store,
            games: kept,
            dropped,
        })
    }

    /// Adds a game between two players, the first one's name first.
    pub fn append(
        &self,
        rules: &'static Ruleset,
        names: [&str; 2],
        game: &PlayedGame,
    ) -> Result<(), FileError> {
        self.games.append(rules, names, game)
    }

    /// The file of games.
    pub fn games_path(&self) -> &Path {
        self.games.path()
    }
}

/// Locks the tournament in a folder, until the file is closed.
pub fn take_lock(folder: &Path) -> Result<File, FileError> {
    lock::take(folder, LOCK, "this tournament")
}

/// The settings of the tournament in a folder; `None` where there is none.
pub fn settings_in(folder: &Path) -> Result<Option<Settings>, FileError> {
    let path = folder.join(SETTINGS);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(FileError::io(&path, "reading", e)),
    };
    let settings = serde_json::from_slice(&text).map_err(|e| {
        FileError::content(
            &path,
            format!("not a tournament's settings: {e}; choose another folder with --out DIR"),
        )
    })?;
    Ok(Some(settings))
}

/// The keys by which settings differ, ascending, each with its value in both.
pub fn changes<'a>(
    known: &'a Settings,
    new: &'a Settings,
) -> impl Iterator<Item = (&'a String, [Option<&'a String>; 2])> {
    let keys: BTreeSet<_> = known.keys().chain(new.keys()).collect();
    keys.into_iter()
        .map(|key| (key, [known.get(key), new.get(key)]))
        .filter(|(_, [known, new])| known != new)
}

/// In what settings differ, for people; empty: in nothing.
pub fn differences(known: &Settings, new: &Settings) -> Vec<String> {
    let show = |value: Option<&String>| value.map_or("none".to_owned(), |v| format!("`{v}`"));
    changes(known, new)
        .map(|(key, [known, new])| format!("{key}: {} there, {} now", show(known), show(new)))
        .collect()
}

/// Refuses settings that are not those of the tournament in `folder`, with what differs.
fn compare(folder: &Path, known: &Settings, new: &Settings) -> anyhow::Result<()> {
    let differ = differences(known, new);
    if differ.is_empty() {
        return Ok(());
    }
    bail!(
        "{}: another tournament is kept here; {}. Give the same command to go on, or another folder with --out DIR",
        folder.display(),
        differ.join("; ")
    )
}
