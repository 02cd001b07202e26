//! The game as it was told: where it started, the moves since, and what one player knows of it.
//!
//! A plain move (`h2e2`) is enough where nothing unknown moves. A face-down piece whose kind is not known has to
//! be told as it turns up, `h2e2=R`, or the position after it as a FEN instead, as programs for Jieqi do. So must what a
//! taken face-down piece was, `h2e2xN`, if the viewer sees it; a viewer who may not see it does not learn it, and the piece
//! stays among those never seen. `h2e2~` lays down, `R@a0` places in the viewer's own arrangement; of the other
//! side's nothing is told.
use selfplay::game::{Color, Game};
use selfplay::rules::{History, Move, Position, Ranks, Reveal, Ruleset, Said, Square, View};

use super::command::PositionText;
use super::protocol::quote;
use crate::line::{self, Unseen};

/// A game, as far as it was told.
#[derive(Clone, Debug)]
pub struct Told {
    /// The position where the moves start, with its counters.
    start: String,
    /// What is known of the position now.
    pub view: View,
    /// The moves behind it.
    pub history: History,
    /// What was told of pieces that the viewer may not see.
    unseen: Unseen,
    /// The moves since the start, with what came to light.
    plies: Vec<(Move, Option<Reveal>)>,
}

impl Told {
    /// Reads a position. `side`: whose knowledge it is where the text does not say and the players' differ;
    /// `None`: the side whose arrangement the moves make, else the side to move at their end.
    pub fn read(
        rules: &'static Ruleset,
        text: &PositionText,
        ranks: Ranks,
        side: Option<Color>,
    ) -> Result<Told, String> {
        let moves: Vec<_> = (text.moves.iter())
            .map(|text| read(text, ranks))
            .collect::<Result<_, _>>()?;
        let start = start(rules, text.fen.as_deref(), &moves, side)?;
        let mut told = Told {
            start: start.fen(),
            view: View::new(start),
            history: History::default(),
            unseen: Unseen::default(),
            plies: Vec::with_capacity(moves.len()),
        };
        for (number, (&said, text)) in moves.iter().zip(&text.moves).enumerate() {
            told.play(said).map_err(|why| {
                let otherwise = other(ranks).read(text);
                let position = told.view.position();
                let hint = match otherwise.is_some_and(|said| said.check(position).is_ok()) {
                    true => format!("; {}", other_ranks(ranks)),
                    false => String::new(),
                };
                format!("move {} '{}': {why}{hint}", number + 1, quote(text))
            })?;
        }
        Ok(told)
    }

    /// The start of a game.
    pub fn start(rules: &'static Ruleset, side: Option<Color>) -> Told {
        let start = Position::start_for(rules, side.unwrap_or(Color::Red));
        Told {
            start: start.fen(),
            view: View::new(start),
            history: History::default(),
            unseen: Unseen::default(),
            plies: Vec::new(),
        }
    }

    fn play(&mut self, said: Said) -> Result<(), String> {
        let (mv, told) = said.check(self.view.position())?;
        let (view, history) = (&mut self.view, &mut self.history);
        let light = self.unseen.play(view, history, mv, told)?;
        if self.view.position().awaits_reveal() {
            return Err(format!(
                "it {}, or give the position after it as a FEN",
                line::untold(self.view.position(), told)
            ));
        }
        self.plies.push((mv, light));
        Ok(())
    }

    /// The legal moves.
    pub fn legal(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        self.view.legal_moves(&mut moves);
        moves
    }

    /// The plies by which this game goes on from `earlier`, if it does.
    pub fn beyond(&self, earlier: &Told) -> Option<&[(Move, Option<Reveal>)]> {
        let rules = |told: &Told| told.view.position().rules();
        let same = self.start == earlier.start && rules(self) == rules(earlier);
        self.plies.strip_prefix(&earlier.plies[..]).filter(|_| same)
    }

    /// The game without its past.
    pub fn without_history(&self) -> Told {
        Told {
            history: History::default(),
            ..self.clone()
        }
    }
}

/// The position before the first move.
fn start(
    rules: &'static Ruleset,
    fen: Option<&str>,
    moves: &[Said],
    side: Option<Color>,
) -> Result<Position, String> {
    let viewer = |turn: Color| {
        let placing = moves.iter().find(|text| text.mv.placed().is_some());
        let owner = placing.map(|text| owner(text.mv.from()));
        let plies = moves
            .iter()
            .filter(|text| text.mv.placed().is_none())
            .count();
        let mover = if plies % 2 == 0 { turn } else { turn.other() };
        side.or(owner).unwrap_or(mover)
    };
    let Some(fen) = fen else {
        return Ok(Position::start_for(rules, viewer(Color::Red)));
    };
    let told = Position::from_fen(rules, fen).map_err(|error| error.to_string())?;
    if told.viewer().is_some() || rules.open_to_both() {
        return Ok(told);
    }
    // Whoever asks for a move means its own knowledge; what contradicts that is taken as both players'.
    let who = viewer(told.turn()).name();
    Ok(Position::from_fen(rules, &format!("{fen} {who}")).unwrap_or(told))
}

/// Whose half a square lies in.
fn owner(square: Square) -> Color {
    if square.rank() < 5 {
        Color::Red
    } else {
        Color::Black
    }
}

/// Reads `h2e2`, `h2e2=R`, `h2e2xN`, `h2e2=RxN`, `h2e2~`, `h2e2~xN`, `R@a0`.
fn read(text: &str, ranks: Ranks) -> Result<Said, String> {
    ranks.read(text).ok_or_else(|| {
        let quoted = quote(text);
        if other(ranks).read(text).is_some() {
            return format!("'{quoted}' is no move: {}", other_ranks(ranks));
        }
        format!("'{quoted}' is no move: expected such as h2e2, h2e2=R, h2e2xN, h2e2~ or R@a0")
    })
}

fn other(ranks: Ranks) -> Ranks {
    match ranks {
        Ranks::FromZero => Ranks::FromOne,
        Ranks::FromOne => Ranks::FromZero,
    }
}

/// Advice where a move fits the other way to count.
fn other_ranks(ranks: Ranks) -> &'static str {
    match ranks {
        Ranks::FromZero => "ranks are counted from 0 to 9 here (UCI's option UCI_Ranks)",
        Ranks::FromOne => "ranks are counted from 1 to 10 here (UCI's option UCI_Ranks)",
    }
}
