//! A game of a tournament as PGN, and back.
use anyhow::{Context, bail, ensure};
use selfplay::game::{Color, Ending, Outcome};
use selfplay::rules::{Notation, Position, Ranks, Ruleset};

use super::KeptGame;
use crate::arena::{Fault, FaultKind, GameEnd, PlayedGame};
use crate::games::reason_named;
use crate::records::RecordedGame;
use crate::records::export::{self, Pgn};

/// The event's name, by which games of a pair are known: their tag Round is `PAIR.GAME`.
pub const EVENT: &str = "fanqi arena";
/// Of the moves: what most programs read.
const FORMAT: Notation = Notation::Iccs;

/// A game's place in its match, `PAIR.GAME`, both from 1.
pub fn round(game: &PlayedGame) -> String {
    let second = u8::from(game.first == Color::Black);
    format!("{}.{}", game.pair + 1, second + 1)
}

/// The text of a game between two players, the first one's name first.
pub fn text(
    rules: &'static Ruleset,
    [first, second]: [&str; 2],
    game: &PlayedGame,
) -> anyhow::Result<String> {
    let words = game.moves.split_whitespace();
    let moves = export::moves(rules, &game.start, words, FORMAT)?;
    let [red, black] = match game.first {
        Color::Red => [first, second],
        Color::Black => [second, first],
    };
    let mut tags = vec![
        ("Event", EVENT.to_owned()),
        ("Round", round(game)),
        ("Red", red.to_owned()),
        ("Black", black.to_owned()),
        ("OpeningPlies", game.opening_plies.to_string()),
    ];
    if let GameEnd::Failed { fault, .. } = &game.ending {
        tags.push(("Fault", fault.detail.clone()));
    }
    let pgn = Pgn {
        tags,
        outcome: game.ending.outcome(),
        termination: &game.ending.reason(),
        rules,
        start: &game.start,
        format: FORMAT,
        moves: &moves,
    };
    let mut text = Vec::new();
    pgn.write(&mut text)?;
    Ok(String::from_utf8(text)?)
}

/// How many of the bytes of a file of games are whole games.
pub fn whole(bytes: &[u8]) -> usize {
    let end = |outcome| {
        let end = format!("\n{}\n\n", export::result(outcome));
        let mut windows = bytes.windows(end.len());
        let last = windows.rposition(|window| window == end.as_bytes());
        last.map_or(0, |at| at + end.len())
    };
    let outcomes = [
        Outcome::Win(Color::Red),
        Outcome::Win(Color::Black),
        Outcome::Draw,
    ];
    outcomes.into_iter().map(end).max().unwrap_or(0)
}

/// The game that [`text`] wrote, between players of `names`.
pub fn read(
    record: &RecordedGame,
    rules: &'static Ruleset,
    names: &[&str],
) -> anyhow::Result<KeptGame> {
    if let Some(fault) = &record.fault {
        bail!("{fault}");
    }
    let tag = |name: &str| record.tag(name).with_context(|| format!("no tag {name}"));
    let player = |name: &str| {
        let text = tag(name)?;
        let place = names.iter().position(|known| *known == text);
        place.with_context(|| format!("[{name} \"{text}\"] is none of the players"))
    };
    ensure!(
        tag("Variant")? == rules.name,
        "[Variant \"{}\"], expected {}",
        tag("Variant")?,
        rules.name
    );
    let (red, black) = (player("Red")?, player("Black")?);
    ensure!(red != black, "a game of a player with itself");
    let players = [red.min(black), red.max(black)];
    let first = match red < black {
        true => Color::Red,
        false => Color::Black,
    };
    let pair =
        pair(tag("Round")?, first).context("the tag Round is not PAIR.GAME of its colours")?;
    let plies = tag("OpeningPlies")?.parse::<u16>();
    let start = record.tag("FEN").map(str::to_owned);
    let moves: Vec<_> = (record.moves.iter())
        .map(|mv| plain(&mv.text).with_context(|| format!("'{}' is no move", mv.text)))
        .collect::<Result<_, _>>()?;
    let game = PlayedGame {
        pair,
        first,
        start: start.unwrap_or_else(|| Position::start(rules).fen()),
        plies: moves.len() as u32,
        moves: moves.join(" "),
        opening_plies: plies.context("the tag OpeningPlies is no number")?,
        ending: ending(record, tag("Termination")?)?,
    };
    Ok(KeptGame { players, game })
}

/// The pair's number, from 0.
fn pair(round: &str, first: Color) -> Option<u32> {
    let (pair, game) = round.split_once('.')?;
    let second = match game {
        "1" => Color::Red,
        "2" => Color::Black,
        _ => return None,
    };
    pair.parse::<u32>()
        .ok()?
        .checked_sub(1)
        .filter(|_| second == first)
}

/// A move in coordinates, with what it brought to light.
fn plain(text: &str) -> Option<String> {
    let said = Ranks::FromZero.read(text)?;
    Some(format!("{}{}", said.mv, said.reveal))
}

fn ending(record: &RecordedGame, termination: &str) -> anyhow::Result<GameEnd> {
    let outcome = record.outcome.context("no result")?;
    if let Some(reason) = reason_named(termination) {
        return Ok(GameEnd::Ruled(Ending { outcome, reason }));
    }
    let kind = FaultKind::ALL
        .into_iter()
        .find(|kind| kind.to_string() == termination);
    let kind = kind.with_context(|| format!("[Termination \"{termination}\"] is no reason"))?;
    let Outcome::Win(winner) = outcome else {
        bail!("a fault with no winner");
    };
    let detail = record.tag("Fault").unwrap_or_default().to_owned();
    let loser = winner.other();
    let fault = Fault { kind, detail };
    Ok(GameEnd::Failed { loser, fault })
}
