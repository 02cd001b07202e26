//! `fanqi report`: a run as one page of HTML.
use std::path::PathBuf;

use play::output::print;

use crate::pipeline::load::Look;
use crate::report;

/// Write a run as one page of HTML: curves, matches, endings, speed, settings, and games to replay on a board.
///
/// The page is a single file that loads nothing. The run is only read: it may be trained meanwhile.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory.
    run: PathBuf,
    /// File to write, RUN/report.html if missing. An earlier report is replaced; any other file is left alone.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Games to replay, at most: some of each ending, the longest, the first and the newest.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=1000))]
    games: u16,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let look = Look::of(&args.run)?;
    let out = args.out.unwrap_or_else(|| look.files.report_path());
    let summary = report::write(&look, args.games.into(), &out)?;
    let faults = match summary.faults {
        0 => String::new(),
        n => format!(", {n} things missing or damaged (see the page)"),
    };
    print(format_args!(
        "{}: {:.1} MB, {} games to replay{faults}",
        out.display(),
        summary.bytes as f64 / 1e6,
        summary.games
    ))?;
    Ok(())
}
