//! A folder that appears whole or not at all, as [`crate::atomic`] does for files.
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::atomic::{self, FileError};

/// Makes `out` the folder that `fill` fills at the path it is given. What was at `out`, a folder that may go, goes when the
/// new one is whole; on an error it stays and nothing is left beside it. What a killed call left is taken over, if all in it
/// is `ours` by its name.
pub(super) fn publish(
    out: &Path,
    ours: impl Fn(&str) -> bool,
    fill: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if out.file_name().is_none() {
        bail!(
            "--out {}: must end in the name of a folder to write",
            out.display()
        );
    }
    let parent = atomic::folder_of(out);
    fs::create_dir_all(parent).map_err(|e| FileError::io(parent, "creating the folder", e))?;
    let part = atomic::temp_path(out);
    let _lock = claim(&part, ours)?;
    let whole = fill(&part).and_then(|()| Ok(sync(&part)?));
    let placed = whole.and_then(|()| place(&part, out));
    // The unfinished bundle, or the earlier one; best effort, since the next call clears it as well.
    let _ = fs::remove_dir_all(&part);
    placed?;
    atomic::sync_folder(parent)?;
    Ok(())
}

/// Makes the folder `part` and locks it; the lock goes with the handle, also when the process dies.
fn claim(part: &Path, ours: impl Fn(&str) -> bool) -> anyhow::Result<File> {
    let there = match fs::create_dir(part) {
        Ok(()) => false,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => true,
        Err(e) => return Err(FileError::io(part, "creating the folder", e).into()),
    };
    let folder = File::open(part).map_err(|e| FileError::io(part, "opening the folder", e))?;
    match folder.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another export is writing it", part.display())
        }
        Err(TryLockError::Error(e)) => return Err(FileError::io(part, "locking", e).into()),
    }
    if there {
        clear(part, ours)?;
    }
    Ok(folder)
}

/// Empties a folder of files that are all `ours`.
fn clear(part: &Path, ours: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let names = atomic::names(part)?;
    if let Some(name) = names.iter().find(|name| !ours(name)) {
        bail!(
            "{}: needed for the unfinished bundle, but {name} in it is not of an export; move the folder away or choose another --out",
            part.display()
        );
    }
    for name in names {
        atomic::remove(&part.join(name))?;
    }
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

/// Gives `part` the name `out`; a folder of that name gets the name `part`, in one step.
fn place(part: &Path, out: &Path) -> anyhow::Result<()> {
    let placed = match out.exists() {
        true => renameat_with(CWD, part, CWD, out, RenameFlags::EXCHANGE).map_err(Into::into),
        false => fs::rename(part, out),
    };
    placed
        .map_err(|e| FileError::io(out, "renaming into place", e))
        .context("the bundle was written but could not be given its name; try another --out")
}
