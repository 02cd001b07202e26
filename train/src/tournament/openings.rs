//! Openings from a file: a position or a line of moves a line.
//!
//! A position is a FEN; where a form hides something, the FEN of a world, which tells the truth. Moves are in any
//! notation of `fanqi notate`, from the start of the form; what is dealt is dealt anew for each line. Empty lines
//! and lines that start with `#` are skipped.
use std::path::Path;

use anyhow::{Context, bail, ensure};
use play::line::Line;
use selfplay::game::{Referee, Turn};
use selfplay::rules::{Notation, Ruleset, World};

use crate::arena::{Opening, deal_rng};
use crate::atomic::FileError;

/// The openings of a file, and what tells the file from others.
pub struct OpeningFile {
    /// At least one.
    pub openings: Vec<Opening>,
    /// Of its bytes.
    pub crc32c: u32,
}

/// Reads a file of openings; `seed` deals.
pub fn read(path: &Path, rules: &'static Ruleset, seed: u64) -> anyhow::Result<OpeningFile> {
    let bytes = std::fs::read(path).map_err(|e| FileError::io(path, "reading", e))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = (text.lines().map(str::trim).enumerate())
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let mut openings = Vec::new();
    for (number, line) in lines {
        let opening = parse(line, rules, seed, openings.len());
        openings.push(opening.with_context(|| format!("{}, line {}", path.display(), number + 1))?);
    }
    ensure!(
        !openings.is_empty(),
        "{}: there is no opening in it",
        path.display()
    );
    Ok(OpeningFile {
        openings,
        crc32c: crc32c::crc32c(&bytes),
    })
}

/// The opening of a line, which becomes pair number `pair`.
pub fn parse(
    line: &str,
    rules: &'static Ruleset,
    seed: u64,
    pair: usize,
) -> anyhow::Result<Opening> {
    let is_fen = line.contains('/');
    let start = match is_fen {
        true => match Line::start(rules, Some(line))? {
            Line::Truth(world) => *world,
            Line::Seen(..) => bail!(
                "in {} a position needs the truth behind what the players know: a FEN that ends in `world`",
                rules.name
            ),
        },
        false => World::start(rules, &mut deal_rng(seed, pair, 0)),
    };
    ensure!(
        is_fen || start.is_public(),
        "in {} the players arrange their pieces before the first move: give a FEN that ends in `world` instead",
        rules.name
    );
    let (mut game, mut moves) = (Line::Truth(Box::new(start.clone())), Vec::new());
    for text in line.split_whitespace().filter(|_| !is_fen) {
        let notation = Notation::recognise(text).with_context(|| format!("'{text}' is no move"))?;
        moves.push(game.play(notation, text)?.mv);
    }
    if let Line::Truth(world) = &game
        && let Turn::Over(ending) = world.turn()
    {
        bail!("the game is over there: {}", ending.reason);
    }
    Ok(Opening {
        start,
        plies: moves.len() as u16,
        moves,
    })
}
