//! The checkpoints that a run takes up again: whole, and the run's own.
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use model::checkpoint::{self, About};
use model::device::Placement;
use model::learner::Learner;
use model::params::Weights;

use crate::config::Config;
use crate::forms::Forms;
use crate::run_dir::{RunFiles, State};

/// A run as it stands, to be looked at: neither locked nor changed.
pub struct Look {
    /// Its files.
    pub files: RunFiles,
    /// What it has committed.
    pub state: State,
    /// Its config, keys changed as asked for.
    pub config: Config,
    /// What it trains.
    pub forms: Forms,
}

impl Look {
    /// Looks at the run in `path`, whatever machine it is trained on.
    pub fn of(path: &Path) -> anyhow::Result<Look> {
        let (files, state) = RunFiles::open(path)?;
        let config = config(&files, &state)?;
        let forms = Forms::of(&config.ruleset).map_err(|why| anyhow!("[ruleset] {why}"))?;
        Ok(Look {
            files,
            state,
            config,
            forms,
        })
    }

    /// Looks at the run in `path` with each `table.key=value` of `sets` laid over its config, to play on this machine.
    pub fn at(path: &Path, sets: &[String]) -> anyhow::Result<Look> {
        let own = Look::of(path)?;
        let config = Config::load_run(&own.files.config_path(), sets)?;
        ensure!(
            config.net == own.config.net && config.ruleset == own.config.ruleset,
            "--set cannot change the [net] or the [ruleset] that a run was trained with; --form F plays another form"
        );
        Ok(Look { config, ..own })
    }

    /// The weights of a training step; of the newest checkpoint if missing.
    pub fn weights(&self, step: Option<u64>) -> anyhow::Result<Weights> {
        let Some(step) = step else {
            let newest = |state: &State| weights(&self.files, state, state.training.step);
            return self.files.newest(&self.state, newest);
        };
        // One that was asked for may not be there, though nothing is missing.
        self.files.checkpoint(step)?;
        weights(&self.files, &self.state, step)
    }
}

/// The run's own config.
pub(super) fn own_config(dir: &RunFiles) -> anyhow::Result<Config> {
    Config::load_resolved(&dir.config_path())
        .with_context(|| format!("the run's own config cannot be used ({RESTORE})"))
}

/// The run's own config, which must be the one that `state` speaks of.
pub fn config(dir: &RunFiles, state: &State) -> anyhow::Result<Config> {
    let (path, config) = (dir.config_path(), own_config(dir)?);
    let names = Forms::of(&config.ruleset).map_or_else(|why| why, |forms| forms.names());
    let found = (names.as_str(), config.run.seed);
    let expected = (state.form.as_str(), state.seed);
    ensure!(
        found == expected,
        "{}: `[ruleset]` plays {} and `run.seed` = {}, but state.json says {} and {}; {RESTORE}",
        path.display(),
        found.0,
        found.1,
        expected.0,
        expected.1
    );
    Ok(config)
}

/// The learner that `state` speaks of.
pub(super) fn learner(
    dir: &RunFiles,
    state: &State,
    config: &Config,
    placement: &Placement,
) -> anyhow::Result<Learner> {
    let (path, counts) = (existing(dir, state.training.step)?, &state.training);
    // Whose it is comes before whether it fits.
    check(&path, &checkpoint::inspect(&path)?, counts.step, state)?;
    let (learner, about) = Learner::load(&path, &config.net, &config.optim, placement)?;
    ensure!(
        about.rows == counts.rows_trained,
        "{}: a checkpoint of {} trained rows, but state.json counts {}; {RESTORE}",
        path.display(),
        about.rows,
        counts.rows_trained
    );
    Ok(learner)
}

/// The weights that play at a training step of the run.
pub fn weights(dir: &RunFiles, state: &State, step: u64) -> anyhow::Result<Weights> {
    let path = existing(dir, step)?;
    let (weights, about) = checkpoint::load_play(&path)?;
    check(&path, &about, step, state)?;
    Ok(weights)
}

/// The weights of the run's first checkpoint, if `config` has it as an opponent.
pub fn first_opponent(
    dir: &RunFiles,
    state: &State,
    config: &Config,
) -> anyhow::Result<Option<Weights>> {
    let first = || {
        weights(dir, state, 0).context(
            "the run's first checkpoint (an opponent; `arena.first_checkpoint = false` does without)",
        )
    };
    config.arena.first_checkpoint.then(first).transpose()
}

const RESTORE: &str = "put the run's own back, or start a new run with --run DIR";

fn existing(dir: &RunFiles, step: u64) -> anyhow::Result<PathBuf> {
    dir.checkpoint(step)
        .map_err(|error| anyhow!("{error}, or {RESTORE}"))
}

/// Whether the checkpoint in the file of `step` is that of the run's step.
fn check(path: &Path, about: &About, step: u64, state: &State) -> anyhow::Result<()> {
    let (found, form, run) = (about.step, &about.origin.form, &about.origin.run);
    ensure!(
        *run == state.run,
        "{}: a checkpoint of another run ({run}, this one is {}); {RESTORE}",
        path.display(),
        state.run
    );
    ensure!(
        found == step && *form == state.form,
        "{}: a checkpoint of step {found} of the form {form}, expected step {step} of the form {}; {RESTORE}",
        path.display(),
        state.form
    );
    Ok(())
}
