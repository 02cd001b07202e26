//! A game from a text: a FEN, a FEN with moves as UCI has them, or a record with tags; moves in any notation.
//!
//! A page plays the truth, but a text may tell what somebody knows: then what nobody has told is dealt at random, each
//! way that fits what is told as likely.
use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use selfplay::game::Color;
use selfplay::rules::{Kind, Move, Position, Ruleset, Square, World};

use crate::game::{Game, MOST_PLIES, People, Rest, SIDES};
use play::line::{Line, Played, words};

/// Why no game can be begun.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No such form.
    #[error("there is no form '{0}'; known: xiangqi, jieqi, fanqi-1 to fanqi-10")]
    Form(String),
    /// The text cannot be played.
    #[error("{0}")]
    Text(String),
}

/// What a text tells.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    form: Option<String>,
    fen: Option<String>,
    moves: Vec<String>,
}

/// The game that `text` tells, of the form that it names, else of `form`.
pub fn game(
    text: &str,
    rules: impl Fn(&str) -> Result<&'static Ruleset, LoadError>,
    form: &str,
    people: People,
    seed: u64,
) -> Result<Game, LoadError> {
    let told = read(text);
    let rules = rules(told.form.as_deref().unwrap_or(form))?;
    play(rules, &told, people, seed).map_err(|error| LoadError::Text(format!("{error:#}")))
}

/// Takes a text apart.
fn read(text: &str) -> Told {
    let mut told = Told::default();
    let mut moves = String::new();
    for line in text.lines().map(str::trim) {
        if let Some((name, value)) = tag(line) {
            match name.to_ascii_lowercase().as_str() {
                "fen" => told.fen = Some(value.to_owned()),
                "variant" => told.form = Some(value.to_owned()),
                _ => {}
            }
        } else {
            moves = moves + line + "\n";
        }
    }
    let moves = without_asides(&moves);
    let begins = moves.split_whitespace().next();
    if begins.is_some_and(|word| word.matches('/').count() >= 8) {
        let first = moves.trim_start().lines().next().unwrap_or_default();
        let (fen, rest) = first.split_once(" moves ").unwrap_or((first, ""));
        told.fen = Some(fen.to_owned());
        let behind = &moves.trim_start()[first.len()..];
        told.moves = move_words(rest).chain(move_words(behind)).collect();
    } else {
        told.moves = move_words(&moves).collect();
    }
    told
}

/// The name and the value of a tag's line, `[Name "value"]`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, value) = inner.split_once(char::is_whitespace)?;
    Some((name, value.trim().trim_matches('"')))
}

/// A text without `{comments}` and `(variations)`.
fn without_asides(text: &str) -> String {
    let (mut comment, mut depth) = (false, 0_usize);
    let mut aside = |c: char| {
        let inside = comment || depth > 0;
        match c {
            '{' => comment = true,
            '}' => comment = false,
            '(' if !comment => depth += 1,
            ')' if !comment => depth = depth.saturating_sub(1),
            _ => {}
        }
        inside || comment || depth > 0
    };
    text.chars().filter(|&c| !aside(c)).collect()
}

/// The words of a text that are moves: no numbers in front, no result behind.
fn move_words(text: &str) -> impl Iterator<Item = String> + '_ {
    const RESULTS: [&str; 4] = ["*", "1-0", "0-1", "1/2-1/2"];
    let moves = words(text).filter(|word| !RESULTS.contains(word));
    moves.map(str::to_owned)
}

fn play(rules: &'static Ruleset, told: &Told, people: People, seed: u64) -> anyhow::Result<Game> {
    ensure!(
        told.moves.len() <= MOST_PLIES,
        "{} moves; expected at most {MOST_PLIES}",
        told.moves.len()
    );
    let fen = told.fen.as_deref();
    let (placed, moves): (Vec<_>, Vec<_>) =
        (told.moves.iter()).partition(|text| text.as_bytes().get(1) == Some(&b'@'));
    let placed: Vec<Move> = (placed.iter())
        .map(|text| Ok(text.parse::<Move>()?))
        .collect::<anyhow::Result<_>>()?;
    if !placed.is_empty() && (moves.is_empty() || fen.is_some_and(World::is_fen)) {
        return in_arrangement(rules, fen, &placed, &moves, people, seed);
    }
    let mut line = Line::start(rules, fen)?;
    let start = line.clone();
    let mut played = Vec::with_capacity(moves.len());
    let texts = moves.iter().map(|text| text.as_str());
    line.play_all(None, texts, |_, ply| {
        played.push(ply);
        Ok(())
    })?;
    let world = match start {
        Line::Truth(world) => *world,
        Line::Seen(seen) => {
            let told = identities(&placed, &played);
            truth(rules, seen.position(), &told, seed)?
        }
    };
    let mut game = Game::from_world(world, people, seed);
    go_on(&mut game, played.iter().map(|ply| ply.mv))?;
    Ok(game)
}

/// A game whose text places pieces: of one player, the other side's then being placed at random; or of both.
fn in_arrangement(
    rules: &'static Ruleset,
    fen: Option<&str>,
    placed: &[Move],
    moves: &[&String],
    people: People,
    seed: u64,
) -> anyhow::Result<Game> {
    let mut game = match fen {
        Some(fen) => Game::from_world(World::from_fen(rules, fen)?, people, seed),
        None => Game::new(rules, people, seed),
    };
    for &mv in placed {
        let owner = SIDES[usize::from(mv.from().rank() >= 5)];
        if owner == Color::Black && game.decider() == Some(Color::Red) {
            game.fill(Color::Red, Rest::Random)?;
        }
        go_on(&mut game, [mv])?;
    }
    let mut line = Line::Truth(Box::new(game.world().clone()));
    let mut played = Vec::with_capacity(moves.len());
    let texts = moves.iter().map(|text| text.as_str());
    line.play_all(None, texts, |_, ply| {
        played.push(ply.mv);
        Ok(())
    })?;
    go_on(&mut game, played)?;
    Ok(game)
}

fn go_on(game: &mut Game, moves: impl IntoIterator<Item = Move>) -> anyhow::Result<()> {
    for mv in moves {
        game.apply(mv).with_context(|| format!("'{mv}'"))?;
    }
    Ok(())
}

/// What the pieces are that lay face down at the start, by their squares, as far as placements and moves tell.
fn identities(placed: &[Move], played: &[Played]) -> BTreeMap<Square, Kind> {
    let mut told: BTreeMap<_, _> = (placed.iter())
        .filter_map(|mv| Some((mv.from(), mv.placed()?)))
        .collect();
    // An unknown piece has not moved yet: it lies where it lay at the start.
    for Played { mv, reveal, .. } in played {
        told.extend(reveal.mover.map(|kind| (mv.from(), kind)));
        told.extend(reveal.taken.map(|kind| (mv.to(), kind)));
    }
    told
}

/// A truth behind what `known` tells, with the pieces in `told` where they are and all others at random.
fn truth(
    rules: &'static Ruleset,
    known: &Position,
    told: &BTreeMap<Square, Kind>,
    seed: u64,
) -> anyhow::Result<World> {
    let mut pools = SIDES.map(|color| known.pool(color));
    for (&square, &kind) in told {
        let unknown = known
            .piece_at(square)
            .filter(|piece| piece.identity().is_none());
        if let Some(piece) = unknown {
            let left = &mut pools[piece.color as usize][kind.index()];
            *left = left.checked_sub(1).with_context(|| {
                let letter = kind.letter();
                format!("more pieces {letter} come to light than there are")
            })?;
        }
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut hands = pools.map(|pool| {
        let of = |kind: Kind| std::iter::repeat_n(kind, pool[kind.index()].into());
        let mut hand: Vec<Kind> = Kind::ALL.into_iter().flat_map(of).collect();
        hand.shuffle(&mut rng);
        hand
    });
    let text = world_text(known, told, &mut hands)?;
    Ok(World::from_fen(rules, &text)?)
}

/// The text of a truth: every unknown piece is told, or taken from its side's hand; what is left of the hands was taken
/// unseen.
fn world_text(
    known: &Position,
    told: &BTreeMap<Square, Kind>,
    hands: &mut [Vec<Kind>; 2],
) -> anyhow::Result<String> {
    let fen = known.fen();
    let (board, rest) = fen.split_once(' ').context("a FEN has fields")?;
    let mark = if known.rules().arranged() { '!' } else { '?' };
    // The side that arranges has its own pieces still to place, and Black's come after Red's.
    let open = |color: Color| match known.arranging() {
        None => false,
        Some(Color::Red) => true,
        Some(Color::Black) => color == Color::Black,
    };
    let (mut text, mut file, mut rank) = (String::new(), 0, 9);
    for c in board.chars() {
        match (c, Square::new(file, rank)) {
            ('X' | 'x', Some(square)) => {
                let color = SIDES[usize::from(c == 'x')];
                let drawn = || hands[color as usize].pop();
                if open(color) {
                    text.push(c);
                } else {
                    let kind = told.get(&square).copied().or_else(drawn);
                    let letter = kind.context("more unknown pieces than there are")?.letter();
                    text.push(match color {
                        Color::Red => letter,
                        Color::Black => letter.to_ascii_lowercase(),
                    });
                    text.push(mark);
                }
            }
            _ => text.push(c),
        }
        match c {
            '/' => (file, rank) = (0, rank - 1),
            '~' | '!' => {}
            _ => file += c.to_digit(10).map_or(1, |gap| gap as usize),
        }
    }
    let fields: Vec<_> = rest.split(' ').collect();
    let [side, _pool, no_capture, number, ..] = fields[..] else {
        anyhow::bail!("a view's FEN has four fields behind the board");
    };
    let lost = lost(known, hands);
    Ok(format!("{text} {side} {lost} {no_capture} {number} world"))
}

/// What is left of the hands, as a FEN's pool.
fn lost(known: &Position, hands: &[Vec<Kind>; 2]) -> String {
    let letters = |(color, hand): (Color, &Vec<Kind>)| -> String {
        let cased = |kind: &Kind| match color {
            Color::Red => kind.letter(),
            Color::Black => kind.letter().to_ascii_lowercase(),
        };
        hand.iter().map(cased).collect()
    };
    let text: String = SIDES.into_iter().zip(hands).map(letters).collect();
    match text.is_empty() || known.arranging().is_some() {
        true => "-".to_owned(),
        false => text,
    }
}
