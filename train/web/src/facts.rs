//! What the page is told of the networks, and what a strength that it asks for means: which network, how much search.
use selfplay::bundle::{Bundle, BundleError, FileKind, Level};
use selfplay::mcts::SearchConfig;
use selfplay::rules::Ruleset;
use serde::{Deserialize, Serialize};

use crate::table::Form;
use crate::think::{Effort, MOST_VISITS};

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
    /// The level whose network searches; `None`: the one that plays as well as it can.
    pub level: Option<Level>,
}

/// Why there is no such strength.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StrengthError(String);

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

impl Facts {
    /// Those of a bundle with networks as ONNX, which the page calls `name`.
    pub fn of(bundle: &Bundle, name: String) -> Result<Facts, BundleError> {
        let manifest = bundle.manifest();
        let here = |level: &Level| bundle.network(Some(level), FileKind::Onnx).is_some();
        let levels = manifest.levels.iter();
        Ok(Facts {
            name,
            step: manifest.training.step,
            forms: bundle.forms().to_vec(),
            levels: levels.map(|level| (level.clone(), here(level))).collect(),
            search: bundle.search()?,
            arrangement_temperature: manifest.play.arrangement_temperature,
        })
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
            name: self.name.clone(),
            step: self.step,
            forms: Form::all(&self.forms),
            levels: self.levels.iter().map(level).collect(),
            most_visits: MOST_VISITS,
        }
    }

    /// The rules of a form: as it was trained, else as RULES.md has it.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        let own = self.forms.iter().find(|rules| rules.name == name);
        own.copied().or_else(|| Ruleset::by_name(name))
    }

    /// The search that plays a form so strongly.
    pub fn order(&self, strength: Strength, form: &str) -> Result<Order, StrengthError> {
        let arrangement_temperature = self.arrangement_temperature;
        let Some(number) = strength.level else {
            let visits = strength.visits.unwrap_or(1);
            if !(1..=MOST_VISITS).contains(&visits) {
                return Err(StrengthError(format!(
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
        let mut levels = self.levels.iter();
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
            Some((level, false)) => Err(StrengthError(format!(
                "level {number} of {form} is played by the network of step {}, which is not in this bundle",
                level.step
            ))),
            None => Err(StrengthError(format!("{form} has no level {number}"))),
        }
    }
}
