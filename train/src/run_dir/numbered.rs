//! The files that a run numbers: known by their exact names, for the folders may hold a user's own files.
use std::path::{Path, PathBuf};

use crate::atomic::{self, FileError};

/// A kind of file that stands once a number in its folder; the folder may hold anything else beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    /// Its folder, within the run's.
    pub(super) folder: &'static str,
    digits: usize,
    extension: &'static str,
}

impl Numbered {
    /// Files `folder`/NUMBER.`extension`, the number with leading zeros to `digits` digits.
    pub(super) const fn new(folder: &'static str, digits: usize, extension: &'static str) -> Self {
        Numbered {
            folder,
            digits,
            extension,
        }
    }

    /// The name of number `n`, without its folder.
    pub(super) fn name(self, n: u64) -> String {
        format!("{n:0width$}.{}", self.extension, width = self.digits)
    }

    /// The path of number `n` in the run directory `run`.
    pub(super) fn path(self, run: &Path, n: u64) -> PathBuf {
        run.join(self.folder).join(self.name(n))
    }

    /// The number whose name is exactly `name`.
    pub(super) fn number(self, name: &str) -> Option<u64> {
        let n = name.split('.').next()?.parse().ok()?;
        (self.name(n) == name).then_some(n)
    }

    /// (number, path) of the files of this kind, ascending; none where the folder is missing.
    pub(super) fn all(self, run: &Path) -> Result<Vec<(u64, PathBuf)>, FileError> {
        let folder = run.join(self.folder);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let mut all: Vec<_> = atomic::names(&folder)?
            .iter()
            .filter_map(|name| Some((self.number(name)?, folder.join(name))))
            .filter(|(_, path)| path.is_file())
            .collect();
        all.sort();
        Ok(all)
    }
}
