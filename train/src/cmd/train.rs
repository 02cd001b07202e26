//! `fanqi train`: the main job.
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context;

use crate::config::Config;
use crate::output::note;
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
    pipeline::train(config, &origin, &run, interrupted()?.as_ref())
}

/// Set by Ctrl-C or a termination signal; a second one ends the process at once.
fn interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    /// 128 + SIGINT, as shells report it.
    const KILLED: i32 = 130;
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Relaxed) {
            std::process::exit(KILLED);
        }
        note("stopping in order, what was made is saved; once more quits at once");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
