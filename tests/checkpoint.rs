//! What is on disk is what was in memory, or it is refused with a reason.
mod model_rows;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use model::checkpoint::{About, CheckpointError, KEY, Origin, checksum, inspect, load_play};
use model::config::{NetConfig, OptimConfig, OptimKind};
use model::learner::Learner;
use model_rows::{NET, OPTIM, placement, rows, train_batch};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tch::Kind;

fn origin() -> Origin {
    Origin {
        run: "this run".into(),
        form: "xiangqi".into(),
        ruleset: "rules \"1\"".into(),
        config: "a = 1\n".into(),
    }
}

fn trained(config: &OptimConfig, kind: Kind, steps: u64) -> Learner {
    let mut learner = Learner::new(&NET, config, &placement(kind), 1).unwrap();
    (0..steps).for_each(|s| train(&mut learner, s));
    learner
}

fn train(learner: &mut Learner, seed: u64) {
    learner.step(&train_batch(&rows(8, seed))).unwrap();
}

fn file(dir: &Path, name: &str, learner: &Learner) -> Vec<u8> {
    learner.save(&dir.join(name), &origin()).unwrap();
    fs::read(dir.join(name)).unwrap()
}

#[test]
fn twenty_steps_are_ten_a_save_a_load_and_ten_more() {
    let dir = tempfile::tempdir().unwrap();
    for optimiser in [OptimKind::Adamw, OptimKind::Sgd] {
        for kind in [Kind::Float, Kind::BFloat16] {
            let config = OptimConfig {
                kind: optimiser,
                ..OPTIM
            };
            let through = file(dir.path(), "through", &trained(&config, kind, 20));
            file(dir.path(), "half", &trained(&config, kind, 10));
            let (mut again, about) =
                Learner::load(&dir.path().join("half"), &NET, &config, &placement(kind)).unwrap();
            assert_eq!((about.step, about.rows, about.origin), (10, 80, origin()));
            (10..20).for_each(|s| train(&mut again, s));
            assert!(
                file(dir.path(), "again", &again) == through,
                "{optimiser:?} {kind:?}"
            );
        }
    }
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        3,
        "only whole files, no temporary ones"
    );
}

#[test]
fn the_weights_that_play_are_the_published_ones() {
    let dir = tempfile::tempdir().unwrap();
    let learner = trained(&OPTIM, Kind::Float, 3);
    file(dir.path(), "net", &learner);
    let (weights, about) = load_play(&dir.path().join("net")).unwrap();
    assert_eq!(weights, learner.publish().unwrap());
    assert_eq!(
        (about, weights.step),
        (inspect(&dir.path().join("net")).unwrap(), 3)
    );
}

#[test]
fn a_truncated_file_never_loads() {
    let dir = tempfile::tempdir().unwrap();
    let whole = file(dir.path(), "net", &trained(&OPTIM, Kind::Float, 1));
    let cut = dir.path().join("cut");
    let step = whole.len() / 150;
    for length in (0..64)
        .chain((64..whole.len()).step_by(step))
        .chain(whole.len() - 8..whole.len())
    {
        fs::write(&cut, &whole[..length]).unwrap();
        let error = load_play(&cut).expect_err("a truncated file");
        assert!(
            matches!(error, CheckpointError::Broken { .. }),
            "{length} bytes: {error}"
        );
        assert!(error.to_string().contains("cut"));
        if length < 64 {
            let error = inspect(&cut).expect_err("a truncated header");
            assert!(
                matches!(error, CheckpointError::Broken { .. }),
                "{length} bytes: {error}"
            );
        }
    }
    fs::write(&cut, [whole, vec![0]].concat()).unwrap();
    assert!(load_play(&cut).is_err());
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let whole = file(dir.path(), "net", &trained(&OPTIM, Kind::Float, 1));
    let path = dir.path().join("flipped");
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    // Every bit of the start, one bit of many header and data bytes, and the very last.
    let (early, late) = (header.div_ceil(400), (whole.len() - header) / 400);
    let bytes = (0..64)
        .flat_map(|at| (0..8).map(move |bit| (at, bit)))
        .chain((64..header).step_by(early).map(|at| (at, at % 7)))
        .chain((header..whole.len()).step_by(late).map(|at| (at, at % 8)))
        .chain([(whole.len() - 1, 7)]);
    for (at, bit) in bytes {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << bit;
        fs::write(&path, flipped).unwrap();
        let place = format!("bit {bit} of byte {at}, header ends at {header}");
        let message = load_play(&path).expect_err(&place).to_string();
        assert!(message.contains("flipped"), "{place}: {message}");
    }
}

/// The file of `learner` with its tensors and its metadata entry changed, and the checksum of that.
fn edited(
    bytes: &[u8],
    edit: impl Fn(&mut HashMap<String, (Vec<usize>, Vec<u8>)>, &mut String),
) -> Vec<u8> {
    let file = SafeTensors::deserialize(bytes).unwrap();
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let mut text = header.metadata().as_ref().unwrap()[KEY].clone();
    let mut tensors: HashMap<_, _> = file
        .tensors()
        .into_iter()
        .map(|(n, v)| (n, (v.shape().to_vec(), v.data().to_vec())))
        .collect();
    edit(&mut tensors, &mut text);
    let views = tensors
        .iter()
        .map(|(n, (s, d))| (n, TensorView::new(Dtype::F32, s.clone(), d).unwrap()));
    let whole = safetensors::serialize(views, None).unwrap();
    let file = SafeTensors::deserialize(&whole).unwrap();
    if let Ok(about) = serde_json::from_str::<About>(&text) {
        let crc32c = checksum(&about, &file);
        text = serde_json::to_string(&About { crc32c, ..about }).unwrap();
    }
    let metadata = (!text.is_empty()).then(|| HashMap::from([(KEY.to_string(), text)]));
    safetensors::serialize(file.tensors(), metadata).unwrap()
}

#[test]
fn every_other_fault_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net");
    let whole = file(dir.path(), "net", &trained(&OPTIM, Kind::Float, 1));
    let check = |bytes: Vec<u8>, parts: &[&str]| {
        fs::write(&path, bytes).unwrap();
        let message = load_play(&path).expect_err(parts[0]).to_string();
        for part in parts.iter().chain(&[path.to_str().unwrap()]) {
            assert!(message.contains(part), "{message}: {part}");
        }
    };
    let name = "average.stem.conv.weight";
    check(b"hello".to_vec(), &["truncated or no safetensors file"]);
    check(
        edited(&whole, |_, text| text.clear()),
        &["no fanqi checkpoint", KEY],
    );
    check(
        edited(&whole, |_, text| *text = "{".into()),
        &["no fanqi checkpoint"],
    );
    check(
        edited(&whole, |_, text| {
            *text = text.replace("\"format\":3", "\"format\":1")
        }),
        &["format 1", "reads format 3"],
    );
    check(
        edited(&whole, |_, text| {
            *text = text.replace("\"blocks\":2", "\"blocks\":3")
        }),
        &["blocks.2", "missing"],
    );
    check(
        edited(&whole, |_, text| {
            *text = text.replace("\"blocks\":2", "\"blocks\":4000000000")
        }),
        &["blocks", "0..=256"],
    );
    check(
        edited(&whole, |t, _| drop(t.remove(name))),
        &[name, "missing"],
    );
    check(
        edited(&whole, |t, _| t.get_mut(name).unwrap().0.reverse()),
        &[
            name,
            "expected F32 [8, 33, 3, 3]",
            "use that version, or train anew",
        ],
    );
    check(
        edited(&whole, |t, _| t.get_mut(name).unwrap().1[..4].fill(255)),
        &[name, "not finite"],
    );
    check(edited(&whole, |_, _| ()).split_off(1), &["truncated"]);
    let flipped = whole.iter().rev().enumerate().rev();
    let flipped = flipped
        .map(|(back, &byte)| byte ^ u8::from(back == 40))
        .collect();
    check(flipped, &["damaged", "checksum", "put a good copy back"]);
    fs::write(&path, edited(&whole, |_, _| ())).unwrap();
    load_play(&path).unwrap();
}

#[test]
fn another_network_or_optimiser_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net");
    file(dir.path(), "net", &trained(&OPTIM, Kind::Float, 1));
    let load = |net: &NetConfig, optim: &OptimConfig| match Learner::load(
        &path,
        net,
        optim,
        &placement(Kind::Float),
    ) {
        Ok(_) => panic!("loaded"),
        Err(error) => error.to_string(),
    };
    let message = load(
        &NetConfig {
            channels: 16,
            ..NET
        },
        &OPTIM,
    );
    assert!(
        message.contains(
            "a network of `net.channels` = 8, but `net.channels` = 16 was asked for; give"
        ),
        "{message}"
    );
    let message = load(
        &NET,
        &OptimConfig {
            kind: OptimKind::Sgd,
            ..OPTIM
        },
    );
    assert!(
        message
            .contains("the moments of `optim.kind` = adamw, but `optim.kind` = sgd was asked for"),
        "{message}"
    );
}

#[test]
fn a_file_that_cannot_be_written_or_read_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("missing/net");
    let error = trained(&OPTIM, Kind::Float, 0)
        .save(&path, &origin())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("writing") && error.contains("missing/net"),
        "{error}"
    );
    let error = load_play(&path).unwrap_err().to_string();
    assert!(
        error.contains("reading") && error.contains("missing/net"),
        "{error}"
    );
}

#[test]
fn a_network_that_ran_away_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net");
    let config = OptimConfig {
        kind: OptimKind::Sgd,
        learning_rate: 1e39,
        warmup_rows: 0,
        ..OPTIM
    };
    let mut learner = trained(&config, Kind::Float, 1);
    assert!(learner.step(&train_batch(&rows(8, 1))).is_err());
    let error = learner.save(&path, &origin()).unwrap_err().to_string();
    assert!(
        error.contains("nothing was written") && !path.exists(),
        "{error}"
    );
    assert!(load_play(&path).is_err());
}
