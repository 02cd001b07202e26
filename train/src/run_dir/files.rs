//! The files of a run, for whoever reads them; whoever works on the run holds its lock, too: [`super::RunDir`].
use std::path::{Path, PathBuf};

use super::numbered::Numbered;
use super::state::{self, State};
use super::{
    CHECKPOINT, CONFIG, GAMES_TEXT, GRADE, LADDER, LEVELS, METRICS, PRETRAINING, REPORT, SHARD,
    STATE, STRENGTH_JSON, STRENGTH_TEXT, TENSORBOARD, in_the_way,
};
use crate::atomic::FileError;

/// A run directory to read from. Every file in it appears whole, so none needs the lock to be read.
#[derive(Clone, Debug)]
pub struct RunFiles {
    path: PathBuf,
}

impl RunFiles {
    /// The run directory `path`, whatever is there.
    pub(super) fn at(path: &Path) -> Self {
        RunFiles {
            path: path.to_path_buf(),
        }
    }

    /// Reads the state of an existing run. Neither locks nor writes: the run may be worked on meanwhile.
    pub fn open(path: &Path) -> Result<(Self, State), FileError> {
        let none = || {
            let why = match in_the_way(path) {
                Some(_) => "not a run directory: it is a file".to_string(),
                None if Self::at(path).pretraining_path().is_file() => {
                    "the run is still in pretraining: it has no network yet".to_string()
                }
                None => format!("not a run directory: it has no {STATE}"),
            };
            FileError::content(path, why)
        };
        if !Self::exists(path) {
            return Err(none());
        }
        let state = state::read(&path.join(STATE))?.ok_or_else(none)?;
        Ok((Self::at(path), state))
    }

    /// Whether there is a run in `path`, which may be worked on.
    pub fn exists(path: &Path) -> bool {
        path.join(STATE).is_file()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The resolved config.
    pub fn config_path(&self) -> PathBuf {
        self.path.join(CONFIG)
    }

    /// The metrics, JSON lines.
    pub fn metrics_path(&self) -> PathBuf {
        self.path.join(METRICS)
    }

    /// Folder of the TensorBoard event files.
    pub fn tensorboard_path(&self) -> PathBuf {
        self.path.join(TENSORBOARD)
    }

    /// The network in pretraining, a checkpoint.
    pub fn pretraining_path(&self) -> PathBuf {
        self.path.join(PRETRAINING)
    }

    /// The checkpoint of a training step.
    pub fn checkpoint_path(&self, step: u64) -> PathBuf {
        CHECKPOINT.path(&self.path, step)
    }

    /// The shard of a commit, numbered from 1.
    pub fn shard_path(&self, commit: u64) -> PathBuf {
        SHARD.path(&self.path, commit)
    }

    /// The games of a commit, numbered from 1.
    pub fn games_path(&self, commit: u64) -> PathBuf {
        GAMES_TEXT.path(&self.path, commit)
    }

    /// The checkpoint of a training step, which must be there.
    pub fn checkpoint(&self, step: u64) -> Result<PathBuf, FileError> {
        let path = self.checkpoint_path(step);
        if path.is_file() {
            return Ok(path);
        }
        let steps = self.checkpoints()?;
        let steps: Vec<_> = steps.iter().map(|(step, _)| step.to_string()).collect();
        let steps = steps.join(", ");
        Err(FileError::content(
            &path,
            format!(
                "there is no checkpoint of step {step} (there are: {steps}); choose one of these"
            ),
        ))
    }

    /// What `load` makes of the newest checkpoint, that of the step that the state counts. `state` is what was read before; the run
    /// may have gone on since and removed that checkpoint, and then it is asked for the newer one.
    pub fn newest<T>(
        &self,
        state: &State,
        load: impl Fn(&State) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut state = state.clone();
        loop {
            let loaded = load(&state);
            if loaded.is_ok() {
                return loaded;
            }
            match RunFiles::open(&self.path) {
                Ok((_, now)) if now.training.step != state.training.step => state = now,
                _ => return loaded,
            }
        }
    }

    /// (step, path) of all checkpoints, ascending.
    pub fn checkpoints(&self) -> Result<Vec<(u64, PathBuf)>, FileError> {
        CHECKPOINT.all(&self.path)
    }

    /// The committed shards that are still there (old ones may have been deleted by hand), oldest first.
    pub fn shards(&self, state: &State) -> Result<Vec<PathBuf>, FileError> {
        let committed = self.committed(SHARD, state)?;
        Ok(committed.into_iter().map(|(_, path)| path).collect())
    }

    /// (commit, path) of the committed files of games that are still there, oldest first.
    pub fn kept_games(&self, state: &State) -> Result<Vec<(u64, PathBuf)>, FileError> {
        self.committed(GAMES_TEXT, state)
    }

    fn committed(&self, kind: Numbered, state: &State) -> Result<Vec<(u64, PathBuf)>, FileError> {
        let mut all = kind.all(&self.path)?;
        all.retain(|&(number, _)| (1..=state.selfplay.commits).contains(&number));
        Ok(all)
    }

    /// (step, path) of the tables of strength, as JSON, ascending.
    pub fn strength_tables(&self) -> Result<Vec<(u64, PathBuf)>, FileError> {
        STRENGTH_JSON.all(&self.path)
    }

    /// Folder of the ladder: [`crate::ladder::store`].
    pub fn ladder_path(&self) -> PathBuf {
        self.path.join(LADDER)
    }

    /// Where the run's report goes if nobody says otherwise.
    pub fn report_path(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// The levels of strength.
    pub fn levels_path(&self) -> PathBuf {
        self.path.join(LEVELS)
    }

    /// Where the games are kept by which a form's levels are made.
    pub fn grade_path(&self, form: &str) -> PathBuf {
        self.path.join(GRADE).join(form)
    }

    /// How strong the network of a training step is, as text.
    pub fn strength_path(&self, step: u64) -> PathBuf {
        STRENGTH_TEXT.path(&self.path, step)
    }
}
