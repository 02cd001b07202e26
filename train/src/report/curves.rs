//! The numbers of `metrics.jsonl` over time, few enough to be drawn.
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::metrics::Line;

/// Points of a curve, at most.
const POINTS: usize = 400;

/// What a curve can be drawn over.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axes {
    /// Training steps.
    pub step: Vec<f64>,
    /// Minutes that the run has worked.
    pub minutes: Vec<f64>,
    /// Finished games.
    pub games: Vec<f64>,
}

/// A value a point for each name; where reports are many, a point is the mean of several.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    /// Where the points lie.
    pub axes: Axes,
    columns: BTreeMap<String, Vec<Option<f64>>>,
    /// Scores of matches that the metrics tell of: training step, name behind `strength/`, score in 0..=1.
    pub scores: Vec<(u64, String, f64)>,
    /// Reports that became one point.
    pub merged: usize,
}

const STRENGTH: &str = "strength/";
const LADDER: &str = "ladder/";
const ENDINGS: &str = "endings/";
/// Stands in every report of a time in which games ended.
const ANY_GAME: &str = "selfplay/plies_per_game";

fn number(line: &Line, name: &str) -> Option<f64> {
    line.get(name).and_then(Value::as_f64)
}

/// The reports of a run, without those that a killed process left beyond the checkpoint that its successor went on from.
fn reports(lines: Vec<Line>) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::new();
    let step = |line: &Line| number(line, "step").unwrap_or(0.0);
    for line in lines {
        let from = step(&line);
        while kept.last().is_some_and(|last| step(last) > from) {
            kept.pop();
        }
        kept.push(line);
    }
    kept
}

impl Curves {
    /// The curves of the lines of `metrics.jsonl`.
    pub fn of(lines: Vec<Line>) -> Curves {
        let (matches, reports): (Vec<_>, Vec<_>) = reports(lines).into_iter().partition(|line| {
            let of_matches = |name: &str| [STRENGTH, LADDER].iter().any(|s| name.starts_with(s));
            line.keys().any(|name| of_matches(name))
        });
        let names: BTreeSet<_> = (reports.iter())
            .flat_map(|line| line.keys().map(String::as_str))
            .filter(|name| !["step", "time"].contains(name))
            .collect();
        let merged = reports.len().div_ceil(POINTS).max(1);
        let mut curves = Curves {
            scores: matches.iter().flat_map(scores).collect(),
            merged,
            ..Curves::default()
        };
        for group in reports.chunks(merged) {
            let last = |name| {
                group
                    .iter()
                    .rev()
                    .find_map(|line| number(line, name))
                    .unwrap_or(0.0)
            };
            curves.axes.step.push(last("step"));
            curves.axes.minutes.push(rounded(last("run/minutes")));
            curves.axes.games.push(last("selfplay/games"));
            for name in &names {
                let column = curves.columns.entry((*name).to_owned()).or_default();
                column.push(mean(group, name));
            }
        }
        curves
    }

    /// The values of a name; `None` where there are none, or nothing but zeros.
    pub fn column(&self, name: &str) -> Option<&[Option<f64>]> {
        let column = self.columns.get(name)?;
        let tells = column.iter().flatten().any(|&x| x != 0.0);
        tells.then_some(column)
    }

    /// The last value of a name.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.columns.get(name)?.iter().rev().find_map(|&x| x)
    }

    /// The middle one of a name's values.
    pub fn median(&self, name: &str) -> Option<f64> {
        let mut values: Vec<_> = self.columns.get(name)?.iter().flatten().copied().collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }

    /// Names of reasons in the order of their weight, most frequent first.
    pub fn reasons(&self) -> Vec<&str> {
        let weight = |column: &[Option<f64>]| column.iter().flatten().sum::<f64>();
        let mut found: Vec<_> = (self.columns.iter())
            .filter_map(|(name, column)| Some((name.strip_prefix(ENDINGS)?, weight(column))))
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().map(|(name, _)| name).collect()
    }

    /// The shares of a reason.
    pub fn reason(&self, name: &str) -> Option<&[Option<f64>]> {
        self.column(&format!("{ENDINGS}{name}"))
    }

    /// Minutes and games at a training step, as far as reports tell.
    pub fn at(&self, step: f64) -> (f64, f64) {
        let behind = self.axes.step.partition_point(|&s| s <= step);
        let at = |axis: &[f64]| behind.checked_sub(1).map_or(0.0, |last| axis[last]);
        (at(&self.axes.minutes), at(&self.axes.games))
    }
}

/// The scores that a line tells.
fn scores(line: &Line) -> Vec<(u64, String, f64)> {
    let step = line.get("step").and_then(Value::as_u64).unwrap_or(0);
    let score = |(name, value): (&String, &Value)| {
        let name = name.strip_prefix(STRENGTH)?;
        Some((step, name.to_owned(), value.as_f64()?))
    };
    line.iter().filter_map(score).collect()
}

/// Mean of a name's values in a group of reports. A reason that a report leaves out ended no game.
fn mean(group: &[Line], name: &str) -> Option<f64> {
    let value = |line: &Line| {
        let absent = name.starts_with(ENDINGS) && number(line, ANY_GAME).is_some();
        number(line, name).or(absent.then_some(0.0))
    };
    let values: Vec<_> = group.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| rounded(values.iter().sum::<f64>() / values.len() as f64))
}

/// To five digits, more than can be seen.
pub fn rounded(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(x)
}
