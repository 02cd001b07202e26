//! `fanqi notate`: moves from one notation to another.
use anyhow::{Context, anyhow};
use selfplay::rules::Notation;

use crate::forms;
use crate::output::print;
use crate::records::line::{self, Line};

/// Print the moves of a game in another notation, one a line.
///
/// Notations: coordinates (h2e2, ranks 0-9, also called ucci), uci (h3e3, ranks 1-10), iccs (H2-E2), wxf (C2=5),
/// chinese (炮二平五), short (炮25).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Position, as a player or both know it, or the truth (ending in `world`); the start if missing.
    #[arg(long)]
    fen: Option<String>,
    /// Notation of the moves given; if missing, each is read by its looks: squares as `uci` if a rank 10 occurs
    /// among the moves, else as `coordinates`.
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Notation to print.
    #[arg(long, value_name = "NOTATION")]
    to: Notation,
    /// The moves, played one after the other; behind `--` if one begins with a hyphen (-C+2). What an unknown
    /// piece turned out to be follows its move: h0g2=R, 马二进三变车.
    #[arg(required = true)]
    moves: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let rules = forms::by_name(&args.form).map_err(|why| anyhow!("--form {}: {why}", args.form))?;
    let fen = args.fen.as_deref();
    let start = Line::start(rules, fen);
    let mut line = start.with_context(|| format!("--fen {:?}", fen.unwrap_or_default()))?;
    let notations = line::notations(args.from, args.moves.iter().map(String::as_str));
    let mut texts = Vec::with_capacity(args.moves.len());
    for (i, (text, notation)) in args.moves.iter().zip(notations).enumerate() {
        let played = line.play(notation, text);
        let played = played.with_context(|| format!("move {}", i + 1))?;
        texts.push(played.text(args.to)?);
    }
    texts.iter().try_for_each(print)?;
    Ok(())
}
