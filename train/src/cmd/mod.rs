//! The subcommands, one file each.
pub mod adjudicate;
pub mod arena;
pub mod bench;
pub mod export;
pub mod grade;
pub mod inspect;
pub mod legal;
pub mod notate;
pub mod perft;
pub mod rate;
pub mod records;
pub mod report;
pub mod serve;
pub mod strength;
pub mod train;
pub mod ucci;
pub mod uci;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, anyhow, ensure};
use play::engine::{Protocol, Session};
use play::line::{self, Line};
use play::output::{note, print};
use selfplay::rules::{Move, Position, Ruleset};

use crate::atomic::FileError;
use crate::cli::Broken;
use crate::engine::{self, Checkpoints};
use crate::forms;

/// The rules that `--form` names.
fn rules(form: &str) -> anyhow::Result<&'static Ruleset> {
    forms::by_name(form).map_err(|why| anyhow!("--form {form}: {why}"))
}

/// The position that moves start from.
#[derive(Clone, Debug, clap::Args)]
struct StartArgs {
    /// Name of the form: xiangqi, jieqi, fanqi-1 to fanqi-10.
    #[arg(long, default_value = "xiangqi")]
    form: String,
    /// Position, as a player or both know it, or the truth (ending in `world`); the start if missing. `startpos red` and
    /// `startpos black` are the start as that player knows it, in arranged forms before the first placement.
    #[arg(long)]
    fen: Option<String>,
}

impl StartArgs {
    /// What is wrong is wrong with this.
    fn about_fen(&self) -> String {
        format!("--fen {}", quoted(self.fen.as_deref().unwrap_or_default()))
    }

    /// The rules of the form.
    fn rules(&self) -> anyhow::Result<&'static Ruleset> {
        rules(&self.form)
    }

    /// The game that starts there, by `rules`.
    fn line(&self, rules: &'static Ruleset) -> anyhow::Result<Line> {
        Line::start(rules, self.fen.as_deref()).with_context(|| self.about_fen())
    }
}

/// The game that starts at the position of a line, and the moves from there: `FEN moves h2e2 h9g7`, as UCI has them, or
/// the FEN alone.
fn line_and_moves<'a>(
    rules: &'static Ruleset,
    text: &'a str,
) -> anyhow::Result<(Line, Vec<&'a str>)> {
    let (fen, moves) = text.split_once(" moves").unwrap_or((text, ""));
    let fen = fen.trim();
    ensure!(
        fen.contains('/') || fen.starts_with("startpos"),
        "{} is no FEN; expected FEN or FEN moves h2e2 h9g7, and {} starts from startpos, that is {}",
        quoted(fen),
        rules.name,
        Position::start(rules).fen()
    );
    Ok((Line::start(rules, Some(fen))?, line::words(moves).collect()))
}

/// As much of a text as a screen has room for, longer than any position.
fn quoted(text: &str) -> String {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Prints the answer to each line of standard input as it comes.
fn each_line(answer: impl Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<()> {
    for (i, line) in std::io::stdin().lines().enumerate() {
        let about = || format!("standard input, line {}", i + 1);
        let line = line.with_context(about)?;
        print(answer(&line).with_context(about)?)?;
    }
    Ok(())
}

/// The legal moves of a position.
fn legal_moves(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

/// What an engine plays with.
#[derive(Debug, clap::Args)]
struct EngineArgs {
    /// Run directory, or a checkpoint; the option Model can name one later. It is only read: the run may be trained
    /// meanwhile.
    model: Option<PathBuf>,
    /// Training step of the run's checkpoint; the newest if missing.
    #[arg(long, requires = "model")]
    step: Option<u64>,
}

impl EngineArgs {
    /// Converses on standard input and output until the end of either.
    fn run(self, protocol: Protocol) -> anyhow::Result<()> {
        let model = (self.model.as_deref())
            .map(|path| engine::load(path, self.step))
            .transpose()?;
        let say = Arc::new(|line: &str| print(line).is_ok());
        Session::new(protocol, Box::new(Checkpoints), model, say)
            .run(std::io::stdin())
            .context("standard input")
    }
}

/// An error through a full disk with advice, which is no fault of the input; any other as it is.
fn broken_if_full(error: anyhow::Error) -> anyhow::Error {
    let file = error.downcast_ref::<FileError>();
    match file.is_some_and(FileError::is_disk_full) {
        true => Broken(format!(
            "{error:#}. Free some space and give the same command again"
        ))
        .into(),
        false => error,
    }
}

/// Set by Ctrl-C or a termination signal, which `says` something; a second one ends the process at once.
fn interrupted(says: &'static str) -> anyhow::Result<Arc<AtomicBool>> {
    /// 128 + SIGINT, as shells report it.
    const KILLED: i32 = 130;
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    ctrlc::set_handler(move || {
        if seen.swap(true, Relaxed) {
            std::process::exit(KILLED);
        }
        note(format_args!("{says}; once more quits at once"));
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
