//! Folders that are no run directories, and states that are none: refused by name, and left as they are.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use train::atomic;
use train::run_dir::{RunDir, RunFiles, State};

/// Opens a folder that holds one file, and expects an error and the folder untouched.
fn check_refused(name: &str, content: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    let error = RunDir::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains(expected) && error.contains(folder.path().to_str().unwrap()),
        "{error}"
    );
    let names = atomic::names(folder.path()).unwrap();
    assert!(
        names.iter().all(|n| n == name || n == "run.lock"),
        "{names:?}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join(name)).unwrap(),
        content
    );
}

#[test]
fn foreign_folders_and_states_are_refused() {
    let state = serde_json::to_string(&State::new("xiangqi", 1)).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(state.contains(from), "{state}");
        state.replace(from, to)
    };
    check_refused("thesis.tex", "mine", "neither empty nor a run directory");
    check_refused("state.json", "", "not a run's state");
    check_refused("state.json", &state[..state.len() / 2], "not a run's state");
    check_refused("state.json", "{}", "missing field `version`");
    check_refused(
        "state.json",
        &changed("\"version\":2", "\"version\":1"),
        "state of version 1, this build reads 2",
    );
    let not_a_state = |from: &str, to: &str, field: &str| {
        let expected = format!("not a run's state: {field}");
        check_refused("state.json", &changed(from, to), &expected);
    };
    not_a_state("\"games\":0", "\"games\":-1", "selfplay.games: ");
    not_a_state(
        "\"games\":0",
        "\"games\":1",
        "selfplay.games: 1, expected 0,",
    );
    not_a_state("\"draws\"", "\"drawn\"", "selfplay.drawn: unknown field");
    not_a_state("\"step\":0", "\"step\":true", "training.step: ");
    not_a_state("\"used\":0", "\"used\":1e3", "training.bucket.used: ");
    not_a_state("\"working\":false", "\"working\":0", "working: ");
    not_a_state(
        "_seconds\":0.0",
        "_seconds\":-1.0",
        "elapsed_seconds: -1, expected 0..=",
    );
    not_a_state("_seconds\":0.0", "_seconds\":1e300", "elapsed_seconds: 1");
    for field in [
        "commits",
        "next_game_id",
        "held_out",
        "rows_trained",
        "made",
        "used",
    ] {
        let (from, largest) = (format!("\"{field}\":0"), u64::MAX);
        let error = format!(".{field}: {largest}, expected 0..=9007199254740992; put a good copy");
        check_refused(
            "state.json",
            &changed(&from, &format!("\"{field}\":{largest}")),
            &error,
        );
    }
    check_refused(
        "state.json",
        &format!("{state}{state}"),
        "trailing characters",
    );
}

#[test]
fn a_file_in_the_way_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, b"").unwrap();
    for path in [path.clone(), path.join("run")] {
        let error = RunDir::open(&path).unwrap_err().to_string();
        for words in ["file: not a folder", "--run DIR", path.to_str().unwrap()] {
            assert!(error.contains(words), "{error}");
        }
    }
    let error = RunFiles::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("file: not a run directory: it is a file"),
        "{error}"
    );
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
    let error = RunDir::open(&link).unwrap_err().to_string();
    assert!(error.contains("link: not a folder"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Not a test: opens a run that may not be written, when started by one.
#[test]
fn unprivileged() {
    let Ok(path) = std::env::var("FANQI_TEST_UNPRIVILEGED") else {
        return;
    };
    for path in [PathBuf::from(&path), Path::new(&path).join("new/run")] {
        let error = RunDir::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("Permission denied") && error.contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    println!("refused as it should be");
}

#[test]
fn a_folder_without_write_permission_is_refused() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "unprivileged", "--nocapture"])
        .env("FANQI_TEST_UNPRIVILEGED", folder.path());
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        // Root may write anywhere; nobody may not.
        command.uid(65534).gid(65534);
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let out = command.output();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let text = match &out {
        Ok(o) => String::from_utf8_lossy(&[&o.stdout[..], &o.stderr].concat()).into_owned(),
        Err(e) => e.to_string(),
    };
    if !out.is_ok_and(|o| o.status.code().is_some_and(|c| c == 0 || c == 101)) {
        eprintln!("skipped: this program cannot be run by another user here: {text}");
        return;
    }
    assert!(text.contains("refused as it should be"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
