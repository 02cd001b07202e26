//! The page without a server: the folder that `scripts/web` makes, in a browser; said aloud where something for it is missing.
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;

use web::server::Limits;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Runs a program and returns its status and what it said.
fn run(command: &mut Command) -> (Option<i32>, String) {
    // The libraries of the Rust that runs this test are not those of another one.
    let out = command.env_remove("LD_LIBRARY_PATH").output();
    let Output {
        status,
        stdout,
        stderr,
    } = out.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    (status.code(), text)
}

/// The address of a server of a bundle.
fn serve(bundle: PathBuf) -> SocketAddr {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let engine = web::server::bundle::engine(&bundle).expect("a sound bundle");
        let ready = |address| tell.send(address).expect("the test waits");
        let (address, limits) = (([127, 0, 0, 1], 0), Limits::default());
        web::server::serve(engine, SocketAddr::from(address), limits, ready)
    });
    told.recv().expect("it listens")
}

#[test]
fn a_browser_plays_without_a_server() {
    let script = root().join("scripts/web");
    let (status, text) = run(Command::new(&script).arg("--prepare"));
    if status != Some(0) {
        eprintln!("skipped: {text}");
        return;
    }
    let bundle = root().join("tests/data/bundle");
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    let (status, text) = run(Command::new(&script).arg(&bundle).arg(&site));
    assert_eq!(status, Some(0), "{text}");
    let mut command = Command::new("python3");
    command.arg(root().join("tests/web_static.py")).arg(&site);
    command.arg(format!("http://{}/", serve(bundle)));
    // A folder for screenshots.
    command.args(std::env::var_os("WEB_SHOTS"));
    match run(&mut command) {
        (Some(0), _) => {}
        (Some(77), text) => eprintln!("skipped: {text}"),
        (code, text) => panic!("{code:?}: {text}"),
    }
}
