//! The run directory: all that a run is, and how it is committed.
//!
//! ```text
//! run.lock                      held by the process that works on it; its pid is inside
//! config.toml                   the resolved config
//! state.json                    what is committed; replaced last, as the commit
//! pretrain.safetensors          the network while `[pretrain]` goes on, before there is a state.json
//! checkpoints/000001000.safetensors   by training step
//! samples/000001.h5             one shard a commit
//! games/000001.txt              the same commit's games
//! metrics.jsonl, tensorboard/   numbers over time; those of `[pretrain]` as curves in tensorboard/pretrain/
//! strength/000001000.txt, .json     matches of the network of a training step
//! ladder/                       checkpoints rated while the run goes on: crate::ladder::store; those of earlier settings in ladder-1/, …
//! levels.toml                   levels of strength that `fanqi grade` made; training keeps their checkpoints
//! grade/                        the games that it played
//! report.html                   what `fanqi report` made of all this; training neither reads nor writes it
//! ```
//!
//! A commit writes the shard, then its games, then `state.json`, each whole (see [`crate::atomic`]).
//! What `state.json` does not count is dropped when the run is opened again.
use std::fs::{self, File};
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use model::checkpoint;
use selfplay::record::Rows;

use crate::atomic::{self, FileError};
use crate::games::{self, GameText};
use crate::lock;
use crate::replay::RowTotals;
use crate::samples::{self, SamplesConfig, ShardHead};
use crate::strength::StrengthTable;

mod files;
mod numbered;
mod state;
pub use self::files::RunFiles;
use self::numbered::Numbered;
pub use state::{STATE_VERSION, SelfplayState, State, TrainingState};

const LOCK: &str = "run.lock";
const CONFIG: &str = "config.toml";
const STATE: &str = "state.json";
const PRETRAINING: &str = "pretrain.safetensors";
const METRICS: &str = "metrics.jsonl";
const REPORT: &str = "report.html";
const LEVELS: &str = "levels.toml";
const GRADE: &str = "grade";
const CHECKPOINTS: &str = "checkpoints";
const SAMPLES: &str = "samples";
const GAMES: &str = "games";
const TENSORBOARD: &str = "tensorboard";
const STRENGTH: &str = "strength";
const LADDER: &str = "ladder";

const CHECKPOINT: Numbered = Numbered::new(CHECKPOINTS, 9, "safetensors");
const SHARD: Numbered = Numbered::new(SAMPLES, 6, "h5");
const GAMES_TEXT: Numbered = Numbered::new(GAMES, 6, "txt");
const STRENGTH_TEXT: Numbered = Numbered::new(STRENGTH, 9, "txt");
const STRENGTH_JSON: Numbered = Numbered::new(STRENGTH, 9, "json");

/// Finished games to be committed.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// Rows of whole games.
    pub rows: &'a Rows,
    /// How many of them are trained on and held out, [`crate::replay::ReplayConfig::totals_of`].
    pub totals: RowTotals,
    /// Those games.
    pub games: &'a [GameText],
    /// Id of the next game to be started, above those of all games started.
    pub next_game_id: u64,
}

/// A run directory that this process has locked.
#[derive(Debug)]
pub struct RunDir {
    files: RunFiles,
    // Unlocked when it is closed, also by the system when the process dies.
    _lock: File,
}

impl Deref for RunDir {
    type Target = RunFiles;

    fn deref(&self) -> &RunFiles {
        &self.files
    }
}

impl RunDir {
    /// Locks the run directory `path`, creating it if there is none, and reads its state, `None` in a
    /// new run. Changes nothing else; see [`RunDir::recover`].
    pub fn open(path: &Path) -> Result<(Self, Option<State>), FileError> {
        if let Some(file) = in_the_way(path) {
            return Err(FileError::content(
                file,
                format!(
                    "not a folder, so the run directory {} cannot be; choose another with --run DIR",
                    path.display()
                ),
            ));
        }
        if path.is_dir() {
            let names = atomic::names(path)?;
            if !names.is_empty() && !names.iter().any(|n| n == LOCK || n == STATE) {
                return Err(FileError::content(
                    path,
                    "this folder is neither empty nor a run directory; choose another with --run DIR",
                ));
            }
        } else {
            fs::create_dir_all(path)
                .map_err(|e| FileError::io(path, "creating the run directory", e))?;
        }
        let lock = lock::take(path, LOCK, "this run")?;
        let state = state::read(&path.join(STATE))?;
        if state.is_none() && holds_work(path)? {
            return Err(FileError::content(
                path,
                format!(
                    "{STATE} is missing, but there are samples, games or checkpoints of training; put it back, or choose another folder with --run DIR"
                ),
            ));
        }
        Ok((
            RunDir {
                files: RunFiles::at(path),
                _lock: lock,
            },
            state,
        ))
    }

    /// Creates missing folders and drops what a killed process left uncommitted. Returns a line for
    /// people for each thing dropped. Another run's samples, games or checkpoints are an error, and then
    /// nothing has changed.
    pub fn recover(&self, state: Option<&State>) -> Result<Vec<String>, FileError> {
        if let Some(state) = state {
            self.check_own(state)?;
        }
        let mut dropped = Vec::new();
        for folder in [CHECKPOINTS, SAMPLES, GAMES, TENSORBOARD] {
            let folder = self.path().join(folder);
            fs::create_dir_all(&folder)
                .map_err(|e| FileError::io(&folder, "creating the folder", e))?;
        }
        let single = |name: &str| [CONFIG, STATE, PRETRAINING].contains(&name);
        self.drop_unfinished("", &single, &mut dropped)?;
        for kind in [CHECKPOINT, SHARD, GAMES_TEXT, STRENGTH_TEXT, STRENGTH_JSON] {
            let ours = |name: &str| kind.number(name).is_some();
            self.drop_unfinished(kind.folder, &ours, &mut dropped)?;
        }
        let commits = state.map_or(0, |s| s.selfplay.commits);
        let step = state.map_or(0, |s| s.training.step);
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        self.drop_beyond(SHARD, commits, &mut dropped, |path| {
            samples::read_game_ids(path, None)
                .map(|ids| count(ids.len(), "row"))
                .ok()
        })?;
        self.drop_beyond(GAMES_TEXT, commits, &mut dropped, |path| {
            games::read(path)
                .map(|games| count(games.len(), "game"))
                .ok()
        })?;
        self.drop_beyond(CHECKPOINT, step, &mut dropped, |_| None)?;
        let own = |about: checkpoint::About| state.is_some_and(|s| s.run == about.origin.run);
        let over = checkpoint::inspect(&self.pretraining_path()).is_ok_and(own);
        if over && self.drop_pretraining()? {
            dropped.push(format!("{PRETRAINING}: the pretraining is over"));
        }
        Ok(dropped)
    }

    /// Whether every numbered file is of this run. A committed one that does not say is judged when it is read;
    /// what is not committed is to be dropped, so it has to say.
    fn check_own(&self, state: &State) -> Result<(), FileError> {
        type Owner = fn(&Path) -> Option<String>;
        let (commits, step) = (state.selfplay.commits, state.training.step);
        let kinds: [(Numbered, u64, Owner); 3] = [
            (SHARD, commits, |path| {
                Some(samples::read_head(path).ok()?.run)
            }),
            (GAMES_TEXT, commits, |path| games::read_run(path).ok()),
            (CHECKPOINT, step, |path| {
                Some(checkpoint::inspect(path).ok()?.origin.run)
            }),
        ];
        for (kind, last, owner) in kinds {
            for (number, path) in kind.all(self.path())? {
                let whose = match owner(&path) {
                    Some(run) if run == state.run => continue,
                    Some(run) => format!("of another run ({run}, this one is {})", state.run),
                    None if number <= last => continue,
                    None => "not of this run, which has not come so far, nor readable".to_string(),
                };
                let folder = kind.folder;
                return Err(FileError::content(
                    &path,
                    format!(
                        "{whose}; put the run's own {folder} back, or take it out of this folder"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Drops the unfinished files in `folder` whose final name is `ours`.
    fn drop_unfinished(
        &self,
        folder: &str,
        ours: &dyn Fn(&str) -> bool,
        dropped: &mut Vec<String>,
    ) -> Result<(), FileError> {
        let path = self.path().join(folder);
        if path.is_dir() {
            for name in atomic::remove_temps(&path, ours)? {
                let name = Path::new(folder).join(name);
                dropped.push(format!("{}: unfinished file", name.display()));
            }
        }
        Ok(())
    }

    fn drop_beyond(
        &self,
        kind: Numbered,
        last: u64,
        dropped: &mut Vec<String>,
        describe: impl Fn(&Path) -> Option<String>,
    ) -> Result<(), FileError> {
        for (number, path) in kind.all(self.path())? {
            if number > last {
                let what = describe(&path).map_or(String::new(), |d| format!(" ({d})"));
                atomic::remove(&path)?;
                let (folder, name) = (kind.folder, kind.name(number));
                dropped.push(format!("{folder}/{name}: not committed{what}"));
            }
        }
        Ok(())
    }

    /// Replaces the resolved config.
    pub fn write_config(&self, text: &str) -> Result<(), FileError> {
        atomic::write(&self.config_path(), |out| out.write_all(text.as_bytes()))
    }

    /// Removes the network in pretraining; whether there was one.
    pub fn drop_pretraining(&self) -> Result<bool, FileError> {
        let path = self.pretraining_path();
        let is_there = path.exists();
        if is_there {
            atomic::remove(&path)?;
        }
        Ok(is_there)
    }

    /// Folder of the TensorBoard event files of the pretraining, which counts steps of its own; made if it is missing.
    pub fn pretraining_curves(&self) -> Result<PathBuf, FileError> {
        let folder = self.tensorboard_path().join("pretrain");
        fs::create_dir_all(&folder)
            .map_err(|e| FileError::io(&folder, "creating the folder", e))?;
        Ok(folder)
    }

    /// Commits finished games under the next number and counts them in `state`, which changes only if
    /// all is written. Without rows it writes `state` alone, so `games` must be empty then.
    pub fn commit(
        &self,
        state: &mut State,
        new: &Commit<'_>,
        head: &ShardHead,
        config: &SamplesConfig,
    ) -> Result<(), FileError> {
        let mut next = state.clone();
        let counted = &mut next.selfplay;
        counted.next_game_id = new.next_game_id;
        if !new.rows.is_empty() {
            counted.commits += 1;
            counted.rows.add(new.totals);
            new.games.iter().for_each(|game| counted.add_game(game));
            let number = counted.commits;
            samples::write(&self.shard_path(number), new.rows, head, config)?;
            games::write(&self.games_path(number), new.games)?;
        }
        self.write_state(&next)?;
        *state = next;
        Ok(())
    }

    /// Commits a checkpoint: `save` writes the file at the path it is given, then `training` becomes
    /// part of `state`, which changes only if all is written.
    pub fn commit_checkpoint(
        &self,
        state: &mut State,
        training: TrainingState,
        save: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<(), FileError> {
        atomic::publish(&self.checkpoint_path(training.step), save)?;
        let next = State {
            training,
            ..state.clone()
        };
        self.write_state(&next)?;
        *state = next;
        Ok(())
    }

    /// Writes how strong the network of a training step is, as text and as JSON.
    pub fn write_strength(&self, step: u64, table: &StrengthTable) -> Result<(), FileError> {
        let folder = self.path().join(STRENGTH);
        fs::create_dir_all(&folder)
            .map_err(|e| FileError::io(&folder, "creating the folder", e))?;
        atomic::write(&self.strength_path(step), |out| write!(out, "{table}"))?;
        atomic::write(&STRENGTH_JSON.path(self.path(), step), |out| {
            Ok(serde_json::to_writer_pretty(out, table)?)
        })
    }

    /// Replaces `state.json`.
    pub fn write_state(&self, state: &State) -> Result<(), FileError> {
        let path = self.path().join(STATE);
        atomic::write(&path, |out| {
            serde_json::to_writer_pretty(&mut *out, state)?;
            out.write_all(b"\n")
        })
    }
}

/// What keeps `path` from being a folder: it or one above it is a file, or a link that leads nowhere.
fn in_the_way(path: &Path) -> Option<&Path> {
    let there = path.ancestors().find(|p| p.symlink_metadata().is_ok())?;
    (!there.is_dir()).then_some(there)
}

/// Whether the folder has what only a run with a state can have committed.
fn holds_work(path: &Path) -> Result<bool, FileError> {
    for kind in [SHARD, GAMES_TEXT, CHECKPOINT] {
        if kind.all(path)?.iter().any(|&(number, _)| number > 0) {
            return Ok(true);
        }
    }
    Ok(false)
}
