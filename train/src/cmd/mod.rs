//! The subcommands, one file each.
pub mod adjudicate;
pub mod bench;
pub mod inspect;
pub mod legal;
pub mod notate;
pub mod perft;
pub mod records;
pub mod strength;
pub mod train;
pub mod ucci;
pub mod uci;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use selfplay::game::{Color, Referee, Turn};
use selfplay::rules::{Move, Position, Ruleset, World};

use crate::engine::{Model, Protocol, Session};
use crate::forms;
use crate::output::print;

/// The rules that `--form` names.
fn rules(form: &str) -> anyhow::Result<&'static Ruleset> {
    forms::by_name(form).map_err(|why| anyhow!("--form {form}: {why}"))
}

/// Whether a FEN tells the truth behind both players' knowledge.
fn is_world(fen: &str) -> bool {
    fen.trim_end().ends_with(" world")
}

/// The position that `--form` and `--fen` name; of a world what the side to decide knows.
fn position(form: &str, fen: Option<&str>) -> anyhow::Result<Position> {
    let rules = rules(form)?;
    let Some(fen) = fen else {
        return Ok(Position::start(rules));
    };
    let about = || format!("--fen {fen:?}");
    if !is_world(fen) {
        return Position::from_fen(rules, fen).with_context(about);
    }
    let world = World::from_fen(rules, fen).with_context(about)?;
    let decider = match world.turn() {
        Turn::Decision(color) => color,
        Turn::Chance | Turn::Over(_) => Color::Red,
    };
    Ok(*world.position(decider))
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
            .map(|path| Model::load(path, self.step))
            .transpose()?;
        let say = Arc::new(|line: &str| print(line).is_ok());
        Session::new(protocol, model, say)
            .run(std::io::stdin())
            .context("standard input")
    }
}
