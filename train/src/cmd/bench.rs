//! `fanqi bench`: speeds, and a checksum of the search's behaviour.
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use model::device::{Placement, single_threaded};
use model::evaluator::NetEvaluator;
use model::params::Weights;
use model::slot::WeightSlot;
use play::output::print;
use rayon::ThreadPoolBuilder;
use selfplay::eval::{Batch, EvalError, HashEvaluator, mix};
use selfplay::rules::World;
use selfplay::worker::{EvalPort, Games, InlinePort, Worker};

use crate::config::Config;
use crate::forms::Forms;
use crate::pipeline::worker_count;

mod runtimes;

/// Measure speeds.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Selfplay(SelfplayArgs),
    Runtimes(runtimes::Args),
}

/// Self-play's evaluated rows/s beside what the evaluator alone can do, in turn, with a network of random
/// weights; then a checksum of games played with a stand-in, which changes only if the search or the rules do.
#[derive(Debug, clap::Args)]
pub struct SelfplayArgs {
    /// Config file.
    #[arg(default_value = "configs/quick.toml")]
    config: PathBuf,
    /// Change one key of the config; may be repeated.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    sets: Vec<String>,
    #[command(flatten)]
    timing: Timing,
}

/// How long is measured.
#[derive(Debug, clap::Args)]
struct Timing {
    /// Seconds of each measurement.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// Measurements of each kind, in turn; the medians count.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

/// Length of a measurement, long enough to finish a row and within a day.
fn seconds(text: &str) -> Result<f64, String> {
    let range = 0.1..=86400.0;
    let seconds = text.parse().ok().filter(|x| range.contains(x));
    seconds.ok_or_else(|| format!("expected a number in {}..={}", range.start(), range.end()))
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    match args.what {
        What::Selfplay(args) => bench_selfplay(&args),
        What::Runtimes(args) => runtimes::run(&args),
    }
}

/// What one measurement saw, over all threads.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Rows evaluated a second.
    rows: f64,
    /// Seconds of one thread spent in the evaluator, a row.
    evaluating: f64,
    /// Seconds of one thread spent on everything, a row.
    total: f64,
}

fn bench_selfplay(args: &SelfplayArgs) -> anyhow::Result<()> {
    let config = Config::load(Some(&args.config), &args.sets)?;
    let placement = Placement::resolve(&config.device)?;
    anyhow::ensure!(
        placement.device == tch::Device::Cpu,
        "bench selfplay measures one network a thread, as on a CPU; add --set device.device=cpu"
    );
    let threads = worker_count(&config, placement.device);
    let rows = config.selfplay.games_per_worker / 2;
    print(format_args!(
        "{}, {threads} threads, batches of {rows} rows",
        placement.describe()
    ))?;
    let time = Duration::from_secs_f64(args.timing.seconds);
    let (mut alone, mut playing) = (Vec::new(), Vec::new());
    for _ in 0..args.timing.rounds {
        alone.push(on_threads(
            threads,
            |port| evaluate_alone(&config, port, time),
            &config,
            placement,
        )?);
        playing.push(on_threads(
            threads,
            |port| play(&config, port, time),
            &config,
            placement,
        )?);
    }
    let (alone, playing) = (median(alone), median(playing));
    let micro = |seconds: f64| format!("{:.1} µs", 1e6 * seconds);
    print(format_args!(
        "evaluator alone    {:>8.0} rows/s",
        alone.rows
    ))?;
    print(format_args!(
        "self-play          {:>8.0} rows/s",
        playing.rows
    ))?;
    print(format_args!(
        "ratio              {:>8.3}",
        playing.rows / alone.rows
    ))?;
    print(format_args!(
        "a row of self-play costs one thread {}, of which",
        micro(playing.total)
    ))?;
    print(format_args!(
        "  {} in the evaluator ({} when it is alone)",
        micro(playing.evaluating),
        micro(alone.evaluating)
    ))?;
    print(format_args!(
        "  {} in search, rules and rows",
        micro(playing.total - playing.evaluating)
    ))?;
    print(format_args!(
        "search signature   {:016x}",
        signature(&config)?
    ))?;
    Ok(())
}

fn median(mut all: Vec<Measured>) -> Measured {
    all.sort_by(|a, b| a.rows.total_cmp(&b.rows));
    all[all.len() / 2]
}

/// Counts and times what goes through a port.
struct Timed<P> {
    inner: P,
    spent: Duration,
    rows: u64,
}

impl<P: EvalPort> EvalPort for Timed<P> {
    fn submit(&mut self, batch: Batch) -> Result<(), EvalError> {
        self.rows += batch.len() as u64;
        let start = Instant::now();
        let result = self.inner.submit(batch);
        self.spent += start.elapsed();
        result
    }

    fn receive(&mut self) -> Result<Batch, EvalError> {
        self.inner.receive()
    }

    fn step(&self) -> u64 {
        self.inner.step()
    }
}

type NetPort = Timed<InlinePort<NetEvaluator>>;

/// Runs `body` on every thread at once, each with a network of its own; it returns rows, time evaluating, time.
fn on_threads(
    threads: usize,
    body: impl Fn(NetPort) -> Result<(u64, Duration, Duration), EvalError> + Sync,
    config: &Config,
    placement: Placement,
) -> anyhow::Result<Measured> {
    let slot = WeightSlot::new(Weights::random(&config.net, config.run.seed));
    let ready = Barrier::new(threads);
    let results = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?
        .broadcast(|_| {
            single_threaded();
            let evaluator = NetEvaluator::new(slot.clone(), placement);
            ready.wait();
            let inner = InlinePort::new(evaluator?);
            body(Timed {
                inner,
                spent: Duration::ZERO,
                rows: 0,
            })
        });
    let mut measured = Measured::default();
    let mut rows_of_all = 0;
    for result in results {
        let (rows, evaluating, total) = result?;
        rows_of_all += rows;
        measured.rows += rows as f64 / total.as_secs_f64();
        measured.evaluating += evaluating.as_secs_f64();
        measured.total += total.as_secs_f64();
    }
    measured.evaluating /= rows_of_all as f64;
    measured.total /= rows_of_all as f64;
    Ok(measured)
}

fn games(config: &Config) -> Games<World> {
    let forms = Forms::of(&config.ruleset).expect("a loaded config names forms that there are");
    let next = AtomicU64::new(0);
    Games {
        run_seed: config.run.seed,
        next_id: Box::new(move || Some(next.fetch_add(1, Relaxed))),
        start: Box::new(move |rng| forms.start(rng)),
    }
}

fn worker<P: EvalPort>(config: &Config, port: P) -> Worker<World, P> {
    Worker::new(config.selfplay.clone(), &config.search, games(config), port)
}

/// Self-play for `time`, after as long a warm-up as takes the games apart.
fn play(
    config: &Config,
    port: NetPort,
    time: Duration,
) -> Result<(u64, Duration, Duration), EvalError> {
    let mut worker = worker(config, port);
    rounds(&mut worker, time.mul_f64(0.2))?;
    let before = (worker.port().rows, worker.port().spent);
    let total = rounds(&mut worker, time)?;
    let port = worker.port();
    Ok((port.rows - before.0, port.spent - before.1, total))
}

fn rounds(worker: &mut Worker<World, NetPort>, time: Duration) -> Result<Duration, EvalError> {
    let start = Instant::now();
    while start.elapsed() < time {
        worker.round(&mut |_| {})?;
    }
    Ok(start.elapsed())
}

/// Evaluates the rows of one round of self-play again and again for `time`.
fn evaluate_alone(
    config: &Config,
    mut port: NetPort,
    time: Duration,
) -> Result<(u64, Duration, Duration), EvalError> {
    let mut batch = sample_batch(config)?;
    let start = Instant::now();
    while start.elapsed() < time {
        port.submit(batch)?;
        batch = port.receive()?;
    }
    Ok((port.rows, port.spent, start.elapsed()))
}

/// A batch as self-play makes them, from games that a stand-in has played for a while.
fn sample_batch(config: &Config) -> Result<Batch, EvalError> {
    /// Keeps the inputs of the batch that is out.
    struct Peek(InlinePort<HashEvaluator>, Batch);
    impl EvalPort for Peek {
        fn submit(&mut self, batch: Batch) -> Result<(), EvalError> {
            self.1.clear();
            self.1.append_inputs(&batch);
            self.0.submit(batch)
        }
        fn receive(&mut self) -> Result<Batch, EvalError> {
            self.0.receive()
        }
        fn step(&self) -> u64 {
            self.0.step()
        }
    }
    let rounds = 40 * config.selfplay.visits;
    let port = Peek(InlinePort::new(HashEvaluator::default()), Batch::default());
    let mut worker = worker(config, port);
    for _ in 0..rounds {
        worker.round(&mut |_| {})?;
    }
    Ok(std::mem::take(&mut worker.port().1))
}

/// Games of the signature.
const SIGNED: usize = 8;

/// A hash of the first games that a stand-in plays under `config`.
fn signature(config: &Config) -> Result<u64, EvalError> {
    let mut config = config.clone();
    config.selfplay.games_per_worker = SIGNED;
    let mut worker = worker(&config, InlinePort::new(HashEvaluator::default()));
    let mut games = Vec::new();
    while games.len() < SIGNED {
        worker.round(&mut |game| {
            if game.id < SIGNED as u64 {
                let moves = game.moves.iter().flat_map(|mv| mv.to_string().into_bytes());
                games.push((
                    game.id,
                    moves.fold(game.seed, |hash, byte| mix(hash ^ u64::from(byte))),
                ));
            }
        })?;
    }
    games.sort_unstable();
    Ok(games.iter().fold(0, |hash, game| mix(hash ^ game.1)))
}
