//! What the page asks of a game, and the answers: JSON in, JSON out, whoever carries it.
use selfplay::rules::Ruleset;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::game::{Game, GameError, People, Rest};
use crate::label::{self, Label};
use crate::load::{self, LoadError};
use crate::state::{Board, State};

/// Why a request is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request cannot be read: {0}")]
pub struct Unreadable(String);

/// A request as JSON.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(text).map_err(|error| Unreadable(error.to_string()))
}

/// A form of the game, for a list to choose from.
#[derive(Clone, Debug, Serialize)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// What people call it.
    pub label: Label,
    /// Whether some piece may be unknown to some player.
    pub hides: bool,
    /// Whether pieces are arranged before the first move.
    pub arranged: bool,
    /// Whether a piece may be laid face down again.
    pub turns_down: bool,
    /// Whether the network was trained in it.
    pub trained: bool,
}

impl Form {
    /// Every form, those of `trained` marked.
    pub fn all(trained: &[&'static Ruleset]) -> Vec<Form> {
        let form = |rules: &&'static Ruleset| Form {
            name: rules.name,
            label: label::form(rules.name),
            hides: rules.hides(),
            arranged: rules.arranged(),
            turns_down: rules.turns_down,
            trained: trained.iter().any(|known| known.name == rules.name),
        };
        Ruleset::all().iter().map(form).collect()
    }
}

/// A game to be begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Name of the form; a record that names its own has that one.
    pub form: String,
    /// Which sides people play.
    pub people: People,
    /// A FEN or a record to go on from; the form's start if missing.
    #[serde(default)]
    pub text: Option<String>,
}

impl Start {
    /// The game. `rules` gives the rules of a form by its name; what chance decides follows from `seed`.
    pub fn game(
        &self,
        rules: impl Fn(&str) -> Option<&'static Ruleset>,
        seed: u64,
    ) -> Result<Game, LoadError> {
        let known = |name: &str| rules(name).ok_or_else(|| LoadError::Form(name.to_owned()));
        match self.text.as_deref().filter(|text| !text.trim().is_empty()) {
            None => Ok(Game::new(known(&self.form)?, self.people, seed)),
            Some(text) => load::game(text, known, &self.form, self.people, seed),
        }
    }
}

/// What the page asks of a game that goes on.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The state.
    State,
    /// To play people's move.
    Play {
        /// In coordinates.
        #[serde(rename = "move")]
        mv: String,
    },
    /// To place the pieces that are left to be arranged.
    Arrange {
        /// How.
        how: Rest,
    },
    /// To take back people's last move.
    Undo,
    /// To resign.
    Resign,
    /// The board behind some plies.
    Look {
        /// How many.
        ply: usize,
    },
    /// The record of the game.
    Record,
}

/// An answer.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The state, behind what was done.
    State(Box<State>),
    /// A board of the past.
    Board(Board),
    /// A record.
    Record {
        /// As PGN.
        record: String,
    },
}

/// Answers a request; a refused one leaves the game as it was.
pub fn answer(game: &mut Game, request: &Request) -> Result<Answer, GameError> {
    match request {
        Request::State => {}
        Request::Play { mv } => game.play(mv)?,
        Request::Arrange { how } => game.arrange(*how)?,
        Request::Undo => game.undo()?,
        Request::Resign => game.resign()?,
        Request::Look { ply } => {
            let world = game.at(*ply)?;
            let viewer = game.viewer();
            return Ok(Answer::Board(Board::of(
                &world,
                &game.plies()[..*ply],
                viewer,
            )));
        }
        Request::Record => {
            let record = crate::record::text(game);
            return Ok(Answer::Record { record });
        }
    }
    Ok(Answer::State(Box::new(State::of(game))))
}
