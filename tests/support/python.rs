//! The Python of the tests that need packages: that of `scripts/setup --checks`, else the system's.
use std::path::{Path, PathBuf};

/// To be called with a script; it may lack packages, or not be there at all.
pub fn python() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.checks/python");
    if own.exists() { own } else { "python3".into() }
}
