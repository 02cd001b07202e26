//! A network from a run directory or a checkpoint, as its run plays it.
use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use model::checkpoint::{self, About};
use model::device::Placement;
use model::params::Weights;
use selfplay::rules::Ruleset;

use crate::config::Config;
use crate::forms::Forms;
use crate::levels::{Level, Levels};
use crate::run_dir::RunFiles;

/// A network, and what its checkpoint says of it.
pub struct Network {
    /// The weights that play.
    pub weights: Weights,
    /// Whose they are.
    pub about: About,
    /// The config that the checkpoint carries.
    pub config: Config,
    /// The forms that it was trained in, with the run's own rules; at least one.
    pub forms: Forms,
    /// Where it computes.
    pub placement: Placement,
    /// The level that it plays at, if it does not play as well as it can.
    pub level: Option<Level>,
}

impl Network {
    /// Loads a checkpoint: the file `path`, or of the run directory `path` that of training step `step`, the
    /// newest if missing. Each `table.key=value` of `sets` is laid over the config that it carries. Takes no lock
    /// and writes nothing.
    pub fn load(path: &Path, step: Option<u64>, sets: &[String]) -> anyhow::Result<Network> {
        if path.is_file() {
            ensure!(
                step.is_none(),
                "{}: a step chooses among the checkpoints of a run directory; this is one checkpoint",
                path.display()
            );
            return Network::of_file(path, sets);
        }
        let (files, state) = RunFiles::open(path).context("neither a checkpoint nor a run")?;
        match step {
            Some(step) => Network::of_file(&files.checkpoint(step)?, sets),
            None => files.newest(&state, |state| {
                Network::of_file(&files.checkpoint(state.training.step)?, sets)
            }),
        }
    }

    fn of_file(path: &Path, sets: &[String]) -> anyhow::Result<Network> {
        // The header first: of a file of another kind, however large, nothing more is read.
        checkpoint::inspect(path)?;
        let (weights, about) = checkpoint::load_play(path)?;
        let origin = format!("{}, the config in it", path.display());
        let own = Config::carried(&about.origin.config, &origin, &[])?;
        let config = Config::carried(&about.origin.config, &origin, sets)?;
        ensure!(
            config.net == own.net && config.ruleset == own.ruleset,
            "--set cannot change the [net] or the [ruleset] that {} was trained with",
            path.display()
        );
        let forms =
            Forms::of(&config.ruleset).map_err(|why| anyhow!("{origin}: [ruleset] {why}"))?;
        let placement = Placement::resolve(&config.device)
            .with_context(|| format!("{origin}: [device], which is not this machine's"))?;
        Ok(Network {
            weights,
            about,
            config,
            forms,
            placement,
            level: None,
        })
    }

    /// Loads the network of a level of the run directory `run` and lets it play so. Fails where the checkpoint is gone
    /// or is not the one that the level was measured with.
    pub fn load_level(run: &Path, level: &Level, sets: &[String]) -> anyhow::Result<Network> {
        let about = || {
            let Level { form, level, .. } = level;
            format!(
                "level {level} of {form}, in {}",
                run.join("levels.toml").display()
            )
        };
        let mut network = Network::load(run, Some(level.step), sets).with_context(about)?;
        let found = network.about.crc32c;
        ensure!(
            found == level.crc32c,
            "{}: its checkpoint of step {} has the checksum {found:08x}, expected {:08x}: put the one that was graded back, or grade the run again",
            about(),
            level.step,
            level.crc32c
        );
        let arena = &mut network.config.arena;
        (arena.visits, arena.temperature) = (level.visits, level.temperature);
        network.level = Some(level.clone());
        Ok(network)
    }

    /// The levels of the run directory `run`.
    pub fn levels(run: &Path) -> anyhow::Result<Option<Levels>> {
        let (files, state) = RunFiles::open(run)?;
        Ok(Levels::of_run(&files, &state.run)?)
    }

    /// The rules of the form of that name, as it was trained, if it was.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        self.forms.rules().find(|rules| rules.name == name)
    }
}
