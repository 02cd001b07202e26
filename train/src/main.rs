//! `fanqi`: the command line.
#![deny(clippy::print_stdout, clippy::print_stderr)]
use std::process::ExitCode;

use clap::Parser;
use nix::sys::signal::{SigHandler, Signal, signal};
use play::output::{self, OutputError};
use train::cli::{self, Cli};

fn main() -> ExitCode {
    // A write beyond the file size limit then fails as on a full disk, in order; there is nothing to do if this fails.
    // SAFETY: no handler is installed.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    match run() {
        Ok(code) => code,
        Err(error) => match error.downcast_ref::<OutputError>() {
            // Whoever closes the pipe has read what was wanted, as in `fanqi legal | head -1`.
            Some(error) if error.is_closed() => ExitCode::SUCCESS,
            _ => {
                output::note(format_args!("error: {}", output::describe(&error)));
                cli::exit_code(&error)
            }
        },
    }
}

fn run() -> anyhow::Result<ExitCode> {
    match Cli::try_parse() {
        Ok(cli) => cli::run(cli).map(|()| ExitCode::SUCCESS),
        // A wrong argument, or what `--help` and `--version` ask for.
        Err(text) => {
            let printed = text.print();
            if !text.use_stderr() {
                printed.map_err(OutputError)?;
            }
            Ok(ExitCode::from(u8::try_from(text.exit_code()).unwrap_or(2)))
        }
    }
}
