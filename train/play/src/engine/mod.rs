//! A network as an engine for the programs in which people play: UCI and UCCI on standard input and output.
//!
//! ```text
//! bytes -> lines -> protocol (uci, ucci) -> command -> session -> order -> thinker (a thread a search)
//!                                                         |  stop, ponderhit    | lines of protocol
//!                                                         +------ signal ------>+
//! ```
//!
//! The session reads and never computes, so it answers at once; the thinker owns the network and the tree. Whatever
//! is wrong with a line is said in an `info string` (UCCI: `info message`), and the next line is read.
mod budget;
mod command;
mod game;
pub mod lines;
mod model;
mod options;
mod protocol;
mod report;
mod run;
mod session;
mod strength;
mod text;
mod thinker;
mod ucci;
mod uci;

pub use self::model::{Graded, Load, Model, Source};
pub use self::protocol::{Protocol, quote};
pub use self::session::{Say, Session};
pub use self::strength::nearest;
