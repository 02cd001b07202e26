//! What the network's forms owe each other and the policy index space.
mod model_rows;

use model::config::NetConfig;
use model::evaluator::NetEvaluator;
use model::expand::{PLANES, Planes};
use model::infer::Infer;
use model::net::{Net, Output};
use model::params::{Role, Weights, to_vec};
use model::slot::WeightSlot;
use model_rows::{NET, eval_batch, placement, rng};
use rand::RngExt;
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::policy;
use selfplay::record::{self, RECORD_BYTES, Record, at};
use tch::{Device, Kind, Tensor};

/// Weights as after some training: nothing is 0 or 1 any more.
fn weights(config: &NetConfig, seed: u64) -> Weights {
    let (mut weights, mut rng) = (Weights::random(config, seed), rng(seed));
    let layout = model::params::Layout::of(config);
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

fn evaluator(seed: u64, kind: Kind) -> NetEvaluator {
    NetEvaluator::new(WeightSlot::new(weights(&NET, seed)), placement(kind)).unwrap()
}

fn planes(records: &[Record]) -> Tensor {
    Planes::new(Kind::Float, Device::Cpu).fill(records).unwrap()
}

fn difference(a: &Tensor, b: &Tensor) -> f32 {
    to_vec(&a.flatten(0, -1))
        .unwrap()
        .iter()
        .zip(to_vec(&b.flatten(0, -1)).unwrap())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

fn row(batch: &Batch, i: usize) -> (Vec<f32>, [f32; 4]) {
    let wdl = batch.wdl[i];
    (
        batch.log_priors[batch.legal_range(i)].to_vec(),
        [wdl.win, wdl.draw, wdl.loss, batch.moves_left[i]],
    )
}

fn assert_close(a: &(Vec<f32>, [f32; 4]), b: &(Vec<f32>, [f32; 4]), tolerance: f32) {
    assert_eq!(a.0.len(), b.0.len());
    for (x, y) in a.0.iter().chain(&a.1).zip(b.0.iter().chain(&b.1)) {
        assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "{x} and {y}");
    }
}

#[test]
fn planes_are_as_the_table_says() {
    let mut record = [0; RECORD_BYTES];
    (record[4], record[85], record[60]) = (1, 9, 14);
    (record[at::NO_CAPTURE], record[at::NO_CAPTURE_LIMIT]) = (30, 120);
    (record[at::REPETITIONS], record[at::IN_CHECK]) = (1, 1);
    (record[at::LAST_FROM], record[at::LAST_TO]) = (7, 255);
    let x = planes(&[record]);
    assert_eq!(x.size(), [1, PLANES as i64, 10, 9]);
    let sums: Vec<f32> = to_vec(
        &x.sum_dim_intlist([2i64, 3].as_slice(), false, Kind::Float)
            .flatten(0, -1),
    )
    .unwrap();
    let mut expected = [0.0; PLANES];
    for (plane, sum) in [
        (0, 1.0),
        (7, 1.0),
        (12, 1.0),
        (14, 1.0),
        (16, 22.5),
        (17, 90.0),
        (19, 90.0),
        (20, 90.0),
    ] {
        expected[plane] = sum;
    }
    assert_eq!(sums, expected);
    let value = |plane, square: i64| x.double_value(&[0, plane, square / 9, square % 9]);
    assert_eq!(
        [
            value(0, 4),
            value(7, 85),
            value(12, 60),
            value(14, 7),
            value(16, 50)
        ],
        [1.0, 1.0, 1.0, 1.0, 0.25]
    );
}

#[test]
fn a_mirrored_record_has_mirrored_planes() {
    let batch = eval_batch(8, 1);
    let mut mirrored = batch.records.clone();
    mirrored.iter_mut().for_each(record::mirror);
    assert_eq!(
        difference(&planes(&batch.records).flip([3]), &planes(&mirrored)),
        0.0
    );
}

#[test]
fn the_folded_form_is_the_trained_one_in_eval_mode() {
    for pool_every in [0, 1, 2] {
        let weights = weights(&NetConfig { pool_every, ..NET }, 7);
        let x = planes(&eval_batch(6, 2).records);
        let _guard = tch::no_grad_guard();
        let a: Output = Net::new(&weights, Device::Cpu)
            .unwrap()
            .forward(&x, false)
            .unwrap();
        let b: Output = Infer::new(&weights, Device::Cpu, Kind::Float)
            .unwrap()
            .forward(&x)
            .unwrap();
        assert!(
            difference(&a.policy, &b.policy) < 1e-4,
            "{}",
            difference(&a.policy, &b.policy)
        );
        assert!(difference(&a.wdl, &b.wdl) < 1e-4);
        assert!(difference(&a.moves_left, &b.moves_left) < 1e-4);
    }
}

#[test]
fn priors_are_the_softmax_of_the_legal_logits() {
    let (weights, mut batch) = (weights(&NET, 3), eval_batch(5, 3));
    evaluator(3, Kind::Float).evaluate(&mut batch).unwrap();
    let _guard = tch::no_grad_guard();
    let out = Infer::new(&weights, Device::Cpu, Kind::Float)
        .unwrap()
        .forward(&planes(&batch.records))
        .unwrap();
    for i in 0..batch.len() {
        let logit = |&m: &u16| {
            let (plane, square) = (m as usize / policy::SQUARES, m as usize % policy::SQUARES);
            out.policy
                .double_value(&[i as i64, square as i64, plane as i64])
        };
        let logits: Vec<f64> = batch.legal[batch.legal_range(i)]
            .iter()
            .map(logit)
            .collect();
        let sum: f64 = logits.iter().map(|x| x.exp()).sum();
        for (x, prior) in logits.iter().zip(&batch.log_priors[batch.legal_range(i)]) {
            assert!((x - sum.ln() - *prior as f64).abs() < 1e-4);
        }
        let wdl = batch.wdl[i];
        assert!((wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-5 && batch.moves_left[i] >= 0.0);
    }
}

#[test]
fn a_policy_plane_is_the_plane_of_the_index_space() {
    // a bias of the policy's last layer is one plane's, so it must raise exactly that plane's moves
    let mut weights = Weights::random(&NET, 1);
    let layout = model::params::Layout::of(&NET);
    let bias = layout
        .specs
        .iter()
        .position(|s| s.name == "policy.bias")
        .unwrap();
    let forward = policy::index(40, 49).unwrap();
    weights.params[layout.offsets[bias] + forward as usize / policy::SQUARES] = 9.0;
    let (records, legal) = (
        vec![eval_batch(1, 1).records[0]],
        vec![policy::index(40, 41).unwrap(), forward],
    );
    let mut batch = Batch {
        records,
        legal,
        legal_end: vec![2],
        ..Default::default()
    };
    NetEvaluator::new(WeightSlot::new(weights), placement(Kind::Float))
        .unwrap()
        .evaluate(&mut batch)
        .unwrap();
    assert!(
        batch.log_priors[1] > -0.1 && batch.log_priors[0] < -4.0,
        "{:?}",
        batch.log_priors
    );
}

#[test]
fn a_row_is_evaluated_alike_alone_and_in_company_and_in_any_order() {
    for (kind, tolerance) in [(Kind::Float, 1e-4), (Kind::BFloat16, 0.05)] {
        let mut evaluator = evaluator(5, kind);
        let mut batch = eval_batch(9, 4);
        evaluator.evaluate(&mut batch).unwrap();
        let mut reversed = Batch::default();
        for i in (0..batch.len()).rev() {
            let mut alone = Batch::default();
            for b in [&mut alone, &mut reversed] {
                b.records.push(batch.records[i]);
                b.legal.extend(&batch.legal[batch.legal_range(i)]);
                b.legal_end.push(b.legal.len() as u32);
            }
            evaluator.evaluate(&mut alone).unwrap();
            assert_close(&row(&batch, i), &row(&alone, 0), tolerance);
        }
        evaluator.evaluate(&mut reversed).unwrap();
        for i in 0..batch.len() {
            assert_close(
                &row(&batch, i),
                &row(&reversed, batch.len() - 1 - i),
                tolerance,
            );
        }
    }
}

#[test]
fn bf16_says_about_what_f32_says() {
    let (mut a, mut b) = (eval_batch(16, 6), eval_batch(16, 6));
    evaluator(6, Kind::Float).evaluate(&mut a).unwrap();
    evaluator(6, Kind::BFloat16).evaluate(&mut b).unwrap();
    for i in 0..a.len() {
        assert_close(&row(&a, i), &row(&b, i), 0.1);
    }
}

#[test]
fn an_evaluator_takes_newer_weights_between_batches() {
    let slot = WeightSlot::new(weights(&NET, 1));
    let mut follower = NetEvaluator::new(slot.clone(), placement(Kind::Float)).unwrap();
    let (mut a, mut b) = (eval_batch(2, 1), eval_batch(2, 1));
    follower.evaluate(&mut a).unwrap();
    assert_eq!(follower.step(), 0);
    slot.publish(Weights {
        step: 12,
        ..weights(&NET, 2)
    });
    follower.evaluate(&mut a).unwrap();
    evaluator(2, Kind::Float).evaluate(&mut b).unwrap();
    assert_eq!((follower.step(), row(&a, 1)), (12, row(&b, 1)));
}

#[test]
fn a_non_finite_network_is_an_error_and_so_is_an_index_out_of_range() {
    let mut bad = weights(&NET, 1);
    bad.params[0] = f32::NAN;
    let mut evaluator = NetEvaluator::new(WeightSlot::new(bad), placement(Kind::Float)).unwrap();
    let error = evaluator.evaluate(&mut eval_batch(3, 1)).unwrap_err();
    assert!(
        matches!(
            error,
            EvalError::NonFinite {
                step: 0,
                row: 0,
                rows: 3
            }
        ),
        "{error}"
    );
    let mut batch = eval_batch(1, 1);
    batch.legal[0] = 4500;
    assert!(matches!(
        evaluator.evaluate(&mut batch),
        Err(EvalError::Failed(_))
    ));
    assert!(evaluator.evaluate(&mut Batch::default()).is_ok());
}
