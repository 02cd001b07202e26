//! Training on recorded games before self-play: what it brings, in which order, after a kill, and of which files.
mod binary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use binary::{fanqi, games, ok, refused, start, state, stderr, stdout, train, until, with_space};
use model::batch::TrainBatch;
use model::checkpoint;
use model::device::Placement;
use model::learner::{Learner, Which};
use model::params::Weights;
use selfplay::record::Rows;
use tempfile::TempDir;
use train::config::Config;
use train::forms::Forms;
use train::metrics;
use train::pretrain::Source;
use train::samples::{self, ShardHead};

/// Openings, each with its result.
const GAMES: [&str; 5] = [
    "1. C2=5 H8+7 2. H2+3 R9=8 3. R1=2 H2+3 4. P7+1 P7+1 1-0",
    "1. P7+1 P7+1 2. H8+7 H8+7 3. H2+1 R9+1 4. R1+1 E3+5 1/2-1/2",
    "1. E3+5 C8=5 2. H2+3 H8+7 3. R1=2 R9=8 4. P7+1 P7+1 0-1",
    "1. H2+3 P7+1 2. P7+1 H8+7 3. H8+7 E7+5 4. C8+2 H2+1 1-0",
    "1. C2=4 H8+7 2. H2+3 C8=9 3. R1=2 R9=8 4. H8+7 P7+1 0-1",
];

/// A folder with `games.h5`, imported from `copies` of each of [`GAMES`].
fn imported(copies: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (pgn, shard) = (
        folder.path().join("games.pgn"),
        folder.path().join("games.h5"),
    );
    let one = GAMES.join("\n\n") + "\n\n";
    fs::write(&pgn, one.repeat(copies)).expect("written");
    let said = ok(fanqi(["records", "import"]).args([&pgn, Path::new("--out"), &shard]));
    let whole = format!("{} used whole", copies * GAMES.len());
    assert!(said.contains(&whole), "{said}");
    (folder, shard)
}

fn shards(paths: &[&Path]) -> String {
    let names: Vec<_> = paths
        .iter()
        .map(|p| format!("{:?}", p.display().to_string()))
        .collect();
    format!("pretrain.shards=[{}]", names.join(", "))
}

/// The numbers of that name in the metrics, in order.
fn numbers(run: &Path, name: &str) -> Vec<f64> {
    let Ok(lines) = metrics::read(&run.join("metrics.jsonl")) else {
        return Vec::new();
    };
    lines
        .iter()
        .filter_map(|line| line.get(name)?.as_f64())
        .collect()
}

/// Policy loss of the network `weights` on `rows`.
fn policy_loss(weights: &Weights, rows: &Rows) -> f64 {
    let config = Config::load(Some(&binary::data("tiny.toml")), &[]).expect("valid");
    let placement = Placement::resolve(&config.device).expect("a CPU");
    let mut learner = Learner::from_weights(weights, &config.optim, &placement).expect("a net");
    let mut batch = TrainBatch::default();
    for i in 0..rows.len() {
        batch.push_from(rows, i, 0, false).expect("a row");
    }
    let losses = learner.validate(&batch, Which::Average).expect("scored");
    losses.policy
}

/// Whether a run's network in pretraining has come beyond `rows` rows trained.
fn pretrained_beyond(run: &Path, rows: u64) -> bool {
    let about = checkpoint::inspect(&run.join("pretrain.safetensors"));
    about.is_ok_and(|about| about.rows > rows)
}

#[test]
fn self_play_begins_with_a_network_that_knows_the_games() {
    let (folder, shard) = imported(12);
    let run = folder.path().join("run");
    let sets = [
        &shards(&[&shard]),
        "pretrain.epochs=40",
        "pretrain.learning_rate=0.01",
        "run.workers=1",
    ];
    let output = train(&run, &sets).output().expect("fanqi starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    for words in [
        "pretraining: ",
        "of 60 games",
        "pretrained: ",
        "(untrained ",
    ] {
        assert!(said.contains(words), "no {words:?} in {said}");
    }
    assert!(stdout(&output).contains("first checkpoint (step 0)"));
    let validation = numbers(&run, "pretrain/validation_policy_loss");
    let (first, last) = (validation[0], validation[validation.len() - 1]);
    assert!(first > 3.0 && last < 0.5 * first, "{validation:?}");
    let values = numbers(&run, "pretrain/validation_value_loss");
    assert!(values[values.len() - 1] < 0.8 * values[0], "{values:?}");
    assert!(!numbers(&run, "pretrain/policy_loss").is_empty());
    // It is the first checkpoint.
    let (weights, about) =
        checkpoint::load_play(&run.join("checkpoints/000000000.safetensors")).expect("whole");
    assert_eq!((about.step, about.rows), (0, 0));
    let (_, rows) = samples::read(&shard, Some("xiangqi")).expect("whole");
    assert!(policy_loss(&weights, &rows) < 0.5 * first);
    // The run has gone on to self-play, with counts and a schedule of its own.
    assert!(games(&run) > 0);
    let step = &state(&run).expect("a state")["training"]["step"];
    assert!(step.as_u64() < Some(400), "{step}");
    let rates = numbers(&run, "train/learning_rate");
    assert!(rates[0] < 0.002, "{rates:?}");
    assert!(!run.join("pretrain.safetensors").exists());
    let curves = fs::read_dir(run.join("tensorboard/pretrain")).expect("curves");
    assert_eq!(curves.count(), 1);
    // Once done, it is done, and its files are not needed any more.
    fs::remove_file(&shard).expect("removed");
    let output = train(&run, &sets).output().expect("fanqi starts");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("pretrain"), "{}", stderr(&output));
    refused(
        &mut train(&run, &[]),
        &["cannot change", "pretrain.shards", "--run"],
    );
}

#[test]
fn a_pretraining_that_is_killed_or_interrupted_goes_on() {
    let (folder, shard) = imported(12);
    let run = folder.path().join("run");
    let sets = [&shards(&[&shard]), "pretrain.epochs=40", "run.workers=1"];
    let mut trained = 0;
    for kill in 0..3 {
        let mut command = train(&run, &sets);
        let mut child = start(&mut command);
        until("the pretraining", || pretrained_beyond(&run, trained));
        if kill < 2 {
            child.kill().expect("killed");
            child.wait().expect("gone");
        } else {
            let pid = child.id().to_string();
            let kill = Command::new("sh")
                .args(["-c", &format!("kill -INT {pid}")])
                .status();
            assert!(kill.expect("a shell").success());
            assert!(child.wait().expect("ends").success());
        }
        assert!(
            state(&run).is_none(),
            "it has come too far to be broken off"
        );
        let about = checkpoint::inspect(&run.join("pretrain.safetensors")).expect("whole");
        assert!(about.rows > trained);
        refused(fanqi(["strength"]).arg(&run), &["still in pretraining"]);
        trained = about.rows;
    }
    let epochs = [sets[0], "pretrain.epochs=41"];
    refused(&mut train(&run, &epochs), &["`pretrain.epochs`: 40 -> 41"]);
    let none = [sets[1]];
    refused(&mut train(&run, &none), &["`pretrain.shards`"]);
    let path = run.join("pretrain.safetensors");
    let whole = fs::read(&path).expect("readable");
    fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    let words = ["pretrain.safetensors", "truncated", "begins again"];
    refused(&mut train(&run, &sets), &words);
    fs::write(&path, whole).expect("written");
    let output = train(&run, &sets).output().expect("fanqi starts");
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    let going_on = format!(
        "going on with the pretraining at step {}, {trained} rows",
        trained / 32
    );
    assert!(said.contains(&going_on), "{said}");
    let rows = numbers(&run, "pretrain/rows");
    let held_out = said
        .split("train on, ")
        .nth(1)
        .and_then(|s| s.split(' ').next());
    let held_out: u64 = held_out.and_then(|n| n.parse().ok()).expect("a number");
    let all = (12 * 5 * 8 - held_out) * 40 / 32 * 32;
    assert_eq!(rows.last(), Some(&(all as f64)), "{said}");
    assert!(games(&run) > 0 && !path.exists());
    // Had it been killed between the commit and the removal, the file would go now.
    let first = run.join("checkpoints/000000000.safetensors");
    fs::copy(first, &path).expect("copied");
    let output = train(&run, &sets).output().expect("fanqi starts");
    let words = "dropped pretrain.safetensors: the pretraining is over";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    assert!(!path.exists());
}

#[test]
fn a_full_disk_ends_a_pretraining_in_order() {
    let (folder, shard) = imported(4);
    let tiny = binary::data("tiny.toml").display().to_string();
    let sets = [&shards(&[&shard]), "pretrain.epochs=3"];
    let mut ended_well = Vec::new();
    for blocks in [0, 4, 16, 64, 2048] {
        let run = folder.path().join(blocks.to_string());
        let name = run.display().to_string();
        let mut command = vec!["train", &tiny, "--run", &name];
        sets.iter().for_each(|set| command.extend(["--set", set]));
        ended_well.push(with_space(blocks, &command));
        ok(&mut train(&run, &sets));
        assert!(games(&run) > 0 && !run.join("pretrain.safetensors").exists());
    }
    assert!(!ended_well[0] && ended_well[ended_well.len() - 1]);
    assert!(ended_well.is_sorted(), "{ended_well:?}");
}

/// The rows of a shard `times` over, each time with other game ids.
fn repeated(shard: &Path, times: u64) -> Rows {
    let (_, rows) = samples::read(shard, None).expect("whole");
    let mut all = Rows::default();
    for time in 0..times {
        let mut rows = rows.clone();
        rows.game.iter_mut().for_each(|game| *game += 1000 * time);
        all.append(&rows);
    }
    all
}

fn write(path: &Path, rows: &Rows, form: &str) {
    let head = ShardHead {
        run: "import".into(),
        form: form.into(),
        ruleset: "[]".into(),
    };
    let config = Config::load(None, &[]).expect("the defaults");
    samples::write(path, rows, &head, &config.samples).expect("written");
}

/// Name of a row: game and ply.
type Name = (u64, u16);

/// The names of the next `n` rows.
fn take(source: &mut Source, n: u64) -> Vec<(Name, bool)> {
    let names = (0..n).map(|_| {
        let next = source.order.next_row().expect("readable");
        (
            (next.rows.game[next.row], next.rows.ply[next.row]),
            next.mirror,
        )
    });
    names.collect()
}

#[test]
fn every_epoch_has_every_training_row_once_and_any_place_can_be_gone_to() {
    let (folder, shard) = imported(10);
    let (long, short) = (
        folder.path().join("long.h5"),
        folder.path().join("short.h5"),
    );
    let rows = repeated(&shard, 22);
    write(&long, &rows, "xiangqi");
    let mut other = repeated(&shard, 1);
    other.game.iter_mut().for_each(|game| *game += 50_000);
    write(&short, &other, "xiangqi");
    let sets = [
        shards(&[&long, &short]),
        "replay.held_out_share=0.2".to_owned(),
        "pretrain.shuffle_rows=5000".to_owned(),
        "pretrain.epochs=3".to_owned(),
    ];
    let config = Config::load(Some(&binary::data("tiny.toml")), &sets).expect("valid");
    let forms = Forms::of(&config.ruleset).expect("forms");
    let open = || {
        let source = Source::open(&config, &forms).expect("whole");
        source.expect("a source")
    };
    let mut source = open();
    let epoch = source.totals.training;
    assert_eq!(
        source.totals.training + source.totals.held_out,
        (rows.len() + other.len()) as u64
    );
    assert_eq!(source.games, 23 * 50);
    assert_eq!(source.order.rows(), 3 * epoch / 32 * 32);
    let stride = source
        .totals
        .held_out
        .div_ceil(config.checkpoint.validation_rows);
    let expected = source.totals.held_out.div_ceil(stride);
    assert_eq!(source.validation.len() as u64, expected);
    let order = take(&mut source, 3 * epoch);
    let mut counts: BTreeMap<Name, u64> = BTreeMap::new();
    for (number, (name, _)) in order.iter().enumerate() {
        assert!(!config.replay.is_held_out(name.0));
        let count = counts.entry(*name).or_default();
        assert_eq!(*count, number as u64 / epoch, "{name:?} of row {number}");
        *count += 1;
    }
    assert_eq!(counts.len() as u64, epoch);
    let mirrored = order.iter().filter(|(_, mirror)| *mirror).count() as f64;
    assert!((mirrored / order.len() as f64 - 0.5).abs() < 0.03);
    let (first, second) = (&order[..epoch as usize], &order[epoch as usize..]);
    assert_ne!(first[..99], second[..99]);
    let neighbours = first.windows(2).filter(|two| two[0].0.0 == two[1].0.0);
    assert!(neighbours.count() < 60, "rows of a game stay together");
    for place in [
        0,
        1,
        31,
        2048,
        epoch - 1,
        epoch,
        epoch + 7777,
        3 * epoch - 1,
    ] {
        let mut source = open();
        source.order.seek(place).expect("readable");
        let rest = (3 * epoch - place).min(300);
        let found = take(&mut source, rest);
        assert_eq!(found, order[place as usize..(place + rest) as usize]);
    }
}

#[test]
fn a_part_of_a_shard_is_what_the_whole_has_there() {
    let (_folder, shard) = imported(3);
    let (_, whole) = samples::read(&shard, None).expect("whole");
    let open = samples::Shard::open(&shard).expect("whole");
    assert_eq!(open.game_ids().expect("readable"), whole.game);
    let n = whole.len();
    for cuts in [vec![0, n], vec![0, 1, 50, n - 1, n]] {
        let mut joined = Rows::default();
        for two in cuts.windows(2) {
            joined.append(&open.read(two[0]..two[1]).expect("readable"));
        }
        assert_eq!(joined, whole);
    }
    let error = open.read(1..n + 1).expect_err("too far").to_string();
    assert!(error.contains("lines"), "{error}");
}

#[test]
fn bad_shards_are_refused_with_their_name_before_anything_is_written() {
    let (folder, shard) = imported(3);
    let at = |name: &str| folder.path().join(name);
    let (_, rows) = samples::read(&shard, None).expect("whole");
    fs::write(at("text.h5"), "1. h2e2 h9g7 1-0\n").expect("written");
    hdf5::File::create(at("foreign.h5")).expect("written");
    write(&at("jieqi.h5"), &rows, "jieqi");
    write(&at("both.h5"), &rows, "xiangqi,fanqi-3");
    write(&at("old.h5"), &rows, "xiangqi");
    write(&at("bad.h5"), &rows, "xiangqi");
    let change = |name: &str, change: &dyn Fn(&hdf5::File)| {
        change(&hdf5::File::open_rw(at(name)).expect("HDF5"));
    };
    change("old.h5", &|file| {
        let version = file.attr("version").expect("there");
        version.write_scalar(&2u32).expect("written");
    });
    change("bad.h5", &|file| {
        let outcome = file.dataset("outcome").expect("there");
        let mut values = outcome.read_raw::<u8>().expect("readable");
        *values.last_mut().expect("rows") = 3;
        outcome.write_raw(&values).expect("written");
    });
    let bytes = fs::read(&shard).expect("readable");
    fs::write(at("cut.h5"), &bytes[..bytes.len() / 2]).expect("written");
    let run = at("run");
    let check = |name: &str, sets: &[&str], words: &[&str]| {
        let shards = shards(&[&shard, &at(name)]);
        let all = [&[shards.as_str()], sets].concat();
        let source = format!("`pretrain.shards` (--set {shards})");
        let error = refused(
            &mut train(&run, &all),
            &[&[source.as_str()], words].concat(),
        );
        assert!(!run.exists(), "{name}: something was written: {error}");
    };
    check("none.h5", &[], &["none.h5", "opening"]);
    check(".", &[], &["a folder", "samples/000001.h5"]);
    let words = ["text.h5", "not an HDF5 file", "`fanqi records import"];
    check("text.h5", &[], &words);
    fs::rename(at("text.h5"), at("games.pgn")).expect("renamed");
    check("games.pgn", &[], &["games.pgn --out games.h5"]);
    check("foreign.h5", &[], &["foreign.h5", "not of samples"]);
    check("cut.h5", &[], &["cut.h5", "cut short"]);
    check("bad.h5", &[], &["bad.h5", "`outcome` 3"]);
    check(
        "old.h5",
        &[],
        &[
            "old.h5",
            "format version 2, this build reads",
            "make new samples",
        ],
    );
    let not_played = "which `[ruleset]` does not play (it plays `xiangqi`)";
    check("jieqi.h5", &[], &["jieqi.h5", "`jieqi`", not_played]);
    check("both.h5", &[], &["both.h5", "`fanqi-3`", not_played]);
    let few = ["optim.batch_rows=4096"];
    write(&at("more.h5"), &rows, "xiangqi");
    check(
        "more.h5",
        &few,
        &["`optim.batch_rows` = 4096", "name more shards"],
    );
    // A run of several forms takes samples of each of them.
    let sets = [
        &shards(&[&at("jieqi.h5"), &shard]),
        "ruleset.forms=[\"jieqi\", \"xiangqi\"]",
        "run.produced_rows=1",
        "arena.opponents=[]",
        "arena.first_checkpoint=false",
        "arena.random_arrangement=false",
    ];
    ok(&mut train(&run, &sets));
}
