//! `fanqi inspect`: what a run's network has learned.
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use model::device::Placement;
use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use play::output::print;
use rand::SeedableRng;
use rand::distr::{Distribution, weighted::WeightedIndex};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluator};
use selfplay::game::{Color, Features, Game, Referee};
use selfplay::policy::SQUARES;
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Kind, Move, Position, Ruleset, Square, World};

use crate::forms::Forms;
use crate::pipeline::Progress;
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
    let config = &look.config;
    let arranged = arranged(&args, &look.forms)?;
    let weights = look.weights(args.step)?;
    let step = weights.step;
    let placement = Placement::resolve(&config.device)?;
    let mut drawing = Drawing {
        evaluator: NetEvaluator::new(WeightSlot::new(weights), placement)?,
        count: args.count,
        seed: config.run.seed,
        rows: arranged.iter().copied().map(placements).sum::<u64>() * u64::from(args.count),
        done: 0,
        progress: Progress::new("inspect", 1),
        every: Duration::from_secs_f64(config.run.report_seconds),
        begun: Instant::now(),
    };
    let drawn = arranged.iter().map(|&rules| drawing.shares(rules));
    let drawn = drawn.collect::<anyhow::Result<Vec<_>>>()?;
    drawing.progress.finish();
    for (rules, shares) in arranged.iter().zip(&drawn) {
        print(format_args!(
            "{}: Red's side after {step} steps; % of {} arrangements with the piece on the square",
            rules.name, args.count
        ))?;
        for kind in Kind::ALL
            .into_iter()
            .filter(|&kind| rules.takes_part.has(kind))
        {
            print(table(kind, shares))?;
        }
    }
    Ok(())
}

/// The forms to show; at least one.
fn arranged(args: &Args, trained: &Forms) -> anyhow::Result<Vec<&'static Ruleset>> {
    let (run, names) = (args.run.display(), trained.names());
    let known = Ruleset::all().iter().filter(|rules| rules.arranged());
    let known: Vec<_> = known.map(|rules| rules.name).collect();
    let known = known.join(", ");
    let mut forms: Vec<_> = trained.rules().filter(|rules| rules.arranged()).collect();
    if let Some(name) = &args.form {
        ensure!(
            super::rules(name)?.arranged(),
            "--form {name}: pieces are not arranged in it, but in {known}"
        );
        forms.retain(|rules| rules.name == name);
        ensure!(
            !forms.is_empty(),
            "--form {name}: {run} has not trained it, but {names}"
        );
    }
    ensure!(
        !forms.is_empty(),
        "{run}: trained {names}, where pieces are not arranged, as they are in {known}"
    );
    Ok(forms)
}

/// `[square][kind]`: share of arrangements.
type Shares = Vec<[f64; 7]>;

/// Arrangements that are drawn together, a row of each in a batch: many enough for a device, few enough for any memory.
const TOGETHER: u32 = 256;

/// Draws arrangements from the network's prior.
struct Drawing {
    evaluator: NetEvaluator,
    /// Arrangements of each form.
    count: u32,
    seed: u64,
    /// Rows to evaluate for all forms.
    rows: u64,
    /// Rows evaluated.
    done: u64,
    progress: Progress,
    /// How often a line is shown where there is no bar.
    every: Duration,
    begun: Instant,
}

impl Drawing {
    /// How Red places its pieces.
    fn shares(&mut self, rules: &'static Ruleset) -> anyhow::Result<Shares> {
        let mut rng = Pcg64Mcg::seed_from_u64(self.seed);
        let mut placed = vec![[0u32; 7]; SQUARES];
        let mut left = self.count;
        while left > 0 {
            let together = left.min(TOGETHER);
            let worlds = (0..together).map(|_| World::start(rules, &mut rng));
            let worlds = worlds.collect();
            self.arrange(worlds, &mut rng, &mut placed)?;
            left -= together;
        }
        let share = |n: u32| f64::from(n) / f64::from(self.count);
        Ok(placed.iter().map(|kinds| kinds.map(share)).collect())
    }

    /// Places all of Red's pieces in each of `worlds`, not empty, and counts them in `placed`.
    fn arrange(
        &mut self,
        mut worlds: Vec<World>,
        rng: &mut Pcg64Mcg,
        placed: &mut [[u32; 7]],
    ) -> anyhow::Result<()> {
        let (mut batch, mut moves) = (Batch::default(), Vec::new());
        while worlds[0].position(Color::Red).arranging().is_some() {
            batch.clear();
            for world in &worlds {
                push(world, &mut batch, &mut moves);
            }
            self.evaluator.evaluate(&mut batch)?;
            for (row, world) in worlds.iter_mut().enumerate() {
                world.view(Color::Red).legal_moves(&mut moves);
                let priors = batch.log_priors[batch.legal_range(row)]
                    .iter()
                    .map(|p| p.exp());
                let mv = moves[WeightedIndex::new(priors)?.sample(rng)];
                if let Some(kind) = mv.placed() {
                    placed[mv.from().index()][kind.index()] += 1;
                }
                world.apply(mv, rng);
            }
            self.done += worlds.len() as u64;
            self.show(worlds[0].position(Color::Red).rules());
        }
        Ok(())
    }

    fn show(&self, rules: &Ruleset) {
        let (done, all) = (self.done, self.rows);
        let text = format!("{}, {done} of {all} pieces", rules.name);
        let share = done as f64 / all as f64;
        let lines = [("placed", text)];
        self.progress
            .show_at_times(self.every, share, self.begun.elapsed(), &lines);
    }
}

/// How many pieces a side places.
fn placements(rules: &'static Ruleset) -> u64 {
    let pool = Position::start_for(rules, Color::Red).pool(Color::Red);
    pool.into_iter().map(u64::from).sum()
}

/// Adds the row of Red's next placement.
fn push(world: &World, batch: &mut Batch, moves: &mut Vec<Move>) {
    let view = world.view(Color::Red);
    let mut record = [0; RECORD_BYTES];
    view.record(world.history(Color::Red), &mut record);
    view.legal_moves(moves);
    batch.push(record, moves.iter().map(|&mv| view.policy_index(mv)), &[]);
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
