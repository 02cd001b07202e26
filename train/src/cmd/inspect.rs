//! `fanqi inspect`: what a run's network has learned.
use std::path::PathBuf;

use anyhow::bail;
use model::device::Placement;
use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use rand::SeedableRng;
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluator};
use selfplay::game::{Color, Features, Game, Referee};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Kind, Move, Ruleset, Square, World};

use crate::output::print;
use crate::pipeline::load::Look;

/// Show what a run's network has learned.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory.
    run: PathBuf,
    /// For each arranged form and kind, how often the network places the kind on each square: a table of its own
    /// half of the board, in %.
    #[arg(long, required = true)]
    arrangements: bool,
    /// Of this form only.
    #[arg(long)]
    form: Option<String>,
    /// Arrangements drawn from the network's prior.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Training step of the checkpoint; the newest if missing.
    #[arg(long)]
    step: Option<u64>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let look = Look::at(&args.run, &[])?;
    let (config, forms) = (&look.config, &look.forms);
    let wanted = |rules: &&Ruleset| args.form.as_ref().is_none_or(|name| rules.name == name);
    let arranged: Vec<_> = forms
        .rules()
        .filter(|r| r.arranged())
        .filter(wanted)
        .collect();
    if arranged.is_empty() {
        bail!(
            "{}: plays {}, none of which is arranged{}; arranged are fanqi-3, fanqi-5, fanqi-7, fanqi-9",
            args.run.display(),
            forms.names(),
            args.form
                .map_or(String::new(), |name| format!(" and called {name}"))
        );
    }
    let weights = look.weights(args.step)?;
    let step = weights.step;
    let mut evaluator = NetEvaluator::new(
        WeightSlot::new(weights),
        Placement::resolve(&config.device)?,
    )?;
    for rules in arranged {
        let shares = shares(rules, args.count, config.run.seed, &mut evaluator)?;
        print(format_args!(
            "{}: Red's side after {step} steps; % of {} arrangements with the piece on the square",
            rules.name, args.count
        ))?;
        for kind in Kind::ALL
            .into_iter()
            .filter(|&kind| rules.takes_part.has(kind))
        {
            print(table(kind, &shares))?;
        }
    }
    Ok(())
}

/// `[square][kind]`: share of arrangements.
type Shares = Vec<[f64; 7]>;

/// How Red places its pieces in `count` arrangements drawn from the prior.
fn shares(
    rules: &'static Ruleset,
    count: u32,
    seed: u64,
    evaluator: &mut NetEvaluator,
) -> anyhow::Result<Shares> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut worlds: Vec<_> = (0..count).map(|_| World::start(rules, &mut rng)).collect();
    let mut shares = vec![[0.0; 7]; selfplay::policy::SQUARES];
    let (mut batch, mut moves) = (Batch::default(), Vec::new());
    while worlds[0].position(Color::Red).arranging().is_some() {
        batch.clear();
        for world in &worlds {
            push(world, &mut batch, &mut moves);
        }
        evaluator.evaluate(&mut batch)?;
        for (row, world) in worlds.iter_mut().enumerate() {
            world.view(Color::Red).legal_moves(&mut moves);
            let priors = batch.log_priors[batch.legal_range(row)]
                .iter()
                .map(|p| p.exp());
            let mv = moves[WeightedIndex::new(priors)?.sample(&mut rng)];
            let Some(kind) = mv.placed() else {
                continue;
            };
            shares[mv.from().index()][kind.index()] += 1.0 / f64::from(count);
            world.apply(mv, &mut rng);
        }
    }
    Ok(shares)
}

/// Adds the row of Red's next placement.
fn push(world: &World, batch: &mut Batch, moves: &mut Vec<Move>) {
    let view = world.view(Color::Red);
    let mut record = [0; RECORD_BYTES];
    view.record(world.history(Color::Red), &mut record);
    batch.records.push(record);
    view.legal_moves(moves);
    batch
        .legal
        .extend(moves.iter().map(|&mv| view.policy_index(mv)));
    batch.legal_end.push(batch.legal.len() as u32);
}

/// Ranks 4 to 0, files a to i.
fn table(kind: Kind, shares: &Shares) -> String {
    let mut text = format!("{}     a   b   c   d   e   f   g   h   i", kind.letter());
    for rank in (0..5).rev() {
        text += &format!("\n{rank}  ");
        for file in 0..9 {
            let share = Square::new(file, rank).map_or(0.0, |s| shares[s.index()][kind.index()]);
            text += &match (100.0 * share).round() {
                0.0 => "   .".to_owned(),
                percent => format!("{percent:>4.0}"),
            };
        }
    }
    text + "\n"
}
