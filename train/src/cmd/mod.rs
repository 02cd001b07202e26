//! The subcommands, one file each.
pub mod bench;
pub mod legal;
pub mod perft;
pub mod strength;
pub mod train;

use anyhow::{Context, bail};
use selfplay::rules::{Move, Position, Ruleset};

/// The position that `--form` and `--fen` name.
fn position(form: &str, fen: Option<&str>) -> anyhow::Result<Position> {
    let Some(ruleset) = Ruleset::by_name(form) else {
        let names: Vec<_> = Ruleset::all().iter().map(|r| r.name).collect();
        bail!(
            "--form {form}: there is no such form; known: {}",
            names.join(", ")
        );
    };
    match fen {
        None => Ok(Position::start(ruleset)),
        Some(fen) => Position::from_fen(ruleset, fen).with_context(|| format!("--fen {fen:?}")),
    }
}

/// The legal moves of a position.
fn legal_moves(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}
