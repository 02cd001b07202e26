//! The ladder of a run: the curve of its checkpoints' ratings, and who scored how much against whom.
use serde::Serialize;

use super::curves::{Curves, rounded};
use crate::ladder::list::{LadderList, Met, Standing};
use crate::ladder::store::list_path;
use crate::pipeline::load::Look;
use web::label::{self, Label};

/// Checkpoints that a cross table has, the newest ones; more would not be seen at once.
const STEPS_SHOWN: usize = 12;

/// What the page shows of the ladder.
#[derive(Debug, Default)]
pub struct LadderPart {
    /// One a form that has been rated.
    pub curves: Vec<LadderCurve>,
    /// The same.
    pub tables: Vec<CrossTable>,
    /// What is damaged.
    pub faults: Vec<String>,
}

/// Ratings over the run.
#[derive(Debug, Serialize)]
pub struct LadderCurve {
    /// Name of the form.
    pub form: String,
    /// The form, for people.
    pub label: Label,
    /// Ascending by training step.
    pub points: Vec<Point>,
    /// The built-in opponents, the strongest first: name and Elo.
    pub opponents: Vec<(String, f64)>,
}

/// A checkpoint's rating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Its training step.
    pub step: u64,
    /// Minutes that the run had worked.
    pub minutes: f64,
    /// Games that it had finished.
    pub games: f64,
    /// In Elo; `random` has 0.
    pub elo: f64,
    /// 95 % interval of that.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Games of the ladder by which it is rated.
    pub played: u64,
}

/// The cross table of a form.
#[derive(Debug)]
pub struct CrossTable {
    /// The form.
    pub form: Label,
    /// The strongest first.
    pub rows: Vec<CrossRow>,
    /// Checkpoints that are not shown.
    pub hidden: usize,
    /// In %, how likely results as contradictory as these are if one number a player explains them; `None` if that cannot be told.
    pub p_value: Option<f64>,
}

/// A player's row.
#[derive(Debug)]
pub struct CrossRow {
    /// The player.
    pub label: Label,
    /// In Elo.
    pub elo: f64,
    /// 95 % interval of that.
    pub interval: [f64; 2],
    /// All its games.
    pub games: u64,
    /// Its score in all of them, in %.
    pub score: f64,
    /// Against each player of the table.
    pub cells: Vec<Cell>,
}

/// What stands in the row of one player and the column of another.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// They are the same.
    Own,
    /// They have not met.
    Empty,
    /// The row's player scored so.
    Score {
        /// In %.
        score: f64,
        /// Games and what the ratings expect.
        detail: String,
        /// Colour of the one who scored more.
        colour: &'static str,
        /// How strong the colour is, in %.
        depth: u8,
    },
}

/// Reads the ladder of a run, if it has one.
pub fn read(look: &Look, curves: &Curves) -> LadderPart {
    let mut part = LadderPart::default();
    for rules in look.forms.rules() {
        let path = list_path(&look.files.ladder_path(), rules.name);
        if !path.exists() {
            continue;
        }
        match LadderList::read(&path) {
            Ok(list) => {
                part.curves.push(curve(&list, curves));
                part.tables.push(table(&list));
            }
            Err(why) => part
                .faults
                .push(format!("ladder, {}: {}", rules.name, why.cause())),
        }
    }
    part
}

fn curve(list: &LadderList, curves: &Curves) -> LadderCurve {
    let point = |standing: &Standing| {
        let step = standing.step?;
        let (minutes, games) = curves.at(step as f64);
        Some(Point {
            step,
            minutes,
            games,
            elo: rounded(standing.elo),
            low: rounded(standing.interval.lower),
            high: rounded(standing.interval.upper),
            played: standing.games.iter().sum(),
        })
    };
    let mut points: Vec<_> = list.players.iter().filter_map(point).collect();
    points.sort_by_key(|point| point.step);
    let built_in = list.players.iter().filter(|player| player.step.is_none());
    LadderCurve {
        label: label::form(&list.form),
        form: list.form.clone(),
        points,
        opponents: built_in
            .map(|player| (player.name.clone(), rounded(player.elo)))
            .collect(),
    }
}

fn table(list: &LadderList) -> CrossTable {
    let mut steps: Vec<_> = list.players.iter().filter_map(|p| p.step).collect();
    steps.sort_unstable();
    let hidden = steps.len().saturating_sub(STEPS_SHOWN);
    let shown: Vec<_> = (list.players.iter().enumerate())
        .filter(|(_, player)| player.step.is_none_or(|s| steps[hidden..].contains(&s)))
        .collect();
    let row = |&(place, player): &(usize, &Standing)| CrossRow {
        label: match player.step {
            Some(_) => Label::new(&player.name, ""),
            None => label::opponent(&player.name),
        },
        elo: player.elo,
        interval: [player.interval.lower, player.interval.upper],
        games: player.games.iter().sum(),
        score: 100.0 * player.score,
        cells: (shown.iter())
            .map(|&(other, _)| cell(list, place, other))
            .collect(),
    };
    CrossTable {
        form: label::form(&list.form),
        rows: shown.iter().map(row).collect(),
        hidden,
        p_value: list.p_value.map(|p| 100.0 * p),
    }
}

fn cell(list: &LadderList, player: usize, other: usize) -> Cell {
    let both = [player.min(other), player.max(other)];
    let met = list.meetings.iter().find(|met| met.players == both);
    match met {
        _ if player == other => Cell::Own,
        None => Cell::Empty,
        Some(met) => score(met, player == both[0]),
    }
}

/// The cell of a meeting, seen from the stronger player or the other.
fn score(met: &Met, from_first: bool) -> Cell {
    let [mut lost, drawn, mut won] = met.games;
    let (mut score, mut expected) = (met.score, met.expected);
    if !from_first {
        (lost, won) = (won, lost);
        (score, expected) = (1.0 - score, 1.0 - expected);
    }
    Cell::Score {
        score: 100.0 * score,
        detail: format!(
            "{won} won, {drawn} drawn, {lost} lost; the ratings expect {:.0} %",
            100.0 * expected
        ),
        colour: if score >= 0.5 { "blue" } else { "red" },
        depth: (80.0 * (score - 0.5).abs()).round() as u8,
    }
}
