//! `fanqi perft`: counts move sequences.
use std::time::Instant;

use crate::output::{note, print};

/// Count the legal move sequences of a length from a position.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the form.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Position; the start if missing.
    #[arg(long)]
    fen: Option<String>,
    /// Length in plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// Print the count behind each first move too.
    #[arg(long)]
    divide: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let position = super::position(&args.form, args.fen.as_deref())?;
    let start = Instant::now();
    let nodes = if args.divide {
        let mut total = 0;
        for mv in super::legal_moves(&position) {
            let mut next = position;
            next.play(mv);
            let nodes = if args.depth == 1 {
                1
            } else {
                next.perft(args.depth - 1)
            };
            print(format_args!("{mv}: {nodes}"))?;
            total += nodes;
        }
        total
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
