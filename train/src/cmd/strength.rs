//! `fanqi strength`: the matches of a run's newest checkpoint, again.
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{bail, ensure};
use model::device::Placement;
use play::output::{note, print};

use crate::forms::Forms;
use crate::pipeline::load::{self, Look};
use crate::pipeline::strength;

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
    let look = Look::at(&args.run, &args.sets)?;
    let (forms, trained) = match &args.form {
        Some(name) => chosen(&look.forms, name, args.force)?,
        None => (look.forms.clone(), true),
    };
    let placement = Placement::resolve(&look.config.device)?;
    let weights = look.weights(args.step)?;
    let (step, config) = (weights.step, &look.config);
    let first = load::first_opponent(&look.files, &look.state, config)?;
    let never = AtomicBool::new(false);
    let say = |text: &str| note(text);
    let mut table = strength::measure(config, &forms, placement, weights, first, &never, &say)?;
    ensure!(
        !table.rows.is_empty(),
        "there is no opponent: `arena.opponents` is empty, and neither `arena.first_checkpoint` nor \
         `arena.random_arrangement` adds one"
    );
    if !trained {
        let forms = table.rows.iter_mut().map(|row| &mut row.form);
        forms.for_each(|form| form.push_str(" (untrained)"));
    }
    Ok(print(strength::text(config, step, &table))?)
}

/// The form of that name, as the run trained it, or if forced as it is; and whether the run trained it.
fn chosen(trained: &Forms, name: &str, force: bool) -> anyhow::Result<(Forms, bool)> {
    if let Some(rules) = trained.rules().find(|rules| rules.name == name) {
        return Ok((Forms::one(rules), true));
    }
    let rules = super::rules(name)?;
    if !force {
        bail!(
            "--form {name}: the run trained {}; give --force to play a form that its network has never seen",
            trained.names()
        );
    }
    Ok((Forms::one(rules), false))
}
