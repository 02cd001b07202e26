//! Games as text for looking at: header tags in brackets, then the moves in coordinates.
//!
//! ```text
//! [Id "17"]
//! [Run "5f3a90c1d2e4b678"]
//! [Seed "1234567890"]
//! [Form "xiangqi"]
//! [Result "red"]
//! [Reason "checkmate"]
//! [Plies "4"]
//! [NetStep "1000 1200"]
//! [Start "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"]
//! [WouldResign "black 2"]
//!
//! 1: h2e2 h9g7 h0g2 i9h9
//! ```
//!
//! A line of moves starts with the number of its first ply. `WouldResign` stands only in a game that
//! was played out although that side's value had fallen below the resignation threshold at that ply.
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use selfplay::game::{Color, Ending, Outcome, Reason};

use crate::atomic::{self, FileError};

/// Plies that stand on one line.
const PLIES_PER_LINE: usize = 10;

const REASONS: [Reason; 11] = [
    Reason::Checkmate,
    Reason::Stalemate,
    Reason::NaturalLimit,
    Reason::DeadPosition,
    Reason::Repetition,
    Reason::PerpetualCheck,
    Reason::PerpetualChase,
    Reason::PerpetualAttack,
    Reason::Resignation,
    Reason::PlyCap,
    Reason::GameRule,
];

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameText {
    /// Id within the run.
    pub id: u64,
    /// Name of the run.
    pub run: String,
    /// Seed that reproduces it with the same networks.
    pub seed: u64,
    /// Name of the form.
    pub form: String,
    /// Position before the first move, a FEN where the form has one; one line without `"`.
    pub start: String,
    /// Moves in coordinates; no white space within a move.
    pub moves: Vec<String>,
    /// Result and reason.
    pub ending: Ending,
    /// Training step of the first network that played.
    pub net_step_first: u64,
    /// Training step of the last network that played.
    pub net_step_last: u64,
    /// The side and ply that would have resigned had the game not been played out.
    pub would_resign: Option<(Color, u16)>,
}

/// The reason of that name, as [`Reason`] is displayed.
pub fn reason_named(name: &str) -> Option<Reason> {
    REASONS.into_iter().find(|r| r.to_string() == name)
}

/// Writes games, a blank line between two, as a file that appears whole.
pub fn write(path: &Path, games: &[GameText]) -> Result<(), FileError> {
    if let Some(game) = games.iter().find(|g| !is_writable(g)) {
        return Err(FileError::content(
            path,
            format!("game {} has text that cannot be read back", game.id),
        ));
    }
    atomic::write(path, |out| {
        games.iter().try_for_each(|game| write_game(out, game))
    })
}

fn is_writable(game: &GameText) -> bool {
    let plain = |s: &str| !s.contains(['"', '\n', '\r']);
    let token = |m: &String| {
        !m.is_empty()
            && !m.ends_with(':')
            && !m.starts_with('[')
            && !m.contains(char::is_whitespace)
    };
    [&game.start, &game.form, &game.run].map(|s| plain(s)) == [true; 3]
        && game.moves.iter().all(token)
}

fn write_game(out: &mut impl Write, game: &GameText) -> io::Result<()> {
    writeln!(out, "[Id \"{}\"]", game.id)?;
    writeln!(out, "[Run \"{}\"]", game.run)?;
    writeln!(out, "[Seed \"{}\"]", game.seed)?;
    writeln!(out, "[Form \"{}\"]", game.form)?;
    writeln!(out, "[Result \"{}\"]", game.ending.outcome.name())?;
    writeln!(out, "[Reason \"{}\"]", game.ending.reason)?;
    writeln!(out, "[Plies \"{}\"]", game.moves.len())?;
    writeln!(
        out,
        "[NetStep \"{} {}\"]",
        game.net_step_first, game.net_step_last
    )?;
    writeln!(out, "[Start \"{}\"]", game.start)?;
    if let Some((color, ply)) = game.would_resign {
        writeln!(out, "[WouldResign \"{} {ply}\"]", color.name())?;
    }
    writeln!(out)?;
    for (i, line) in game.moves.chunks(PLIES_PER_LINE).enumerate() {
        writeln!(out, "{}: {}", i * PLIES_PER_LINE + 1, line.join(" "))?;
    }
    writeln!(out)
}

/// Reads a file of games.
pub fn read(path: &Path) -> Result<Vec<GameText>, FileError> {
    let text = std::fs::read_to_string(path).map_err(|e| FileError::io(path, "reading", e))?;
    parse(&text).map_err(|e| FileError::content(path, e))
}

/// The run that a file of games names first.
pub fn read_run(path: &Path) -> Result<String, FileError> {
    let file = File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| FileError::io(path, "reading", e))?;
        match line.strip_prefix('[').and_then(parse_tag) {
            Some(("Run", run)) => return Ok(run.to_string()),
            Some(_) => {}
            None => break,
        }
    }
    Err(FileError::content(path, "games without the tag Run"))
}

/// Parses the text of any number of games; the error names the line or the game.
pub fn parse(text: &str) -> Result<Vec<GameText>, String> {
    let mut games = Vec::new();
    let (mut tags, mut moves) = (HashMap::new(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        if let Some(tag) = line.strip_prefix('[') {
            let (name, value) =
                parse_tag(tag).ok_or_else(|| format!("line {}: not a tag: {line}", i + 1))?;
            if name == "Id" && !tags.is_empty() {
                games.push(finish(&tags, std::mem::take(&mut moves))?);
                tags.clear();
            }
            tags.insert(name, value);
        } else {
            moves.extend(
                line.split_whitespace()
                    .filter(|t| !t.ends_with(':'))
                    .map(str::to_string),
            );
        }
    }
    if !tags.is_empty() {
        games.push(finish(&tags, moves)?);
    }
    Ok(games)
}

fn parse_tag(tag: &str) -> Option<(&str, &str)> {
    let (name, value) = tag.strip_suffix("\"]")?.split_once(" \"")?;
    Some((name, value))
}

fn finish(tags: &HashMap<&str, &str>, moves: Vec<String>) -> Result<GameText, String> {
    let id = *tags.get("Id").ok_or("a game without Id")?;
    let bad = |name: &str| format!("game {id}: the tag {name} is missing or wrong");
    let tag = |name: &str| tags.get(name).copied().ok_or_else(|| bad(name));
    let number = |name: &str| tag(name)?.parse::<u64>().map_err(|_| bad(name));
    let pair = |name: &str| tag(name)?.split_once(' ').ok_or_else(|| bad(name));
    let color = |word: &str| {
        [Color::Red, Color::Black]
            .into_iter()
            .find(|&c| c.name() == word)
    };
    let outcome = match tag("Result")? {
        "draw" => Outcome::Draw,
        word => Outcome::Win(color(word).ok_or_else(|| bad("Result"))?),
    };
    let reason = reason_named(tag("Reason")?).ok_or_else(|| bad("Reason"))?;
    if number("Plies")? != moves.len() as u64 {
        return Err(format!(
            "game {id}: {} moves, but Plies says {}",
            moves.len(),
            tag("Plies")?
        ));
    }
    let (first, last) = pair("NetStep")?;
    let step = |s: &str| s.parse::<u64>().map_err(|_| bad("NetStep"));
    let would_resign = match tags.contains_key("WouldResign") {
        false => None,
        true => {
            let (side, ply) = pair("WouldResign")?;
            let ply = ply.parse().map_err(|_| bad("WouldResign"))?;
            Some((color(side).ok_or_else(|| bad("WouldResign"))?, ply))
        }
    };
    Ok(GameText {
        id: number("Id")?,
        run: tag("Run")?.to_string(),
        seed: number("Seed")?,
        form: tag("Form")?.to_string(),
        start: tag("Start")?.to_string(),
        moves,
        ending: Ending { outcome, reason },
        net_step_first: step(first)?,
        net_step_last: step(last)?,
        would_resign,
    })
}
