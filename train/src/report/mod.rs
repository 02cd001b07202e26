//! A run as one page of HTML: curves, matches, endings, speed, settings, and games to replay.
//!
//! What is shown is gathered here, as data ([`chart`], [`strength`], [`ladder`], [`tally`], [`replay`]); the template lays it out, and the
//! page's scripts draw what the data says. The page loads nothing and may load nothing: its content security policy
//! forbids it.
pub mod chart;
pub mod choice;
pub mod curves;
pub mod kept;
pub mod ladder;
mod page;
pub mod replay;
pub mod strength;
pub mod tally;

use std::io::Write;
use std::path::Path;

use anyhow::{bail, ensure};
use askama::Template;

use self::curves::Curves;
use self::page::Page;
use crate::atomic::{self, FileError};
use crate::metrics;
use crate::pipeline::load::Look;

/// What a file begins with that is a report, and so may be replaced by one.
const MARK: &str = "<!doctype html>\n<!-- fanqi report -->\n";

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Games to replay.
    pub games: usize,
    /// Things that the page says are missing or damaged.
    pub faults: usize,
    /// Size of the page.
    pub bytes: usize,
}

/// Writes the page of a run with at most `games` games to replay to `out`, which may hold an earlier report but nothing else.
pub fn write(look: &Look, games: usize, out: &Path) -> anyhow::Result<Summary> {
    may_replace(out)?;
    let (lines, mut faults) = read_metrics(look);
    let curves = Curves::of(lines);
    let mut kept = kept::read(look, games)?;
    let mut strength = strength::read(look, &curves)?;
    let mut ladder = ladder::read(look, &curves);
    faults.append(&mut strength.faults);
    faults.append(&mut ladder.faults);
    faults.append(&mut kept.faults);
    let page = Page::of(look, &curves, &strength, ladder, &kept, &faults)?;
    let html = page.render()?;
    ensure!(html.starts_with(MARK), "the page does not say what it is");
    atomic::write(out, |file| file.write_all(html.as_bytes()))?;
    Ok(Summary {
        games: kept.replays.len(),
        faults: faults.len(),
        bytes: html.len(),
    })
}

/// Refuses to write where anything but a report lies.
fn may_replace(out: &Path) -> anyhow::Result<()> {
    use std::io::{ErrorKind, Read};
    let mut head = Vec::new();
    let read = std::fs::File::open(out)
        .and_then(|file| file.take(MARK.len() as u64).read_to_end(&mut head));
    match read {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) if head == MARK.as_bytes() => Ok(()),
        Ok(_) => bail!(
            "{}: already there, and no report of fanqi's; choose another file with --out",
            out.display()
        ),
        Err(e) => Err(FileError::io(out, "looking whether it may be replaced", e).into()),
    }
}

/// The sound lines of the metrics, and what is wrong with the others.
fn read_metrics(look: &Look) -> (Vec<metrics::Line>, Vec<String>) {
    let about = |why: &FileError| format!("metrics.jsonl: {}", why.cause());
    match metrics::read_sound(&look.files.metrics_path()) {
        Ok((lines, damaged)) => (lines, damaged.iter().map(about).collect()),
        Err(why) => (Vec::new(), vec![about(&why)]),
    }
}
