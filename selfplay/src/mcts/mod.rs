//! Monte-Carlo tree search.
mod config;
pub use config::{RootKind, SearchConfig};
