//! What a run shows while it goes on: bars on a terminal, plain lines elsewhere.
use std::cell::Cell;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::output::note;

/// The bars, or nothing where standard error is not a terminal.
pub struct Progress {
    bars: Option<Bars>,
    /// The bars have ended; text goes below them.
    ended: Cell<bool>,
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    lines: Vec<ProgressBar>,
}

/// Permille of a run that the total bar counts in.
const FULL: u64 = 1000;

impl Progress {
    /// Shows bars on a terminal, with `lines` lines of text below the total.
    pub fn new(lines: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress {
                bars: None,
                ended: Cell::new(false),
            };
        }
        let style = |template: &str| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        let all = MultiProgress::new();
        let total = all.add(ProgressBar::new(FULL));
        total.set_style(style("{prefix:>9} [{bar:40}] {percent}% {msg}").progress_chars("=> "));
        total.set_prefix("run");
        let lines = (0..lines)
            .map(|_| {
                let line = all.add(ProgressBar::new(1));
                line.set_style(style("{prefix:>9} {msg}"));
                line
            })
            .collect();
        Progress {
            bars: Some(Bars { all, total, lines }),
            ended: Cell::new(false),
        }
    }

    /// Shows how far the run is: `share` in 0..=1 (`None`: no end is set), and each named line.
    pub fn show(&self, share: Option<f64>, elapsed: Duration, lines: &[(&'static str, String)]) {
        let eta = share
            .filter(|&s| s > 0.0 && s < 1.0)
            .map(|s| elapsed.mul_f64((1.0 - s) / s))
            .map_or_else(|| "-".to_owned(), clock);
        let Some(bars) = &self.bars else {
            let text: Vec<_> = lines
                .iter()
                .map(|(name, text)| format!("{name}: {text}"))
                .collect();
            note(format_args!(
                "{} (ETA {eta}) {}",
                clock(elapsed),
                text.join(" | ")
            ));
            return;
        };
        bars.total
            .set_position((share.unwrap_or(0.0) * FULL as f64) as u64);
        bars.total
            .set_message(format!("{}, ETA {eta}", clock(elapsed)));
        for (bar, (name, text)) in bars.lines.iter().zip(lines) {
            bar.set_prefix(*name);
            bar.set_message(text.clone());
        }
    }

    /// Prints a line that stays.
    pub fn say(&self, text: &str) {
        match &self.bars {
            // The bars may be gone already; the line must not be lost with them.
            Some(bars) if !self.ended.get() && bars.all.println(text).is_ok() => {}
            _ => note(text),
        }
    }

    /// Leaves the last state on the screen and ends the bars.
    pub fn finish(&self) {
        self.ended.set(true);
        if let Some(bars) = &self.bars {
            bars.total.abandon();
            bars.lines.iter().for_each(ProgressBar::abandon);
        }
    }
}

/// `h:mm:ss`, or `m:ss` below an hour.
fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        h => format!("{h}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}
