//! Speed of one thread on random rows: `cargo run --release -p model --example speed -- [eval|train|expand] [C]x[B]...`
//!
//! `whole` is an evaluator's rate, expansion and legal moves included; `forward` that of the bare folded network.
#[path = "../../tests/model_rows/mod.rs"]
mod model_rows;

use std::time::Instant;

use model::config::NetConfig;
use model::evaluator::NetEvaluator;
use model::expand::{PLANES, Planes};
use model::infer::Infer;
use model::learner::Learner;
use model::params::Weights;
use model::slot::WeightSlot;
use model_rows::{OPTIM, eval_batch, placement, rows, train_batch};
use selfplay::eval::Evaluator;
use tch::{Device, Kind};

/// Rows/s: the median and the best of seven runs of about `seconds` each.
fn rate(rows: usize, seconds: f64, mut run: impl FnMut()) -> (f64, f64) {
    run();
    let mut rates: Vec<f64> = (0..7)
        .map(|_| {
            let (start, mut done) = (Instant::now(), 0);
            while start.elapsed().as_secs_f64() < seconds {
                run();
                done += rows;
            }
            done as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    (rates[3], rates[6])
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
    let planes = Planes::new(kind, Device::Cpu)
        .fill(&batch.records)
        .expect("planes");
    let forward = rate(batch_rows, 0.3, || drop(infer.forward(&planes)));
    let mut evaluator =
        NetEvaluator::new(WeightSlot::new(weights), placement(kind)).expect("an evaluator");
    let whole = rate(batch_rows, 0.3, || {
        evaluator.evaluate(&mut batch).expect("an evaluation")
    });
    println!(
        "eval {}x{} {kind:?} batch {batch_rows}: forward median {:.0} best {:.0}, whole median {:.0} best {:.0} rows/s, whole/forward {:.3}",
        net.channels,
        net.blocks,
        forward.0,
        forward.1,
        whole.0,
        whole.1,
        whole.1 / forward.1
    );
}

fn train(net: &NetConfig, kind: Kind, batch_rows: usize) {
    let mut learner = Learner::new(net, &OPTIM, &placement(kind), 1).expect("a learner");
    let batch = train_batch(&rows(batch_rows, 1));
    let (median, best) = rate(batch_rows, 0.5, || {
        learner.step(&batch).expect("a step");
    });
    println!(
        "train {}x{} {kind:?} batch {batch_rows}: median {median:.0} best {best:.0} rows/s",
        net.channels, net.blocks
    );
}

fn expand(batch_rows: usize) {
    let records = eval_batch(batch_rows, 1).records;
    for kind in [Kind::Float, Kind::BFloat16] {
        let mut planes = Planes::new(kind, Device::Cpu);
        let (median, best) = rate(batch_rows, 0.2, || drop(planes.fill(&records)));
        println!(
            "expand {PLANES} planes {kind:?} batch {batch_rows}: median {median:.0} best {best:.0} rows/s"
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
