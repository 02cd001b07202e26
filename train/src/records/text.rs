//! The lines of a file in any encoding that its users write: UTF-8, GBK and its kin, UTF-16 with a mark.
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use crate::atomic::FileError;

/// Bytes of a line that are read; what follows is left out.
const LONGEST: usize = 1 << 20;
/// Bytes read at a time to find the encoding.
const BLOCK: usize = 1 << 16;

/// The lines of a file, read one at a time.
pub struct Lines<'a> {
    path: &'a Path,
    input: BufReader<DecodeReaderBytes<File, Vec<u8>>>,
    number: usize,
    put_back: Option<(usize, String)>,
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

    /// The next line and its number, from 1, without its end; a line longer than a megabyte is cut.
    pub fn next_line(&mut self) -> Result<Option<(usize, String)>, FileError> {
        if let Some(line) = self.put_back.take() {
            return Ok(Some(line));
        }
        let failed = |e| FileError::io(self.path, "reading", e);
        let mut bytes = Vec::new();
        let mut limited = (&mut self.input).take(LONGEST as u64);
        if limited.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if bytes.len() == LONGEST {
            self.input.skip_until(b'\n').map_err(failed)?;
        }
        self.number += 1;
        let line = String::from_utf8_lossy(&bytes);
        Ok(Some((self.number, line.trim_end_matches('\r').to_owned())))
    }

    /// Gives back the rest of a line, which comes next.
    pub fn put_back(&mut self, number: usize, line: String) {
        self.put_back = Some((number, line));
    }
}
