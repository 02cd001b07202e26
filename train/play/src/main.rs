//! `fanqi-play`: an exported network as an engine, in one file that needs no other.
#![deny(clippy::print_stdout, clippy::print_stderr)]
use std::io::{self, BufRead, Cursor, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use play::bundle::{self, Bundles};
use play::engine::lines::LONGEST;
use play::engine::{Protocol, Session};
use play::output::{self, print};
use selfplay::bundle::MANIFEST;

/// Play with a network that `fanqi export` made, as an engine on standard input and output. It speaks the protocol in which
/// it is greeted: UCCI after `ucci`, else UCI.
#[derive(Debug, Parser)]
#[command(name = "fanqi-play", version)]
struct Args {
    /// Folder of a bundle with the network as ONNX. If missing, that in which this program lies, if it is one; the option
    /// Model can name one later.
    bundle: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(format_args!("error: {}", output::describe(&error)));
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> anyhow::Result<()> {
    let folder = args.bundle.or_else(own_folder);
    let model = folder.as_deref().map(bundle::load).transpose()?;
    let mut input = io::stdin().lock();
    let mut greeting = Vec::new();
    let mut first = input.by_ref().take(LONGEST as u64);
    first
        .read_until(b'\n', &mut greeting)
        .context("standard input")?;
    let say = Arc::new(|line: &str| print(line).is_ok());
    Session::new(Protocol::greeted(&greeting), Box::new(Bundles), model, say)
        .run(Cursor::new(greeting).chain(input))
        .context("standard input")
}

/// The folder of this program, if it is a bundle.
fn own_folder() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_owned();
    folder.join(MANIFEST).is_file().then_some(folder)
}
