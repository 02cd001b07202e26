//! The charts of the page, as data: what each shows, of which metrics, in which unit.
use serde::Serialize;

use super::curves::{Curves, rounded};
use super::tally::Tally;
use crate::games;
use web::label;

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Lines over the run.
    Lines,
    /// Shares laid upon each other, up to 100 %, over the run.
    Shares,
    /// Bars over plies.
    Bars,
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Id of its element.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The same in Chinese.
    pub chinese: &'static str,
    /// A sentence on how to read it.
    pub note: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// How it is drawn.
    pub style: Style,
    /// What is drawn.
    pub lines: Vec<Series>,
    /// Width of a bar in plies, of [`Style::Bars`].
    pub width: u32,
}

/// A line, a layer or a row of bars.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Its name.
    pub label: String,
    /// Name of its colour in the page's style.
    pub colour: &'static str,
    /// Whether it is a bound rather than a measurement.
    pub dashed: bool,
    /// A value a point, in the chart's unit.
    pub values: Vec<Option<f64>>,
}

/// A chart of metrics.
struct Spec {
    id: &'static str,
    title: &'static str,
    chinese: &'static str,
    note: &'static str,
    unit: &'static str,
    style: Style,
    /// What values are multiplied with.
    scale: f64,
    /// Label, metric, colour; a label in brackets is a bound.
    lines: &'static [(&'static str, &'static str, &'static str)],
}

/// A chart of lines in their own unit.
const LINES: Spec = Spec {
    id: "",
    title: "",
    chinese: "",
    note: "",
    unit: "",
    style: Style::Lines,
    scale: 1.0,
    lines: &[],
};

const TRAINING: [Spec; 8] = [
    Spec {
        id: "policy-loss",
        title: "Policy loss",
        chinese: "策略损失",
        note: "Cross-entropy with the search's move probabilities; the entropy of these is the least that it can be.",
        unit: "nats",
        lines: &[
            ("training", "train/policy_loss", "blue"),
            ("validation", "validation/policy_loss", "red"),
            (
                "(entropy of the target)",
                "train/policy_target_entropy",
                "grey",
            ),
        ],
        ..LINES
    },
    Spec {
        id: "value-loss",
        title: "Value loss",
        chinese: "价值损失",
        note: "Cross-entropy of win, draw and loss. Validation far above training means overfitting.",
        unit: "nats",
        lines: &[
            ("training", "train/value_loss", "blue"),
            ("validation", "validation/value_loss", "red"),
        ],
        ..LINES
    },
    Spec {
        id: "value-accuracy",
        title: "Results foretold",
        chinese: "胜负预测准确率",
        note: "How often the likeliest of win, draw and loss is the game's result.",
        unit: "%",
        scale: 100.0,
        lines: &[
            ("training", "train/value_accuracy", "blue"),
            ("validation", "validation/value_accuracy", "red"),
        ],
        ..LINES
    },
    Spec {
        id: "belief-loss",
        title: "Belief loss",
        chinese: "暗子判断损失",
        note: "Cross-entropy of what the unknown pieces are; ln 6 = 1.79 is a blind guess.",
        unit: "nats",
        lines: &[
            ("training", "train/belief_loss", "blue"),
            ("validation", "validation/belief_loss", "red"),
        ],
        ..LINES
    },
    Spec {
        id: "moves-left-loss",
        title: "Plies-left loss",
        chinese: "剩余步数损失",
        note: "Huber loss of the plies left, in hundreds.",
        unit: "Huber loss",
        lines: &[("training", "train/moves_left_loss", "blue")],
        ..LINES
    },
    Spec {
        id: "total-loss",
        title: "Whole loss",
        chinese: "总损失",
        note: "The weighted sum that training makes small.",
        unit: "nats",
        lines: &[("training", "train/loss", "blue")],
        ..LINES
    },
    Spec {
        id: "learning-rate",
        title: "Learning rate",
        chinese: "学习率",
        note: "Warm-up, then a cosine.",
        unit: "thousandths",
        scale: 1000.0,
        lines: &[("learning rate", "train/learning_rate", "green")],
        ..LINES
    },
    Spec {
        id: "gradient-norm",
        title: "Gradient norm",
        chinese: "梯度范数",
        note: "Before clipping.",
        unit: "norm",
        lines: &[("gradient norm", "train/gradient_norm", "violet")],
        ..LINES
    },
];

const SELFPLAY: [Spec; 2] = [
    Spec {
        id: "results",
        title: "Results by colour",
        chinese: "红黑胜率",
        note: "Shares of the self-play games that ended in the time of a point.",
        unit: "% of games",
        style: Style::Shares,
        scale: 100.0,
        lines: &[
            ("Red wins", "selfplay/red_win_share", "side-red"),
            ("draws", "selfplay/draw_share", "side-draw"),
            ("Black wins", "selfplay/black_win_share", "side-black"),
        ],
    },
    Spec {
        id: "game-length",
        title: "Game length",
        chinese: "对局长度",
        note: "Mean over the games that ended in the time of a point; placements of an arrangement are plies, too.",
        unit: "plies",
        lines: &[("mean", "selfplay/plies_per_game", "teal")],
        ..LINES
    },
];

const RESIGNING: [Spec; 2] = [
    Spec {
        id: "resign-threshold",
        title: "Resignation threshold",
        chinese: "认输阈值",
        note: "A side may resign below this expected score (win + draw / 2).",
        unit: "% expected score",
        scale: 100.0,
        lines: &[("threshold", "selfplay/resign_below", "ochre")],
        ..LINES
    },
    Spec {
        id: "resignations-wrong",
        title: "Resignations played out",
        chinese: "认输验证",
        note: "Of the last games that were played on whatever happened: how many would have been resigned at the threshold, and in how many of them that side did not lose.",
        unit: "games",
        lines: &[
            (
                "would have resigned",
                "selfplay/resignations_played_out",
                "blue",
            ),
            ("wrongly", "selfplay/resignations_wrong", "red"),
        ],
        ..LINES
    },
];

const SPEED: [Spec; 6] = [
    Spec {
        id: "positions-speed",
        title: "Positions",
        chinese: "每秒局面数",
        note: "Training rows of self-play.",
        unit: "rows / s",
        lines: &[("positions", "selfplay/positions_per_second", "blue")],
        ..LINES
    },
    Spec {
        id: "evaluations-speed",
        title: "Network evaluations",
        chinese: "每秒网络评估数",
        note: "Of self-play.",
        unit: "evaluations / s",
        lines: &[("evaluations", "selfplay/evaluations_per_second", "violet")],
        ..LINES
    },
    Spec {
        id: "games-speed",
        title: "Games",
        chinese: "每分钟局数",
        note: "Self-play games that ended.",
        unit: "games / min",
        lines: &[("games", "selfplay/games_per_minute", "teal")],
        ..LINES
    },
    Spec {
        id: "steps-speed",
        title: "Training steps",
        chinese: "每秒训练步数",
        note: "Steps of the optimiser.",
        unit: "steps / s",
        lines: &[("steps", "train/steps_per_second", "ochre")],
        ..LINES
    },
    Spec {
        id: "batch-fill",
        title: "Batch fill",
        chinese: "批次填充率",
        note: "Rows evaluated, of those that the batches had room for.",
        unit: "%",
        scale: 100.0,
        lines: &[("fill", "selfplay/batch_fill", "green")],
        ..LINES
    },
    Spec {
        id: "window",
        title: "Replay window",
        chinese: "回放窗口",
        note: "Rows that training draws from.",
        unit: "rows",
        lines: &[("window", "replay/window_rows", "grey")],
        ..LINES
    },
];

/// Losses and what steers them.
pub fn training(curves: &Curves) -> Vec<Chart> {
    of_metrics(&TRAINING, curves)
}

/// When self-play resigns, and how well.
pub fn resigning(curves: &Curves) -> Vec<Chart> {
    of_metrics(&RESIGNING, curves)
}

/// Results, endings and lengths of self-play.
pub fn selfplay(curves: &Curves, games: &Tally) -> Vec<Chart> {
    let mut charts = of_metrics(&SELFPLAY, curves);
    let at = usize::from(charts.iter().any(|c| c.id == "results"));
    if let Some(chart) = endings(curves) {
        charts.insert(at, chart);
    }
    charts.extend(lengths(games));
    charts
}

/// How fast the run is.
pub fn speed(curves: &Curves) -> Vec<Chart> {
    of_metrics(&SPEED, curves)
}

/// The charts of which something has been measured.
fn of_metrics(specs: &[Spec], curves: &Curves) -> Vec<Chart> {
    let series = |spec: &Spec| -> Vec<Series> {
        let scaled = |x: f64| rounded(x * spec.scale);
        let line = |&(label, name, colour): &(&str, &str, &'static str)| {
            let values = curves.column(name)?;
            Some(Series {
                label: label.trim_matches(['(', ')']).to_owned(),
                colour,
                dashed: label.starts_with('('),
                values: values.iter().map(|x| x.map(scaled)).collect(),
            })
        };
        spec.lines.iter().filter_map(line).collect()
    };
    let chart = |spec: &Spec| Chart {
        id: spec.id,
        title: spec.title,
        chinese: spec.chinese,
        note: spec.note,
        unit: spec.unit,
        style: spec.style,
        lines: series(spec),
        width: 0,
    };
    let mut charts: Vec<_> = specs.iter().map(chart).collect();
    charts.retain(|chart| !chart.lines.is_empty());
    charts
}

/// Colours of the endings, most frequent first.
const PALETTE: [&str; 8] = [
    "blue", "ochre", "teal", "red", "violet", "green", "grey", "ink",
];

/// The shares of the reasons.
fn endings(curves: &Curves) -> Option<Chart> {
    let reasons = curves.reasons();
    let series = |(place, name): (usize, &&str)| {
        let values = curves.reason(name)?;
        let reason = games::reason_named(name).map(label::reason);
        Some(Series {
            label: reason.map_or((*name).to_owned(), |label| label.english),
            colour: PALETTE[place.min(PALETTE.len() - 1)],
            dashed: false,
            values: values
                .iter()
                .map(|x| x.map(|x| rounded(100.0 * x)))
                .collect(),
        })
    };
    let lines: Vec<_> = reasons.iter().enumerate().filter_map(series).collect();
    (!lines.is_empty()).then_some(Chart {
        id: "endings",
        title: "Endings by reason",
        chinese: "终局原因",
        note: "Shares of the self-play games that ended in the time of a point.",
        unit: "% of games",
        style: Style::Shares,
        lines,
        width: 0,
    })
}

/// The histogram of lengths of the kept games.
fn lengths(games: &Tally) -> Option<Chart> {
    let histogram = games.histogram();
    let series = |which: usize, label: &str, colour| Series {
        label: label.to_owned(),
        colour,
        dashed: false,
        values: (histogram.bars.iter())
            .map(|bar| Some(bar[which] as f64))
            .collect(),
    };
    (games.games() > 0).then(|| Chart {
        id: "lengths",
        title: "How long games last",
        chinese: "对局长度分布",
        note: "All kept games, placements counted.",
        unit: "games",
        style: Style::Bars,
        lines: vec![
            series(0, "decisive", "blue"),
            series(1, "drawn", "side-draw"),
        ],
        width: histogram.width,
    })
}
