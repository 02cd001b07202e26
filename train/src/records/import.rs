//! Training rows of recorded games.
use anyhow::{Context, bail};
use play::line::{self, Line};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Outcome, Reason, Referee, Turn};
use selfplay::record::Rows;
use selfplay::rules::{Move, Notation, Ruleset, World};
use selfplay::worker::{Notes, Source};

use super::{RecordedGame, export};
use crate::forms;

/// What became of a game.
#[derive(Debug)]
pub struct Imported {
    /// One a ply and viewer; the move played is the policy's target, the result the value's.
    pub rows: Rows,
    /// Plies that they tell of.
    pub plies: usize,
    /// Why the plies that follow could not be used, if any do.
    pub cut: Option<anyhow::Error>,
    /// What the record tells of the result, if the last position refutes it.
    pub refuted: Option<String>,
}

/// Why a game was not meant to be imported so, as all games like it: of another form, for one. Reads on after "is not
/// used:".
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotMeant(pub String);

/// The rows of a game, up to its first move that cannot be; an error if there are none, [`NotMeant`] where it says
/// that it is for others.
///
/// `from`: the notation of its moves; `None`: each is read by its looks. `id`: its id in the rows.
pub fn import(
    game: &RecordedGame,
    rules: &'static Ruleset,
    from: Option<Notation>,
    id: u64,
) -> anyhow::Result<Imported> {
    if let Some(fault) = &game.fault {
        bail!("{fault}");
    }
    check_form(game, rules)?;
    if game.moves.is_empty() {
        bail!("it has no moves");
    }
    let fen = game.tag("FEN").filter(|fen| !fen.trim().is_empty());
    let start = Line::start(rules, fen);
    let start = start.with_context(|| format!("its FEN {:?}", fen.unwrap_or_default()))?;
    let Line::Truth(start) = start else {
        let told = match fen {
            Some(_) => "its tag FEN tells what players know, not what lies face down",
            None => "it does not tell what lies face down: it has no tag FEN",
        };
        bail!(
            "{told}; samples of {} need the truth, a FEN that ends in 'world', as `fanqi records export` writes it",
            rules.name
        );
    };
    // A tag Format is often wrong; but by its looks alone h3e3 would be read with ranks from 0.
    let format = game.tag("Format").and_then(|format| format.parse().ok());
    let from = from.or(format.filter(|&format| format == Notation::Uci));
    let mut end = Line::Truth(start.clone());
    let (moves, cut) = replay(&mut end, game, from);
    if let (true, Some(why)) = (moves.is_empty(), &cut) {
        bail!("{why:#}");
    }
    let (outcome, refuted) = outcome(game, &end, cut.is_none())?;
    let rows = rows(*start, &moves, outcome, id, game.moves.len());
    let plies = moves.len();
    Ok(Imported {
        rows,
        plies,
        cut,
        refuted,
    })
}

/// A record says which form it is of, if it does, in the tag Variant; what is changed of its rules, in the tag Rules; and
/// which game, in the tag Game.
fn check_form(game: &RecordedGame, rules: &Ruleset) -> anyhow::Result<()> {
    let known = ["chinese chess", "xiangqi", "象棋", "翻棋", "揭棋", "jieqi"];
    if let Some(name) = game.tag("Game") {
        let lower = name.to_lowercase();
        if !known.iter().any(|known| lower.contains(known)) {
            bail!("its tag Game is {name:?}, expected \"Chinese Chess\"");
        }
    }
    if game.tag("NetStep").is_some() {
        let why = "in the text that a run keeps; `fanqi records export RUN --out FILE` writes PGN";
        return Err(NotMeant(why.into()).into());
    }
    if let Some(name) = game.tag("Variant") {
        if !name.eq_ignore_ascii_case(rules.name) {
            return Err(other_form(name, rules).into());
        }
        // Only who names the form names what is changed of its rules.
        let (told, ours) = (game.tag("Rules").unwrap_or_default(), forms::changes(rules));
        if told != ours {
            bail!("its tag Rules is {told:?}, not {ours:?} (--set ruleset.KEY=VALUE)");
        }
    }
    Ok(())
}

/// A game of the form `name`, while those of the form of `rules` are imported.
fn other_form(name: &str, rules: &Ruleset) -> NotMeant {
    let advice = match forms::by_name(&name.to_lowercase()) {
        Ok(form) => format!("give --form {}", form.name),
        Err(why) => why,
    };
    NotMeant(format!(
        "of the form {name:?}, not {:?}; {advice}",
        rules.name
    ))
}

/// Plays a game's moves up to the first that cannot be.
fn replay(
    line: &mut Line,
    game: &RecordedGame,
    from: Option<Notation>,
) -> (Vec<Move>, Option<anyhow::Error>) {
    let notations = line::notations(from, game.moves.iter().map(|mv| mv.text.as_str()));
    let mut moves = Vec::with_capacity(game.moves.len());
    for (mv, notation) in game.moves.iter().zip(notations) {
        let number = line.position().ply() / 2 + 1;
        let side = match line.position().decider() {
            Color::Red => "Red",
            Color::Black => "Black",
        };
        match line.play(notation, &mv.text) {
            Ok(played) => moves.push(played.mv),
            Err(why) => {
                let about = format!("move {number} of {side} (line {})", mv.line);
                return (moves, Some(why.context(about)));
            }
        }
    }
    (moves, None)
}

/// The outcome, and what the record tells instead if the board refutes it: checkmate and stalemate decide; else what is
/// told does, and where nothing is, the last position of a whole game.
fn outcome(
    game: &RecordedGame,
    end: &Line,
    whole: bool,
) -> anyhow::Result<(Outcome, Option<String>)> {
    let ending = match end.turn() {
        Turn::Over(ending) => Some(ending),
        _ => None,
    };
    let is_mate = |reason| matches!(reason, Reason::Checkmate | Reason::Stalemate);
    match (game.outcome, ending) {
        (Some(told), Some(end)) if is_mate(end.reason) && told != end.outcome => {
            let (told, true_one) = (export::result(told), export::result(end.outcome));
            let why = format!(
                "its result is told as {told}, but the last position is {true_one} ({}), which counts",
                end.reason
            );
            Ok((end.outcome, Some(why)))
        }
        (Some(told), _) => Ok((told, None)),
        (None, Some(end)) if whole || is_mate(end.reason) => Ok((end.outcome, None)),
        _ => bail!("it has no result, and its last position does not decide it"),
    }
}

fn rows(mut world: World, moves: &[Move], outcome: Outcome, game: u64, plies: usize) -> Rows {
    let mut notes = Notes::default();
    // The truth holds no chance: the generator is never asked.
    let mut unused = Pcg64Mcg::seed_from_u64(0);
    for (ply, &mv) in moves.iter().enumerate() {
        let source = Source {
            game,
            net_step: 0,
            ply,
            full: true,
        };
        notes.push_played(&world, (world.decider(), mv), outcome, &source);
        world.apply(mv, &mut unused);
    }
    notes.finish(outcome, plies)
}
