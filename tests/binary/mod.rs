//! Runs the real `fanqi`.
#![allow(dead_code)]
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A file of `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data")
        .join(name)
}

/// The command with arguments, from a folder that is not the project's.
pub fn fanqi<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanqi"));
    command
        .args(args)
        .current_dir(std::env::temp_dir())
        .env_remove("LD_LIBRARY_PATH");
    command.stdin(Stdio::null());
    command
}

/// `fanqi train` of the tiny config in `run`, with keys changed.
pub fn train(run: &Path, sets: &[&str]) -> Command {
    train_config(&data("tiny.toml"), run, sets)
}

/// `fanqi train` of any config.
pub fn train_config(config: &Path, run: &Path, sets: &[&str]) -> Command {
    let mut command = fanqi(["train"]);
    command.arg(config).arg("--run").arg(run);
    sets.iter().for_each(|set| {
        command.args(["--set", set]);
    });
    command
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts success and returns standard output.
pub fn ok(command: &mut Command) -> String {
    let output = command.output().expect("fanqi starts");
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        stderr(&output)
    );
    stdout(&output)
}

/// Asserts exit code 2 and that the error has all of `words`; returns it.
pub fn refused(command: &mut Command, words: &[&str]) -> String {
    let output = command.output().expect("fanqi starts");
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{command:?}:\n{error}");
    for word in words {
        assert!(
            error.contains(word),
            "{command:?}: no {word:?} in:\n{error}"
        );
    }
    error
}

/// Runs `fanqi` where no file may grow beyond `blocks` of 1024 bytes: what a full disk is to a writer.
pub fn limited(blocks: u64, arguments: &[&str]) -> Output {
    let limited = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_fanqi")]);
    command.args(arguments).output().expect("bash")
}

/// Whether `fanqi` ended well with files [`limited`]; otherwise it must have ended in order, with advice.
pub fn with_space(blocks: u64, arguments: &[&str]) -> bool {
    let output = limited(blocks, arguments);
    let error = stderr(&output);
    if output.status.success() {
        return true;
    }
    assert_eq!(output.status.code(), Some(1), "{blocks} blocks: {error}");
    for words in [
        "no space left while ",
        "Free some space and give the same command again",
    ] {
        assert!(error.contains(words), "{blocks} blocks: {error}");
    }
    false
}

/// A process in the background, which does not outlive its test.
pub struct Running(Child);

impl Deref for Running {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended in order.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a command in the background.
pub fn start(command: &mut Command) -> Running {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Running(child.expect("fanqi starts"))
}

/// Sends a process a signal, such as -INT.
pub fn signal(pid: u32, name: &str) {
    // The shell's own kill: the program of that name is missing on a bare Debian.
    let status = Command::new("sh")
        .args(["-c", &format!("kill {name} {pid}")])
        .status()
        .expect("a shell");
    assert!(status.success());
}

/// Waits until `done` holds; fails after a minute.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "still waiting for {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The run's state, if there is any.
pub fn state(run: &Path) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(run.join("state.json")).ok()?;
    Some(serde_json::from_str(&text).expect("state.json is whole"))
}

/// Games that the run has committed.
pub fn games(run: &Path) -> u64 {
    state(run).map_or(0, |state| {
        state["selfplay"]["games"]
            .as_u64()
            .expect("a number of games")
    })
}
