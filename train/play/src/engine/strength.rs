//! At which strength an engine plays: as well as it can, or at a level of the run that its network is from.
use selfplay::bundle::Level;

use super::model::{Graded, Model};
use super::options::Options;
use crate::output::describe;

/// What the options say of strength, and what is played.
#[derive(Default)]
pub struct Strength {
    graded: Option<Graded>,
    level: Option<Level>,
}

impl Strength {
    /// Full strength, of a network with these levels.
    pub fn full(graded: Option<Graded>) -> Strength {
        Strength {
            graded,
            level: None,
        }
    }

    /// The levels of a form, the weakest first; empty where there are none.
    pub fn levels(&self, form: &str) -> &[Level] {
        self.graded.as_ref().map_or(&[], |graded| graded.of(form))
    }

    /// Turns to what `options` ask for in a form; the network to play with from now on, if it is another one. What is not
    /// there is complained of and leaves full strength; a network that cannot be loaded, all as it was.
    pub fn turn(
        &mut self,
        options: &Options,
        form: &str,
        complain: &dyn Fn(&str),
    ) -> Option<Model> {
        let graded = self.graded.as_ref()?;
        let number = wanted(options, graded.of(form));
        let level = number.and_then(|number| {
            let found = graded.level(form, number);
            found
                .map_err(|why| complain(&format!("{why}; full strength is played")))
                .ok()
        });
        if level == self.level.as_ref() {
            return None;
        }
        let complain = |error| {
            complain(&format!(
                "{}; the strength stays as it was",
                describe(&error)
            ))
        };
        let model = graded.load(level).map_err(complain).ok()?;
        self.level = level.cloned();
        Some(model)
    }

    /// The options by which a move is chosen: a level says how much is searched and how it is chosen.
    pub fn options(&self, options: &Options) -> Options {
        match &self.level {
            None => options.clone(),
            Some(level) => Options {
                visits: level.visits.into(),
                temperature: level.temperature as f32,
                root: None,
                whole: true,
                ..options.clone()
            },
        }
    }
}

/// The number of the level that is asked for: by `Level`, else by `UCI_Elo` where `UCI_LimitStrength` is on.
fn wanted(options: &Options, of_form: &[Level]) -> Option<u32> {
    match (options.level, options.limit_strength) {
        (0, false) => None,
        (0, true) => {
            let elo = options.elo.map_or(f64::INFINITY, |elo| elo as f64);
            nearest(of_form, elo.min(1e9))
        }
        (level, _) => u32::try_from(level).ok(),
    }
}

/// The number of the level whose Elo is nearest to `elo`, of two the weaker; `None` without levels.
pub fn nearest(levels: &[Level], elo: f64) -> Option<u32> {
    let distance = |level: &&Level| (level.elo - elo).abs();
    let nearest = levels
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map(|level| level.level)
}
