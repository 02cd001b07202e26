//! Shards: what is written is what is read; whatever else lies there is a clear error.
use std::path::{Path, PathBuf};
use std::process::Command;

use hdf5::types::VarLenUnicode;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use selfplay::record::Rows;
use train::atomic::FileError;
use train::samples::{self, SamplesConfig, ShardHead, check_rows};

mod random_rows;
use random_rows::random_rows;

fn head() -> ShardHead {
    ShardHead {
        run: "5f3a90c1d2e4b678".into(),
        form: "xiangqi".into(),
        ruleset: "各占一边\nno capture limit 120".into(),
    }
}

fn config(chunk_rows: usize, gzip_level: u8) -> SamplesConfig {
    SamplesConfig {
        shard_rows: 1000,
        chunk_rows,
        gzip_level,
    }
}

fn shard(folder: &Path) -> PathBuf {
    let path = folder.join("000001.h5");
    samples::write(
        &path,
        &random_rows(1, 5, 20, 30, 60),
        &head(),
        &config(64, 1),
    )
    .unwrap();
    path
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(48) })]
    #[test]
    fn rows_come_back_as_they_were_written(
        seed: u64, games in 1u64..20, plies in 1u16..40, moves in 1usize..80, chunk in 1usize..300, gzip in 0u8..=9,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5");
        let rows = random_rows(seed, 3, games, plies, moves);
        samples::write(&path, &rows, &head(), &config(chunk, gzip)).unwrap();
        prop_assert_eq!(samples::read(&path, Some("xiangqi")).unwrap(), (head(), rows.clone()));
        prop_assert_eq!(samples::read_head(&path).unwrap(), head());
        prop_assert_eq!(samples::read_game_ids(&path, None).unwrap(), rows.game);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_shard_cut_short_is_an_error_that_names_it(cut in 0.0f64..1.0) {
        let folder = tempfile::tempdir().unwrap();
        let path = shard(folder.path());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..(bytes.len() as f64 * cut) as usize]).unwrap();
        let error = samples::read(&path, None).unwrap_err().to_string();
        prop_assert!(error.contains("000001.h5") && error.contains("cannot be read as samples"), "{}", error);
    }

    #[test]
    fn a_changed_byte_in_a_column_is_noticed(column in 0usize..12, at in 0.0f64..1.0, bit in 0u8..8) {
        let folder = tempfile::tempdir().unwrap();
        let path = shard(folder.path());
        let file = hdf5::File::open(&path).unwrap();
        let chunk = file.datasets().unwrap()[column].chunk_info(0).unwrap();
        file.close().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[(chunk.addr as f64 + chunk.size as f64 * at) as usize] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        let error = samples::read(&path, None).unwrap_err().to_string();
        prop_assert!(error.contains("000001.h5: dataset `"), "{}", error);
    }
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let first = std::fs::read(shard(folder.path())).unwrap();
    assert!(first == std::fs::read(shard(folder.path())).unwrap());
}

/// Changes a good shard's file and expects the error to say `expected`.
fn check_foreign(change: impl FnOnce(&hdf5::File), form: Option<&str>, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = shard(folder.path());
    let file = hdf5::File::open_rw(&path).unwrap();
    change(&file);
    file.close().unwrap();
    let error = samples::read(&path, form).unwrap_err().to_string();
    assert!(
        error.contains(expected) && error.contains("000001.h5"),
        "{error} does not say: {expected}"
    );
}

fn set_version(file: &hdf5::File, version: u32) {
    file.attr("version")
        .unwrap()
        .write_scalar(&version)
        .unwrap();
}

fn set_text(file: &hdf5::File, name: &str, value: &str) {
    file.attr(name)
        .unwrap()
        .write_scalar(&value.parse::<VarLenUnicode>().unwrap())
        .unwrap();
}

fn set_column<T: hdf5::H5Type + Clone>(file: &hdf5::File, name: &str, shape: &[usize], value: T) {
    file.unlink(name).unwrap();
    let data = ndarray::ArrayD::from_elem(ndarray::IxDyn(shape), value);
    file.new_dataset_builder()
        .with_data(&data)
        .create(name)
        .unwrap();
}

#[test]
fn foreign_shards_are_refused() {
    check_foreign(
        |f| set_version(f, 0),
        None,
        "samples of format version 0, this build reads 3: make new samples",
    );
    check_foreign(
        |f| set_version(f, 1),
        None,
        "samples of format version 1, this build reads 3: make new samples",
    );
    check_foreign(
        |f| set_version(f, 4),
        None,
        "samples of format version 4, this build reads 3: read it with a newer",
    );
    check_foreign(
        |f| f.delete_attr("version").unwrap(),
        None,
        "`version` cannot be read",
    );
    check_foreign(|f| set_text(f, "format", "chess"), None, "not of samples");
    check_foreign(
        |f| f.delete_attr("run").unwrap(),
        None,
        "the attribute `run` is missing",
    );
    check_foreign(
        |_| (),
        Some("jieqi"),
        "samples of the form `xiangqi`, expected `jieqi`",
    );
    check_foreign(|f| f.unlink("outcome").unwrap(), None, "dataset `outcome`");
    check_foreign(
        |f| set_column(f, "outcome", &[3], 0u8),
        None,
        "column `outcome` has 3 rows",
    );
    check_foreign(
        |f| set_column(f, "search_wdl", &[3, 2], 0f32),
        None,
        "dataset `search_wdl`: shape [3, 2]",
    );
    check_foreign(|f| set_column(f, "ply", &[3], 0u32), None, "dataset `ply`");
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("text.h5", &b"not HDF5"[..]), ("empty.h5", b"")] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let error = samples::read(&folder.path().join(name), None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(name) && error.contains("not an HDF5 file"),
            "{error}"
        );
    }
    let missing = samples::read(&folder.path().join("none.h5"), None).unwrap_err();
    assert!(
        matches!(missing, FileError::Io { .. }) && missing.to_string().contains("none.h5"),
        "{missing}"
    );
}

/// Breaks lawful rows and expects the law's complaint, from the checker and from the writer.
fn check_law(change: impl FnOnce(&mut Rows), expected: &str) {
    let mut rows = random_rows(2, 0, 3, 10, 20);
    rows.policy_weight.fill(1);
    check_rows(&rows).unwrap();
    change(&mut rows);
    let error = check_rows(&rows).unwrap_err();
    assert!(error.contains(expected), "{error} does not say: {expected}");
    let folder = tempfile::tempdir().unwrap();
    samples::write(&folder.path().join("a.h5"), &rows, &head(), &config(64, 1)).unwrap_err();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn each_law_is_checked() {
    check_law(|r| r.clear(), "no rows");
    check_law(|r| r.ply.truncate(1), "column `ply` has 1 rows");
    check_law(|r| r.policy_prob.truncate(1), "`policy_prob` has");
    check_law(
        |r| *r.policy_end.last_mut().unwrap() += 1,
        "`policy_end` ends at",
    );
    check_law(|r| r.policy_end[1] = r.policy_end[0], "row 1: `policy_end`");
    check_law(|r| r.policy_end[0] = u64::MAX, "row 0: `policy_end`");
    check_law(|r| r.policy_index[0] = 9630, "row 0: `policy_index` 9630");
    // One file to the right of the last file.
    check_law(|r| r.policy_index[0] = 8, "row 0: `policy_index` 8");
    check_law(
        |r| r.policy_prob[0] ^= 0x4000,
        "row 0: `policy_prob` sums to",
    );
    check_law(|r| r.policy_weight[1] = 2, "row 1: `policy_prob` sums to");
    check_law(|r| r.search_wdl[2] = [0.5, 0.6, 0.1], "row 2: `search_wdl`");
    check_law(
        |r| r.search_wdl[2] = [f32::NAN, 0.0, 1.0],
        "row 2: `search_wdl`",
    );
    check_law(|r| r.outcome[1] = 3, "row 1: `outcome` 3");
    check_law(
        |r| r.records[0][3] = 16,
        "row 0: `records` has 16 on square 3",
    );
    for king in [1 | 128, 4 | 128 | 1 << 4] {
        let expected = format!("row 0: `records` has {king} on square 3");
        check_law(|r| r.records[0][3] = king, &expected);
    }
    check_law(|r| r.records[0][107] = 90, "row 0: `records` byte 107");
    check_law(|r| r.records[0][122] = 90, "row 0: `records` byte 122");
    check_law(
        |r| (r.records[0][3], r.truth[0][3]) = (4 | 128, 1),
        "row 0: `truth` has 1 on square 3",
    );
    check_law(
        |r| (r.records[0][3], r.truth[0][3]) = (4 | 128 | 2 << 4, 2),
        "row 0: `truth` has 2 on square 3",
    );
}

/// Runs the script; `None` where this machine cannot.
fn inspect(args: &[&str]) -> Option<(i32, String)> {
    let ready = Command::new("python3")
        .args(["-c", "import h5py, numpy"])
        .output();
    if !ready.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: python3 with h5py is not installed");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/inspect_samples.py");
    let out = Command::new("python3")
        .arg(script)
        .args(args)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    Some((out.status.code().unwrap(), text))
}

#[test]
fn h5py_reads_a_shard() {
    let folder = tempfile::tempdir().unwrap();
    let path = shard(folder.path());
    let rows = random_rows(1, 5, 20, 30, 60);
    let Some((code, text)) = inspect(&[path.to_str().unwrap(), "--rows", "3"]) else {
        return;
    };
    assert_eq!(code, 0, "{text}");
    // The best move of row 2, as the policy table has it.
    let best = rows
        .policy_range(2)
        .max_by_key(|&e| rows.policy_prob[e])
        .unwrap();
    let index = rows.policy_index[best];
    let (from, to) = selfplay::policy::squares(index).unwrap();
    let name = |s: usize| format!("{}{}", (b'a' + s as u8 % 9) as char, s / 9);
    let best = match index / 90 {
        0..50 => format!("moves: {}{} ", name(from), name(to)),
        50..100 => format!("moves: {}{}~ ", name(from), name(to)),
        plane => format!(
            "moves: {}@{} ",
            b"KABNRCP"[plane as usize - 100] as char,
            name(from)
        ),
    };
    let summary = format!("{} rows of 20 games keep all laws", rows.len());
    for expected in [
        &summary,
        &best,
        "form: xiangqi",
        "records",
        "(64, 128)",
        "gzip 1+shuffle",
        "row 2: game 5",
        "net step",
    ] {
        assert!(text.contains(expected), "{text}\ndoes not say: {expected}");
    }
}

#[test]
fn the_script_refuses_bad_shards() {
    let folder = tempfile::tempdir().unwrap();
    let path = shard(folder.path());
    let name = path.to_str().unwrap();
    let file = hdf5::File::open_rw(&path).unwrap();
    set_version(&file, 0);
    file.close().unwrap();
    let Some((code, text)) = inspect(&[name]) else {
        return;
    };
    assert_eq!(code, 2);
    assert!(text.contains("format version 0"), "{text}");
    shard(folder.path());
    let file = hdf5::File::open_rw(&path).unwrap();
    let n = file.dataset("outcome").unwrap().shape()[0];
    set_column(&file, "outcome", &[n], 7u8);
    file.close().unwrap();
    let (code, text) = inspect(&[name]).unwrap();
    assert!(
        code == 2 && text.contains("`outcome` is not 0, 1 or 2"),
        "{text}"
    );
    std::fs::write(&path, b"nothing").unwrap();
    let (code, text) = inspect(&[name]).unwrap();
    assert!(
        code == 2 && text.contains("cannot be opened") && !text.contains("Traceback"),
        "{text}"
    );
}
