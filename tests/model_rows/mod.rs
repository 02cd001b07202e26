//! Random rows for the model's tests: well-formed, not from any game, decided by their seed.
#![allow(dead_code)]
use model::batch::TrainBatch;
use model::config::{NetConfig, OptimConfig, OptimKind};
use model::device::Placement;
use model::params::{Layout, Role, Weights};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::Batch;
use selfplay::policy::{INDICES, SQUARES, squares};
use selfplay::record::{DOWN, HOMES, IDENTITY_SHIFT, RECORD_BYTES, Record, Rows, Truth, at};
use tch::{Device, Kind};

pub const NET: NetConfig = NetConfig {
    channels: 8,
    blocks: 2,
    pool_every: 2,
    policy_channels: 8,
    value_channels: 4,
    value_hidden: 16,
};

pub const OPTIM: OptimConfig = OptimConfig {
    kind: OptimKind::Adamw,
    batch_rows: 16,
    learning_rate: 3e-3,
    warmup_rows: 64,
    decay_rows: 0,
    final_rate_share: 0.1,
    weight_decay: 1e-4,
    beta1: 0.9,
    beta2: 0.99,
    clip_norm: 5.0,
    ema_decay: 0.9,
    policy_weight: 1.0,
    value_weight: 1.0,
    moves_left_weight: 0.5,
    belief_weight: 0.4,
    search_value_share: 0.25,
};

pub fn placement(kind: Kind) -> Placement {
    model::device::single_threaded();
    Placement {
        device: Device::Cpu,
        inference: kind,
        training: kind,
    }
}

pub fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// Weights as after some training: nothing is 0 or 1 any more.
pub fn weights(config: &NetConfig, seed: u64) -> Weights {
    let (mut weights, mut rng) = (Weights::random(config, seed), rng(seed));
    let layout = Layout::of(config);
    for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
        let flat = if spec.role == Role::Buffer {
            &mut weights.buffers
        } else {
            &mut weights.params
        };
        for x in &mut flat[offset..offset + spec.len()] {
            *x = if spec.name.ends_with("norm.weight") || spec.name.ends_with("running_var") {
                rng.random_range(0.5..1.5)
            } else {
                *x + rng.random_range(-0.2..0.2)
            };
        }
    }
    weights
}

/// Of a form that hides nothing, or, as likely, of one with face-down pieces.
pub fn record(rng: &mut Pcg64Mcg) -> Record {
    let mut record = [0; RECORD_BYTES];
    let hides = rng.random_bool(0.5);
    for square in 0..SQUARES {
        let kind = rng.random_range(1..=7);
        if rng.random_bool(0.3) {
            record[square] = kind + 8 * rng.random_range(0..2);
        }
        if hides && record[square] != 0 && kind > 1 && rng.random_bool(0.5) {
            hide(rng, &mut record, square);
        }
    }
    if hides {
        for byte in &mut record[at::OWN_POOL..at::NO_CAPTURE] {
            *byte = rng.random_range(0..=2);
        }
    }
    record[at::FLAGS] = rng.random_range(0..8);
    record[at::TAKES_PART] = rng.random_range(0..128) & !1;
    record[at::ROAMS] = rng.random_range(0..4) << 1;
    record[at::SECRECY] = rng.random_range(0..12);
    record[at::REPETITION_RULE] = rng.random_range(0..3);
    record[at::PLACING] = if hides { rng.random_range(0..90) } else { 255 };
    record[at::NO_CAPTURE] = rng.random();
    record[at::NO_CAPTURE_LIMIT] = 120;
    record[at::REPETITIONS] = rng.random_range(0..3);
    record[at::LAST_FROM] = rng.random_range(0..90);
    record[at::LAST_TO] = rng.random_range(0..90);
    record[at::IN_CHECK] = rng.random_range(0..2);
    record
}

/// Lays the piece face down: unknown on a home square, else known to both or to the viewer alone.
fn hide(rng: &mut Pcg64Mcg, record: &mut Record, square: usize) {
    record[square] |= DOWN;
    if !HOMES.contains(&(square as u8)) {
        record[square] |= rng.random_range(2..=7) << IDENTITY_SHIFT;
        record[at::SECRETS + square / 8] |= u8::from(rng.random_bool(0.5)) << (square % 8);
    }
}

/// Any kinds for the unknown pieces of a record.
pub fn truth(rng: &mut Pcg64Mcg, record: &Record) -> Truth {
    HOMES.map(|home| match record[home as usize] & 0xf0 {
        DOWN => rng.random_range(2..=7),
        _ => 0,
    })
}

/// Squares of the unknown pieces of a record.
pub fn unknown(record: &Record) -> Vec<u8> {
    let is_unknown = |&square: &u8| record[square as usize] & 0xf0 == DOWN;
    HOMES.into_iter().filter(is_unknown).collect()
}

/// 1..=60 different moves on the board.
pub fn legal(rng: &mut Pcg64Mcg) -> Vec<u16> {
    let mut moves: Vec<u16> = (0..INDICES as u16)
        .filter(|&i| squares(i).is_some())
        .collect();
    let count = rng.random_range(1..=60);
    moves.partial_shuffle(rng, count).0.to_vec()
}

pub fn eval_batch(rows: usize, seed: u64) -> Batch {
    let (mut rng, mut batch) = (rng(seed), Batch::default());
    for _ in 0..rows {
        batch.records.push(record(&mut rng));
        batch.legal.extend(legal(&mut rng));
        batch.legal_end.push(batch.legal.len() as u32);
    }
    batch
}

/// Asks for every unknown piece of a batch.
pub fn ask(batch: &mut Batch) {
    for record in &batch.records {
        batch.unknown.extend(unknown(record));
        batch.unknown_end.push(batch.unknown.len() as u32);
    }
}

pub fn rows(count: usize, seed: u64) -> Rows {
    let (mut rng, mut rows) = (rng(seed), Rows::default());
    for i in 0..count {
        let moves = legal(&mut rng);
        let share = 65535 / moves.len() as u16;
        rows.policy_prob
            .extend(moves.iter().map(|_| rng.random_range(0..=share)));
        rows.policy_index.extend(&moves);
        rows.policy_end.push(rows.policy_index.len() as u64);
        let record = record(&mut rng);
        rows.truth.push(truth(&mut rng, &record));
        rows.records.push(record);
        rows.policy_weight.push(u8::from(rng.random_bool(0.7)));
        let (a, b) = (rng.random::<f32>() / 2.0, rng.random::<f32>() / 2.0);
        rows.search_wdl.push([a, b, 1.0 - a - b]);
        rows.outcome.push(rng.random_range(0..3));
        rows.plies_left.push(rng.random_range(0..200));
        rows.game.push(i as u64);
        rows.ply.push(0);
        rows.net_step.push(0);
    }
    rows
}

pub fn train_batch(rows: &Rows) -> TrainBatch {
    let mut batch = TrainBatch::default();
    for i in 0..rows.len() {
        batch
            .push_from(rows, i, 100 + i as u64, i % 2 == 1)
            .expect("a well-formed row");
    }
    batch
}
