//! Kept games as PGN.
use std::io::{self, Write};

use anyhow::Context;
use selfplay::game::{Color, Outcome};
use selfplay::rules::{Notation, Position, Ruleset};

use super::line::{self, Line};
use crate::games::GameText;

/// Plies that stand on one line of moves.
const PLIES_PER_LINE: usize = 10;

/// A game's moves in another notation.
pub fn moves(
    game: &GameText,
    rules: &'static Ruleset,
    to: Notation,
) -> anyhow::Result<Vec<String>> {
    let mut line = Line::start(rules, Some(&game.start))
        .with_context(|| format!("game {}: its start {:?}", game.id, game.start))?;
    let mut texts = Vec::with_capacity(game.moves.len());
    for (ply, text) in game.moves.iter().enumerate() {
        let about = || format!("game {}, ply {}", game.id, ply + 1);
        let played = line.play(Notation::Coordinates, text);
        texts.push(played.and_then(|p| p.text(to)).with_context(about)?);
    }
    Ok(texts)
}

/// Writes a game as PGN: tags, a blank line, `moves` and the result, a blank line.
pub fn write(
    out: &mut impl Write,
    game: &GameText,
    rules: &'static Ruleset,
    (format, moves): (Notation, &[String]),
) -> io::Result<()> {
    let result = result(game.ending.outcome);
    let (first, last) = (game.net_step_first, game.net_step_last);
    let player = if first == last {
        format!("fanqi, step {first}")
    } else {
        format!("fanqi, steps {first} to {last}")
    };
    let mut tag = |name: &str, value: &str| writeln!(out, "[{name} \"{value}\"]");
    tag("Game", "Chinese Chess")?;
    tag("Event", &format!("Self-play of run {}", game.run))?;
    tag("Round", &game.id.to_string())?;
    tag("Red", &player)?;
    tag("Black", &player)?;
    tag("Result", result)?;
    tag("Variant", rules.name)?;
    tag("Format", format_name(format))?;
    tag("Termination", &game.ending.reason.to_string())?;
    tag("PlyCount", &game.moves.len().to_string())?;
    if rules.hides() || game.start != Position::start(rules).fen() {
        tag("FEN", &game.start)?;
    }
    writeln!(out)?;
    let black_first = line::starts_with_black(&game.start);
    for (i, chunk) in moves.chunks(PLIES_PER_LINE).enumerate() {
        let mut words = Vec::with_capacity(2 * PLIES_PER_LINE);
        for (j, text) in chunk.iter().enumerate() {
            let ply = i * PLIES_PER_LINE + j + usize::from(black_first);
            match (ply % 2, i + j) {
                (0, _) => words.push(format!("{}.", ply / 2 + 1)),
                (_, 0) => words.push(format!("{}...", ply / 2 + 1)),
                _ => {}
            }
            words.push(text.clone());
        }
        writeln!(out, "{}", words.join(" "))?;
    }
    writeln!(out, "{result}\n")
}

/// The tag's value, as other programs know it.
fn format_name(notation: Notation) -> &'static str {
    match notation {
        Notation::Iccs => "ICCS",
        Notation::Wxf => "WXF",
        Notation::Chinese => "Chinese",
        Notation::Coordinates | Notation::Uci | Notation::Short => notation.name(),
    }
}

fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Color::Red) => "1-0",
        Outcome::Win(Color::Black) => "0-1",
        Outcome::Draw => "1/2-1/2",
    }
}
