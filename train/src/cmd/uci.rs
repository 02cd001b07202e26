//! `fanqi uci`: a network as an engine for UCI programs.
use play::engine::Protocol;

/// Play as a UCI engine on standard input and output, with the network of a run or a checkpoint.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    engine: super::EngineArgs,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    args.engine.run(Protocol::Uci)
}
