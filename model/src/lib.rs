//! The network: from a record's bytes to policy, WDL and moves left, and how it is trained and kept.
pub mod config;
