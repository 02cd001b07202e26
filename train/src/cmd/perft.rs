//! `fanqi perft`: counts move sequences.
use std::time::Instant;

use play::output::{note, print};
use selfplay::rules::divide;

/// Count the legal move sequences of a length from a position; a move of an unknown face-down piece counts once
/// for every identity that it may turn out to have.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    start: super::StartArgs,
    /// Length in plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// Print the count behind each first move too.
    #[arg(long)]
    divide: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let line = args.start.line(args.start.rules()?)?;
    let position = line.position();
    let start = Instant::now();
    let nodes = if args.divide {
        let parts = divide(position, args.depth);
        for (mv, nodes) in &parts {
            print(format_args!("{mv}: {nodes}"))?;
        }
        parts.iter().map(|(_, nodes)| nodes).sum()
    } else {
        position.perft(args.depth)
    };
    let seconds = start.elapsed().as_secs_f64();
    print(format_args!("nodes {nodes}"))?;
    note(format_args!(
        "{seconds:.3} s, {:.1} million nodes/s",
        nodes as f64 / seconds / 1e6
    ));
    Ok(())
}
