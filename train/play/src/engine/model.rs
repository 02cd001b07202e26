//! The network that an engine plays with, and where it comes from.
use std::collections::BTreeMap;
use std::path::Path;

use selfplay::bundle::Level;
use selfplay::eval::Evaluator;
use selfplay::mcts::SearchConfig;
use selfplay::rules::Ruleset;

/// A network ready to play.
pub struct Model {
    /// Asked for every position.
    pub evaluator: Box<dyn Evaluator>,
    /// Settings of the search.
    pub search: SearchConfig,
    /// Temperature of a placement of a secret arrangement.
    pub arrangement_temperature: f32,
    /// The forms that it was trained in, with the run's own rules; at least one.
    pub forms: Vec<&'static Ruleset>,
    /// The levels that it can be played at, if there are any.
    pub graded: Option<Graded>,
    /// What people should know of it, a line each.
    pub notes: Vec<String>,
}

impl Model {
    /// The rules of the form of that name, as it was trained, if it was.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        self.forms.iter().find(|rules| rules.name == name).copied()
    }

    /// The names of its forms, separated by commas.
    pub fn form_names(&self) -> String {
        let names: Vec<_> = self.forms.iter().map(|rules| rules.name).collect();
        names.join(",")
    }
}

/// Where an engine finds the networks that the option `Model` names.
pub trait Source {
    /// What a name must be, for people: `a checkpoint or a run directory`.
    fn expects(&self) -> &'static str;
    /// The network of that name, to play as well as it can.
    fn open(&self, path: &Path) -> anyhow::Result<Model>;
}

/// Loads the network of a level, or the one that plays as well as it can; of the [`Model`] that it returns, levels and notes
/// are not looked at.
pub type Load = Box<dyn Fn(Option<&Level>) -> anyhow::Result<Model> + Send>;

/// Levels that can be played, and their networks.
pub struct Graded {
    /// By form, none of them empty: the weakest first.
    levels: BTreeMap<String, Vec<Level>>,
    load: Load,
}

impl Graded {
    /// These levels, those of a form the weakest first; `None` if there is none.
    pub fn new(levels: impl IntoIterator<Item = Level>, load: Load) -> Option<Graded> {
        let mut forms: BTreeMap<String, Vec<Level>> = BTreeMap::new();
        for level in levels {
            forms.entry(level.form.clone()).or_default().push(level);
        }
        (!forms.is_empty()).then_some(Graded {
            levels: forms,
            load,
        })
    }

    /// The levels of a form, the weakest first; empty where there are none.
    pub(super) fn of(&self, form: &str) -> &[Level] {
        self.levels.get(form).map_or(&[], Vec::as_slice)
    }

    /// A level of a form, by its number.
    pub(super) fn level(&self, form: &str, number: u32) -> Result<&Level, String> {
        let all = self.of(form);
        if all.is_empty() {
            let graded: Vec<_> = self.levels.keys().map(String::as_str).collect();
            return Err(format!(
                "there are no levels of {form} (graded: {})",
                graded.join(", ")
            ));
        }
        let found = all.iter().find(|level| level.level == number);
        found.ok_or_else(|| {
            let numbers: Vec<_> = all.iter().map(|level| level.level.to_string()).collect();
            format!(
                "there is no level {number} of {form}; there are {}",
                numbers.join(", ")
            )
        })
    }

    /// The network of a level of these, or at full strength.
    pub(super) fn load(&self, level: Option<&Level>) -> anyhow::Result<Model> {
        (self.load)(level)
    }
}
