//! A folder that one process at a time works in.
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::atomic::FileError;

/// Locks `folder` by its file `name`, which then has this process's number in it; `what`: what is worked on, such as
/// "this run". The lock goes with the file's handle, also when the process dies.
pub fn take(folder: &Path, name: &str, what: &str) -> Result<File, FileError> {
    let path = folder.join(name);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| FileError::io(&path, "opening the lock", e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            let pid = if pid.trim().is_empty() {
                "unknown"
            } else {
                pid.trim()
            };
            return Err(FileError::content(
                folder,
                format!("another process (pid {pid}) is working on {what}"),
            ));
        }
        Err(TryLockError::Error(e)) => return Err(FileError::io(&path, "locking", e)),
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(|e| FileError::io(&path, "writing the pid", e))?;
    Ok(file)
}
