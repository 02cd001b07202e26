//! The levels of playing strength of a run, `levels.toml` in its directory: `fanqi grade` measures them, engine and
//! arena play them.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::fs;
use std::io::{ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use selfplay::bundle;
use selfplay::rules::Ruleset;
use serde::{Deserialize, Serialize};

use crate::atomic::{self, FileError};
use crate::run_dir::RunFiles;

/// Version of the file.
pub const FORMAT: u32 = 1;
/// What to do about a file that cannot be used.
const REMEDY: &str = "grade the run again (`fanqi grade`) after moving this file away";
/// Of a level's visits.
const VISITS: RangeInclusive<u32> = 1..=100_000;
/// Of a level's temperature.
const TEMPERATURE: RangeInclusive<f32> = 0.0..=10.0;
/// Ratings beyond it are no measurements.
const ELO_MAX: f64 = 100_000.0;

/// How one level plays, and how strong that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The form that it was measured in.
    pub form: String,
    /// Its number; 1 is the weakest.
    pub level: u32,
    /// Elo, on the scale on which the built-in player `random` has 0.
    pub elo: f64,
    /// 95 % interval of that.
    pub elo_interval: [f64; 2],
    /// Training step of its checkpoint.
    pub step: u64,
    /// Checksum of that checkpoint, as its header has it.
    #[serde(with = "hex")]
    pub crc32c: u32,
    /// New simulations a move.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
    /// Share of Dirichlet noise in the priors of the root: 0, as nothing plays with noise outside of training.
    pub noise: f32,
    /// Mean over its positions of -ln(prior of the move chosen) under the net of the strongest level, in nats.
    pub policy_loss: f64,
}

/// The levels of a run, by form.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The run's name.
    pub run: String,
    /// By form, none of them empty: level 1 first.
    forms: BTreeMap<String, Vec<Level>>,
}

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "format")]
    _format: u32,
    run: String,
    form: String,
    level: Vec<Level>,
}

impl Levels {
    /// No level yet.
    pub fn new(run: impl Into<String>) -> Levels {
        Levels {
            run: run.into(),
            forms: BTreeMap::new(),
        }
    }

    /// The levels in a text, or which of its fields is wrong.
    pub fn parse(text: &str) -> Result<Levels, String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let plain = |e: toml::de::Error| e.to_string().trim_end().to_owned();
        let Version { format } = toml::from_str(text).map_err(plain)?;
        if format != FORMAT {
            return Err(format!("format = {format}, this build reads {FORMAT}"));
        }
        let raw: Raw = toml::from_str(text).map_err(plain)?;
        let mut levels = Levels::new(raw.run);
        for level in raw.level {
            let of_form = levels.forms.entry(level.form.clone()).or_default();
            let about = |why| format!("[[level]] {} of {}: {why}", level.level, level.form);
            check(&level, of_form.last()).map_err(about)?;
            of_form.push(level);
        }
        match levels.forms.contains_key(&raw.form) {
            true => Ok(levels),
            false => Err(format!("form = \"{}\": no [[level]] is of it", raw.form)),
        }
    }

    /// The levels in a file; `None` where there is none.
    pub fn read(path: &Path) -> Result<Option<Levels>, FileError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(FileError::io(path, "reading", e)),
        };
        let levels = Levels::parse(&text);
        let broken =
            |why| FileError::content(path, format!("not a table of levels: {why}; {REMEDY}"));
        levels.map(Some).map_err(broken)
    }

    /// The levels of the run of that name; `None` where it was not graded.
    pub fn of_run(files: &RunFiles, run: &str) -> Result<Option<Levels>, FileError> {
        let path = files.levels_path();
        match Levels::read(&path)? {
            Some(levels) if levels.run != run => Err(FileError::content(
                &path,
                format!(
                    "the levels of another run ({}, this one is {run}); {REMEDY}",
                    levels.run
                ),
            )),
            levels => Ok(levels),
        }
    }

    /// The forms that were graded, by name.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.keys().map(String::as_str)
    }

    /// All levels, form by form, the weakest first.
    pub fn all(&self) -> impl Iterator<Item = &Level> {
        self.forms.values().flatten()
    }

    /// The levels of a form, the weakest first; empty where it was not graded.
    pub fn of(&self, form: &str) -> &[Level] {
        self.forms.get(form).map_or(&[], Vec::as_slice)
    }

    /// A level of a form, by its number.
    pub fn level(&self, form: &str, number: u32) -> Result<&Level, String> {
        let all = self.of(form);
        if all.is_empty() {
            let graded: Vec<_> = self.forms().collect();
            let graded = graded.join(", ");
            return Err(format!(
                "there are no levels of {form} (graded: {graded}); `fanqi grade RUN --form {form}` makes them"
            ));
        }
        let found = all.iter().find(|level| level.level == number);
        found.ok_or_else(|| {
            format!(
                "there is no level {number} of {form}; there are 1 to {}",
                all.len()
            )
        })
    }

    /// Puts the levels of a form in the place of those that were there; they are numbered from 1.
    pub fn replace(&mut self, form: &str, levels: Vec<Level>) {
        self.forms.remove(form);
        if !levels.is_empty() {
            self.forms.insert(form.to_owned(), levels);
        }
    }

    /// Training steps of the checkpoints that the levels play with.
    pub fn steps(&self) -> BTreeSet<u64> {
        self.all().map(|level| level.step).collect()
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        atomic::write(path, |out| out.write_all(self.to_string().as_bytes()))
    }
}

/// Whether a level makes sense, and follows `below`.
fn check(level: &Level, below: Option<&Level>) -> Result<(), String> {
    let Level {
        elo,
        elo_interval: [low, high],
        ..
    } = *level;
    if Ruleset::by_name(&level.form).is_none() {
        return Err("there is no such form".to_owned());
    }
    let next = below.map_or(1, |below| below.level + 1);
    if level.level != next {
        return Err(format!("expected level {next}: from 1, in order"));
    }
    if let Some(weaker) = below.filter(|below| elo.is_nan() || below.elo >= elo) {
        return Err(format!(
            "elo = {elo}: not above {} of the level below",
            weaker.elo
        ));
    }
    if !(elo.abs() <= ELO_MAX && low <= elo && elo <= high) {
        return Err(format!(
            "elo = {elo}, elo_interval = [{low}, {high}]: expected numbers, the first within the others"
        ));
    }
    if !VISITS.contains(&level.visits) {
        let (least, most) = VISITS.into_inner();
        return Err(format!(
            "visits = {}: expected {least} to {most}",
            level.visits
        ));
    }
    if !TEMPERATURE.contains(&level.temperature) {
        return Err(format!(
            "temperature = {}: expected 0 to 10",
            level.temperature
        ));
    }
    if level.noise != 0.0 {
        return Err(format!(
            "noise = {}: expected 0; nothing plays with noise",
            level.noise
        ));
    }
    match level.policy_loss.is_finite() && level.policy_loss >= 0.0 {
        true => Ok(()),
        false => Err(format!(
            "policy_loss = {}: expected a number from 0",
            level.policy_loss
        )),
    }
}

/// A level as bundles and engines tell of it.
impl From<&Level> for bundle::Level {
    fn from(level: &Level) -> Self {
        bundle::Level {
            form: level.form.clone(),
            level: level.level,
            elo: level.elo,
            elo_interval: level.elo_interval,
            step: level.step,
            crc32c: format!("{:08x}", level.crc32c),
            visits: level.visits,
            temperature: level.temperature.into(),
            noise: level.noise.into(),
            policy_loss: Some(level.policy_loss),
        }
    }
}

/// The file's text, which is read as the same levels but for the rounding of what was measured.
impl Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.forms.keys().next().map_or("", String::as_str);
        writeln!(f, "{HEAD}")?;
        writeln!(
            f,
            "format = {FORMAT}\nrun = {:?}\nform = {first:?}",
            self.run
        )?;
        for level in self.all() {
            let [low, high] = level.elo_interval;
            writeln!(
                f,
                "\n[[level]]\nform = {:?}\nlevel = {}",
                level.form, level.level
            )?;
            writeln!(
                f,
                "elo = {:.1}\nelo_interval = [{low:.1}, {high:.1}]",
                level.elo
            )?;
            writeln!(
                f,
                "step = {}\ncrc32c = \"{:08x}\"",
                level.step, level.crc32c
            )?;
            writeln!(
                f,
                "visits = {}\ntemperature = {:?}",
                level.visits, level.temperature
            )?;
            writeln!(
                f,
                "noise = {:?}\npolicy_loss = {:.3}",
                level.noise, level.policy_loss
            )?;
        }
        Ok(())
    }
}

/// What people are told who open the file.
const HEAD: &str = "\
# Levels of playing strength, made by `fanqi grade`; `fanqi grade` replaces them.
#
# level          1 is the weakest; each one beat the one below in matches that had no part in choosing them
# elo            on the scale on which the built-in player `random` has 0; elo_interval: 95 %
# step, crc32c   the checkpoint it plays with, which training keeps as long as it is named here
# visits         simulations a move
# temperature    of the move choice; 0: the best move
# noise          share of noise in the priors of the root; 0
# policy_loss    how far its moves are from the strongest level's: mean of -ln(prior of the move under that net), nats
#
# To play one: `fanqi arena \"RUN?level=3\" …`, or the options Level, or UCI_LimitStrength and UCI_Elo, of `fanqi uci RUN`.
";

/// A checksum as eight hexadecimal digits.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(sum: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{sum:08x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let text = String::deserialize(deserializer)?;
        let sum = u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.len() == 8);
        sum.ok_or_else(|| D::Error::custom(format!("`{text}`: expected 8 hexadecimal digits")))
    }
}
