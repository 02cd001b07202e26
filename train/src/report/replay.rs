//! A kept game as the page shows it. Every board is computed here, by the rules core: the page only lays out what
//! it is told.
//!
//! A square's text is empty (nothing stands there), a FEN letter (`R`, face up), or, of a face-down piece, the letter
//! of what it plays as, the letter of what it truly is (`?`: not yet placed) and who knows that: the sum of 1 for Red
//! and 2 for Black. `Pr1` is a rook of Black's in a pawn's place that Red alone knows; the side is told by the case of
//! the first letter.
use std::fmt;

use play::line::{Line, Played};
use selfplay::game::{Color, Ending, Referee, Turn};
use selfplay::rules::{Kind, Move, Notation, Ruleset, Square, World};
use serde::Serialize;
use web::label::{self, Label};

use crate::games::GameText;

const SIDES: [Color; 2] = [Color::Red, Color::Black];

/// A game, ready to be looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// Id within the run.
    pub id: u64,
    /// Name of the form.
    pub form: &'static str,
    /// Whether some player may not know some piece.
    pub hides: bool,
    /// Whether both players know the same.
    pub shared: bool,
    /// `red`, `black` or `draw`.
    pub result: &'static str,
    /// Why it ended.
    pub reason: Label,
    /// Training steps of the first and the last network that played.
    pub steps: [u64; 2],
    /// Who would have resigned, before the ply of that index, had the game not been played on.
    pub would_resign: Option<(&'static str, u16)>,
    /// Index of the first ply behind an arrangement.
    pub first: usize,
    /// `SQUARE:TEXT` of each piece at the start, separated by spaces; the square's index, 0..90.
    pub start: String,
    /// What each player has not seen at the start, see [`Ply::unseen`].
    pub unseen: Option<String>,
    /// The plies, up to where it broke off.
    pub plies: Vec<Ply>,
    /// Why it broke off before its end, if so.
    pub fault: Option<String>,
}

/// A ply, and what is other on the board behind it.
#[derive(Clone, Debug, Serialize)]
pub struct Ply {
    /// 0: Red's; 1: Black's.
    #[serde(rename = "s")]
    pub side: u8,
    /// The move in coordinates, with what came to light.
    #[serde(rename = "t")]
    pub text: String,
    /// The move in Chinese notation.
    #[serde(rename = "n")]
    pub chinese: String,
    /// Index of the square that it leaves, or places on.
    #[serde(rename = "f")]
    pub from: usize,
    /// Index of the square that it reaches, or places on.
    #[serde(rename = "o")]
    pub to: usize,
    /// `SQUARE:TEXT` of the squares that changed.
    #[serde(rename = "c")]
    pub cells: String,
    /// What it took, and who knows that now.
    #[serde(rename = "x", skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// Whether the side to move is in check now.
    #[serde(rename = "k", skip_serializing_if = "std::ops::Not::not")]
    pub check: bool,
    /// Where it changed: how many of each kind (K A B N R C P) have not been seen: by Red of Red's and of Black's, then by
    /// Black; 28 digits.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

/// What stands on a square: the truth, and who knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell {
    color: Color,
    plays_as: Kind,
    down: bool,
    truth: Option<Kind>,
    known: [bool; 2],
}

impl Cell {
    fn of(world: &World, square: Square) -> Option<Cell> {
        let seen = SIDES.map(|viewer| world.position(viewer).piece_at(square));
        let piece = seen[0]?;
        Some(Cell {
            color: piece.color,
            plays_as: piece.kind,
            down: piece.is_down(),
            truth: world.identity(square),
            known: seen.map(|piece| piece.and_then(|p| p.identity()).is_some()),
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cased = |letter: char| match self.color {
            Color::Red => letter,
            Color::Black => letter.to_ascii_lowercase(),
        };
        write!(f, "{}", cased(self.plays_as.letter()))?;
        if self.down {
            let known = u8::from(self.known[0]) + 2 * u8::from(self.known[1]);
            let truth = self.truth.map_or('?', |kind| cased(kind.letter()));
            write!(f, "{truth}{known}")?;
        }
        Ok(())
    }
}

/// Every square's cell, by index.
type Board = Vec<Option<Cell>>;

fn board(world: &World) -> Board {
    Square::all()
        .map(|square| Cell::of(world, square))
        .collect()
}

/// `SQUARE:TEXT` of the squares of `now` that are other than `before`.
fn changes(before: &[Option<Cell>], now: &[Option<Cell>]) -> String {
    let changed = |(square, (old, new)): (usize, (&Option<Cell>, &Option<Cell>))| {
        let text = new.map_or(String::new(), |cell| cell.to_string());
        (old != new).then(|| format!("{square}:{text}"))
    };
    let texts: Vec<_> = (before.iter().zip(now).enumerate())
        .filter_map(changed)
        .collect();
    texts.join(" ")
}

/// What each player has not seen of each side, see [`Ply::unseen`]; `None` where nothing is ever hidden.
fn unseen(world: &World) -> Option<String> {
    let hides = world.position(Color::Red).rules().hides();
    let pools = SIDES.map(|viewer| SIDES.map(|color| world.position(viewer).pool(color)));
    let digits = pools.as_flattened().as_flattened();
    hides.then(|| digits.iter().map(u8::to_string).collect())
}

/// Plays a kept game again; `Err` says why it cannot even begin.
pub fn replay(game: &GameText, rules: &'static Ruleset) -> anyhow::Result<Replay> {
    let mut line = Line::start(rules, Some(&game.start))?;
    let world = truth(&line)?;
    let mut seen = board(world);
    let mut replay = Replay {
        id: game.id,
        form: rules.name,
        hides: rules.hides(),
        shared: rules.open_to_both(),
        result: game.ending.outcome.name(),
        reason: label::reason(game.ending.reason),
        steps: [game.net_step_first, game.net_step_last],
        would_resign: game.would_resign.map(|(color, ply)| (color.name(), ply)),
        first: 0,
        start: changes(&vec![None; seen.len()], &seen),
        unseen: unseen(world),
        plies: Vec::with_capacity(game.moves.len()),
        fault: None,
    };
    let mut known = replay.unseen.clone();
    for (number, text) in game.moves.iter().enumerate() {
        match step(&mut line, text, &mut seen, &mut known) {
            Ok((ply, placed)) => {
                replay.plies.push(ply);
                replay.first += usize::from(placed);
            }
            Err(why) => {
                replay.fault = Some(format!("ply {}: {why:#}", number + 1));
                return Ok(replay);
            }
        }
    }
    replay.fault = contradiction(truth(&line)?, game.ending);
    Ok(replay)
}

/// The game's truth, which a kept game tells.
fn truth(line: &Line) -> anyhow::Result<&World> {
    match line {
        Line::Truth(world) => Ok(world),
        Line::Seen(..) => anyhow::bail!("its start does not tell what lies face down"),
    }
}

/// Plays a move; the ply, and whether it placed a piece.
fn step(
    line: &mut Line,
    text: &str,
    seen: &mut Board,
    known: &mut Option<String>,
) -> anyhow::Result<(Ply, bool)> {
    let side = truth(line)?.decider();
    let played = line.play(Notation::Coordinates, text)?;
    let world = truth(line)?;
    let now = board(world);
    let ply = Ply {
        side: side as u8,
        text: text.to_owned(),
        chinese: played.text(Notation::Chinese)?,
        from: played.mv.from().index(),
        to: played.mv.to().index(),
        cells: changes(seen, &now),
        taken: taken(&played, side, seen).map(|cell| cell.to_string()),
        check: SIDES
            .iter()
            .any(|&viewer| world.position(viewer).in_check()),
        unseen: unseen(world).filter(|text| known.as_ref() != Some(text)),
    };
    if ply.unseen.is_some() {
        known.clone_from(&ply.unseen);
    }
    *seen = now;
    Ok((ply, played.mv.placed().is_some()))
}

/// What `side` took, with who knows it once it is taken.
fn taken(played: &Played, side: Color, board: &[Option<Cell>]) -> Option<Cell> {
    let mv: Move = played.mv;
    let mut cell = board[mv.to().index()].filter(|_| mv.placed().is_none())?;
    let rules = played.before.rules();
    for viewer in SIDES {
        cell.known[viewer as usize] |= rules.sees_captured(Some(viewer), side);
    }
    Some(cell)
}

/// What is wrong with the ending that the game's text tells, where the rules have a word in it.
fn contradiction(world: &World, told: Ending) -> Option<String> {
    match world.turn() {
        Turn::Over(found) if found != told => Some(format!(
            "the rules end it as {} ({}), its text as {} ({})",
            found.outcome.name(),
            found.reason,
            told.outcome.name(),
            told.reason
        )),
        _ => None,
    }
}
