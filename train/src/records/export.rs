//! Kept games as PGN.
use std::io::{self, Write};

use anyhow::Context;
use play::line::Line;
use selfplay::game::{Color, Outcome};
use selfplay::rules::{Notation, Position, Ruleset};

use crate::forms;
use crate::games::GameText;

/// Plies that stand on one line of moves.
const PLIES_PER_LINE: usize = 10;

/// A game's moves, which are in coordinates and start from a position's text, in another notation.
pub fn moves<'a>(
    rules: &'static Ruleset,
    start: &str,
    moves: impl Iterator<Item = &'a str>,
    to: Notation,
) -> anyhow::Result<Vec<String>> {
    let mut line =
        Line::start(rules, Some(start)).with_context(|| format!("its start {start:?}"))?;
    let text = |(ply, text): (usize, &str)| {
        let played = line.play(Notation::Coordinates, text);
        (played.and_then(|p| p.text(to))).with_context(|| format!("ply {}", ply + 1))
    };
    moves.enumerate().map(text).collect()
}

/// Writes a kept game as PGN, its `moves` in the notation `format`.
pub fn write(
    out: &mut impl Write,
    game: &GameText,
    rules: &'static Ruleset,
    (format, moves): (Notation, &[String]),
) -> io::Result<()> {
    let (first, last) = (game.net_step_first, game.net_step_last);
    let player = if first == last {
        format!("fanqi, step {first}")
    } else {
        format!("fanqi, steps {first} to {last}")
    };
    let pgn = Pgn {
        tags: vec![
            ("Event", format!("Self-play of run {}", game.run)),
            ("Round", game.id.to_string()),
            ("Red", player.clone()),
            ("Black", player),
        ],
        outcome: game.ending.outcome,
        termination: &game.ending.reason.to_string(),
        rules,
        start: &game.start,
        format,
        moves,
    };
    pgn.write(out)
}

/// A game to be written as PGN.
pub struct Pgn<'a> {
    /// The tags in front: event, round, players and the like.
    pub tags: Vec<(&'static str, String)>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub termination: &'a str,
    /// The form.
    pub rules: &'static Ruleset,
    /// The position before the first move.
    pub start: &'a str,
    /// Notation of the moves.
    pub format: Notation,
    /// The moves.
    pub moves: &'a [String],
}

impl Pgn<'_> {
    /// Writes tags, a blank line, moves and result, a blank line.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let result = result(self.outcome);
        let mut tag = |name: &str, value: &str| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(out, "[{name} \"{value}\"]")
        };
        tag("Game", "Chinese Chess")?;
        for (name, value) in &self.tags {
            tag(name, value)?;
        }
        tag("Result", result)?;
        tag("Variant", self.rules.name)?;
        let changes = forms::changes(self.rules);
        if !changes.is_empty() {
            tag("Rules", &changes)?;
        }
        tag("Format", format_name(self.format))?;
        tag("Termination", self.termination)?;
        tag("PlyCount", &self.moves.len().to_string())?;
        if self.rules.hides() || self.start != Position::start(self.rules).fen() {
            tag("FEN", self.start)?;
        }
        writeln!(out)?;
        self.write_moves(out)?;
        writeln!(out, "{result}\n")
    }

    fn write_moves(&self, out: &mut impl Write) -> io::Result<()> {
        let start = Line::start(self.rules, Some(self.start));
        let black_first = start.is_ok_and(|line| line.position().turn() == Color::Black);
        for (i, chunk) in self.moves.chunks(PLIES_PER_LINE).enumerate() {
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
        Ok(())
    }
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

/// The result in PGN's words.
pub fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Color::Red) => "1-0",
        Outcome::Win(Color::Black) => "0-1",
        Outcome::Draw => "1/2-1/2",
    }
}
