//! The game as it was told: where it started, the moves since, and what one player knows of it.
//!
//! A plain move (`h2e2`) is enough where nothing unknown moves. A face-down piece whose kind is not known has to
//! be told as it turns up, `h2e2=R`, or the position after it as a FEN instead, as programs for Jieqi do. What a
//! taken face-down piece was may be told, `h2e2xN`; who may not know it does not learn it, and without it the piece
//! stays among those never seen. `h2e2~` lays down, `R@a0` places in the viewer's own arrangement; of the other
//! side's nothing is told.
use selfplay::game::{Color, Game};
use selfplay::rules::{History, Kind, Move, Position, Ranks, Reveal, Ruleset, Said, Square, View};

use super::command::PositionText;
use super::protocol::quote;

/// A game, as far as it was told.
#[derive(Clone, Debug)]
pub struct Told {
    /// The position where the moves start, with its counters.
    start: String,
    /// What is known of the position now.
    pub view: View,
    /// The moves behind it.
    pub history: History,
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
            plies: Vec::with_capacity(moves.len()),
        };
        for (number, (mv, text)) in moves.iter().zip(&text.moves).enumerate() {
            told.play(mv)
                .map_err(|why| format!("move {} '{}': {why}", number + 1, quote(text)))?;
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
            plies: Vec::new(),
        }
    }

    fn play(&mut self, text: &Said) -> Result<(), String> {
        let position = self.view.position();
        if !position.is_legal(text.mv) {
            let fen = position.fen();
            return Err(format!("is not legal in {fen}"));
        }
        let mut reveals = Vec::new();
        self.view.play(text.mv, &mut self.history);
        self.view.reveals(&mut reveals);
        let reveal = (!reveals.is_empty())
            .then(|| settled(text, &reveals))
            .transpose()?;
        if let Some(reveal) = reveal {
            self.view.reveal(reveal, &mut self.history);
        }
        if let Some(kind) = text
            .reveal
            .mover
            .filter(|_| reveal.is_none_or(|r| r.mover.is_none()))
        {
            let lands = self.view.position().piece_at(text.mv.to());
            if lands.is_none_or(|piece| piece.is_down() || piece.kind != kind) {
                return Err(format!("no {} turned up", kind.letter()));
            }
        }
        self.plies.push((text.mv, reveal));
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
    let who = match viewer(told.turn()) {
        Color::Red => "red",
        Color::Black => "black",
    };
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
        format!("'{quoted}' is no move: expected such as h2e2, h2e2=R, h2e2xN, h2e2~ or R@a0")
    })
}

/// What came to light, of what may have.
fn settled(said: &Said, may: &[(Reveal, u32)]) -> Result<Reveal, String> {
    let kinds = |of: fn(&Reveal) -> Option<Kind>| may.iter().filter_map(move |(r, _)| of(r));
    let list = |of| {
        let mut letters: Vec<_> = kinds(of).map(Kind::letter).collect();
        letters.sort_unstable();
        letters.dedup();
        letters.into_iter().collect::<String>()
    };
    let (movers, takens) = (list(|r| r.mover), list(|r| r.taken));
    let known = |kind: Kind, letters: &str| letters.contains(kind.letter());
    let mover = match said.reveal.mover {
        _ if movers.is_empty() => None,
        Some(kind) if known(kind, &movers) => Some(kind),
        _ => {
            let mv = said.mv;
            return Err(format!(
                "turns up a piece that may be any of {movers}: tell which, such as {mv}={}, or give the \
                 position after it as a FEN",
                &movers[..1]
            ));
        }
    };
    let taken = match said.reveal.taken {
        Some(kind) if !takens.is_empty() && !known(kind, &takens) => {
            let letter = kind.letter();
            return Err(format!(
                "takes a piece that may be any of {takens}, but no {letter}"
            ));
        }
        taken => taken.filter(|_| !takens.is_empty()),
    };
    Ok(Reveal { mover, taken })
}
