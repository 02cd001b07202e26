//! `fanqi strength`: the matches of a run's newest checkpoint, again.
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use model::device::Placement;
use selfplay::rules::Ruleset;

use crate::config::Config;
use crate::output::{note, print};
use crate::pipeline::{self, load, strength};
use crate::run_dir::RunDir;

/// Play the matches that say how strong a run's newest checkpoint is, and print their table.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory.
    run: PathBuf,
    /// Training step of the checkpoint; the newest if missing.
    #[arg(long)]
    step: Option<u64>,
    /// Change one key of the run's config, for example `--set arena.games=1000`; may be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let (dir, state) = pipeline::explain(RunDir::open_existing(&args.run).map_err(Into::into))?;
    load::config(&dir, &state)?;
    let config = Config::load_run(&dir.config_path(), &args.sets)?;
    let rules = Ruleset::by_name(&config.ruleset.base).context("the form was checked before")?;
    let placement = Placement::resolve(&config.device)?;
    let step = args.step.unwrap_or(state.training.step);
    let weights = load::weights(&dir, &state, step)?;
    let first = load::first_opponent(&dir, &state, &config)?;
    let never = AtomicBool::new(false);
    let say = |text: &str| note(text);
    let table = strength::measure(&config, rules, placement, weights, first, &never, &say)?;
    print(format_args!("\nStrength at step {step}\n\n{table}"))?;
    Ok(())
}
