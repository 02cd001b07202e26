//! `fanqi notate`: moves from one notation to another.
use anyhow::ensure;
use play::line;
use play::output::print;
use selfplay::rules::Notation;

/// Print the moves of a game in another notation, one a line.
///
/// Notations: coordinates (h2e2, ranks 0-9, also called ucci), uci (h3e3, ranks 1-10), iccs (H2-E2), wxf (C2=5),
/// chinese (炮二平五), short (炮25).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    start: super::StartArgs,
    /// Notation of the moves given; if missing, each is read by its looks: squares as `uci` if a rank 10 occurs
    /// among the moves, else as `coordinates`.
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Notation to print.
    #[arg(long, value_name = "NOTATION")]
    to: Notation,
    /// The moves, played one after the other, with or without numbers (`1.`); behind `--` if one begins with a hyphen (-C+2). What an unknown
    /// piece turned out to be follows its move: h0g2=R, 马二进三变车.
    #[arg(required = true)]
    moves: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let mut game = args.start.line(args.start.rules()?)?;
    let mut texts = Vec::new();
    let moves = args.moves.iter().flat_map(|text| line::words(text));
    ensure!(moves.clone().next().is_some(), "MOVES: there is none");
    game.play_all(args.from, moves, |_, played| {
        texts.push(played.text(args.to)?);
        Ok(())
    })?;
    texts.iter().try_for_each(print)?;
    Ok(())
}
