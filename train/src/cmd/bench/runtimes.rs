//! `fanqi bench runtimes`: how fast each runtime computes a network.
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use model::device::single_threaded;
use model::evaluator::NetEvaluator;
use model::export::onnx;
use model::slot::WeightSlot;
use play::onnx::OnnxEvaluator;
use play::output::{note, print};
use selfplay::bundle::Precision;
use selfplay::eval::{Batch, Evaluator};
use selfplay::expand::{GLOBALS, PLANES};

use super::{Timing, sample_batch};
use crate::network::Network;

/// Rows of a batch: what an engine asks for, and what self-play does.
const BATCHES: [usize; 2] = [1, 64];

/// Rows/s of one thread in batches of 1 and of 64, of the same network in libtorch (`fanqi`), in rten (`fanqi-play`), and in ONNX
/// Runtime where there is a Python that has it, in turn.
///
/// libtorch and rten are measured from records to priors, as a search uses them, ONNX Runtime from tensors to tensors.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory or checkpoint.
    run: PathBuf,
    #[command(flatten)]
    timing: Timing,
    /// Python with onnxruntime and numpy.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
}

/// What is measured, and its rows/s by batch.
struct Entry {
    name: String,
    runtime: Box<dyn Runtime>,
    speeds: [Vec<f64>; BATCHES.len()],
}

/// What computes a network.
trait Runtime {
    /// Rows/s over `time` in batches of `rows`.
    fn speed(&mut self, rows: usize, time: Duration) -> anyhow::Result<f64>;
}

/// Runs the subcommand.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let network = Network::load(&args.run, None, &["device.device=cpu".to_owned()])?;
    single_threaded();
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let path = folder.path().join("model.onnx");
    let file = onnx::file(&network.weights, Precision::F32, &[])?;
    std::fs::write(&path, file).with_context(|| path.display().to_string())?;
    let step = network.about.step;
    let sample = Rc::new(sample_batch(&network.config)?);
    let placement = network.placement;
    let torch = NetEvaluator::new(WeightSlot::new(network.weights), placement)?;
    let rten = OnnxEvaluator::load(&path, step)?;
    let own = |name: &str, evaluator: Box<dyn Evaluator>| {
        let sample = Rc::clone(&sample);
        entry(name.to_owned(), Box::new(Own { evaluator, sample }))
    };
    let mut entries = vec![
        own(
            &format!("libtorch, {}", placement.describe()),
            Box::new(torch),
        ),
        own("rten", Box::new(rten)),
    ];
    match Python::start(&args.python, &path) {
        Ok((python, version)) => {
            let name = format!("ONNX Runtime {version}");
            entries.push(entry(name, Box::new(python)));
        }
        Err(why) => note(format_args!("without ONNX Runtime: {why:#}")),
    }
    let time = Duration::from_secs_f64(args.timing.seconds);
    for _ in 0..args.timing.rounds {
        for entry in &mut entries {
            for (rows, speeds) in BATCHES.into_iter().zip(&mut entry.speeds) {
                speeds.push(entry.runtime.speed(rows, time)?);
            }
        }
    }
    report(&mut entries)
}

fn entry(name: String, runtime: Box<dyn Runtime>) -> Entry {
    Entry {
        name,
        runtime,
        speeds: Default::default(),
    }
}

fn report(entries: &mut [Entry]) -> anyhow::Result<()> {
    print(format_args!(
        "rows/s of one thread       batches of 1  batches of 64"
    ))?;
    for entry in entries {
        let [one, many] = entry.speeds.each_mut().map(|speeds| {
            speeds.sort_by(f64::total_cmp);
            speeds[speeds.len() / 2]
        });
        print(format_args!("{:<26} {one:>12.0} {many:>14.0}", entry.name))?;
    }
    Ok(())
}

/// An evaluator of this program.
struct Own {
    evaluator: Box<dyn Evaluator>,
    /// Rows of games, of which batches are made.
    sample: Rc<Batch>,
}

impl Runtime for Own {
    fn speed(&mut self, rows: usize, time: Duration) -> anyhow::Result<f64> {
        let (sample, mut batch) = (&self.sample, Batch::default());
        for row in (0..sample.len()).cycle().take(rows) {
            let legal = &sample.legal[sample.legal_range(row)];
            let unknown = &sample.unknown[sample.unknown_range(row)];
            batch.push(sample.records[row], legal.iter().copied(), unknown);
        }
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < time {
            self.evaluator.evaluate(&mut batch)?;
            done += rows;
        }
        Ok(done as f64 / start.elapsed().as_secs_f64())
    }
}

/// A Python that computes with ONNX Runtime.
struct Python {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// Starts it with a network; with it comes the version of ONNX Runtime.
    fn start(python: &Path, network: &Path) -> anyhow::Result<(Python, String)> {
        let about = || python.display().to_string();
        let mut process = Command::new(python)
            .args(["-c", include_str!("onnxruntime.py")])
            .arg(network)
            .args([PLANES, GLOBALS].map(|count| count.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(about)?;
        let (ask, answers) = (process.stdin.take(), process.stdout.take());
        let mut python = Python {
            process,
            ask: ask.context("no pipe")?,
            answers: BufReader::new(answers.context("no pipe")?),
        };
        let version = python.answer().with_context(about)?;
        Ok((python, version))
    }

    fn answer(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("it has no onnxruntime and numpy that can compute the network");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Runtime for Python {
    fn speed(&mut self, rows: usize, time: Duration) -> anyhow::Result<f64> {
        writeln!(self.ask, "{rows} {}", time.as_secs_f64())?;
        let answer = self.answer()?;
        answer
            .parse()
            .with_context(|| format!("ONNX Runtime answers '{answer}'"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
