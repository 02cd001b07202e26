//! What an engine says of itself, and what it is set to.
use play::engine::Protocol;
use selfplay::rules::{Ranks, Ruleset};

use super::External;
use super::talk::{self, Declared};

/// The option that says whose knowledge a position is, by which an engine shows that it can be told reveals.
pub const SIDE: &str = "Side";

/// What an engine has said of itself.
#[derive(Debug, Default)]
pub struct Greeting {
    /// What it calls itself.
    pub name: String,
    options: Vec<Declared>,
}

impl Greeting {
    /// Hears a line; whether it is the last.
    pub fn hear(&mut self, protocol: Protocol, line: &str) -> bool {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("id name ") {
            name.trim().clone_into(&mut self.name);
        }
        self.options.extend(talk::declared(protocol, line));
        line == talk::hello_answer(protocol)
    }

    /// How it counts ranks, if nobody says otherwise.
    pub fn ranks(&self) -> Ranks {
        match self.name.to_ascii_lowercase().contains("fairy-stockfish") {
            true => Ranks::FromOne,
            false => Ranks::FromZero,
        }
    }

    /// The option of that name, whatever its case.
    fn option(&self, name: &str) -> Option<&Declared> {
        let named = |option: &&Declared| option.name.eq_ignore_ascii_case(name);
        self.options.iter().find(named)
    }

    /// The lines that set what it is to play and how, or why it cannot.
    pub fn settings(&self, external: &External) -> Result<Vec<String>, String> {
        let External { spec, rules } = external;
        let mut settings = Vec::new();
        let mut set = |option: &Declared, value: &str| {
            settings.push(talk::set_option(spec.protocol, &option.name, value));
        };
        if let Some(variant) = self.variant(rules)? {
            set(variant, rules.name);
        }
        let unit = self.option("usemillisec").or(self.option("millisec"));
        match unit {
            Some(unit) => set(unit, "true"),
            None if spec.protocol == Protocol::Ucci && spec.limits.move_ms.is_some() => {
                return Err(
                    "counts time in seconds (it has no option usemillisec): limit it by nodes or depth"
                        .to_owned(),
                );
            }
            None => {}
        }
        for (name, value) in &spec.options {
            set(self.option(name).ok_or_else(|| self.unknown(name))?, value);
        }
        Ok(settings)
    }

    /// The option that chooses the form, where one has to be chosen.
    fn variant(&self, rules: &Ruleset) -> Result<Option<&Declared>, String> {
        let name = rules.name;
        let variant = self.option("UCI_Variant");
        let plays = variant.is_some_and(|option| option.values.iter().any(|value| value == name));
        // An engine that says nothing of forms plays Xiangqi.
        if !plays && (variant.is_some() || name != Ruleset::XIANGQI.name) {
            return Err(format!(
                "does not play {name}: its option UCI_Variant, if it has one, has no such value"
            ));
        }
        if !rules.open_to_both() && self.option(SIDE).is_none() {
            return Err(format!(
                "cannot be told what comes to light in {name}: only engines like `fanqi uci`, which have an option {SIDE}, can"
            ));
        }
        Ok(variant)
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<_> = (self.options.iter())
            .map(|option| option.name.as_str())
            .collect();
        match known.is_empty() {
            true => format!("has no option `{name}`, nor any other"),
            false => format!("has no option `{name}`; it has {}", known.join(", ")),
        }
    }
}
