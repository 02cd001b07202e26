//! A network in other formats is the same network.
#[path = "support/positions.rs"]
mod positions;
#[path = "support/python.rs"]
mod python;

mod model_rows;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use model::checkpoint;
use model::config::NetConfig;
use model::expand::{Input, InputBuffer};
use model::export::onnx::proto::{GraphProto, ModelProto, data_type};
use model::export::{Outputs, WIDTHS, onnx, rounded, safetensors, torchscript};
use model::infer::Infer;
use model::params::{Layout, Role, Weights, to_vec};
use model_rows::{NET, weights};
use positions::{Asked, positions};
use prost::Message;
use python::python;
use selfplay::bundle::Precision;
use selfplay::policy::{INDICES, SQUARES};
use selfplay::rules::Ruleset;
use tch::{CModule, Device, Kind, Tensor};

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Int8];

fn configs() -> Vec<NetConfig> {
    let other = |channels, blocks, pool_every| NetConfig {
        channels,
        blocks,
        pool_every,
        ..NET
    };
    vec![
        NET,
        other(8, 2, 0),
        other(6, 2, 1),
        other(1, 1, 1),
        other(5, 0, 1),
    ]
}

fn input(asked: &[Asked]) -> Input {
    let records: Vec<_> = asked.iter().map(|asked| asked.record).collect();
    InputBuffer::new(Kind::Float, Device::Cpu)
        .fill(&records)
        .expect("an input")
}

/// Every output as plain numbers, in order.
type Answers = [Vec<f32>; 4];

fn answers(weights: &Weights, input: &Input) -> Answers {
    let infer = Infer::new(weights, Device::Cpu, Kind::Float).expect("a network");
    let outputs = Outputs::of(&infer, input).expect("answers");
    outputs.into_tensors().map(|t| flat(&t))
}

fn flat(tensor: &Tensor) -> Vec<f32> {
    to_vec(&tensor.flatten(0, -1)).expect("numbers")
}

/// How far two answers are apart.
#[derive(Default, Debug)]
struct Apart {
    /// Largest difference of a probability: of a legal move, of win, draw and loss, of a belief that is asked for.
    probability: f32,
    /// Largest difference of plies left, of those that there are.
    plies: f32,
    /// Positions whose best moves differ.
    best: usize,
    positions: usize,
}

impl Apart {
    fn add(&mut self, asked: &[Asked], a: &Answers, b: &Answers) {
        for (i, asked) in asked.iter().enumerate() {
            let [p, q] = [a, b].map(|answers| priors(&answers[0][i * INDICES..], &asked.legal));
            self.probabilities(&p, &q);
            let best = |p: &[f32]| (0..p.len()).max_by(|&i, &j| p[i].total_cmp(&p[j]));
            self.best += usize::from(best(&p) != best(&q));
            self.probabilities(&a[1][3 * i..3 * i + 3], &b[1][3 * i..3 * i + 3]);
            self.plies = self.plies.max((a[2][i] - b[2][i]).abs() / (1.0 + a[2][i]));
            for &square in &asked.unknown {
                let at = |kind: usize| (6 * i + kind) * SQUARES + usize::from(square);
                let beliefs = [a, b].map(|answers| [0, 1, 2, 3, 4, 5].map(|k| answers[3][at(k)]));
                self.probabilities(&beliefs[0], &beliefs[1]);
            }
        }
        self.positions += asked.len();
    }

    fn probabilities(&mut self, p: &[f32], q: &[f32]) {
        assert_eq!(p.len(), q.len());
        assert!((q.iter().sum::<f32>() - 1.0).abs() < 1e-3, "{q:?}");
        let differences = p.iter().zip(q).map(|(p, q)| (p - q).abs());
        self.probability = differences.fold(self.probability, f32::max);
    }
}

/// The softmax over the legal moves.
fn priors(policy: &[f32], legal: &[u16]) -> Vec<f32> {
    let logits: Vec<_> = legal.iter().map(|&i| policy[usize::from(i)]).collect();
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|x| (x - most).exp()).sum();
    logits.iter().map(|x| (x - most).exp() / sum).collect()
}

fn graph(weights: &Weights, precision: Precision) -> GraphProto {
    let file = onnx::file(weights, precision, &[]).expect("a file");
    let model = ModelProto::decode(&*file).expect("a model");
    assert_eq!((model.ir_version, model.opset_import[0].version), (8, 17));
    model.graph.expect("a graph")
}

#[test]
fn every_value_is_made_once_and_before_it_is_read_and_every_constant_is_whole() {
    for config in configs() {
        let weights = weights(&config, 1);
        for precision in PRECISIONS {
            let graph = graph(&weights, precision);
            let mut known: HashSet<_> = graph.input.iter().map(|i| i.name.clone()).collect();
            for constant in &graph.initializer {
                let size = match constant.data_type {
                    data_type::INT8 => 1,
                    data_type::FLOAT16 => 2,
                    data_type::FLOAT => 4,
                    data_type::INT64 => 8,
                    other => panic!("{}: type {other}", constant.name),
                };
                let numbers = constant.dims.iter().product::<i64>() as usize;
                assert_eq!(constant.raw_data.len(), size * numbers, "{}", constant.name);
                assert!(known.insert(constant.name.clone()), "{}", constant.name);
            }
            for node in &graph.node {
                assert!(
                    node.input.iter().all(|input| known.contains(input)),
                    "{node:?}"
                );
                assert!(
                    node.output.iter().all(|out| known.insert(out.clone())),
                    "{node:?}"
                );
            }
            assert!(
                graph
                    .output
                    .iter()
                    .all(|output| known.contains(&output.name))
            );
            let read: HashSet<_> = graph.node.iter().flat_map(|node| &node.input).collect();
            let idle = graph.initializer.iter().find(|c| !read.contains(&c.name));
            assert!(idle.is_none(), "{idle:?}");
        }
    }
}

#[test]
fn fewer_bits_make_smaller_files() {
    let config = NetConfig {
        channels: 32,
        blocks: 3,
        ..NET
    };
    let weights = weights(&config, 1);
    let [f32, f16, int8] = PRECISIONS.map(|p| onnx::file(&weights, p, &[]).expect("a file").len());
    assert!(
        f16 < f32 * 6 / 10 && int8 < f32 * 4 / 10,
        "{f32} {f16} {int8}"
    );
}

#[test]
fn a_number_that_half_precision_cannot_hold_is_an_error() {
    let mut weights = weights(&NET, 1);
    let layout = Layout::of(&NET);
    let bias = layout.specs.iter().position(|s| s.name == "policy.bias");
    weights.params[layout.offsets[bias.expect("there")]] = 1e6;
    assert!(onnx::file(&weights, Precision::F32, &[]).is_ok());
    let error = onnx::file(&weights, Precision::F16, &[]).expect_err("too large");
    let error = error.to_string();
    assert!(
        error.contains("policy.bias") && error.contains("export it as f32"),
        "{error}"
    );
}

/// Weights in eight bits are within half a step of their own, a step being a 127th of their output's largest.
#[test]
fn eight_bits_are_the_nearest() {
    let weights = weights(&NET, 2);
    let (exact, int8) = (
        rounded(&weights, Precision::F32),
        rounded(&weights, Precision::Int8),
    );
    let layout = Layout::of(&NET);
    let mut changed = 0;
    for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
        if spec.role == Role::Buffer {
            continue;
        }
        let row = (spec.len() / spec.shape[0] as usize).max(1);
        let rows = exact.params[offset..offset + spec.len()].chunks(row);
        for (row, near) in rows.zip(int8.params[offset..offset + spec.len()].chunks(row)) {
            let step = row.iter().fold(0.0, |m: f32, w| m.max(w.abs())) / 127.0;
            for (w, n) in row.iter().zip(near) {
                assert!((w - n).abs() <= 0.501 * step, "{}: {w} {n}", spec.name);
                changed += usize::from(w != n);
            }
        }
    }
    assert!(changed > 1000);
}

#[test]
fn folded_norms_compute_the_same() {
    let (weights, asked) = (weights(&NET, 3), positions(&Ruleset::XIANGQI, 20, 1));
    let (input, mut apart) = (input(&asked), Apart::default());
    let folded = rounded(&weights, Precision::F32);
    assert_ne!(folded, weights);
    apart.add(
        &asked,
        &answers(&weights, &input),
        &answers(&folded, &input),
    );
    assert!(apart.probability < 1e-5 && apart.best == 0, "{apart:?}");
}

#[test]
fn weights_by_name_are_the_same_weights() {
    for config in configs() {
        let weights = Weights {
            step: 77,
            ..weights(&config, 4)
        };
        let file = safetensors::file(&weights).expect("a file");
        assert_eq!(safetensors::read(&file).expect("the same"), weights);
        let names = safetensors::names(&config);
        assert!(names.contains(&(
            "stem.conv.weight".into(),
            vec![config.channels.into(), 33, 3, 3]
        )));
    }
}

#[test]
fn files_that_are_no_weights_are_refused() {
    let file = safetensors::file(&weights(&NET, 4)).expect("a file");
    let check = |bytes: &[u8], words: &str| {
        let error = safetensors::read(bytes)
            .expect_err("no weights")
            .to_string();
        assert!(error.contains(words), "{error}");
    };
    check(&file[..file.len() / 2], "");
    check(b"", "");
    let renamed = |from: &str, to: &str| {
        let at = file.windows(from.len()).position(|w| w == from.as_bytes());
        let (mut file, at) = (file.clone(), at.expect("in the header"));
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
        file
    };
    check(&renamed("fanqi_net", "other_net"), "fanqi_net");
    check(
        &renamed("belief.bias", "belief.bios"),
        "belief.bias is missing",
    );
    check(
        &renamed("\\\"channels\\\":8", "\\\"channels\\\":7"),
        "expected F32",
    );
}

/// The network that `torch.jit.load` gives, for any number of rows.
#[test]
fn torchscript_answers_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let every_form = positions_of_every_form(3);
    for config in &configs()[2..] {
        let (weights, path) = (weights(config, 5), folder.path().join("model.pt"));
        torchscript::write(&weights, &path).expect("written");
        let module = CModule::load(&path).expect("a module");
        let mut apart = Apart::default();
        for asked in [&every_form[..1], &every_form] {
            let input = input(asked);
            let read = answer_of(&module, &input);
            apart.add(asked, &answers(&weights, &input), &read);
        }
        assert!(apart.probability < 1e-4 && apart.plies < 1e-4, "{apart:?}");
        assert_eq!(apart.best, 0);
    }
}

/// Some of each.
fn positions_of_every_form(each: usize) -> Vec<Asked> {
    let forms = Ruleset::all().iter().enumerate();
    forms
        .flat_map(|(i, rules)| positions(rules, each, i as u64))
        .collect()
}

fn answer_of(module: &CModule, input: &Input) -> Answers {
    let _guard = tch::no_grad_guard();
    let joined = module.forward_ts(&[&input.planes, &input.globals]);
    let parts = joined
        .expect("answers")
        .split_with_sizes(WIDTHS.map(|n| n as i64), 1);
    let parts: Vec<_> = parts.iter().map(flat).collect();
    parts.try_into().expect("four outputs")
}

/// What ONNX Runtime answers; none, said aloud, where it is not installed.
fn onnx_runtime(file: &[u8], input: &Input) -> Option<Answers> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, tensor: &Tensor| {
        let bytes: Vec<_> = flat(tensor).iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(folder.path().join(name), bytes).expect("written");
    };
    write("planes.f32", &input.planes);
    write("globals.f32", &input.globals);
    let model = folder.path().join("model.onnx");
    fs::write(&model, file).expect("written");
    let mut command = Command::new(python());
    command.arg(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/onnx_outputs.py"
    ));
    let Ok(out) = command.arg(&model).arg(folder.path()).output() else {
        eprintln!("skipped: python3 is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    match out.status.code() {
        Some(0) => {}
        Some(77) => {
            eprintln!("skipped: {text}");
            return None;
        }
        code => panic!("{code:?}: {text}"),
    }
    let read = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).expect("an output");
        let numbers = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
        numbers.map(f32::from_le_bytes).collect()
    };
    Some(["policy.f32", "wdl.f32", "moves_left.f32", "belief.f32"].map(read))
}

/// Each precision against what libtorch answers with just those weights; half precision also rounds on its way.
#[test]
fn onnx_runtime_answers_the_same() {
    let asked = positions_of_every_form(20);
    let input = input(&asked);
    for (i, config) in configs().iter().enumerate() {
        let weights = weights(config, 6);
        let precisions = if i == 0 {
            &PRECISIONS[..]
        } else {
            &PRECISIONS[..1]
        };
        for &precision in precisions {
            let file = onnx::file(&weights, precision, &[]).expect("a file");
            let Some(read) = onnx_runtime(&file, &input) else {
                return;
            };
            let (rounded, mut apart) = (rounded(&weights, precision), Apart::default());
            apart.add(&asked, &answers(&rounded, &input), &read);
            let half = precision == Precision::F16;
            let near = if half { 0.05 } else { 1e-4 };
            assert!(
                apart.probability < near && apart.plies < near,
                "{config:?} {precision:?} {apart:?}"
            );
            assert!(
                half || apart.best == 0,
                "{config:?} {precision:?} {apart:?}"
            );
        }
    }
}

/// Positions of every form: the network of the checkpoint that `FANQI_CHECKPOINT` names, or one of random weights.
/// `cargo test -p model --test export_formats -- --ignored --nocapture` prints how far apart the formats are.
#[test]
#[ignore = "a thousand positions of every form"]
fn every_format_answers_the_same_on_a_thousand_positions_of_every_form() {
    let weights = match std::env::var_os("FANQI_CHECKPOINT") {
        Some(path) => {
            checkpoint::load_play(Path::new(&path))
                .expect("a checkpoint")
                .0
        }
        None => weights(
            &NetConfig {
                channels: 32,
                blocks: 4,
                ..NET
            },
            7,
        ),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pt");
    torchscript::write(&weights, &path).expect("written");
    let module = CModule::load(&path).expect("a module");
    let again = safetensors::read(&safetensors::file(&weights).expect("a file")).expect("the same");
    let files = PRECISIONS.map(|p| onnx::file(&weights, p, &[]).expect("a file"));
    let names = [
        "torchscript",
        "safetensors",
        "onnx f32",
        "onnx f16",
        "onnx int8",
    ];
    let mut all: [Apart; 5] = Default::default();
    for (i, rules) in Ruleset::all().iter().enumerate() {
        let asked = positions(rules, 1000, 100 + i as u64);
        let input = input(&asked);
        let own = answers(&weights, &input);
        all[0].add(&asked, &own, &answer_of(&module, &input));
        all[1].add(&asked, &own, &answers(&again, &input));
        for (apart, file) in all[2..].iter_mut().zip(&files) {
            let read = onnx_runtime(file, &input).expect("ONNX Runtime: scripts/setup --checks");
            apart.add(&asked, &own, &read);
        }
        eprintln!("{}", rules.name);
    }
    for (name, apart) in names.iter().zip(&all) {
        eprintln!("{name}: {apart:?}");
    }
    for apart in &all[..3] {
        assert!(apart.probability <= 1e-4 && apart.best * 1000 <= apart.positions);
    }
}
