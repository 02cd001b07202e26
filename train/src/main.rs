//! `fanqi`: the command line.
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match train::cli::run(train::cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", train::cli::describe(&error));
            train::cli::exit_code(&error)
        }
    }
}
