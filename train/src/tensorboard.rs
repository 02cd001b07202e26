//! TensorBoard event files: length-prefixed protobuf events with masked CRC-32C sums.
//!
//! Framing: <https://www.tensorflow.org/tutorials/load_data/tfrecord>; the messages are the few
//! fields of TensorFlow's `event.proto` and `summary.proto` that a scalar needs.
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use prost::Message;

use crate::atomic::FileError;

/// One event of the file.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// Training step.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// Format of the file, in its first event only: `brain.Event:2`.
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    /// Numbers.
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
    /// Marks a restart: later steps of earlier files are void.
    #[prost(message, optional, tag = "7")]
    pub session_log: Option<SessionLog>,
}

/// Numbers of one step.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// One entry a number.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Scalar>,
}

/// A named number.
#[derive(Clone, PartialEq, Message)]
pub struct Scalar {
    /// Its name; the part before the slash is its group.
    #[prost(string, tag = "1")]
    pub tag: String,
    /// The number.
    #[prost(float, tag = "2")]
    pub simple_value: f32,
}

/// State of the writing process.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct SessionLog {
    /// 1: started.
    #[prost(int32, tag = "1")]
    pub status: i32,
}

/// The checksum of the framing: CRC-32C, rotated and offset so that a sum over sums stays strong.
pub fn masked_crc(data: &[u8]) -> u32 {
    crc32c::crc32c(data)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

/// Appends one framed record to `out`.
pub fn write_record(out: &mut impl Write, data: &[u8]) -> io::Result<()> {
    let length = (data.len() as u64).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(&masked_crc(&length).to_le_bytes())?;
    out.write_all(data)?;
    out.write_all(&masked_crc(data).to_le_bytes())
}

/// Writes one event file; every process that resumes a run starts another.
#[derive(Debug)]
pub struct EventWriter {
    path: PathBuf,
    out: BufWriter<File>,
    buffer: Vec<u8>,
}

impl EventWriter {
    /// Creates a new event file in `folder`. `time`: seconds since 1970; `step`: first training step of
    /// this process, from which on TensorBoard drops what earlier files say.
    pub fn create(folder: &Path, time: f64, step: u64) -> Result<Self, FileError> {
        let mut attempt = 0;
        let (path, file) = loop {
            let name = format!(
                "events.out.tfevents.{:010}.{}.{attempt}.fanqi",
                time as u64,
                std::process::id()
            );
            let path = folder.join(name);
            match File::create_new(&path) {
                Ok(file) => break (path, file),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => attempt += 1,
                Err(e) => return Err(FileError::io(&path, "creating", e)),
            }
        };
        let mut writer = EventWriter {
            path,
            out: BufWriter::new(file),
            buffer: Vec::new(),
        };
        let head = Event {
            wall_time: time,
            file_version: Some("brain.Event:2".into()),
            ..Event::default()
        };
        writer.write(&head)?;
        let restart = SessionLog { status: 1 };
        writer.write(&Event {
            wall_time: time,
            step: step as i64,
            session_log: Some(restart),
            ..Event::default()
        })?;
        Ok(writer)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the numbers of one step and hands them to the system.
    pub fn scalars(
        &mut self,
        time: f64,
        step: u64,
        values: &[(&str, f64)],
    ) -> Result<(), FileError> {
        let scalar = |&(tag, value): &(&str, f64)| Scalar {
            tag: tag.to_string(),
            simple_value: value as f32,
        };
        let summary = Summary {
            value: values.iter().map(scalar).collect(),
        };
        self.write(&Event {
            wall_time: time,
            step: step as i64,
            summary: Some(summary),
            ..Event::default()
        })
    }

    fn write(&mut self, event: &Event) -> Result<(), FileError> {
        self.buffer.clear();
        event.encode_raw(&mut self.buffer);
        write_record(&mut self.out, &self.buffer)
            .and_then(|()| self.out.flush())
            .map_err(|e| FileError::io(&self.path, "writing", e))
    }
}
