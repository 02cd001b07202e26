//! `fanqi legal`: the legal moves of a position.
use crate::output::print;

/// Print the legal moves of a position, one a line (coordinates, ranks 0-9).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Position, as a player or both know it, or the truth (ending in `world`); the start if missing.
    #[arg(long)]
    fen: Option<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let position = super::position(&args.form, args.fen.as_deref())?;
    for mv in super::legal_moves(&position) {
        print(mv)?;
    }
    Ok(())
}
