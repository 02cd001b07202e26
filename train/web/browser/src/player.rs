//! What the page asks where no server is, and the answers.
use std::path::Path;

use selfplay::bundle::{Bundle, BundleError, FileKind, MANIFEST};
use selfplay::eval::{Batch, EvalError};
use serde::{Deserialize, Serialize};
use web::facts::{Facts, Strength, StrengthError};
use web::game::{Game, GameError};
use web::load::LoadError;
use web::record;
use web::state::State;
use web::table::{self, Request, Start, Unreadable};
use web::think::{Purpose, Think};

use crate::numbers::{Numbers, Place};

/// What may be asked, JSON.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// To play with a bundle from now on; its manifest stands behind. Answers [`Opened`].
    Open {
        /// Where the manifest is from, for people.
        folder: String,
        /// What the page calls the networks.
        name: String,
    },
    /// Whether a file, whose bytes stand behind, is the bundle's; it is to be used only if it is. Answers `null`.
    Check {
        /// Its name.
        file: String,
    },
    /// What the page is told of the networks. Answers [`web::facts::About`].
    About,
    /// A new game. Answers the state.
    Begin {
        /// Which.
        start: Start,
        /// What chance decides follows from it.
        seed: u64,
    },
    /// Something of the game. Answers [`table::Answer`].
    Ask {
        /// What.
        request: Request,
    },
    /// The whole truth of the game, to go on from later. Answers a [`Start`].
    Keep,
    /// To search from now on, in place of any search before. Answers [`Begun`].
    Search {
        /// What for.
        purpose: Purpose,
        /// How strongly.
        strength: Strength,
        /// Chance in it follows from it.
        seed: u64,
    },
    /// To go on with the search, with the network's answers to the row before if there was one. Answers [`Step`].
    Step {
        /// Whether what was found must do.
        enough: bool,
    },
}

/// Why something is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No request.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The bundle cannot be used.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// The bundle has no network that the browser could run.
    #[error("{0}: it holds no network as ONNX; export it with `--format onnx`")]
    NoNetwork(String),
    /// No bundle yet.
    #[error("no bundle has been opened")]
    NotOpen,
    /// No game yet.
    #[error("there is no game; begin one")]
    NoGame,
    /// The game says no.
    #[error(transparent)]
    Game(#[from] GameError),
    /// No game can be begun so.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No such strength.
    #[error(transparent)]
    Strength(#[from] StrengthError),
    /// What the network answered is none.
    #[error(transparent)]
    Network(#[from] EvalError),
    /// Our fault.
    #[error("the answer cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

/// A bundle was opened.
#[derive(Debug, Serialize)]
pub struct Opened {
    /// Where the numbers of one row stand.
    places: Vec<Place>,
}

/// A search was begun.
#[derive(Debug, Serialize)]
pub struct Begun<'a> {
    /// The file of the network that it asks.
    file: &'a str,
}

/// How a search stands.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Step<T> {
    /// The inputs of a row stand in the numbers, and its outputs are waited for.
    Row {
        /// Always true.
        row: bool,
    },
    /// The search is over: the state behind the engine's move, or the analysis.
    Found {
        /// That.
        found: T,
    },
}

/// A search under way.
#[derive(Debug)]
struct Searching {
    think: Think,
    purpose: Purpose,
    batch: Batch,
    /// Whether the row in `batch` waits for its answer.
    waits: bool,
    /// Whether any row had one.
    evaluated: bool,
    /// Training step of the network.
    step: u64,
}

/// Plays one game with the networks of one bundle.
#[derive(Debug, Default)]
pub struct Player {
    opened: Option<(Bundle, Facts)>,
    game: Option<Game>,
    search: Option<Searching>,
    numbers: Numbers,
}

type Answered = Result<Vec<u8>, Refusal>;

fn json(value: &impl Serialize) -> Answered {
    Ok(serde_json::to_vec(value)?)
}

impl Player {
    /// The answer to `call`, JSON of a [`Call`], with the bytes of the file that it needs: JSON, of a refusal `{"error": WHY}`.
    pub fn answer(&mut self, call: &[u8], file: &[u8]) -> Vec<u8> {
        let answered = table::read(call).map_err(Refusal::from);
        let answered = answered.and_then(|call| self.carry_out(call, file));
        answered.unwrap_or_else(|why| {
            let error = serde_json::json!({ "error": why.to_string() });
            error.to_string().into_bytes()
        })
    }

    /// The numbers of the row that a search waits for.
    pub fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn carry_out(&mut self, call: Call, file: &[u8]) -> Answered {
        match call {
            Call::Open { folder, name } => self.open(folder, name, file),
            Call::Check { file: name } => json(&self.bundle()?.0.check(&name, file)?),
            Call::About => json(&self.bundle()?.1.about()),
            Call::Begin { start, seed } => {
                let facts = &self.bundle()?.1;
                let game = start.game(|name| facts.rules(name), seed)?;
                self.search = None;
                json(&State::of(self.game.insert(game)))
            }
            Call::Ask { request } => json(&table::answer(self.game()?, &request)?),
            Call::Keep => {
                let game = self.game()?;
                json(&Start {
                    form: game.rules().name.to_owned(),
                    people: game.people(),
                    text: Some(record::truth(game)),
                })
            }
            Call::Search {
                purpose,
                strength,
                seed,
            } => self.search(purpose, strength, seed),
            Call::Step { enough } => self.step(enough),
        }
    }

    fn open(&mut self, folder: String, name: String, text: &[u8]) -> Answered {
        let bundle = Bundle::read(Path::new(&folder), text)?;
        let facts = Facts::of(&bundle, name)?;
        if bundle.network(None, FileKind::Onnx).is_none() {
            return Err(Refusal::NoNetwork(format!("{folder}/{MANIFEST}")));
        }
        self.opened = Some((bundle, facts));
        (self.game, self.search) = (None, None);
        let places = Numbers::places();
        json(&Opened { places })
    }

    fn bundle(&self) -> Result<&(Bundle, Facts), Refusal> {
        self.opened.as_ref().ok_or(Refusal::NotOpen)
    }

    fn game(&mut self) -> Result<&mut Game, Refusal> {
        self.game.as_mut().ok_or(Refusal::NoGame)
    }

    fn search(&mut self, purpose: Purpose, strength: Strength, seed: u64) -> Answered {
        let (bundle, facts) = self.opened.as_ref().ok_or(Refusal::NotOpen)?;
        let game = self.game.as_ref().ok_or(Refusal::NoGame)?;
        let order = facts.order(strength, game.rules().name)?;
        let think = Think::begin(game, purpose, &facts.search, order.effort, seed)?;
        let level = order.level.as_ref();
        let network = bundle.network(level, FileKind::Onnx);
        let network = network.ok_or_else(|| Refusal::NoNetwork(facts.name.clone()))?;
        self.search = Some(Searching {
            think,
            purpose,
            batch: Batch::default(),
            waits: false,
            evaluated: false,
            step: level.map_or(facts.step, |level| level.step),
        });
        let file = &network.name;
        json(&Begun { file })
    }

    fn step(&mut self, enough: bool) -> Answered {
        let game = self.game.as_mut().ok_or(Refusal::NoGame)?;
        // Whatever goes wrong ends the search.
        let mut search = self.search.take().ok_or(GameError::Stale)?;
        if !search.think.is_of(game) {
            return Err(GameError::Stale.into());
        }
        if search.waits {
            self.numbers.read(&mut search.batch);
            search.batch.normalise(search.step)?;
            search.think.apply(&search.batch);
            (search.waits, search.evaluated) = (false, true);
        }
        if !(enough && search.evaluated) && search.think.gather(&mut search.batch) {
            search.batch.check()?;
            self.numbers.write(&search.batch);
            search.waits = true;
            self.search = Some(search);
            return json(&Step::<()>::Row { row: true });
        }
        match search.purpose {
            Purpose::Move => {
                search.think.play(game)?;
                let found = State::of(game);
                json(&Step::Found { found })
            }
            Purpose::Analysis => {
                let found = search.think.analysis().ok_or(GameError::Over)?;
                json(&Step::Found { found })
            }
        }
    }
}
