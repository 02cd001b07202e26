//! What the template lays out: texts, all of them computed before.
use std::time::{SystemTime, UNIX_EPOCH};

use askama::Template;
use selfplay::game::Reason;
use serde::Serialize;
use toml::{Table, Value};

use super::chart::{self, Chart};
use super::curves::{Axes, Curves};
use super::kept::Kept;
use super::ladder::{Cell, CrossTable, LadderCurve, LadderPart};
use super::replay::Replay;
use super::strength::{Strength, StrengthCurve};
use super::tally::{Results, Tally};
use crate::config::Config;
use crate::pipeline::load::Look;
use crate::strength::StrengthRow;
use web::label::{self, Label};

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page {
    name: String,
    forms: Vec<Label>,
    facts: Vec<Fact>,
    faults: Vec<String>,
    ladder: Vec<CrossTable>,
    strength: Vec<MatchTable>,
    training: Vec<Chart>,
    selfplay: Vec<Chart>,
    resigning: Vec<Chart>,
    speed: Vec<Chart>,
    merged: usize,
    tallies: Vec<FormRow>,
    reasons: Vec<ReasonRow>,
    resignation: Resignation,
    games: usize,
    kept: String,
    settings: Vec<Settings>,
    version: &'static str,
    /// Seconds since 1970.
    written: u64,
    data: String,
    style: String,
    scripts: [&'static str; 6],
}

/// A number at the head of the page.
struct Fact {
    label: Label,
    value: String,
    detail: String,
}

/// The matches of a training step.
struct MatchTable {
    step: String,
    rows: Vec<MatchRow>,
}

/// A match; shares in %.
struct MatchRow {
    form: Label,
    opponent: Label,
    row: StrengthRow,
    score: f64,
    low: f64,
    high: f64,
    elo: String,
}

/// The games of a form.
struct FormRow {
    label: Label,
    games: String,
    percent: [f64; 3],
    spread: [u32; 3],
    mean: f64,
}

/// The games that ended for a reason; shares in % of all games.
struct ReasonRow {
    label: Label,
    results: Results,
    percent: [f64; 3],
    share: f64,
}

/// How resigning went.
struct Resignation {
    resigned: u64,
    played_out: u64,
    wrong: u64,
    /// Of those played out, in %; `None` without any.
    wrong_share: Option<f64>,
    allowed: f64,
    below: Option<f64>,
}

/// A table of the config.
struct Settings {
    table: String,
    keys: Vec<Setting>,
}

/// A key of the config.
struct Setting {
    key: String,
    value: String,
    changed: bool,
}

/// What the scripts read.
#[derive(Serialize)]
struct Data<'a> {
    axes: &'a Axes,
    charts: Vec<&'a Chart>,
    strength: &'a [StrengthCurve],
    ladder: &'a [LadderCurve],
    forms: Vec<(&'a str, Label)>,
    games: &'a [Replay],
}

const SCRIPTS: [&str; 6] = [
    concat!(
        "/*\n",
        include_str!("../../assets/uplot/LICENSE"),
        "*/\n",
        include_str!("../../assets/uplot/uPlot.iife.min.js")
    ),
    include_str!("../../assets/report/charts.js"),
    include_str!("../../assets/report/strength.js"),
    include_str!("../../assets/report/ladder.js"),
    web::page::BOARD_SCRIPT,
    include_str!("../../assets/report/replay.js"),
];

const STYLES: [&str; 5] = [
    include_str!("../../assets/uplot/uPlot.min.css"),
    web::page::INK,
    include_str!("../../assets/report/page.css"),
    web::page::BOARD_STYLE,
    include_str!("../../assets/report/replay.css"),
];

impl Page {
    pub(super) fn of(
        look: &Look,
        curves: &Curves,
        strength: &Strength,
        ladder: LadderPart,
        kept: &Kept,
        faults: &[String],
    ) -> anyhow::Result<Page> {
        let training = chart::training(curves);
        let selfplay = chart::selfplay(curves, &kept.all);
        let resigning = chart::resigning(curves);
        let speed = chart::speed(curves);
        let charts = [&training, &selfplay, &resigning, &speed];
        let data = Data {
            axes: &curves.axes,
            charts: charts.into_iter().flatten().collect(),
            strength: &strength.curves,
            ladder: &ladder.curves,
            forms: (look.forms.rules())
                .map(|rules| (rules.name, label::form(rules.name)))
                .collect(),
            games: &kept.replays,
        };
        Ok(Page {
            data: inert(&serde_json::to_string(&data)?),
            name: name(look),
            forms: (look.forms.rules())
                .map(|rules| label::form(rules.name))
                .collect(),
            facts: facts(look, curves),
            faults: faults.to_vec(),
            ladder: ladder.tables,
            strength: strength.tables.iter().map(match_table).collect(),
            training,
            selfplay,
            resigning,
            speed,
            merged: curves.merged,
            tallies: tallies(kept),
            reasons: reasons(&kept.all),
            resignation: resignation(look, curves, &kept.all),
            games: kept.replays.len(),
            kept: grouped(kept.all.games()),
            settings: settings(&look.config)?,
            version: env!("CARGO_PKG_VERSION"),
            written: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_secs()),
            style: STYLES.join("\n"),
            scripts: SCRIPTS,
        })
    }
}

/// JSON that no HTML around it can take for a tag.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// The run's folder, by its own name.
fn name(look: &Look) -> String {
    let path = look.files.path();
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let name = whole.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn facts(look: &Look, curves: &Curves) -> Vec<Fact> {
    let (state, net) = (&look.state, &look.config.net);
    let fact = |english: &str, chinese: &str, value: String, detail: String| Fact {
        label: Label::new(english, chinese),
        value,
        detail,
    };
    let rows = state.selfplay.rows.training + state.selfplay.rows.held_out;
    let working = match state.working {
        true => "at work, or broken off",
        false => "at rest",
    };
    let speed = curves.median("selfplay/positions_per_second");
    vec![
        fact(
            "Trained for",
            "训练时间",
            duration(state.elapsed_seconds),
            working.into(),
        ),
        fact(
            "Self-play games",
            "自对弈局数",
            grouped(state.selfplay.games),
            format!("{} positions", grouped(rows)),
        ),
        fact(
            "Training steps",
            "训练步数",
            grouped(state.training.step),
            format!("{} rows", grouped(state.training.rows_trained)),
        ),
        fact(
            "Network",
            "网络",
            format!("{} × {}", net.blocks, net.channels),
            "blocks × channels".into(),
        ),
        fact(
            "Speed",
            "速度",
            speed.map_or("–".into(), |s| grouped(s.round() as u64)),
            "positions / s, median".into(),
        ),
    ]
}

/// Seconds in the two largest units that matter.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => format!("{seconds:.0} s"),
        (0, 0, m) => format!("{m} min"),
        (0, h, m) => format!("{h} h {m:02} min"),
        (d, h, _) => format!("{d} d {h} h"),
    }
}

/// A count with its thousands set apart.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn match_table((step, table): &(u64, crate::strength::StrengthTable)) -> MatchTable {
    let row = |row: &StrengthRow| MatchRow {
        form: label::form(&row.form),
        opponent: label::opponent(&row.opponent),
        score: 100.0 * row.rating.score,
        low: 100.0 * row.rating.score_interval.lower,
        high: 100.0 * row.rating.score_interval.upper,
        elo: row.rating.elo_text(),
        row: row.clone(),
    };
    MatchTable {
        step: grouped(*step),
        rows: table.rows.iter().map(row).collect(),
    }
}

fn tallies(kept: &Kept) -> Vec<FormRow> {
    let row = |label: Label, tally: &Tally| FormRow {
        label,
        games: grouped(tally.games()),
        percent: tally.results.percent(tally.games()),
        spread: tally.spread(),
        mean: tally.mean_plies(),
    };
    let mut rows: Vec<_> = (kept.forms.iter())
        .filter(|(_, tally)| tally.games() > 0)
        .map(|(name, tally)| row(label::form(name), tally))
        .collect();
    if rows.len() > 1 {
        rows.push(row(Label::new("All", "合计"), &kept.all));
    }
    rows
}

fn reasons(tally: &Tally) -> Vec<ReasonRow> {
    let all = tally.games();
    let row = |(reason, results): &(Reason, Results)| ReasonRow {
        label: label::reason(*reason),
        results: *results,
        percent: results.percent(all),
        share: results.percent(all).iter().sum(),
    };
    let mut rows: Vec<_> = tally.reasons.values().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.results.total()));
    rows
}

fn resignation(look: &Look, curves: &Curves, games: &Tally) -> Resignation {
    let resigned = games.reasons.get(&Reason::Resignation.to_string());
    let played_out = look.state.selfplay.resignations_played_out;
    let wrong = look.state.selfplay.resignations_wrong;
    Resignation {
        wrong_share: (played_out > 0).then(|| 100.0 * wrong as f64 / played_out as f64),
        resigned: resigned.map_or(0, |(_, results)| results.total()),
        played_out,
        wrong,
        allowed: 100.0 * f64::from(look.config.selfplay.resign_wrong_max),
        below: curves.last("selfplay/resign_below").map(|x| 100.0 * x),
    }
}

/// The config, table by table, with what is other than the default.
fn settings(config: &Config) -> anyhow::Result<Vec<Settings>> {
    let changes = Config::defaults()?.diff(config);
    let tables: Table = config.to_toml().parse()?;
    let settings = |(name, table): (String, Value)| {
        let Value::Table(table) = table else {
            return None;
        };
        let setting = |(key, value): (String, Value)| {
            let full = format!("{name}.{key}");
            Setting {
                changed: changes.iter().any(|change| change.key == full),
                value: value.to_string(),
                key,
            }
        };
        Some(Settings {
            keys: table.into_iter().map(setting).collect(),
            table: name,
        })
    };
    Ok(tables.into_iter().filter_map(settings).collect())
}
