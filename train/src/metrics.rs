//! Numbers of a run: `metrics.jsonl`, one flat JSON object a line, and the same in TensorBoard files.
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::ser::{SerializeMap, Serializer};

use crate::atomic::FileError;
use crate::tensorboard::EventWriter;

/// Appends to `metrics.jsonl` and to a TensorBoard event file of its own.
///
/// A line is `{"time": seconds since 1970, "step": training step, NAME: number or null, ...}`.
/// After a kill, steps since the last checkpoint are trained and logged again: the later line counts.
#[derive(Debug)]
pub struct Metrics {
    path: PathBuf,
    lines: File,
    events: EventWriter,
    buffer: Vec<u8>,
}

impl Metrics {
    /// Opens or creates `path` and a new event file in the existing folder `tensorboard`; cuts off a
    /// half-written last line. `step`: training step of the checkpoint that the process starts from;
    /// TensorBoard forgets what a killed process logged after it.
    pub fn open(path: &Path, tensorboard: &Path, step: u64) -> Result<Self, FileError> {
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            let whole = whole_lines(&mut file)?;
            file.set_len(whole)?;
            file.seek(SeekFrom::Start(whole))?;
            Ok(file)
        };
        let lines = open().map_err(|e| FileError::io(path, "opening", e))?;
        let events = EventWriter::create(tensorboard, now(), step + 1)?;
        Ok(Metrics {
            path: path.to_path_buf(),
            lines,
            events,
            buffer: Vec::new(),
        })
    }

    /// Appends the numbers of one step. NaN and infinities become `null` in the JSON line.
    pub fn log(&mut self, step: u64, values: &[(&str, f64)]) -> Result<(), FileError> {
        let time = self.log_line(step, values)?;
        self.events.scalars(time, step, values)
    }

    /// Appends, at training step `step`, numbers that belong to an earlier one: the line has that as the number `of.0`, as
    /// the steps of lines ascend; the curves have the others there.
    pub fn log_of(
        &mut self,
        step: u64,
        of: (&str, u64),
        values: &[(&str, f64)],
    ) -> Result<(), FileError> {
        let earlier = (of.0, of.1 as f64);
        let line: Vec<_> = std::iter::once(earlier)
            .chain(values.iter().copied())
            .collect();
        let time = self.log_line(step, &line)?;
        self.events.scalars(time, of.1, values)
    }

    /// Appends a line; when, in seconds since 1970.
    fn log_line(&mut self, step: u64, values: &[(&str, f64)]) -> Result<f64, FileError> {
        let time = now();
        self.buffer.clear();
        write_line(&mut self.buffer, time, step, values)
            .and_then(|()| self.lines.write_all(&self.buffer))
            .map_err(|e| FileError::io(&self.path, "writing", e))?;
        Ok(time)
    }

    /// The TensorBoard event file of this process.
    pub fn event_file(&self) -> &Path {
        self.events.path()
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}

fn write_line(out: &mut Vec<u8>, time: f64, step: u64, values: &[(&str, f64)]) -> io::Result<()> {
    let mut json = serde_json::Serializer::new(&mut *out);
    let mut map = json.serialize_map(Some(values.len() + 2))?;
    map.serialize_entry("time", &time)?;
    map.serialize_entry("step", &step)?;
    for (name, value) in values {
        map.serialize_entry(name, value)?;
    }
    map.end()?;
    out.push(b'\n');
    Ok(())
}

/// Bytes up to and with the last newline.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut block = [0u8; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(i) = part.iter().rposition(|&b| b == b'\n') {
            return Ok(start + i as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// A line of `metrics.jsonl`.
pub type Line = serde_json::Map<String, serde_json::Value>;

/// Reads all whole lines of a `metrics.jsonl`; the first that is damaged is an error.
pub fn read(path: &Path) -> Result<Vec<Line>, FileError> {
    let (lines, damaged) = read_sound(path)?;
    damaged.into_iter().next().map_or(Ok(lines), Err)
}

/// Reads the sound ones of the whole lines of a `metrics.jsonl`, and what is wrong with each of the others.
pub fn read_sound(path: &Path) -> Result<(Vec<Line>, Vec<FileError>), FileError> {
    let file = File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    let mut reader = BufReader::new(file);
    let (mut all, mut damaged, mut line) = (Vec::new(), Vec::new(), Vec::new());
    while reader
        .read_until(b'\n', &mut line)
        .map_err(|e| FileError::io(path, "reading", e))?
        > 0
    {
        if !line.ends_with(b"\n") {
            break;
        }
        match serde_json::from_slice(&line) {
            Ok(map) => all.push(map),
            Err(e) => {
                let number = all.len() + damaged.len() + 1;
                let why = format!("line {number} is not a JSON object: {e}");
                damaged.push(FileError::content(path, why));
            }
        }
        line.clear();
    }
    Ok((all, damaged))
}
