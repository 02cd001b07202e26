//! `fanqi records`: game records in and out.
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use selfplay::record::Rows;
use selfplay::rules::{Notation, Ruleset};

use crate::atomic;
use crate::config::Config;
use crate::forms::{self, Forms};
use crate::games;
use crate::output::{note, print};
use crate::pipeline::load::Look;
use crate::records::games::Games;
use crate::records::{export, import};
use crate::samples::{self, ShardHead};

/// Take games of people and engines in, or write a run's games out.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Import(ImportArgs),
    Export(ExportArgs),
}

/// Make training samples of recorded games: PGN or DhtmlXQ text, in UTF-8, GBK or what else it is in.
///
/// The move played is the policy's target, the game's result the value's. A game that cannot be used is reported and left
/// out; of one with an impossible move the plies before it are used.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Files of games.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Samples to write (HDF5); must not exist. What does not fit goes to NAME-2.h5, NAME-3.h5, …
    #[arg(long)]
    out: PathBuf,
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Notation of the moves, as `fanqi notate` names it; if missing, each is read by its looks.
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Rows at which a file of samples is full; games are not divided.
    #[arg(long, default_value_t = 250_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    file_rows: u64,
}

/// Write the games that a run has kept as PGN. It takes the run's lock, so it is refused while the run is being trained.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Run directory.
    run: PathBuf,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
    /// Notation of the moves, as `fanqi notate` names it.
    #[arg(long, value_name = "NOTATION", default_value = "iccs")]
    to: Notation,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    match args.command {
        Command::Import(args) => run_import(&args),
        Command::Export(args) => run_export(&args),
    }
}

fn run_import(args: &ImportArgs) -> anyhow::Result<()> {
    let rules = forms::by_name(&args.form).map_err(|why| anyhow!("--form {}: {why}", args.form))?;
    let mut sink = Sink::new(args, rules)?;
    let (mut games, mut whole, mut cut) = (0u64, 0u64, 0u64);
    for path in &args.files {
        let mut file = Games::open(path)?;
        while let Some(game) = file.next_game()? {
            games += 1;
            let about = format!(
                "{}: game {} (line {})",
                path.display(),
                game.number,
                game.line
            );
            match import::import(&game, rules, args.from, games) {
                Err(why) => note(format_args!("{about} is not used: {why:#}")),
                Ok(imported) => {
                    sink.push(&imported.rows)?;
                    match imported.cut {
                        None => whole += 1,
                        Some(why) => {
                            cut += 1;
                            let plies = imported.plies;
                            note(format_args!("{about} is used up to ply {plies}: {why:#}"));
                        }
                    }
                }
            }
        }
    }
    let rows = sink.finish()?;
    if rows == 0 {
        bail!("{games} games read, none of which can be used; nothing is written");
    }
    let unused = games - whole - cut;
    print(format_args!(
        "{games} games read: {whole} used whole, {cut} in part, {unused} not; {rows} rows written"
    ))?;
    Ok(())
}

/// Where imported rows go.
struct Sink<'a> {
    args: &'a ImportArgs,
    head: ShardHead,
    config: Config,
    rows: Rows,
    files: usize,
    written: usize,
}

impl<'a> Sink<'a> {
    fn new(args: &'a ImportArgs, rules: &'static Ruleset) -> anyhow::Result<Self> {
        let sets = [format!("ruleset.base=\"{}\"", rules.name)];
        let config = Config::load(None, &sets)?;
        let forms = Forms::of(&config.ruleset).map_err(|why| anyhow!("{why}"))?;
        let head = ShardHead {
            run: "import".into(),
            form: forms.names(),
            ruleset: forms.describe(),
        };
        let sink = Sink {
            args,
            head,
            config,
            rows: Rows::default(),
            files: 0,
            written: 0,
        };
        sink.free_path()?;
        Ok(sink)
    }

    /// The next file's path, where nothing may be yet.
    fn free_path(&self) -> anyhow::Result<PathBuf> {
        let out = &self.args.out;
        let path = match self.files {
            0 => out.clone(),
            n => {
                let stem = out.file_stem().unwrap_or_default().to_string_lossy();
                let end = out.extension().unwrap_or_default().to_string_lossy();
                let dot = if end.is_empty() { "" } else { "." };
                out.with_file_name(format!("{stem}-{}{dot}{end}", n + 1))
            }
        };
        if path.exists() {
            bail!(
                "--out {}: already there; remove it or choose another",
                path.display()
            );
        }
        Ok(path)
    }

    fn push(&mut self, rows: &Rows) -> anyhow::Result<()> {
        self.rows.append(rows);
        if self.rows.len() as u64 >= self.args.file_rows {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let path = self.free_path()?;
        samples::write(&path, &self.rows, &self.head, &self.config.samples)?;
        self.files += 1;
        self.written += self.rows.len();
        self.rows.clear();
        Ok(())
    }

    /// Writes what is left; all rows written.
    fn finish(mut self) -> anyhow::Result<usize> {
        if !self.rows.is_empty() {
            self.write()?;
        }
        Ok(self.written)
    }
}

fn run_export(args: &ExportArgs) -> anyhow::Result<()> {
    let look = Look::at(&args.run, &[])?;
    let kept: Vec<_> = (1..=look.state.selfplay.commits)
        .map(|commit| look.files.games_path(commit))
        .filter(|path| path.exists())
        .collect();
    if kept.is_empty() {
        bail!("{}: the run has kept no games", args.run.display());
    }
    let mut exported = 0;
    let mut failed = None;
    let written = atomic::write(&args.out, |out| {
        for path in &kept {
            match export_file(path, &look.forms, args.to, out) {
                Ok(games) => exported += games,
                Err(why) => {
                    failed = Some(why);
                    return Err(io::Error::other("a game cannot be exported"));
                }
            }
        }
        Ok(())
    });
    if let Some(why) = failed {
        return Err(why);
    }
    written?;
    print(format_args!(
        "{exported} games written to {}",
        args.out.display()
    ))?;
    Ok(())
}

/// Writes the games of one file; how many.
fn export_file(
    path: &Path,
    forms: &Forms,
    to: Notation,
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    let kept = games::read(path)?;
    for game in &kept {
        let rules = forms.rules().find(|rules| rules.name == game.form);
        let about = || format!("{}: game {}", path.display(), game.id);
        let rules =
            rules.with_context(|| format!("{}: the run has no form {}", about(), game.form))?;
        let moves = export::moves(game, rules, to).with_context(about)?;
        export::write(out, game, rules, (to, &moves))?;
    }
    Ok(kept.len())
}
