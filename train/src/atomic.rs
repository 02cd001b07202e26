//! Files that appear whole or not at all: temporary name, fsync, rename, fsync of the folder.
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What the names of unfinished files start with; the rest, with its extension, is the final name.
pub const TEMP_PREFIX: &str = ".tmp-";

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk, the quota or the file size limit is used up; what was there before is untouched.
    #[error("{}: no space left while {doing} ({source})", path.display())]
    DiskFull {
        /// The final name of the file.
        path: PathBuf,
        /// What was being done, for example "writing".
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The system refused.
    #[error("{}: error while {doing}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, for example "reading".
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file was read but does not hold what it should, or what should be written is not valid.
    #[error("{}: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected, what to do.
        message: String,
    },
}

impl FileError {
    /// Wraps a system error; running out of space becomes [`FileError::DiskFull`].
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                FileError::DiskFull {
                    path,
                    doing,
                    source,
                }
            }
            _ => FileError::Io {
                path,
                doing,
                source,
            },
        }
    }

    /// A file with the wrong content.
    pub fn content(path: &Path, message: impl Into<String>) -> Self {
        FileError::Content {
            path: path.to_path_buf(),
            message: message.into(),
        }
    }

    /// What is wrong, without the file's name.
    pub fn cause(&self) -> String {
        match self {
            FileError::Content { message, .. } => message.clone(),
            FileError::Io { doing, source, .. } | FileError::DiskFull { doing, source, .. } => {
                format!("error while {doing}: {source}")
            }
        }
    }

    /// Whether freeing space would have helped.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, FileError::DiskFull { .. })
    }
}

/// The name under which `path` is written before it is whole, in the same folder.
pub fn temp_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(TEMP_PREFIX);
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// Makes `path` hold what `fill` writes. On an error the old `path` stays and the temporary file goes.
pub fn write(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), FileError> {
    publish(path, |temp| {
        let mut out = BufWriter::new(File::create(temp)?);
        fill(&mut out)?;
        out.flush()
    })
}

/// As [`write`], for a writer that wants a path: `fill` creates the file at the path it is given.
pub fn publish(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), FileError> {
    prepare(path, fill)?;
    place(path)?;
    sync_folder(folder_of(path))
}

/// The first half of [`publish`]: the file is whole, but has its temporary name.
pub fn prepare(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), FileError> {
    let temp = temp_path(path);
    let written = fill(&temp).and_then(|()| File::open(&temp)?.sync_all());
    if let Err(e) = written {
        // Best effort: the error that matters is the one already at hand.
        let _ = fs::remove_file(&temp);
        return Err(FileError::io(path, "writing", e));
    }
    Ok(())
}

/// The second half: a prepared file gets its name, which lasts once [`sync_folder`] is called.
pub fn place(path: &Path) -> Result<(), FileError> {
    fs::rename(temp_path(path), path).map_err(|e| FileError::io(path, "renaming into place", e))
}

/// The folder that a file is in; of a bare name the current one.
pub fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Makes the names in `folder` durable.
pub fn sync_folder(folder: &Path) -> Result<(), FileError> {
    File::open(folder)
        .and_then(|f| f.sync_all())
        .map_err(|e| FileError::io(folder, "syncing the folder", e))
}

/// Removes the unfinished files that a killed process left in `folder`, of those whose final name is
/// `ours`; returns their names.
pub fn remove_temps(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<Vec<String>, FileError> {
    let mut removed = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        if final_name(&name).is_some_and(&ours) && !path.is_dir() {
            remove(&path)?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// The final name of an unfinished file; a checkpoint's writer has a temporary name of its own within
/// ours, `.tmp-NAME.PID.part`.
fn final_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix(TEMP_PREFIX)?;
    let part = name.strip_suffix(".part").and_then(|n| n.rsplit_once('.'));
    Some(match part {
        Some((name, pid)) if pid.parse::<u32>().is_ok() => name,
        _ => name,
    })
}

/// The names in `folder`, sorted; names that are not UTF-8 are left out.
pub fn names(folder: &Path) -> Result<Vec<String>, FileError> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    };
    read().map_err(|e| FileError::io(folder, "listing the folder", e))
}

/// Removes a file; a folder is an error.
pub fn remove(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(|e| FileError::io(path, "removing", e))
}
