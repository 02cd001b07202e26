//! The rules of a form as a bundle states them.
use serde::{Deserialize, Serialize};

use crate::rules::{CheckDiscount, Kind, Kinds, Layout, RepetitionRule, Ruleset, SeenBy};

/// The fields of a [`Ruleset`], with their names; kinds are letters of K A B N R C P.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormRules {
    /// Name of the form.
    pub name: String,
    /// How the pieces lie at the start.
    pub layout: Layout,
    /// The kinds that may lie face down.
    pub takes_part: String,
    /// Whether a face-up piece of those may be laid face down again where it lands.
    pub turns_down: bool,
    /// The face-up kinds that roam the whole board.
    pub roams: String,
    /// Whether a face-down piece that plays as one of those roams, too.
    pub fake_roams: bool,
    /// Who sees what a captured unknown piece was.
    pub captured_seen_by: SeenBy,
    /// Plies without a capture that draw the game; 0: no limit.
    pub no_capture_plies: u16,
    /// Whether checks count towards that limit.
    pub check_discount: CheckDiscount,
    /// Judgement of a third occurrence.
    pub repetition: RepetitionRule,
}

/// Most plies that the natural limit may have, as a record keeps it in a byte.
const LIMIT_MAX: u16 = 255;

impl FormRules {
    /// The rules of a form, in words.
    pub fn of(rules: &Ruleset) -> Self {
        let letters = |kinds: Kinds| {
            let all = Kind::ALL.into_iter();
            all.filter(|&kind| kinds.has(kind))
                .map(Kind::letter)
                .collect()
        };
        FormRules {
            name: rules.name.to_owned(),
            layout: rules.layout,
            takes_part: letters(rules.takes_part),
            turns_down: rules.turns_down,
            roams: letters(rules.roams),
            fake_roams: rules.fake_roams,
            captured_seen_by: rules.captured_seen_by,
            no_capture_plies: rules.no_capture_plies,
            check_discount: rules.check_discount,
            repetition: rules.repetition,
        }
    }

    /// The rules, of a form that this program knows, with those of its fields that a training run may change; or what is
    /// wrong with them.
    pub fn rules(&self) -> Result<&'static Ruleset, String> {
        let form = Ruleset::by_name(&self.name).ok_or_else(|| {
            let known: Vec<_> = Ruleset::all().iter().map(|rules| rules.name).collect();
            format!("there is no such form; known: {}", known.join(", "))
        })?;
        if self.no_capture_plies > LIMIT_MAX {
            return Err(format!(
                "`no_capture_plies` = {}: expected 0..={LIMIT_MAX}",
                self.no_capture_plies
            ));
        }
        let rules = Ruleset {
            fake_roams: self.fake_roams,
            captured_seen_by: self.captured_seen_by,
            no_capture_plies: self.no_capture_plies,
            check_discount: self.check_discount,
            repetition: self.repetition,
            ..*form
        };
        if FormRules::of(&rules) != *self {
            return Err(
                "its `layout`, `takes_part`, `turns_down` or `roams` is not that of the form"
                    .into(),
            );
        }
        Ok(rules.keep())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_words_are_the_rules() {
        for &form in Ruleset::all() {
            let changed = Ruleset {
                no_capture_plies: 99,
                check_discount: CheckDiscount::Beyond(3),
                repetition: RepetitionRule::Cxa,
                ..*form
            };
            for rules in [*form, changed] {
                let words = FormRules::of(&rules);
                let text = serde_json::to_string(&words).expect("plain fields");
                let again: FormRules = serde_json::from_str(&text).expect("the same");
                assert_eq!(again.rules(), Ok(rules.keep()));
                let own = serde_json::to_value(rules).expect("plain fields");
                assert_eq!(serde_json::to_value(words).expect("plain fields"), own);
            }
        }
    }
}
