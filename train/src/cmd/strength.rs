//! `fanqi strength`: the matches of a run's newest checkpoint, again.
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{anyhow, bail};
use model::device::Placement;

use crate::config::Config;
use crate::forms::{self, Forms};
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
    /// Play this form only, by its own rules where the run has not trained it.
    #[arg(long)]
    form: Option<String>,
    /// Play a form that the network was not trained in.
    #[arg(long, requires = "form")]
    force: bool,
    /// Change one key of the run's config, for example `--set arena.games=1000`; may be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let (dir, state) = pipeline::explain(RunDir::open_existing(&args.run).map_err(Into::into))?;
    let own = load::config(&dir, &state)?;
    let config = Config::load_run(&dir.config_path(), &args.sets)?;
    if config.net != own.net || config.ruleset != own.ruleset {
        bail!(
            "--set cannot change the [net] or the [ruleset] that a run was trained with; --form F plays another form"
        );
    }
    let trained = Forms::of(&config.ruleset).map_err(|why| anyhow!("[ruleset] {why}"))?;
    let forms = match &args.form {
        Some(name) => chosen(&trained, name, args.force)?,
        None => trained,
    };
    let placement = Placement::resolve(&config.device)?;
    let step = args.step.unwrap_or(state.training.step);
    let weights = load::weights(&dir, &state, step)?;
    let first = load::first_opponent(&dir, &state, &config)?;
    let never = AtomicBool::new(false);
    let say = |text: &str| note(text);
    let table = strength::measure(&config, &forms, placement, weights, first, &never, &say)?;
    print(format_args!("\nStrength at step {step}\n\n{table}"))?;
    Ok(())
}

/// The form of that name, as the run trained it, or if forced as it is.
fn chosen(trained: &Forms, name: &str, force: bool) -> anyhow::Result<Forms> {
    if let Some(rules) = trained.rules().find(|rules| rules.name == name) {
        return Ok(Forms::one(rules));
    }
    let rules = forms::by_name(name).map_err(|why| anyhow!("--form {name}: {why}"))?;
    if !force {
        bail!(
            "--form {name}: the run trained {}; give --force to play a form that its network has never seen",
            trained.names()
        );
    }
    Ok(Forms::one(rules))
}
