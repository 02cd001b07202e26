//! What a long command shows while it goes on: bars on a terminal, plain lines elsewhere.
use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use play::output::note;

/// The bars, or nothing where standard error is not a terminal.
pub struct Progress {
    bars: Option<Bars>,
    /// The bars have ended; text goes below them.
    ended: Cell<bool>,
    /// When [`Progress::show_at_times`] last printed a line, or would have.
    shown: Cell<Instant>,
}

struct Bars {
    all: MultiProgress,
    total: ProgressBar,
    lines: Vec<ProgressBar>,
}

impl Bars {
    fn new(name: &'static str, lines: usize) -> Self {
        let style = |template: &str| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
        };
        let all = MultiProgress::new();
        let total = all.add(ProgressBar::new(FULL));
        total.set_style(style("{prefix:>9} [{bar:40}] {percent}% {msg}").progress_chars("=> "));
        total.set_prefix(name);
        let lines = (0..lines)
            .map(|_| {
                let line = all.add(ProgressBar::new(1));
                line.set_style(style("{prefix:>9} {msg}"));
                line
            })
            .collect();
        Bars { all, total, lines }
    }
}

/// Permille of all that the total bar counts in.
const FULL: u64 = 1000;

impl Progress {
    /// Shows bars on a terminal: the total of what is called `name`, with `lines` lines of text below.
    pub fn new(name: &'static str, lines: usize) -> Self {
        Progress {
            bars: std::io::stderr()
                .is_terminal()
                .then(|| Bars::new(name, lines)),
            ended: Cell::new(false),
            shown: Cell::new(Instant::now()),
        }
    }

    /// As [`Progress::show`], which on a terminal costs next to nothing; elsewhere a line of it `every` so often.
    pub fn show_at_times(
        &self,
        every: Duration,
        share: f64,
        elapsed: Duration,
        lines: &[(&'static str, String)],
    ) {
        if self.bars.is_some() || self.shown.get().elapsed() >= every {
            self.shown.set(Instant::now());
            self.show(Some(share), elapsed, lines);
        }
    }

    /// Shows how far it has come: `share` in 0..=1 (`None`: no end is set), and each named line.
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
