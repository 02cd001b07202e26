//! The tables of matches that a run keeps, and the curve that they make.
use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use super::curves::{Curves, rounded};
use crate::atomic::FileError;
use crate::pipeline::load::Look;
use crate::strength::{StrengthRow, StrengthTable};
use web::label::{self, Label};

/// How strong the run is, as far as matches tell.
#[derive(Debug, Default)]
pub struct Strength {
    /// The tables by training step, newest first.
    pub tables: Vec<(u64, StrengthTable)>,
    /// One a form and opponent.
    pub curves: Vec<StrengthCurve>,
    /// What is damaged.
    pub faults: Vec<String>,
}

/// Scores against one opponent.
#[derive(Debug, Serialize)]
pub struct StrengthCurve {
    /// Name of the form.
    pub form: String,
    /// The form, for people.
    pub label: Label,
    /// The opponent's name.
    pub opponent: String,
    /// Ascending by training step.
    pub points: Vec<Point>,
}

/// A match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Training step of the network.
    pub step: u64,
    /// Minutes that the run had worked.
    pub minutes: f64,
    /// Games that it had finished.
    pub games: f64,
    /// Score in %.
    pub score: f64,
    /// 95 % interval of the score in %; `None` where only the metrics tell of the match.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Elo difference; `None` where it is infinite or not told.
    pub elo: Option<f64>,
    /// 95 % interval of that.
    pub elo_low: Option<f64>,
    /// Its upper end.
    pub elo_high: Option<f64>,
}

/// Reads the tables of a run, and lays what only the metrics tell beside them.
pub fn read(look: &Look, curves: &Curves) -> anyhow::Result<Strength> {
    let mut strength = Strength::default();
    let mut points: BTreeMap<(usize, String), BTreeMap<u64, Point>> = BTreeMap::new();
    let forms: Vec<_> = look.forms.rules().map(|rules| rules.name).collect();
    for (step, name, score) in &curves.scores {
        let parts = name.split_once('/').filter(|_| forms.len() > 1);
        let (form, opponent) = parts.unwrap_or((forms[0], name.as_str()));
        let place = forms.iter().position(|f| *f == form).unwrap_or_default();
        let of_opponent = points.entry((place, opponent.to_owned())).or_default();
        of_opponent.insert(*step, Point::told(*step, *score, curves));
    }
    for (step, path) in look.files.strength_tables()? {
        match table(&path) {
            Ok(table) => {
                for row in &table.rows {
                    let place = forms.iter().position(|f| *f == row.form);
                    let key = (place.unwrap_or_default(), row.opponent.clone());
                    let of_opponent = points.entry(key).or_default();
                    of_opponent.insert(step, Point::of(step, row, curves));
                }
                strength.tables.push((step, table));
            }
            Err(why) => strength
                .faults
                .push(format!("strength, step {step}: {}", why.cause())),
        }
    }
    strength.tables.reverse();
    let curve = |((place, opponent), points): ((usize, String), BTreeMap<u64, Point>)| {
        let form = forms[place].to_owned();
        StrengthCurve {
            label: label::form(&form),
            form,
            opponent,
            points: points.into_values().collect(),
        }
    };
    strength.curves = points.into_iter().map(curve).collect();
    Ok(strength)
}

fn table(path: &std::path::Path) -> Result<StrengthTable, FileError> {
    let text = fs::read(path).map_err(|e| FileError::io(path, "reading", e))?;
    serde_json::from_slice(&text)
        .map_err(|e| FileError::content(path, format!("not a table of strength: {e}")))
}

impl Point {
    fn told(step: u64, score: f64, curves: &Curves) -> Point {
        let (minutes, games) = curves.at(step as f64);
        Point {
            step,
            minutes,
            games,
            score: rounded(100.0 * score),
            elo: crate::rating::elo(score).map(rounded),
            ..Point::default()
        }
    }

    fn of(step: u64, row: &StrengthRow, curves: &Curves) -> Point {
        let (rating, percent) = (&row.rating, |x: f64| Some(rounded(100.0 * x)));
        Point {
            low: percent(rating.score_interval.lower),
            high: percent(rating.score_interval.upper),
            elo: rating.elo.map(rounded),
            elo_low: rating.elo_interval.lower.map(rounded),
            elo_high: rating.elo_interval.upper.map(rounded),
            ..Point::told(step, rating.score, curves)
        }
    }
}
