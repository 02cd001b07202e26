//! What people read: results on standard output, progress on standard error. Either may be closed or full at any
//! time, so nothing here panics; a result that cannot be printed is an error, progress that cannot is dropped.
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Why a result could not be printed.
#[derive(Debug, thiserror::Error)]
#[error("standard output: the result cannot be written: {0}")]
pub struct OutputError(pub io::Error);

impl OutputError {
    /// Whether the reader closed the pipe, having seen enough.
    pub fn is_closed(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

/// Prints a line of a result.
pub fn print(line: impl Display) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(OutputError)
}

/// Prints a line of progress or of an error, if it can be.
pub fn note(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// An error with its causes, each said once: some of them repeat their own cause.
pub fn describe(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .fold(String::new(), |text, cause| {
            match (text.is_empty(), text.contains(&cause)) {
                (true, _) => cause,
                (false, true) => text,
                (false, false) => format!("{text}: {cause}"),
            }
        })
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_cause_is_said_once() {
        let error = anyhow::anyhow!("no space left").context("writing x: no space left");
        assert_eq!(
            describe(&error.context("a run")),
            "a run: writing x: no space left"
        );
    }
}
