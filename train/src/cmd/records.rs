//! `fanqi records`: game records in and out.
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, anyhow, bail, ensure};
use play::output::{note, print};
use selfplay::record::Rows;
use selfplay::rules::Notation;

use crate::atomic;
use crate::config::Config;
use crate::forms::Forms;
use crate::pipeline::load::Look;
use crate::records::games::{self, Games};
use crate::records::import::{Imported, NotMeant};
use crate::records::shards::{Shards, check_free};
use crate::records::{RecordedGame, export, import};
use crate::samples::ShardHead;

/// What Ctrl-C says.
const STOPPING: &str = "stopping, nothing is written";

/// Games with a fault of a kind that many may have that are told one by one.
const TOLD: u64 = 10;

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

/// Make training samples of recorded games: XQF files, and PGN or DhtmlXQ text in UTF-8, GBK or what else it is in.
///
/// The move played is the policy's target, the game's result the value's. A game that cannot be used is reported and left
/// out; of one with an impossible move the plies before it are used. Where the last position is checkmate or stalemate, this
/// is the result, whatever the record tells, which is reported. Ctrl-C writes nothing. In forms that hide pieces a game must tell the truth
/// of them: its tag FEN ends in `world`, as `fanqi records export` and `fanqi arena` write it; from what players saw alone
/// no samples can be made.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Files of games.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Samples to write (HDF5); must not exist. What does not fit goes to NAME-2.h5, NAME-3.h5, … All appear when
    /// all is read.
    #[arg(long)]
    out: PathBuf,
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Change one of the form's open rules, for example `--set ruleset.captured_seen_by=both`; may be repeated.
    #[arg(long = "set", value_name = "ruleset.KEY=VALUE")]
    sets: Vec<String>,
    /// Notation of the moves, as `fanqi notate` names it; if missing, each is read by its looks.
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Rows at which a file of samples is full; games are not divided.
    #[arg(long, default_value_t = 250_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    file_rows: u64,
}

/// Write the games that a run has kept as PGN. The run is only read: it may be trained meanwhile.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Run directory.
    run: PathBuf,
    /// File to write; must not exist.
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
    .map_err(super::broken_if_full)
}

fn run_import(args: &ImportArgs) -> anyhow::Result<()> {
    // A file that cannot be read is told before hours go into those that can.
    args.files.iter().try_for_each(|path| games::check(path))?;
    let (config, forms) = rules_of(args)?;
    let rules = forms.rules().next().context("no form")?;
    let head = ShardHead {
        run: "import".into(),
        form: forms.names(),
        ruleset: forms.describe(),
    };
    let file_rows = usize::try_from(args.file_rows)?;
    let stop = super::interrupted(STOPPING)?;
    let mut shards = Shards::begin(&args.out, file_rows, head, config.samples)?;
    let mut tally = Tally::default();
    for path in &args.files {
        let mut file = Games::open(path)?;
        while let Some(game) = file.next_game()? {
            if stop.load(Relaxed) {
                return Ok(());
            }
            tally.games += 1;
            let imported = import::import(&game, rules, args.from, tally.games);
            if let Some(rows) = tally.count(path, &game, imported) {
                shards.push(&rows)?;
            }
        }
    }
    tally.report_not_told();
    let (games, rows) = (tally.games, shards.finish()?);
    if stop.load(Relaxed) {
        return Ok(());
    }
    ensure!(
        games > 0,
        "no game was found in {} file(s); PGN, DhtmlXQ and XQF are read; nothing is written",
        args.files.len()
    );
    ensure!(
        rows > 0,
        "{games} games read, none of which can be used; nothing is written"
    );
    shards.place()?;
    print(format_args!("{tally}; {rows} rows written"))?;
    Ok(())
}

/// What became of the games read.
#[derive(Default)]
struct Tally {
    games: u64,
    whole: u64,
    in_part: u64,
    /// Those that were not meant, by why; told once, not game by game.
    not_meant: BTreeMap<String, u64>,
    /// Those whose result the board refutes.
    refuted: u64,
}

impl Tally {
    /// Counts a game and says what is wrong with it; its rows, if there are any.
    fn count(
        &mut self,
        path: &Path,
        game: &RecordedGame,
        imported: anyhow::Result<Imported>,
    ) -> Option<Rows> {
        let (number, line) = (game.number, game.line);
        let about = format!("{}: game {number} (line {line})", path.display());
        if let Some(line) = game.behind {
            note(format_args!(
                "{about}: the text behind its result (line {line}) is no game and not used"
            ));
        }
        let imported = match imported {
            Ok(imported) => imported,
            Err(why) => {
                match why.downcast::<NotMeant>() {
                    Ok(NotMeant(why)) => *self.not_meant.entry(why).or_default() += 1,
                    Err(why) => note(format_args!("{about} is not used: {why:#}")),
                }
                return None;
            }
        };
        if let Some(why) = imported.refuted {
            self.refuted += 1;
            if self.refuted <= TOLD {
                note(format_args!("{about}: {why}"));
            }
        }
        match imported.cut {
            None => self.whole += 1,
            Some(why) => {
                self.in_part += 1;
                let plies = imported.plies;
                note(format_args!("{about} is used up to ply {plies}: {why:#}"));
            }
        }
        Some(imported.rows)
    }

    /// Says of how many games something is true that was not said of each.
    fn report_not_told(&self) {
        if self.refuted > TOLD {
            let more = self.refuted - TOLD;
            note(format_args!(
                "{more} more games have results that their last positions refute"
            ));
        }
        for (why, games) in &self.not_meant {
            let are = if *games == 1 { "game is" } else { "games are" };
            note(format_args!("{games} {are} not used: {why}"));
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            games,
            whole,
            in_part,
            refuted,
            ..
        } = self;
        let unused = games - whole - in_part;
        write!(
            f,
            "{games} games read: {whole} used whole, {in_part} in part, {unused} not"
        )?;
        match refuted {
            0 => Ok(()),
            _ => write!(f, "; {refuted} with results that the board refutes"),
        }
    }
}

/// What the samples are of.
fn rules_of(args: &ImportArgs) -> anyhow::Result<(Config, Forms)> {
    let form = super::rules(&args.form)?;
    let rule = |set: &&String| {
        let key = set.split_once('=').map_or(set.as_str(), |(key, _)| key);
        let key = key.trim();
        key.starts_with("ruleset.") && !["ruleset.base", "ruleset.forms"].contains(&key)
    };
    if let Some(other) = args.sets.iter().find(|set| !rule(set)) {
        bail!(
            "--set {other}: only the form's open rules can be changed here, such as ruleset.captured_seen_by=both"
        );
    }
    let mut sets = vec![format!("ruleset.base=\"{}\"", form.name)];
    sets.extend_from_slice(&args.sets);
    let config = Config::load(None, &sets)?;
    let forms = Forms::of(&config.ruleset).map_err(|why| anyhow!("{why}"))?;
    Ok((config, forms))
}

fn run_export(args: &ExportArgs) -> anyhow::Result<()> {
    check_free(&args.out)?;
    let stop = super::interrupted(STOPPING)?;
    let look = Look::at(&args.run, &[])?;
    let kept = look.files.kept_games(&look.state)?;
    if kept.is_empty() {
        bail!("{}: the run has kept no games", args.run.display());
    }
    let mut exported = 0;
    let mut failed = None;
    let written = atomic::write(&args.out, |out| {
        for (_, path) in &kept {
            if stop.load(Relaxed) {
                return Err(io::Error::other("stopped"));
            }
            match export_file(path, &look.forms, args.to, out) {
                Ok(games) => exported += games,
                // What the system says is of the file that is written.
                Err(why) => match why.downcast::<io::Error>() {
                    Ok(error) => return Err(error),
                    Err(why) => {
                        failed = Some(why);
                        return Err(io::Error::other("a game cannot be exported"));
                    }
                },
            }
        }
        Ok(())
    });
    if let Some(why) = failed {
        return Err(why);
    }
    if written.is_err() && stop.load(Relaxed) {
        return Ok(());
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
    let kept = crate::games::read(path)?;
    for game in &kept {
        let rules = forms.rules().find(|rules| rules.name == game.form);
        let about = || format!("{}: game {}", path.display(), game.id);
        let rules =
            rules.with_context(|| format!("{}: the run has no form {}", about(), game.form))?;
        let texts = game.moves.iter().map(String::as_str);
        let moves = export::moves(rules, &game.start, texts, to).with_context(about)?;
        export::write(out, game, rules, (to, &moves))?;
    }
    Ok(kept.len())
}
