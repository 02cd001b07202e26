//! A folder that appears whole or not at all, as [`crate::atomic`] does for files.
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};

use crate::atomic::{self, FileError};

/// Makes `out` the folder that `fill` fills at the path it is given. What was at `out`, a folder that may go, goes when the
/// new one is whole; on an error it stays and nothing is left beside it.
pub(super) fn publish(
    out: &Path,
    fill: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let parent = match (out.file_name(), out.parent()) {
        (Some(_), Some(parent)) if parent.as_os_str().is_empty() => Path::new("."),
        (Some(_), Some(parent)) => parent,
        _ => bail!(
            "--out {}: must end in the name of a folder to write",
            out.display()
        ),
    };
    fs::create_dir_all(parent).map_err(|e| FileError::io(parent, "creating the folder", e))?;
    let part = atomic::temp_path(out);
    match fs::create_dir(&part) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => bail!(
            "{}: already there: another export is writing it, or one was killed; if none runs, remove it",
            part.display()
        ),
        Err(e) => return Err(FileError::io(&part, "creating the folder", e).into()),
    }
    let whole = fill(&part).and_then(|()| Ok(sync(&part)?));
    let placed = whole.and_then(|()| replace(&part, out));
    if placed.is_err() {
        // Best effort: the error that matters is the one already at hand.
        let _ = fs::remove_dir_all(&part);
    }
    placed?;
    atomic::sync_folder(parent)?;
    Ok(())
}

/// Has every file of a folder on disk, then the folder.
fn sync(folder: &Path) -> Result<(), FileError> {
    for name in atomic::names(folder)? {
        let path = folder.join(name);
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|e| FileError::io(&path, "syncing", e))?;
    }
    atomic::sync_folder(folder)
}

/// Gives `part` the name `out`, in place of a folder of that name.
fn replace(part: &Path, out: &Path) -> anyhow::Result<()> {
    let rename = |from: &Path, to: &Path| {
        fs::rename(from, to).map_err(|e| FileError::io(to, "renaming into place", e))
    };
    if !out.exists() {
        return Ok(rename(part, out)?);
    }
    let mut old = part.as_os_str().to_owned();
    old.push(".old");
    let old = Path::new(&old);
    rename(out, old)?;
    if let Err(error) = rename(part, out) {
        rename(old, out)
            .with_context(|| format!("{error}; the earlier bundle is {}", old.display()))?;
        return Err(error.into());
    }
    fs::remove_dir_all(old).map_err(|e| FileError::io(old, "removing the earlier bundle", e))?;
    Ok(())
}
