//! The lines of a file in any encoding that its users write: UTF-8, GBK and its kin, UTF-16 with a mark. A line ends with
//! LF, CR or both.
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use crate::atomic::FileError;

/// Bytes after which a line is divided, at the next space if one is near.
const LONGEST: usize = 1 << 20;
/// How near.
const NEAR: usize = 4096;
/// Bytes read at a time to find the encoding.
const BLOCK: usize = 1 << 16;

/// The lines of a file, read one at a time.
pub struct Lines<'a> {
    path: &'a Path,
    input: BufReader<DecodeReaderBytes<File, Vec<u8>>>,
    number: usize,
    /// Lines that come before what is left of the file, the last one first.
    put_back: Vec<Line>,
    /// Whether the line read last ended with a CR, which an LF may follow.
    half_ended: bool,
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
    let mut at_start = true;
    loop {
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(n) => {
                if std::mem::take(&mut at_start) && is_utf32(&block[..n]) {
                    let why = "text in UTF-32, which is not read; save it as UTF-8";
                    return Err(FileError::content(path, why));
                }
                detector.feed(&block[..n], false);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(FileError::io(path, "reading", e)),
        };
    }
    detector.feed(&[], true);
    // Records come from China: between encodings that fit, its own is meant.
    Ok(detector.guess(Some(b"cn"), Utf8Detection::Allow))
}

/// Whether a file that begins so is in UTF-32: with its mark, or with an ASCII character.
fn is_utf32(start: &[u8]) -> bool {
    match *start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => true,
        [first, 0, 0, 0, ..] | [0, 0, 0, first, ..] => first.is_ascii() && first != 0,
        _ => false,
    }
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
            put_back: Vec::new(),
            half_ended: false,
        })
    }

    /// The next line.
    pub fn next_line(&mut self) -> Result<Option<Line>, FileError> {
        if let Some(line) = self.put_back.pop() {
            return Ok(Some(line));
        }
        let failed = |e| FileError::io(self.path, "reading", e);
        let mut bytes = Vec::new();
        let ends = |byte: u8| matches!(byte, b'\n' | b'\r');
        read_until(&mut self.input, &mut bytes, LONGEST, ends).map_err(failed)?;
        if std::mem::take(&mut self.half_ended) && bytes == b"\n" {
            bytes.clear();
            read_until(&mut self.input, &mut bytes, LONGEST, ends).map_err(failed)?;
        }
        if bytes.len() == LONGEST && !bytes.last().copied().is_some_and(ends) {
            let near = |byte: u8| byte == b' ' || ends(byte);
            read_until(&mut self.input, &mut bytes, NEAR, near).map_err(failed)?;
        }
        let Some(&last) = bytes.last() else {
            return Ok(None);
        };
        let number = self.number + 1;
        self.number += usize::from(ends(last));
        self.half_ended = last == b'\r';
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        let done = 0;
        Ok(Some(Line { number, text, done }))
    }

    /// Gives a line back, which comes next.
    pub fn put_back(&mut self, line: Line) {
        self.put_back.push(line);
    }
}

/// Appends bytes up to and with the first that `ends` the reading, `most` at most.
fn read_until(
    input: &mut impl BufRead,
    bytes: &mut Vec<u8>,
    most: usize,
    ends: impl Fn(u8) -> bool,
) -> io::Result<()> {
    let full = bytes.len() + most;
    while bytes.len() < full {
        let there = match input.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            there => there?,
        };
        let there = &there[..there.len().min(full - bytes.len())];
        let end = there.iter().position(|&byte| ends(byte));
        let taken = end.map_or(there.len(), |at| at + 1);
        bytes.extend_from_slice(&there[..taken]);
        input.consume(taken);
        if end.is_some() || taken == 0 {
            break;
        }
    }
    Ok(())
}
