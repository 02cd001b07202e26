//! Speed of one thread on random rows, per second of its CPU time: `cargo run --release -p model --example speed -- [eval|train|expand] [C]x[B]...`
//!
//! `whole` is an evaluator's rate, expansion and legal moves included; `forward` that of the bare folded network.
#[path = "../../tests/model_rows/mod.rs"]
mod model_rows;

use model::config::NetConfig;
use model::evaluator::NetEvaluator;
use model::expand::{InputBuffer, PLANES};
use model::infer::Infer;
use model::learner::Learner;
use model::params::Weights;
use model::slot::WeightSlot;
use model_rows::{OPTIM, eval_batch, placement, rows, train_batch};
use selfplay::eval::Evaluator;
use tch::{Device, Kind};

/// Seconds that the calling thread has computed: unlike the clock's, they do not pass while others have the core.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux's accounting");
    let ns = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    ns.expect("nanoseconds first") / 1e9
}

/// Rows a CPU second of each of `runs`, interleaved: (median, best) of nine rounds of `seconds` each.
fn rates<const N: usize>(
    rows: usize,
    seconds: f64,
    mut runs: [&mut dyn FnMut(); N],
) -> [(f64, f64); N] {
    runs.iter_mut().for_each(|run| run());
    let mut rates = [const { Vec::new() }; N];
    for _ in 0..9 {
        for (run, rates) in runs.iter_mut().zip(&mut rates) {
            let (start, mut done) = (cpu_seconds(), 0);
            while cpu_seconds() - start < seconds {
                run();
                done += rows;
            }
            rates.push(done as f64 / (cpu_seconds() - start));
        }
    }
    rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        (rates[4], rates[8])
    })
}

fn net(size: &str) -> Option<NetConfig> {
    let (channels, blocks) = size.split_once('x')?;
    let (channels, blocks) = (channels.parse().ok()?, blocks.parse().ok()?);
    let heads = (channels, 8, 64);
    let (policy_channels, value_channels, value_hidden) = heads;
    Some(NetConfig {
        channels,
        blocks,
        pool_every: 2,
        policy_channels,
        value_channels,
        value_hidden,
    })
}

fn eval(net: &NetConfig, kind: Kind, batch_rows: usize) {
    let weights = Weights::random(net, 1);
    let mut batch = eval_batch(batch_rows, 1);
    let infer = Infer::new(&weights, Device::Cpu, kind).expect("a network");
    let input = InputBuffer::new(kind, Device::Cpu)
        .fill(&batch.records)
        .expect("an input");
    let slot = WeightSlot::new(weights);
    let mut evaluator = NetEvaluator::new(slot, placement(kind)).expect("an evaluator");
    let mut run_forward = || drop(infer.forward(&input));
    let mut run_whole = || evaluator.evaluate(&mut batch).expect("an evaluation");
    let [forward, whole] = rates(batch_rows, 0.2, [&mut run_forward, &mut run_whole]);
    let size = format!(
        "{}x{} {kind:?} batch {batch_rows}",
        net.channels, net.blocks
    );
    println!(
        "eval {size}: forward {:.0} ({:.0}), whole {:.0} ({:.0}) rows/s; whole/forward {:.3}",
        forward.0,
        forward.1,
        whole.0,
        whole.1,
        whole.0 / forward.0
    );
}

fn train(net: &NetConfig, kind: Kind, batch_rows: usize) {
    let mut learner = Learner::new(net, &OPTIM, &placement(kind), 1).expect("a learner");
    let batch = train_batch(&rows(batch_rows, 1));
    let mut step = || {
        learner.step(&batch).expect("a step");
    };
    let [(median, best)] = rates(batch_rows, 0.5, [&mut step]);
    let size = format!(
        "{}x{} {kind:?} batch {batch_rows}",
        net.channels, net.blocks
    );
    println!("train {size}: {median:.0} ({best:.0}) rows/s");
}

fn expand(batch_rows: usize) {
    let records = eval_batch(batch_rows, 1).records;
    for kind in [Kind::Float, Kind::BFloat16] {
        let mut buffer = InputBuffer::new(kind, Device::Cpu);
        let mut fill = || drop(buffer.fill(&records));
        let [(median, best)] = rates(batch_rows, 0.1, [&mut fill]);
        println!(
            "expand {PLANES} planes {kind:?} batch {batch_rows}: {median:.0} ({best:.0}) rows/s"
        );
    }
}

fn main() {
    placement(Kind::Float);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| args.iter().any(|a| a == name);
    let mut nets: Vec<NetConfig> = args.iter().filter_map(|a| net(a)).collect();
    if nets.is_empty() {
        nets = ["32x4", "48x5", "64x6"]
            .iter()
            .filter_map(|s| net(s))
            .collect();
    }
    let kinds = [Kind::Float, Kind::BFloat16];
    if has("expand") {
        expand(256);
    }
    for net in &nets {
        for kind in kinds {
            for batch_rows in [64, 128, 256].into_iter().filter(|_| has("eval")) {
                eval(net, kind, batch_rows);
            }
            if has("train") {
                train(net, kind, 256);
            }
        }
    }
}
