//! Laws of training: what the loss and the optimiser compute, and what a bad batch may not do.
mod model_rows;

use model::batch::{RowError, TrainBatch, TrainRow};
use model::config::{OptimConfig, OptimKind};
use model::learner::{LearnError, Learner, Which};
use model::net::PLIES_UNIT;
use model::optim::{self, Optim, average_decay, rate};
use model::params::to_vec;
use model_rows::{NET, OPTIM, placement, rng, rows, train_batch, truth};
use rand::RngExt;
use selfplay::policy;
use selfplay::record::{self, DOWN, HOMES, Rows, at};
use tch::{Kind, Tensor};

fn learner(config: &OptimConfig, kind: Kind) -> Learner {
    Learner::new(&NET, config, &placement(kind), 1).unwrap()
}

#[test]
fn the_loss_falls_on_a_batch_seen_again_and_again() {
    for kind in [Kind::Float, Kind::BFloat16] {
        for (optimiser, learning_rate) in [(OptimKind::Adamw, 1e-2), (OptimKind::Sgd, 5e-2)] {
            let mut learner = learner(
                &OptimConfig {
                    kind: optimiser,
                    learning_rate,
                    ..OPTIM
                },
                kind,
            );
            let batch = train_batch(&rows(16, 2));
            let first = learner.step(&batch).unwrap().losses;
            let last = (0..60)
                .map(|_| learner.step(&batch).unwrap())
                .last()
                .unwrap();
            assert!(
                last.losses.value < 0.9 * first.value,
                "{kind:?} {optimiser:?}: {first:?} {last:?}"
            );
            assert!(
                last.losses.policy - last.losses.policy_entropy
                    < 0.7 * (first.policy - first.policy_entropy)
            );
            assert!(last.losses.belief < 0.9 * first.belief);
            assert_eq!((last.step, last.rows), (61, 61 * 16));
            let play = learner.validate(&batch, Which::Average).unwrap();
            assert!(
                play.total < first.total,
                "{kind:?} {optimiser:?}: {first:?} {play:?}"
            );
        }
    }
}

#[test]
fn the_loss_is_the_hand_computed_one() {
    let mut learner = learner(&OPTIM, Kind::Float);
    let mut rows = rows(1, 3);
    rows.policy_index = vec![
        policy::index(0, 9).unwrap(),
        policy::index(20, 21).unwrap(),
        policy::index(88, 7).unwrap(),
    ];
    (rows.policy_prob, rows.policy_end) = (vec![32768, 32767, 0], vec![3]);
    (rows.policy_weight, rows.search_wdl) = (vec![1], vec![[0.5, 0.25, 0.25]]);
    (rows.outcome, rows.plies_left) = (vec![2], vec![250]);
    rows.truth = vec![[0; 32]];
    // An unknown A on own a0, R on own b2, P on the opponent's i6.
    (rows.truth[0][0], rows.truth[0][9], rows.truth[0][31]) = (2, 5, 7);
    let [logits, wdl, plies, kinds] = learner.raw(&rows.records).unwrap();
    let log_softmax = |x: Vec<f64>| {
        let sum: f64 = x.iter().map(|x| x.exp()).sum();
        x.into_iter().map(|x| x - sum.ln()).collect::<Vec<_>>()
    };
    let place = |&i: &u16| logits[i as usize % 90 * 107 + i as usize / 90] as f64;
    let p = log_softmax(rows.policy_index.iter().map(place).collect());
    let v = log_softmax(wdl.iter().map(|&x| x as f64).collect());
    let probs = [32768.0 / 65535.0, 32767.0 / 65535.0];
    let policy = -(probs[0] * p[0] + probs[1] * p[1]);
    let target = [0.25 * 0.5, 0.25 * 0.25, 0.25 * 0.25 + 0.75];
    let value: f64 = -target.iter().zip(&v).map(|(t, v)| t * v).sum::<f64>();
    let error = 250.0 / PLIES_UNIT - plies[0] as f64;
    let moves_left = if error.abs() < 1.0 {
        error * error / 2.0
    } else {
        error.abs() - 0.5
    };
    let believed = |square: usize, kind: usize| {
        let logits = kinds[6 * square..6 * square + 6].iter();
        -log_softmax(logits.map(|&x| x as f64).collect())[kind]
    };
    let belief = (believed(0, 0) + believed(19, 3) + believed(62, 5)) / 3.0;

    let got = learner
        .validate(&train_batch(&rows), Which::Training)
        .unwrap();
    let total =
        policy + value + OPTIM.moves_left_weight * moves_left + OPTIM.belief_weight * belief;
    let entropy = -(probs[0] * probs[0].ln() + probs[1] * probs[1].ln());
    let right = f64::from(wdl[2] > wdl[0] && wdl[2] > wdl[1]);
    let expected = [total, policy, value, moves_left, belief, entropy, right];
    let got = [
        got.total,
        got.policy,
        got.value,
        got.moves_left,
        got.belief,
        got.policy_entropy,
        got.value_accuracy,
    ];
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() < 1e-5, "{got:?} {expected:?}");
    }
}

#[test]
fn rows_without_policy_target_leave_the_policy_loss_alone() {
    let mut learner = learner(&OPTIM, Kind::Float);
    let mut all = rows(6, 4);
    all.policy_weight = vec![1, 1, 1, 0, 0, 0];
    let mut three = TrainBatch::default();
    (0..3).for_each(|i| three.push_from(&all, i, 0, i % 2 == 1).unwrap());
    let (a, b) = (
        learner
            .validate(&train_batch(&all), Which::Training)
            .unwrap(),
        learner.validate(&three, Which::Training).unwrap(),
    );
    assert!(
        (a.policy - b.policy).abs() < 1e-5 && (a.policy_entropy - b.policy_entropy).abs() < 1e-5
    );
    assert!(a.value != b.value);
}

#[test]
fn a_row_mirrored_twice_over_is_the_row() {
    let mut learner = learner(&OPTIM, Kind::Float);
    let all = rows(4, 5);
    let mut mirrored = all.clone();
    mirrored
        .records
        .iter_mut()
        .for_each(selfplay::record::mirror);
    mirrored
        .policy_index
        .iter_mut()
        .for_each(|i| *i = policy::mirror(*i));
    mirrored
        .truth
        .iter_mut()
        .for_each(|t| *t = record::mirror_truth(t));
    assert_ne!(all.truth, mirrored.truth);
    let (mut a, mut b) = (TrainBatch::default(), TrainBatch::default());
    for i in 0..4 {
        a.push_from(&all, i, 0, true).unwrap();
        b.push_from(&mirrored, i, 0, false).unwrap();
    }
    assert_eq!(
        learner.validate(&a, Which::Training).unwrap(),
        learner.validate(&b, Which::Training).unwrap()
    );
}

#[test]
fn a_truth_is_mirrored_square_by_square() {
    let mirrored: Vec<_> = (0..HOMES.len())
        .map(|i| {
            let mut truth = [0; HOMES.len()];
            truth[i] = 3;
            let mirrored = record::mirror_truth(&truth);
            assert_eq!(record::mirror_truth(&mirrored), truth);
            HOMES[mirrored.iter().position(|&kind| kind == 3).unwrap()] as usize
        })
        .collect();
    let expected = HOMES.map(|home| policy::mirror_square(home as usize));
    assert_eq!(mirrored, expected);
}

#[test]
fn rows_that_hide_nothing_leave_the_belief_head_alone() {
    for optimiser in [OptimKind::Adamw, OptimKind::Sgd] {
        let config = OptimConfig {
            kind: optimiser,
            weight_decay: 0.0,
            ..OPTIM
        };
        let (mut learner, mut open) = (learner(&config, Kind::Float), rows(8, 7));
        open.truth.fill([0; 32]);
        let head = |learner: &Learner| {
            let (layout, weights) = (model::params::Layout::of(&NET), learner.publish().unwrap());
            let specs = layout.specs.iter().zip(&layout.offsets);
            let head: Vec<_> = specs
                .filter(|(spec, _)| spec.name.starts_with("belief."))
                .flat_map(|(spec, &at)| weights.params[at..at + spec.len()].to_vec())
                .collect();
            assert_eq!(head.len(), 6 * NET.channels as usize + 6);
            head
        };
        let before = head(&learner);
        let report = learner.step(&train_batch(&open)).unwrap();
        assert_eq!(
            (report.losses.belief, head(&learner)),
            (0.0, before.clone())
        );
        open.truth[3][20] = 4;
        let report = learner.step(&train_batch(&open)).unwrap();
        assert!(report.losses.belief > 1.0 && head(&learner) != before);
    }
}

/// Rows whose face-down pieces are each the kind after the one that they play as.
fn guessable(count: usize, seed: u64) -> Rows {
    let (mut rows, mut rng) = (rows(count, seed), rng(seed));
    for (record, truth) in rows.records.iter_mut().zip(&mut rows.truth) {
        for (home, kind) in HOMES.into_iter().zip(truth) {
            let plays_as = rng.random_range(2..=7);
            record[at::SQUARES + home as usize] = plays_as | DOWN | (8 * u8::from(home >= 45));
            *kind = if plays_as == 7 { 2 } else { plays_as + 1 };
        }
    }
    rows
}

#[test]
fn beliefs_are_learned_where_they_can_be_and_only_there() {
    let check = |rows: fn(usize, u64) -> Rows, low: f64, high: f64| {
        let config = OptimConfig {
            learning_rate: 1e-2,
            belief_weight: 1.0,
            ..OPTIM
        };
        let mut learner = learner(&config, Kind::Float);
        for seed in 0..100 {
            learner.step(&train_batch(&rows(16, seed))).unwrap();
        }
        let fresh = train_batch(&rows(64, 1000));
        let belief = learner.validate(&fresh, Which::Training).unwrap().belief;
        assert!((low..high).contains(&belief), "{belief}");
    };
    check(guessable, 0.0, 0.2);
    // Any kind is as likely: ln 6 is the best that can be believed.
    let drawn = |count, seed| {
        let (mut rows, mut rng) = (guessable(count, seed), rng(seed + 1));
        for (record, kinds) in rows.records.iter().zip(&mut rows.truth) {
            *kinds = truth(&mut rng, record);
        }
        rows
    };
    check(drawn, 1.75, 1.9);
}

/// Scalar AdamW (Loshchilov and Hutter 2019, algorithm 2) and Nesterov momentum, beside the flat ones.
#[test]
fn the_update_rules_are_the_published_formulas_and_decay_skips_norms_and_biases() {
    let (start, grads) = (
        [0.5f64, -1.0, 2.0],
        [[0.3f64, -0.2, 0.9], [-0.1, 0.4, 0.2], [0.0, 3.0, 4.0]],
    );
    for kind in [OptimKind::Adamw, OptimKind::Sgd] {
        let config = OptimConfig {
            kind,
            weight_decay: 0.1,
            beta1: 0.8,
            beta2: 0.95,
            clip_norm: 2.0,
            ..OPTIM
        };
        let mut params = Tensor::from_slice(&start.map(|x| x as f32));
        let mut optim = Optim::new(&config, &params, 2).unwrap();
        let (mut x, mut m, mut v) = (start, [0.0; 3], [0.0; 3]);
        for (t, grad) in (1..).zip(&grads) {
            let flat = Tensor::from_slice(&grad.map(|g| g as f32));
            let norm = grad.iter().map(|g| g * g).sum::<f64>().sqrt();
            assert!((optim::norm(&flat).unwrap().double_value(&[]) - norm).abs() < 1e-6);
            optim.apply(&mut params, &flat, norm, t, 0.01).unwrap();
            for i in 0..3 {
                let g = grad[i] * f64::min(1.0, 2.0 / norm);
                let decay = if i < 2 { 0.01 * 0.1 * x[i] } else { 0.0 };
                m[i] = 0.8 * m[i] + if kind == OptimKind::Adamw { 0.2 * g } else { g };
                v[i] = 0.95 * v[i] + 0.05 * g * g;
                let hat = (
                    m[i] / (1.0 - 0.8f64.powi(t as i32)),
                    v[i] / (1.0 - 0.95f64.powi(t as i32)),
                );
                let step = match kind {
                    OptimKind::Adamw => hat.0 / (hat.1.sqrt() + optim::EPSILON),
                    OptimKind::Sgd => g + 0.8 * m[i],
                };
                x[i] -= decay + 0.01 * step;
            }
            for (a, b) in to_vec(&params).unwrap().iter().zip(x) {
                assert!(
                    (*a as f64 - b).abs() < 1e-5,
                    "{kind:?} step {t}: {params:?} {x:?}"
                );
            }
        }
    }
}

#[test]
fn only_weights_lie_before_the_end_of_the_decayed_ones() {
    let layout = model::params::Layout::of(&NET);
    for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
        let norm_or_bias = spec.name.contains(".norm.") || spec.name.ends_with(".bias");
        let running = spec.name.contains(".running_");
        assert_eq!(
            !norm_or_bias,
            !running && offset + spec.len() <= layout.decayed,
            "{}",
            spec.name
        );
        assert!(
            offset + spec.len()
                <= if running {
                    layout.buffers
                } else {
                    layout.params
                }
        );
    }
    assert_eq!(
        layout.specs.iter().map(|s| s.len()).sum::<usize>(),
        layout.params + layout.buffers
    );
}

#[test]
fn the_rate_rises_and_falls_in_rows() {
    let config = OptimConfig {
        learning_rate: 2.0,
        warmup_rows: 100,
        decay_rows: 300,
        final_rate_share: 0.1,
        ..OPTIM
    };
    let check =
        |rows, expected: f64| assert!((rate(&config, rows) - expected).abs() < 1e-12, "{rows}");
    check(25, 0.5);
    check(100, 2.0);
    check(200, 2.0 * 0.55);
    check(300, 0.2);
    check(100_000, 0.2);
    assert_eq!(
        rate(
            &OptimConfig {
                decay_rows: 0,
                ..config
            },
            100_000
        ),
        2.0
    );
    assert_eq!(
        [average_decay(0.9, 0), average_decay(0.9, 1000)],
        [0.1, 0.9]
    );
}

#[test]
fn a_bad_row_is_named_and_changes_nothing() {
    for kind in [Kind::Float, Kind::BFloat16] {
        let mut learner = learner(&OPTIM, kind);
        let good = rows(8, 6);
        learner.step(&train_batch(&good)).unwrap();
        let before = (
            learner.publish().unwrap(),
            learner.raw(&good.records).unwrap(),
        );
        let mut bad = good.clone();
        (bad.search_wdl[3], bad.search_wdl[5]) = ([f32::NAN; 3], [f32::INFINITY, 0.0, 0.0]);
        match learner.step(&train_batch(&bad)) {
            Err(LearnError::NonFinite {
                step: 2,
                suspects: 2,
                ids,
                rows: 8,
                ..
            }) => assert_eq!(ids, [103, 105]),
            other => panic!("{other:?}"),
        }
        assert_eq!(
            (
                learner.publish().unwrap(),
                learner.raw(&good.records).unwrap()
            ),
            before
        );
        assert_eq!((learner.steps(), learner.rows()), (1, 8));
        assert_eq!(learner.step(&train_batch(&good)).unwrap().step, 2);
    }
}

#[test]
fn a_malformed_row_is_refused() {
    let record = [0; 128];
    let row = TrainRow {
        record: &record,
        policy_index: &[0, 1],
        policy_prob: &[1, 1],
        policy_weight: 1.0,
        search_wdl: [1.0, 0.0, 0.0],
        outcome: 0,
        plies_left: 1,
        truth: &[0; 32],
    };
    let check = |row: TrainRow, error| {
        let mut batch = TrainBatch::default();
        assert_eq!(batch.push(&row, 0, true), Err(error));
        assert!(batch.is_empty());
    };
    check(
        TrainRow {
            policy_prob: &[1],
            ..row
        },
        RowError::PolicyLength {
            indices: 2,
            probs: 1,
        },
    );
    check(
        TrainRow {
            policy_index: &[],
            policy_prob: &[],
            ..row
        },
        RowError::PolicyLength {
            indices: 0,
            probs: 0,
        },
    );
    check(
        TrainRow {
            policy_index: &[0, 9630],
            ..row
        },
        RowError::PolicyIndex(9630),
    );
    check(
        TrainRow {
            policy_index: &[8, 0],
            ..row
        },
        RowError::PolicyIndex(8),
    );
    check(TrainRow { outcome: 3, ..row }, RowError::Outcome(3));
    for kind in [1, 8] {
        let truth = &[kind; 32];
        check(TrainRow { truth, ..row }, RowError::Truth(kind));
    }
    assert!(matches!(
        learner(&OPTIM, Kind::Float).step(&TrainBatch::default()),
        Err(LearnError::Empty { step: 1 })
    ));
}
