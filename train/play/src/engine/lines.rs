//! Lines of bytes, whatever they are.
use std::io::{self, BufRead, BufReader, Read};

/// Longest line that is read; the rest of a longer one is skipped.
pub const LONGEST: usize = 4 << 20;

/// Reads lines from `R`.
pub struct Lines<R> {
    input: BufReader<R>,
    bytes: Vec<u8>,
}

/// A line.
pub enum Line {
    /// Its text, with U+FFFD for what is no UTF-8.
    Text(String),
    /// It is longer than [`LONGEST`].
    TooLong,
    /// There is no further one.
    End,
}

impl<R: Read> Lines<R> {
    /// The lines of `input`.
    pub fn of(input: R) -> Self {
        Lines {
            input: BufReader::new(input),
            bytes: Vec::new(),
        }
    }

    /// The next line, without its end.
    pub fn read(&mut self) -> io::Result<Line> {
        self.bytes.clear();
        let mut fits = true;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            fits &= self.bytes.len() + part.len() <= LONGEST;
            if fits {
                self.bytes.extend_from_slice(part);
            }
            let (used, ends, over) = (
                part.len() + usize::from(end.is_some()),
                end.is_some(),
                chunk.is_empty(),
            );
            self.input.consume(used);
            if over && self.bytes.is_empty() && fits {
                return Ok(Line::End);
            }
            if ends || over {
                return Ok(match fits {
                    true => Line::Text(String::from_utf8_lossy(&self.bytes).into_owned()),
                    false => Line::TooLong,
                });
            }
        }
    }
}
