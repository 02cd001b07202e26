//! The run directory: locked, committed step by step, killed anywhere, out of space, foreign.
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use model::checkpoint::{About, FORMAT, KEY, Origin};
use model::config::{NetConfig, OptimKind};
use selfplay::game::{Color, Ending, Outcome, Reason};
use selfplay::record::Rows;
use train::atomic::{self, FileError};
use train::games::{self, GameText};
use train::replay::RowTotals;
use train::run_dir::{Commit, RunDir, State, TrainingState};
use train::samples::{self, SamplesConfig, ShardHead};

mod random_rows;
use random_rows::random_rows;

const VICTIM: &str = "FANQI_TEST_VICTIM";
const GAMES_PER_COMMIT: u64 = 3;

fn head(run: &str) -> ShardHead {
    ShardHead {
        run: run.into(),
        form: "xiangqi".into(),
        ruleset: "rules".into(),
    }
}

fn config() -> SamplesConfig {
    SamplesConfig {
        shard_rows: 1,
        chunk_rows: 64,
        gzip_level: 1,
    }
}

/// What a run has written first: a checkpoint's header, which is all that says whose it is.
fn checkpoint(run: &str) -> Vec<u8> {
    let about = About {
        format: FORMAT,
        step: 0,
        rows: 0,
        net: NetConfig {
            channels: 1,
            blocks: 0,
            pool_every: 0,
            policy_channels: 1,
            value_channels: 1,
            value_hidden: 1,
        },
        optimiser: OptimKind::Sgd,
        torch: String::new(),
        origin: Origin {
            run: run.into(),
            form: "xiangqi".into(),
            ruleset: String::new(),
            config: String::new(),
        },
        crc32c: 0,
    };
    let about = serde_json::to_string(&about).unwrap();
    let header = serde_json::json!({ "__metadata__": { KEY: about } }).to_string();
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes()].concat()
}

fn game(run: &str, id: u64, plies: usize) -> GameText {
    GameText {
        id,
        run: run.into(),
        seed: id.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        form: "xiangqi".into(),
        start: "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1".into(),
        moves: vec!["h2e2".to_string(); plies],
        ending: Ending {
            outcome: Outcome::Win(Color::Red),
            reason: Reason::Checkmate,
        },
        net_step_first: 10,
        net_step_last: 20,
        would_resign: None,
    }
}

/// Adds the next commit's games to `state`.
fn play(state: &mut State) -> (Rows, Vec<GameText>) {
    let (run, s) = (&state.run, &mut state.selfplay);
    let rows = random_rows(s.next_game_id, s.next_game_id, GAMES_PER_COMMIT, 20, 30);
    let played: Vec<_> = (0..GAMES_PER_COMMIT)
        .map(|k| game(run, s.next_game_id + k, 7))
        .collect();
    s.commits += 1;
    s.next_game_id += GAMES_PER_COMMIT;
    played.iter().for_each(|g| s.add_game(g));
    s.rows.training += rows.len() as u64;
    (rows, played)
}

fn commit(run: &RunDir, state: &mut State) -> Result<(), FileError> {
    let (rows, played) = play(&mut state.clone());
    let new = Commit {
        rows: &rows,
        totals: RowTotals {
            training: rows.len() as u64,
            held_out: 0,
        },
        games: &played,
        next_game_id: state.selfplay.next_game_id + GAMES_PER_COMMIT,
    };
    let head = head(&state.run);
    run.commit(state, &new, &head, &config())
}

/// Opens and recovers a run; every committed game must be there once, and nothing else.
fn reopen(path: &Path) -> (RunDir, State, Vec<String>) {
    let (run, state) = RunDir::open(path).unwrap();
    let dropped = run.recover(state.as_ref()).unwrap();
    let state = state.unwrap_or_else(|| State::new("xiangqi", 1));
    let (mut ids, mut rows) = (Vec::new(), 0);
    for n in 1..=state.selfplay.commits {
        ids.extend(
            games::read(&run.games_path(n))
                .unwrap()
                .iter()
                .map(|g| g.id),
        );
        let (_, shard) = samples::read(&run.shard_path(n), Some("xiangqi")).unwrap();
        rows += shard.len() as u64;
        let mut of_shard = shard.game.clone();
        of_shard.dedup();
        assert_eq!(of_shard, ids[ids.len() - GAMES_PER_COMMIT as usize..]);
    }
    assert_eq!(ids, (0..state.selfplay.games).collect::<Vec<_>>());
    assert_eq!(
        state.selfplay.rows,
        RowTotals {
            training: rows,
            held_out: 0
        }
    );
    for (folder, count) in [
        ("samples", state.selfplay.commits),
        ("games", state.selfplay.commits),
    ] {
        assert_eq!(
            atomic::names(&path.join(folder)).unwrap().len() as u64,
            count,
            "{folder}"
        );
    }
    assert!(
        !atomic::names(path)
            .unwrap()
            .iter()
            .any(|n| n.starts_with(atomic::TEMP_PREFIX))
    );
    (run, state, dropped)
}

#[test]
fn a_commit_killed_after_any_step_counts_wholly_or_not_at_all() {
    let half = |path: PathBuf| fs::write(atomic::temp_path(&path), b"half").unwrap();
    // What each step of a commit leaves behind, in order.
    type Step = fn(&RunDir, &State, &Rows, &[GameText], &dyn Fn(PathBuf));
    let steps: [Step; 6] = [
        |run, s, _, _, half| half(run.shard_path(s.selfplay.commits)),
        |run, s, rows, _, _| {
            samples::write(
                &run.shard_path(s.selfplay.commits),
                rows,
                &head(&s.run),
                &config(),
            )
            .unwrap()
        },
        |run, s, _, _, half| half(run.games_path(s.selfplay.commits)),
        |run, s, _, games, _| games::write(&run.games_path(s.selfplay.commits), games).unwrap(),
        |run, _, _, _, half| half(run.path().join("state.json")),
        |run, s, _, _, _| run.write_state(s).unwrap(),
    ];
    let expected_drops: [&[&str]; 7] = [
        &[],
        &["samples/.tmp-000003.h5: unfinished file"],
        &["samples/000003.h5: not committed ("],
        &[
            "games/.tmp-000003.txt: unfinished file",
            "samples/000003.h5: not committed (",
        ],
        &[
            "samples/000003.h5: not committed (",
            "games/000003.txt: not committed (3 games)",
        ],
        &[
            ".tmp-state.json: unfinished file",
            "samples/000003.h5",
            "games/000003.txt",
        ],
        &[],
    ];
    for (done, expected) in expected_drops.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let (run, mut state, _) = reopen(folder.path());
        commit(&run, &mut state).unwrap();
        commit(&run, &mut state).unwrap();
        let mut next = state.clone();
        let (rows, played) = play(&mut next);
        for step in &steps[..done] {
            step(&run, &next, &rows, &played, &half);
        }
        drop(run);
        let (run, mut again, dropped) = reopen(folder.path());
        assert_eq!(again, if done == steps.len() { next } else { state });
        assert_eq!(dropped.len(), expected.len(), "{done}: {dropped:?}");
        for (line, start) in dropped.iter().zip(*expected) {
            assert!(line.starts_with(start), "{done}: {dropped:?}");
        }
        commit(&run, &mut again).unwrap();
        drop(run);
        assert_eq!(reopen(folder.path()).1, again);
    }
}

#[test]
fn checkpoints_beyond_the_state_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut state, _) = reopen(folder.path());
    for step in [100, 200] {
        let training = TrainingState {
            step,
            rows_trained: 10 * step,
            ..TrainingState::default()
        };
        let save = |path: &Path| fs::write(path, b"weights");
        run.commit_checkpoint(&mut state, training.clone(), save)
            .unwrap();
        assert_eq!(state.training, training);
    }
    let failed = |_: &Path| Err(std::io::Error::other("no weights"));
    let training = TrainingState {
        step: 250,
        ..TrainingState::default()
    };
    let error = run
        .commit_checkpoint(&mut state, training, failed)
        .unwrap_err();
    assert!(
        error.to_string().contains("000000250.safetensors"),
        "{error}"
    );
    assert_eq!(state.training.step, 200);
    // Killed between the checkpoint and its commit.
    fs::write(run.checkpoint_path(300), checkpoint(&state.run)).unwrap();
    drop(run);
    let (run, _, dropped) = reopen(folder.path());
    assert_eq!(
        dropped,
        ["checkpoints/000000300.safetensors: not committed"]
    );
    let steps: Vec<u64> = run
        .checkpoints()
        .unwrap()
        .into_iter()
        .map(|(step, _)| step)
        .collect();
    assert_eq!(steps, [100, 200]);
}

#[test]
fn files_of_another_run_are_refused_and_kept() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (folder, commits) in [(&here, 2), (&there, 4)] {
        let (run, mut state, _) = reopen(folder.path());
        (0..commits).for_each(|_| commit(&run, &mut state).unwrap());
        let training = TrainingState {
            step: 100,
            ..TrainingState::default()
        };
        let bytes = checkpoint(&state.run);
        run.commit_checkpoint(&mut state, training, |path| fs::write(path, bytes))
            .unwrap();
    }
    let (from, _) = RunDir::open(there.path()).unwrap();
    let (run, state) = RunDir::open(here.path()).unwrap();
    let recover = || run.recover(state.as_ref());
    assert_eq!(recover().unwrap(), [""; 0]);
    // Instead of a committed file, and with the number of one still to be committed.
    let cases = [
        (from.shard_path(1), run.shard_path(1)),
        (from.shard_path(4), run.shard_path(4)),
        (from.games_path(2), run.games_path(2)),
        (from.games_path(3), run.games_path(3)),
        (from.checkpoint_path(100), run.checkpoint_path(100)),
        (from.checkpoint_path(100), run.checkpoint_path(300)),
    ];
    for (other, place) in cases {
        let (own, foreign) = (fs::read(&place).ok(), fs::read(other).unwrap());
        let refused = |bytes: &[u8], words: &str| {
            fs::write(&place, bytes).unwrap();
            let error = recover().unwrap_err().to_string();
            let name = place.display().to_string();
            let named = error.contains(&name) && error.contains("the run's own");
            assert!(named && error.contains(words), "{error}");
            assert_eq!(fs::read(&place).unwrap(), bytes, "{name}");
        };
        refused(&foreign, "of another run");
        match own {
            Some(bytes) => fs::write(&place, bytes).unwrap(),
            None => {
                refused(b"of an older version, perhaps", "not of this run");
                fs::remove_file(&place).unwrap();
            }
        }
    }
    assert_eq!(recover().unwrap(), [""; 0]);
}

#[test]
fn what_the_trainer_did_not_write_is_never_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut state, _) = reopen(folder.path());
    commit(&run, &mut state).unwrap();
    drop(run);
    // Beside names of a user's own: those of the trainer with one thing changed, and folders of its names.
    let mut files = Vec::new();
    let mut folders = Vec::new();
    let kinds = [
        ("samples", "000007", "h5"),
        ("games", "000007", "txt"),
        ("checkpoints", "000000007", "safetensors"),
        ("strength", "000000007", "txt"),
    ];
    for (place, number, extension) in kinds {
        let exact = format!("{number}.{extension}");
        files.extend(
            [
                "2024.notes".to_string(),
                "7.backup".into(),
                format!("7.{extension}"),
                format!("+{}.{extension}", &number[1..]),
                format!("0{exact}"),
                format!("{exact}.old"),
                format!("{number}.{}", extension.to_uppercase()),
                format!("{number} {extension}"),
                number.to_string(),
                format!("99999999999999999999.{extension}"),
                ".tmp-notes".into(),
                format!(".tmp-7.{extension}"),
                format!(".tmp-{exact}.mine.part"),
                format!(".tmp-{exact}.part"),
            ]
            .map(|name| format!("{place}/{name}")),
        );
        folders.push(format!("{place}/{number}.backup"));
        folders.push(format!("{place}/{exact}"));
        folders.push(format!("{place}/.tmp-{number}.{extension}"));
    }
    files.extend([".tmp-mine", "state.json.old", ".tmp-metrics.jsonl"].map(String::from));
    folders.push(".tmp-state.json".into());
    for name in &folders {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        files.push(format!("{name}/precious"));
    }
    for name in &files {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let (run, found) = RunDir::open(folder.path()).unwrap();
    assert_eq!(run.recover(found.as_ref()).unwrap(), [""; 0]);
    for name in &files {
        let kept = fs::read_to_string(folder.path().join(name));
        assert_eq!(kept.ok().as_ref(), Some(name));
    }
    assert_eq!(run.checkpoints().unwrap(), []);
    assert_eq!(run.shards(&state).unwrap(), [run.shard_path(1)]);
    // What a kill can leave behind goes, and nothing else.
    let unfinished = [
        ".tmp-config.toml",
        "checkpoints/.tmp-000000009.safetensors",
        "checkpoints/.tmp-000000009.safetensors.4711.part",
        "samples/.tmp-000009.h5",
        "games/.tmp-000009.txt",
        "strength/.tmp-000000009.txt",
        "strength/.tmp-000000009.json",
    ];
    for name in unfinished {
        fs::write(folder.path().join(name), "half").unwrap();
    }
    let dropped = run.recover(found.as_ref()).unwrap();
    assert_eq!(
        dropped,
        unfinished.map(|name| format!("{name}: unfinished file"))
    );
    assert!(files.iter().all(|name| folder.path().join(name).is_file()));
}

/// Not a test: commits for ever when started by one, or until the disk is full.
#[test]
fn victim() {
    let Ok(path) = std::env::var(VICTIM) else {
        return;
    };
    let (run, state) = RunDir::open(Path::new(&path)).unwrap();
    run.recover(state.as_ref()).unwrap();
    let mut state = state.unwrap_or_else(|| State::new("xiangqi", 1));
    // As a run does: nothing is committed before there is a state.
    run.write_state(&state).unwrap();
    loop {
        match commit(&run, &mut state) {
            Ok(()) => {}
            Err(e) if e.is_disk_full() => {
                println!("disk full: {e}");
                return;
            }
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn every_committed_game_survives_kills_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut kills_that_dropped, mut committed) = (0, 0);
    for k in 0..15 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim"])
            .env(VICTIM, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60 + 17 * k));
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, state, dropped) = reopen(folder.path());
        assert!(state.selfplay.commits >= committed);
        committed = state.selfplay.commits;
        kills_that_dropped += usize::from(!dropped.is_empty());
    }
    println!("{committed} commits, {kills_that_dropped} of 15 kills dropped something");
}

#[test]
fn a_full_disk_stops_cleanly_and_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut state, _) = reopen(folder.path());
    commit(&run, &mut state).unwrap();
    let before = state.clone();
    for path in [
        run.shard_path(2),
        run.games_path(2),
        folder.path().join("state.json"),
    ] {
        // Writing to /dev/full always fails with ENOSPC.
        std::os::unix::fs::symlink("/dev/full", atomic::temp_path(&path)).unwrap();
        let error = commit(&run, &mut state).unwrap_err();
        assert!(
            error.is_disk_full() && error.to_string().contains("no space left"),
            "{error}"
        );
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
        assert_eq!(state, before);
    }
    commit(&run, &mut state).unwrap();
    drop(run);
    let (_, again, dropped) = reopen(folder.path());
    assert_eq!((again, dropped.len()), (state, 0));
}

#[test]
fn a_file_size_limit_is_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    // The signal that comes with the limit is ignored, so that write() fails instead.
    let exe = std::env::current_exe().unwrap();
    let out = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 4; exec \"$0\" --exact victim --nocapture",
        ])
        .arg(exe)
        .env(VICTIM, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success() && text.contains("disk full: "),
        "{text}"
    );
    let (run, mut state, dropped) = reopen(folder.path());
    assert_eq!(dropped, [""; 0]);
    commit(&run, &mut state).unwrap();
}

#[test]
fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunDir::open(folder.path()).unwrap();
    let error = RunDir::open(folder.path()).unwrap_err().to_string();
    let pid = format!(
        "another process (pid {}) is working on this run",
        std::process::id()
    );
    assert!(
        error.contains(&pid) && error.contains(folder.path().to_str().unwrap()),
        "{error}"
    );
    drop(run);
    RunDir::open(folder.path()).unwrap();
}

/// A checkpoint of the step that the state was read with may be gone when it is opened.
#[test]
fn the_newest_checkpoint_is_asked_for_again_where_the_run_went_on() {
    let folder = tempfile::tempdir().unwrap();
    let (run, _) = RunDir::open(folder.path()).unwrap();
    let mut state = State::new("xiangqi", 1);
    run.write_state(&state).unwrap();
    let tried = RefCell::new(Vec::new());
    let gone = |until: u64| {
        let (run, tried) = (&run, &tried);
        move |now: &State| {
            tried.borrow_mut().push(now.training.step);
            if now.training.step == until {
                return Ok(until);
            }
            let mut next = now.clone();
            next.training.step = (now.training.step + 8).min(24);
            run.write_state(&next).unwrap();
            Err(anyhow::anyhow!("step {} is gone", now.training.step))
        }
    };
    assert_eq!(run.newest(&state, gone(16)).unwrap(), 16);
    assert_eq!(tried.take(), [0, 8, 16]);
    state.training.step = 16;
    let error = run.newest(&state, gone(1)).unwrap_err();
    assert_eq!(error.to_string(), "step 24 is gone");
    assert_eq!(tried.take(), [16, 24]);
}
