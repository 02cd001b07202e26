//! What the network's forms owe each other and the policy index space.
mod model_rows;

use model::config::NetConfig;
use model::evaluator::NetEvaluator;
use model::expand::{Input, InputBuffer};
use model::infer::Infer;
use model::net::{Net, Output};
use model::params::{Weights, to_vec};
use model::slot::WeightSlot;
use model_rows::{NET, ask, eval_batch, placement, unknown, weights};
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::policy;
use selfplay::record::Record;
use tch::{Device, Kind, Tensor};

fn evaluator(seed: u64, kind: Kind) -> NetEvaluator {
    NetEvaluator::new(WeightSlot::new(weights(&NET, seed)), placement(kind)).unwrap()
}

fn input(records: &[Record]) -> Input {
    InputBuffer::new(Kind::Float, Device::Cpu)
        .fill(records)
        .unwrap()
}

/// A batch that asks for every unknown piece.
fn asking_batch(rows: usize, seed: u64) -> Batch {
    let mut batch = eval_batch(rows, seed);
    ask(&mut batch);
    assert!(!batch.unknown.is_empty());
    batch
}

fn difference(a: &Tensor, b: &Tensor) -> f32 {
    to_vec(&a.flatten(0, -1))
        .unwrap()
        .iter()
        .zip(to_vec(&b.flatten(0, -1)).unwrap())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

/// Every output of a row.
fn row(batch: &Batch, i: usize) -> Vec<f32> {
    let wdl = batch.wdl[i];
    let beliefs = batch.beliefs[batch.unknown_range(i)].as_flattened();
    let log_priors = &batch.log_priors[batch.legal_range(i)];
    let heads = [wdl.win, wdl.draw, wdl.loss, batch.moves_left[i]];
    [log_priors, &heads, beliefs].concat()
}

fn assert_close(a: &[f32], b: &[f32], tolerance: f32) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance * (1.0 + x.abs()), "{x} and {y}");
    }
}

#[test]
fn the_folded_form_is_the_trained_one_in_eval_mode() {
    for pool_every in [0, 1, 2] {
        let weights = weights(&NetConfig { pool_every, ..NET }, 7);
        let x = input(&eval_batch(6, 2).records);
        let _guard = tch::no_grad_guard();
        let net = Net::new(&weights, Device::Cpu).unwrap();
        let infer = Infer::new(&weights, Device::Cpu, Kind::Float).unwrap();
        let (a, b): (Output, Output) =
            (net.forward(&x, false).unwrap(), infer.forward(&x).unwrap());
        let policies = [net.policy(&a).unwrap(), infer.policy(&b).unwrap()];
        let apart = difference(&policies[0], &policies[1]);
        assert!(apart < 1e-4, "{apart}");
        assert!(difference(&a.wdl, &b.wdl) < 1e-4);
        assert!(difference(&a.moves_left, &b.moves_left) < 1e-4);
        let squares = Tensor::from_slice(&[0i64, 89, 90 * 5 + 17]);
        let a = net.belief(&a.features, &squares).unwrap();
        let b = infer.belief(&b.features, &squares).unwrap();
        assert!(a.size() == [3, 6] && difference(&a, &b) < 1e-4);
    }
}

#[test]
fn priors_are_the_softmax_of_the_legal_logits() {
    let (weights, mut batch) = (weights(&NET, 3), eval_batch(5, 3));
    evaluator(3, Kind::Float).evaluate(&mut batch).unwrap();
    let _guard = tch::no_grad_guard();
    let infer = Infer::new(&weights, Device::Cpu, Kind::Float).unwrap();
    let policy_logits = infer
        .policy(&infer.forward(&input(&batch.records)).unwrap())
        .unwrap();
    for i in 0..batch.len() {
        let logit = |&m: &u16| {
            let (plane, square) = (m as usize / policy::SQUARES, m as usize % policy::SQUARES);
            policy_logits.double_value(&[i as i64, square as i64, plane as i64])
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
        let mut batch = asking_batch(9, 4);
        evaluator.evaluate(&mut batch).unwrap();
        let mut reversed = Batch::default();
        for i in (0..batch.len()).rev() {
            let mut alone = Batch::default();
            for b in [&mut alone, &mut reversed] {
                b.records.push(batch.records[i]);
                b.legal.extend(&batch.legal[batch.legal_range(i)]);
                b.legal_end.push(b.legal.len() as u32);
                b.unknown.extend(&batch.unknown[batch.unknown_range(i)]);
                b.unknown_end.push(b.unknown.len() as u32);
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
    let (mut a, mut b) = (asking_batch(16, 6), asking_batch(16, 6));
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
    batch.legal[0] = policy::INDICES as u16;
    assert!(matches!(
        evaluator.evaluate(&mut batch),
        Err(EvalError::Failed(_))
    ));
    assert!(evaluator.evaluate(&mut Batch::default()).is_ok());
    let mut batch = asking_batch(9, 1);
    batch.unknown[0] = 90;
    assert!(matches!(
        evaluator.evaluate(&mut batch),
        Err(EvalError::Failed(_))
    ));
}

#[test]
fn beliefs_are_the_softmax_of_the_logits_where_they_are_asked_for() {
    let (weights, mut batch) = (weights(&NET, 3), asking_batch(6, 3));
    evaluator(3, Kind::Float).evaluate(&mut batch).unwrap();
    assert_eq!(batch.beliefs.len(), batch.unknown.len());
    let _guard = tch::no_grad_guard();
    let infer = Infer::new(&weights, Device::Cpu, Kind::Float).unwrap();
    let features = infer.forward(&input(&batch.records)).unwrap().features;
    let mut seen = Vec::new();
    for i in 0..batch.len() {
        let squares = unknown(&batch.records[i]);
        let places: Vec<_> = squares
            .iter()
            .map(|&s| (90 * i) as i64 + s as i64)
            .collect();
        let logits = infer
            .belief(&features, &Tensor::from_slice(&places))
            .unwrap();
        let exact = to_vec(&logits.softmax(1, Kind::Float).flatten(0, -1)).unwrap();
        let got = &batch.beliefs[batch.unknown_range(i)];
        assert_close(got.as_flattened(), &exact, 1e-5);
        seen.extend(got.iter().copied());
    }
    assert!(
        seen.iter()
            .all(|b| (b.iter().sum::<f32>() - 1.0).abs() < 1e-5)
    );
    assert!(seen.iter().any(|b| b != &seen[0]));
    // Who does not ask is not answered, and the memory of an earlier answer is no answer.
    batch.unknown.clear();
    batch.unknown_end.clear();
    evaluator(3, Kind::Float).evaluate(&mut batch).unwrap();
    assert!(batch.beliefs.is_empty() && batch.wdl.len() == 6);
}

#[test]
fn a_belief_that_is_not_finite_is_an_error_of_the_row_that_asks() {
    let mut bad = weights(&NET, 1);
    let layout = model::params::Layout::of(&NET);
    let bias = layout.specs.iter().position(|s| s.name == "belief.bias");
    bad.params[layout.offsets[bias.unwrap()]] = f32::NAN;
    let mut evaluator = NetEvaluator::new(WeightSlot::new(bad), placement(Kind::Float)).unwrap();
    let mut batch = eval_batch(4, 1);
    evaluator.evaluate(&mut batch).unwrap();
    (batch.unknown, batch.unknown_end) = (vec![81, 82], vec![0, 0, 2, 2]);
    let error = evaluator.evaluate(&mut batch).unwrap_err();
    assert!(
        matches!(
            error,
            EvalError::NonFinite {
                row: 2,
                rows: 4,
                ..
            }
        ),
        "{error}"
    );
}
