//! What plays: networks, the levels that they play at, and how much may be searched at once.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selfplay::bundle::Level;
use selfplay::eval::{Batch, Evaluator};
use selfplay::mcts::SearchConfig;
use selfplay::rules::Ruleset;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::Refusal;
use crate::table::Form;
use crate::think::{Effort, MOST_VISITS, Think};

/// Longest time of a search; then it ends with what it has found.
const LONGEST: Duration = Duration::from_secs(60);
/// Most requests that wait for a search.
const MOST_WAITING: usize = 64;

/// Opens the network of a level, or the one that plays as well as it can.
pub type Open = Box<dyn Fn(Option<&Level>) -> Result<Box<dyn Evaluator>, String> + Send + Sync>;

/// What is known of the networks.
#[derive(Debug)]
pub struct Facts {
    /// What the page calls them, such as the run's name.
    pub name: String,
    /// Training step of the network that plays as well as it can.
    pub step: u64,
    /// The forms that it was trained in, with its own rules.
    pub forms: Vec<&'static Ruleset>,
    /// Levels, and whether their networks are here.
    pub levels: Vec<(Level, bool)>,
    /// Settings of the search.
    pub search: SearchConfig,
    /// Temperature at which placements are drawn.
    pub arrangement_temperature: f32,
}

/// Networks that answer requests.
pub struct Engine {
    facts: Facts,
    open: Open,
    /// Networks that nobody uses now, by the level that they are opened for.
    idle: Mutex<HashMap<Network, Vec<Box<dyn Evaluator>>>>,
    /// Searches at once, one a core.
    searches: Arc<Semaphore>,
    /// Searches at once and those that wait.
    places: Arc<Semaphore>,
}

/// Names a network: the CRC-32C of its checkpoint; empty for the one that plays as well as it can.
type Network = String;

/// How strongly to play: at a level of the form, or at full strength with so many simulations.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// A level's number.
    #[serde(default)]
    pub level: Option<u32>,
    /// Simulations; of no meaning with a level.
    #[serde(default)]
    pub visits: Option<u32>,
}

/// A search to be done.
pub struct Order {
    /// How much.
    pub effort: Effort,
    level: Option<Level>,
}

/// Leave to search, which ends as it is dropped.
pub struct Permit {
    _search: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

/// What the page is told of the networks.
#[derive(Debug, Serialize)]
pub struct About {
    /// What they are called.
    pub name: String,
    /// Training step.
    pub step: u64,
    /// Every form.
    pub forms: Vec<Form>,
    /// Every level.
    pub levels: Vec<LevelAbout>,
    /// Most simulations that may be asked for.
    pub most_visits: u32,
}

/// What the page is told of a level.
#[derive(Debug, Serialize)]
pub struct LevelAbout {
    /// Name of the form.
    pub form: String,
    /// Its number, from 1, the weakest.
    pub level: u32,
    /// Elo, where the built-in player `random` has 0.
    pub elo: f64,
    /// Whether it can be played here.
    pub playable: bool,
}

impl Engine {
    /// What `open` opens, in as many threads as there are cores.
    pub fn new(facts: Facts, open: Open) -> Engine {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Engine {
            facts,
            open,
            idle: Mutex::default(),
            searches: Arc::new(Semaphore::new(cores)),
            places: Arc::new(Semaphore::new(cores + MOST_WAITING)),
        }
    }

    /// What the page is told.
    pub fn about(&self) -> About {
        let level = |(level, playable): &(Level, bool)| LevelAbout {
            form: level.form.clone(),
            level: level.level,
            elo: level.elo,
            playable: *playable,
        };
        About {
            name: self.facts.name.clone(),
            step: self.facts.step,
            forms: Form::all(&self.facts.forms),
            levels: self.facts.levels.iter().map(level).collect(),
            most_visits: MOST_VISITS,
        }
    }

    /// The rules of a form: as it was trained, else as RULES.md has it.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        let own = self.facts.forms.iter().find(|rules| rules.name == name);
        own.copied().or_else(|| Ruleset::by_name(name))
    }

    /// Settings of the search.
    pub fn search(&self) -> &SearchConfig {
        &self.facts.search
    }

    /// The search that plays a form so strongly.
    pub fn order(&self, strength: Strength, form: &str) -> Result<Order, Refusal> {
        let arrangement_temperature = self.facts.arrangement_temperature;
        let Some(number) = strength.level else {
            let visits = strength.visits.unwrap_or(1);
            if !(1..=MOST_VISITS).contains(&visits) {
                return Err(Refusal::Strength(format!(
                    "visits {visits}: expected 1 to {MOST_VISITS}"
                )));
            }
            let effort = Effort {
                visits,
                temperature: 0.0,
                arrangement_temperature,
            };
            return Ok(Order {
                effort,
                level: None,
            });
        };
        let mut levels = self.facts.levels.iter();
        let found = levels.find(|(level, _)| level.form == form && level.level == number);
        match found {
            Some((level, true)) => Ok(Order {
                effort: Effort {
                    visits: level.visits,
                    temperature: level.temperature as f32,
                    arrangement_temperature,
                },
                level: Some(level.clone()),
            }),
            Some((level, false)) => Err(Refusal::Strength(format!(
                "level {number} of {form} is played by the network of step {}, which is not in this bundle",
                level.step
            ))),
            None => Err(Refusal::Strength(format!("{form} has no level {number}"))),
        }
    }

    /// Leave to search, when it is this one's turn.
    pub async fn admit(&self) -> Result<Permit, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Refusal::Busy)?;
        let search = Arc::clone(&self.searches).acquire_owned().await;
        Ok(Permit {
            _search: search.map_err(|_| Refusal::Busy)?,
            _place: place,
        })
    }

    /// Searches to the end, in the calling thread.
    pub fn run(&self, order: &Order, think: &mut Think) -> Result<(), Refusal> {
        let network = (order.level.as_ref()).map_or(String::new(), |level| level.crc32c.clone());
        let idle = self.idle().get_mut(&network).and_then(Vec::pop);
        let mut evaluator = match idle {
            Some(evaluator) => evaluator,
            None => (self.open)(order.level.as_ref()).map_err(Refusal::Failed)?,
        };
        let (begun, mut batch) = (Instant::now(), Batch::default());
        while begun.elapsed() < LONGEST && think.gather(&mut batch) {
            let evaluated = evaluator.evaluate(&mut batch);
            evaluated.map_err(|error| Refusal::Failed(error.to_string()))?;
            think.apply(&batch);
        }
        self.idle().entry(network).or_default().push(evaluator);
        Ok(())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, HashMap<Network, Vec<Box<dyn Evaluator>>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
