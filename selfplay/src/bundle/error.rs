//! Why a bundle cannot be used, and what to do.
use std::io;
use std::path::PathBuf;

use super::{FORMAT, MANIFEST, PROGRAM};

/// What to do with a folder that cannot be used.
const AGAIN: &str = "export it again, or copy the whole folder again";

/// Why a bundle cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// No manifest of ours.
    #[error("{}: no bundle of {PROGRAM}'s: {why}; give the folder that `{PROGRAM} export --out` made", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        why: String,
    },
    /// Another version of the format.
    #[error(
        "{}: {MANIFEST} has format {found}, but this program reads format {FORMAT}: {}",
        folder.display(),
        if *found > u64::from(FORMAT) { "use a newer version of the program" } else { "export the network again" }
    )]
    Version {
        /// The folder.
        folder: PathBuf,
        /// Its version.
        found: u64,
    },
    /// The manifest says something that cannot be.
    #[error("{}: {MANIFEST}: {why}; {AGAIN}", folder.display())]
    Broken {
        /// The folder.
        folder: PathBuf,
        /// What is wrong, and what was expected.
        why: String,
    },
    /// The network reads or answers otherwise than this program does.
    #[error("{}: {MANIFEST}: `{field}` is not this program's: use the version that exported it ({program})", folder.display())]
    Encoding {
        /// The folder.
        folder: PathBuf,
        /// The table that differs.
        field: &'static str,
        /// The writer.
        program: String,
    },
    /// A form that cannot be played.
    #[error("{}: {MANIFEST}: form \"{form}\": {why}", folder.display())]
    Form {
        /// The folder.
        folder: PathBuf,
        /// The form's name.
        form: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file that the manifest names is not there.
    #[error("{}: missing, though {MANIFEST} names it; {AGAIN}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file is not the one that was exported.
    #[error("{}: changed since it was exported: {what} is {found}, {MANIFEST} says {expected}; {AGAIN}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// As it is.
        found: String,
        /// As it was.
        expected: String,
    },
    /// A folder that holds something else.
    #[error("{}: already there, and no older export of {PROGRAM}'s ({why}); choose another folder with --out", folder.display())]
    InTheWay {
        /// The folder.
        folder: PathBuf,
        /// What lies there.
        why: String,
    },
}
