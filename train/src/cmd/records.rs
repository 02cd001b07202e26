//! `fanqi records`: game records in and out.
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use play::output::{note, print};
use selfplay::record::Rows;
use selfplay::rules::{Notation, Ruleset};

use crate::atomic::{self, FileError};
use crate::config::Config;
use crate::forms::Forms;
use crate::games;
use crate::pipeline::load::Look;
use crate::records::games::Games;
use crate::records::import::{Imported, NotMeant};
use crate::records::{RecordedGame, export, import};
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

/// Make training samples of recorded games: XQF files, and PGN or DhtmlXQ text in UTF-8, GBK or what else it is in.
///
/// The move played is the policy's target, the game's result the value's. A game that cannot be used is reported and left
/// out; of one with an impossible move the plies before it are used. In forms that hide pieces a game must tell the truth
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
}

fn run_import(args: &ImportArgs) -> anyhow::Result<()> {
    // A file that cannot be opened is told before hours go into those that can.
    for path in &args.files {
        fs::File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    }
    let mut sink = Sink::new(args)?;
    let mut tally = Tally::default();
    for path in &args.files {
        let mut file = Games::open(path)?;
        while let Some(game) = file.next_game()? {
            tally.games += 1;
            let imported = import::import(&game, sink.rules, args.from, tally.games);
            if let Some(rows) = tally.count(path, &game, imported) {
                sink.push(&rows)?;
            }
        }
    }
    tally.report_not_meant();
    let (games, rows) = (tally.games, sink.finish()?);
    ensure!(
        games > 0,
        "no game was found in {} file(s); PGN, DhtmlXQ and XQF are read; nothing is written",
        args.files.len()
    );
    ensure!(
        rows > 0,
        "{games} games read, none of which can be used; nothing is written"
    );
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

    /// Says of how many games that were not meant to be imported so.
    fn report_not_meant(&self) {
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
            ..
        } = self;
        let unused = games - whole - in_part;
        write!(
            f,
            "{games} games read: {whole} used whole, {in_part} in part, {unused} not"
        )
    }
}

/// Where imported rows go: files that appear all together, when all is read.
struct Sink<'a> {
    args: &'a ImportArgs,
    rules: &'static Ruleset,
    head: ShardHead,
    config: Config,
    rows: Rows,
    /// Their final names; until then they have temporary ones.
    files: Vec<PathBuf>,
    written: usize,
}

impl<'a> Sink<'a> {
    fn new(args: &'a ImportArgs) -> anyhow::Result<Self> {
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
        let rules = forms.rules().next().unwrap_or(form);
        let head = ShardHead {
            run: "import".into(),
            form: forms.names(),
            ruleset: forms.describe(),
        };
        let sink = Sink {
            args,
            rules,
            head,
            config,
            rows: Rows::default(),
            files: Vec::new(),
            written: 0,
        };
        check_free(&sink.path(0))?;
        check_free(&sink.path(1))?;
        Ok(sink)
    }

    /// Path of the file number `n`, from 0.
    fn path(&self, n: usize) -> PathBuf {
        let out = &self.args.out;
        if n == 0 {
            return out.clone();
        }
        let mut name = out.file_stem().unwrap_or_default().to_os_string();
        name.push(format!("-{}", n + 1));
        if let Some(extension) = out.extension() {
            name.push(".");
            name.push(extension);
        }
        out.with_file_name(name)
    }

    fn push(&mut self, rows: &Rows) -> anyhow::Result<()> {
        self.rows.append(rows);
        if self.rows.len() as u64 >= self.args.file_rows {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let path = self.path(self.files.len());
        check_free(&path)?;
        let temp = atomic::temp_path(&path);
        self.files.push(path);
        samples::write(&temp, &self.rows, &self.head, &self.config.samples)?;
        self.written += self.rows.len();
        self.rows.clear();
        Ok(())
    }

    /// Writes what is left and gives all files their names; all rows written.
    fn finish(mut self) -> anyhow::Result<usize> {
        if !self.rows.is_empty() {
            self.write()?;
        }
        for path in &self.files {
            check_free(path)?;
        }
        for path in std::mem::take(&mut self.files) {
            fs::rename(atomic::temp_path(&path), &path)
                .map_err(|e| FileError::io(&path, "renaming into place", e))?;
        }
        atomic::sync_folder(atomic::folder_of(&self.args.out))?;
        Ok(self.written)
    }
}

impl Drop for Sink<'_> {
    /// What was not finished goes.
    fn drop(&mut self) {
        for path in &self.files {
            let _ = fs::remove_file(atomic::temp_path(path));
        }
    }
}

/// The folder must be there, and nothing in it under that name yet.
fn check_free(out: &Path) -> anyhow::Result<()> {
    let folder = atomic::folder_of(out);
    ensure!(
        folder.is_dir(),
        "--out {}: there is no folder {}; create it, or choose another",
        out.display(),
        folder.display()
    );
    // A link that leads nowhere is something, too.
    ensure!(
        out.symlink_metadata().is_err(),
        "--out {}: already there; remove it or choose another",
        out.display()
    );
    Ok(())
}

fn run_export(args: &ExportArgs) -> anyhow::Result<()> {
    check_free(&args.out)?;
    let look = Look::at(&args.run, &[])?;
    let kept = look.files.kept_games(&look.state)?;
    if kept.is_empty() {
        bail!("{}: the run has kept no games", args.run.display());
    }
    let mut exported = 0;
    let mut failed = None;
    let written = atomic::write(&args.out, |out| {
        for (_, path) in &kept {
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
        let texts = game.moves.iter().map(String::as_str);
        let moves = export::moves(rules, &game.start, texts, to).with_context(about)?;
        export::write(out, game, rules, (to, &moves))?;
    }
    Ok(kept.len())
}
