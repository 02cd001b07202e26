//! The command line: one file a subcommand in [`crate::cmd`].
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cmd;

/// Self-play reinforcement learning for Xiangqi (象棋) and its hidden-piece variants.
#[derive(Debug, Parser)]
#[command(name = "fanqi", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(cmd::train::Args),
    Strength(cmd::strength::Args),
    Arena(cmd::arena::Args),
    Rate(cmd::rate::Args),
    Grade(cmd::grade::Args),
    Inspect(cmd::inspect::Args),
    Report(cmd::report::Args),
    Serve(cmd::serve::Args),
    Export(cmd::export::Args),
    Perft(cmd::perft::Args),
    Records(cmd::records::Args),
    Legal(cmd::legal::Args),
    Notate(cmd::notate::Args),
    Adjudicate(cmd::adjudicate::Args),
    Bench(cmd::bench::Args),
    Uci(cmd::uci::Args),
    Ucci(cmd::ucci::Args),
}

/// Runs the chosen subcommand.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Train(args) => cmd::train::run(args),
        Command::Strength(args) => cmd::strength::run(args),
        Command::Arena(args) => cmd::arena::run(args),
        Command::Rate(args) => cmd::rate::run(args),
        Command::Grade(args) => cmd::grade::run(args),
        Command::Inspect(args) => cmd::inspect::run(args),
        Command::Report(args) => cmd::report::run(args),
        Command::Serve(args) => cmd::serve::run(args),
        Command::Export(args) => cmd::export::run(args),
        Command::Perft(args) => cmd::perft::run(args),
        Command::Records(args) => cmd::records::run(args),
        Command::Legal(args) => cmd::legal::run(args),
        Command::Notate(args) => cmd::notate::run(args),
        Command::Adjudicate(args) => cmd::adjudicate::run(args),
        Command::Bench(args) => cmd::bench::run(args),
        Command::Uci(args) => cmd::uci::run(args),
        Command::Ucci(args) => cmd::ucci::run(args),
    }
}

/// A run that broke off through no fault of its input: a full disk, a lost device, a bug.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// 2 for bad input (as clap's own), 1 where a run [`Broken`] off.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.downcast_ref::<Broken>().is_some() {
        1
    } else {
        2
    })
}
