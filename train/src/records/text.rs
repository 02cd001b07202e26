//! The lines of a file in any encoding that its users write: UTF-8, GBK and its kin, UTF-16 with a mark.
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use crate::atomic::FileError;

/// Bytes after which a line is divided, at the next space if one is near.
const LONGEST: usize = 1 << 20;
/// How near.
const NEAR: u64 = 4096;
/// Bytes read at a time to find the encoding.
const BLOCK: usize = 1 << 16;

/// The lines of a file, read one at a time.
pub struct Lines<'a> {
    path: &'a Path,
    input: BufReader<DecodeReaderBytes<File, Vec<u8>>>,
    number: usize,
    put_back: Option<Line>,
}

/// A line, or a part of a very long one.
#[derive(Clone, Debug)]
pub struct Line {
    /// From 1.
    pub number: usize,
    text: String,
    /// Bytes of it that are done with.
    done: usize,
}

impl Line {
    /// What is left of it, without its end.
    pub fn text(&self) -> &str {
        self.text.get(self.done..).unwrap_or_default()
    }

    /// The same line without the first bytes of what is left.
    pub fn behind(mut self, bytes: usize) -> Line {
        self.done += bytes;
        self
    }
}

/// The encoding that a whole file is in, by chardetng's statistics; a file that is UTF-8 throughout is UTF-8.
pub fn encoding(path: &Path) -> Result<&'static Encoding, FileError> {
    let mut file = File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(n) => detector.feed(&block[..n], false),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(FileError::io(path, "reading", e)),
        };
    }
    detector.feed(&[], true);
    // Records come from China: between encodings that fit, its own is meant.
    Ok(detector.guess(Some(b"cn"), Utf8Detection::Allow))
}

impl<'a> Lines<'a> {
    /// Opens a file, reading it once to find its encoding.
    pub fn open(path: &'a Path) -> Result<Self, FileError> {
        let encoding = encoding(path)?;
        let file = File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
        let decoder = DecodeReaderBytesBuilder::new()
            .encoding(Some(encoding))
            .bom_override(true)
            .build(file);
        Ok(Lines {
            path,
            input: BufReader::new(decoder),
            number: 0,
            put_back: None,
        })
    }

    /// The next line.
    pub fn next_line(&mut self) -> Result<Option<Line>, FileError> {
        if let Some(line) = self.put_back.take() {
            return Ok(Some(line));
        }
        let failed = |e| FileError::io(self.path, "reading", e);
        let mut bytes = Vec::new();
        let mut limited = (&mut self.input).take(LONGEST as u64);
        limited.read_until(b'\n', &mut bytes).map_err(failed)?;
        if bytes.len() == LONGEST && bytes.last() != Some(&b'\n') {
            let mut limited = (&mut self.input).take(NEAR);
            limited.read_until(b' ', &mut bytes).map_err(failed)?;
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let number = self.number + 1;
        self.number += usize::from(bytes.last() == Some(&b'\n'));
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        let done = 0;
        Ok(Some(Line { number, text, done }))
    }

    /// Gives a line back, which comes next.
    pub fn put_back(&mut self, line: Line) {
        self.put_back = Some(line);
    }
}
