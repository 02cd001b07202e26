//! Where imported rows go: files NAME, NAME-2, NAME-3, … that appear all together, when all is read.
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use selfplay::record::Rows;

use crate::atomic::{self, FileError};
use crate::samples::{self, SamplesConfig, ShardHead};

/// Files of samples in the making. What is not [placed](Shards::place) goes when this is dropped.
pub struct Shards {
    /// The first one's final name.
    out: PathBuf,
    file_rows: usize,
    head: ShardHead,
    config: SamplesConfig,
    /// Rows that are in no file yet.
    rows: Rows,
    /// Files that are whole but for their names.
    files: usize,
    written: usize,
    /// The temporary files, locked until this process is done or dies; the first is there from the beginning.
    locks: Vec<File>,
}

impl Shards {
    /// Begins files that are full with `file_rows` rows. What a killed process left of files of these names goes; an error
    /// if one is at work on them, or if there is something at `out` or at the second file's name.
    pub fn begin(
        out: &Path,
        file_rows: usize,
        head: ShardHead,
        config: SamplesConfig,
    ) -> anyhow::Result<Shards> {
        check_free(out)?;
        let shards = Shards {
            out: out.to_owned(),
            file_rows,
            head,
            config,
            rows: Rows::default(),
            files: 0,
            written: 0,
            locks: vec![claim(out)?],
        };
        for n in 0..2 {
            check_free(&numbered(out, n))?;
        }
        remove_left(out)?;
        Ok(shards)
    }

    /// Adds the rows of a game, which stay in one file.
    pub fn push(&mut self, rows: &Rows) -> anyhow::Result<()> {
        self.rows.append(rows);
        if self.rows.len() >= self.file_rows {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let path = numbered(&self.out, self.files);
        check_free(&path)?;
        if self.locks.len() == self.files {
            self.locks.push(claim(&path)?);
        }
        let shard = samples::encode(&path, &self.rows, &self.head, &self.config)?;
        atomic::prepare(&path, |temp| fs::write(temp, &shard))?;
        self.files += 1;
        self.written += self.rows.len();
        self.rows.clear();
        Ok(())
    }

    /// Writes the rows that are left; all rows written.
    pub fn finish(&mut self) -> anyhow::Result<usize> {
        if !self.rows.is_empty() {
            self.write()?;
        }
        Ok(self.written)
    }

    /// Gives all files their names.
    pub fn place(self) -> anyhow::Result<()> {
        let paths: Vec<_> = (0..self.files).map(|n| numbered(&self.out, n)).collect();
        paths.iter().try_for_each(|path| check_free(path))?;
        for path in &paths {
            atomic::place(path)?;
        }
        Ok(atomic::sync_folder(atomic::folder_of(&self.out))?)
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        for n in 0..self.locks.len() {
            let _ = fs::remove_file(atomic::temp_path(&numbered(&self.out, n)));
        }
    }
}

/// The folder must be there, and nothing in it under that name yet.
pub fn check_free(out: &Path) -> anyhow::Result<()> {
    let folder = atomic::folder_of(out);
    ensure!(
        folder.is_dir(),
        "--out {}: there is no folder {}; create it, or choose another",
        out.display(),
        folder.display()
    );
    // A link that leads nowhere is something, too.
    ensure!(
        out.symlink_metadata().is_err(),
        "--out {}: already there; remove it or choose another",
        out.display()
    );
    Ok(())
}

/// Makes and locks a temporary file.
fn claim(out: &Path) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    let open = options.write(true).create(true).truncate(false);
    let file = open.open(atomic::temp_path(out));
    let file = file.map_err(|e| FileError::io(out, "creating", e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("--out {}: another import is writing it", out.display())
        }
        Err(TryLockError::Error(e)) => Err(FileError::io(out, "locking", e).into()),
    }
}

/// Path of the file number `n`, from 0.
fn numbered(out: &Path, n: usize) -> PathBuf {
    if n == 0 {
        return out.to_owned();
    }
    let mut name = out.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{}", n + 1));
    if let Some(extension) = out.extension() {
        name.push(".");
        name.push(extension);
    }
    out.with_file_name(name)
}

/// Removes the temporary files behind the first that a killed process left.
fn remove_left(out: &Path) -> anyhow::Result<()> {
    let folder = atomic::folder_of(out);
    for name in atomic::names(folder)? {
        let path = name.strip_prefix(atomic::TEMP_PREFIX);
        let path = path.map(|name| folder.join(name));
        if let Some(path) = path.filter(|path| is_numbered(path, out)) {
            let _lock = claim(&path)?;
            atomic::remove(&atomic::temp_path(&path))?;
        }
    }
    Ok(())
}

/// Whether a path is one that [`numbered`] makes behind the first.
fn is_numbered(path: &Path, out: &Path) -> bool {
    let stem = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let number = || {
        let number = stem(path)?
            .strip_prefix(&stem(out)?)?
            .strip_prefix('-')?
            .parse::<usize>();
        number.ok()?.checked_sub(1)
    };
    number().is_some_and(|n| n > 0 && numbered(out, n).file_name() == path.file_name())
}
