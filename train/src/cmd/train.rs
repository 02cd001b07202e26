//! `fanqi train`: the main job.
use std::path::PathBuf;

use anyhow::Context;

use crate::config::Config;
use crate::pipeline;

/// Train a network by self-play, or go on with a run; the end is a table of how strong it became.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Config file (configs/default.toml explains every key).
    config: PathBuf,
    /// Run directory; `runs/` and the config's name if missing.
    #[arg(long)]
    run: Option<PathBuf>,
    /// Change one key, for example `--set optim.learning_rate=0.001`; may be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let config = Config::load(Some(&args.config), &args.sets)?;
    let stem = args
        .config
        .file_stem()
        .context("the config has no file name")?;
    let run = args.run.unwrap_or_else(|| PathBuf::from("runs").join(stem));
    let origin = args.config.display().to_string();
    let interrupted = super::interrupted("stopping in order, what was made is saved")?;
    pipeline::train(config, &origin, &run, &interrupted)
}
