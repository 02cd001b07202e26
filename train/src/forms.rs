//! What a run plays: one form, or several with weights, and what its config changes of their rules.
use std::collections::HashSet;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{CheckDiscount, RepetitionRule, Ruleset, SeenBy, World};
use serde::{Deserialize, Serialize};

/// The `[ruleset]` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetConfig {
    /// Name of the form.
    pub base: String,
    /// `NAME` or `NAME:WEIGHT` of several forms; empty: the base alone.
    pub forms: Vec<String>,
    /// Who sees what a captured unknown piece was.
    pub captured_seen_by: SeenByKey,
    /// Whether a face-down piece roams.
    pub fake_roams: FakeRoamsKey,
    /// Plies without a capture that draw the game; 0: no limit; -1: as the form has it.
    pub no_capture_plies: i16,
    /// Checks a side may give without their being discounted from that limit; -1: none is discounted.
    pub check_discount: i16,
    /// Judgement of a third occurrence.
    pub repetition: RepetitionKey,
}

/// [`RulesetConfig::captured_seen_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeenByKey {
    /// As the form has it.
    Form,
    /// Both players.
    Both,
    /// The player who captured it.
    Captor,
    /// Nobody.
    Nobody,
}

/// [`RulesetConfig::fake_roams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FakeRoamsKey {
    /// As the form has it.
    Form,
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// [`RulesetConfig::repetition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionKey {
    /// As the form has it.
    Form,
    /// A draw.
    Draw,
    /// Perpetual check and perpetual chase lose.
    Wxf,
    /// Any perpetual attack loses.
    Cxa,
}

/// The forms of a run, each with its share of games; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Forms(Vec<(&'static Ruleset, f64)>);

/// The form of that name, or the names that there are.
pub fn by_name(name: &str) -> Result<&'static Ruleset, String> {
    Ruleset::by_name(name).ok_or_else(|| {
        let names: Vec<_> = Ruleset::all().iter().map(|r| r.name).collect();
        format!("there is no such form; known: {}", names.join(", "))
    })
}

/// In what `rules` differ from those of the JSON object `other`: `key=value` of each, as `rules` have it, separated by
/// commas. A key that `other` lacks does not count.
pub fn differences(rules: &Ruleset, other: &serde_json::Value) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(rules) else {
        return String::new();
    };
    let differs = |(key, value): &(String, serde_json::Value)| {
        other.get(key).is_some_and(|other| other != value)
    };
    let text = |(key, value): (String, serde_json::Value)| {
        // A text stands without its quotes.
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        format!("{key}={value}")
    };
    let all: Vec<_> = fields.into_iter().filter(differs).map(text).collect();
    all.join(", ")
}

/// In what rules differ from their form's own.
pub fn changes(rules: &Ruleset) -> String {
    let own = Ruleset::by_name(rules.name).and_then(|own| serde_json::to_value(own).ok());
    own.map_or(String::new(), |own| differences(rules, &own))
}

impl Forms {
    /// The forms that `config` names, changed as it says.
    pub fn of(config: &RulesetConfig) -> Result<Forms, String> {
        let one = [config.base.clone()];
        let texts = if config.forms.is_empty() {
            &one[..]
        } else {
            &config.forms
        };
        let (mut names, mut total) = (HashSet::new(), 0.0);
        let mut forms = Vec::new();
        for text in texts {
            let (name, weight) = text.split_once(':').unwrap_or((text, "1"));
            let rules = by_name(name).map_err(|why| format!("{text:?}: {why}"))?;
            let weight = weight
                .parse()
                .ok()
                .filter(|w| (0.001..=1000.0).contains(w))
                .ok_or_else(|| {
                    format!("{text:?}: the weight must be a number from 0.001 to 1000")
                })?;
            if !names.insert(name) {
                return Err(format!("{name} is named twice; once is enough"));
            }
            total += weight;
            forms.push((config.vary(*rules).keep(), weight));
        }
        forms.iter_mut().for_each(|(_, weight)| *weight /= total);
        Ok(Forms(forms))
    }

    /// One form alone.
    pub fn one(rules: &'static Ruleset) -> Forms {
        Forms(vec![(rules, 1.0)])
    }

    /// The rules of each.
    pub fn rules(&self) -> impl Iterator<Item = &'static Ruleset> + '_ {
        self.0.iter().map(|&(rules, _)| rules)
    }

    /// The share of games of each; they sum to 1.
    pub fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(|&(_, share)| share)
    }

    /// Whether there is only one.
    pub fn is_one(&self) -> bool {
        self.0.len() == 1
    }

    /// Their names, separated by commas: what a run, its samples and its checkpoints are labelled with.
    pub fn names(&self) -> String {
        let names: Vec<_> = self.rules().map(|rules| rules.name).collect();
        names.join(",")
    }

    /// Their rules as JSON, one object a form.
    pub fn describe(&self) -> String {
        let rules: Vec<_> = self.rules().collect();
        serde_json::to_string(&rules).unwrap_or_default()
    }

    /// A new game of a form drawn by share, dealt with the same generator.
    pub fn start(&self, rng: &mut Pcg64Mcg) -> World {
        let (first, mut rest) = (self.0[0].0, 1.0);
        if self.is_one() {
            return World::start(first, rng);
        }
        let ticket: f64 = rng.random();
        let drawn = self.0.iter().rev().find(|(_, share)| {
            rest -= share;
            ticket >= rest
        });
        World::start(drawn.map_or(first, |&(rules, _)| rules), rng)
    }
}

impl RepetitionKey {
    /// The rule that it names, where the form has `form`.
    pub fn vary(self, form: RepetitionRule) -> RepetitionRule {
        match self {
            RepetitionKey::Form => form,
            RepetitionKey::Draw => RepetitionRule::Draw,
            RepetitionKey::Wxf => RepetitionRule::Wxf,
            RepetitionKey::Cxa => RepetitionRule::Cxa,
        }
    }
}

impl RulesetConfig {
    /// The rules with the config's changes.
    fn vary(&self, mut rules: Ruleset) -> Ruleset {
        rules.captured_seen_by = match self.captured_seen_by {
            SeenByKey::Form => rules.captured_seen_by,
            SeenByKey::Both => SeenBy::Both,
            SeenByKey::Captor => SeenBy::Captor,
            SeenByKey::Nobody => SeenBy::Nobody,
        };
        rules.fake_roams = match self.fake_roams {
            FakeRoamsKey::Form => rules.fake_roams,
            FakeRoamsKey::Yes => true,
            FakeRoamsKey::No => false,
        };
        if let Ok(plies) = self.no_capture_plies.try_into() {
            rules.no_capture_plies = plies;
        }
        if let Ok(free) = self.check_discount.try_into() {
            rules.check_discount = CheckDiscount::Beyond(free);
        }
        rules.repetition = self.repetition.vary(rules.repetition);
        rules
    }
}
