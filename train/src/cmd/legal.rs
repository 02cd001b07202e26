//! `fanqi legal`: the legal moves of a position.
use play::output::print;
use selfplay::rules::Move;

/// Print the legal moves of a position, one a line (coordinates, ranks 0-9).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    start: super::StartArgs,
    /// Read positions from standard input instead, one a line, each as `FEN` or `FEN moves h2e2 h9g7`, and print the
    /// moves of each on a line as it comes.
    #[arg(long, conflicts_with = "fen")]
    lines: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let rules = args.start.rules()?;
    if !args.lines {
        let line = args.start.line(rules)?;
        let legal = super::legal_moves(line.position());
        return Ok(legal.iter().try_for_each(print)?);
    }
    super::each_line(|text| {
        let (mut line, moves) = super::line_and_moves(rules, text)?;
        line.play_all(None, moves.iter().copied(), |_, _| Ok(()))?;
        line.check_told()?;
        let legal = super::legal_moves(line.position());
        let texts: Vec<_> = legal.iter().map(Move::to_string).collect();
        Ok(texts.join(" "))
    })
}
