//! The page that plays: a game as a page needs it, its search, the server and the page's files; no libtorch.
//!
//! Everything but the server is pure: JSON in, JSON out, no IO, no clock. The same code answers the page over
//! HTTP and, compiled to WebAssembly, within the browser, so no rule is written a second time for it.
pub mod cell;
pub mod facts;
pub mod game;
pub mod label;
pub mod load;
pub mod page;
pub mod record;
#[cfg(feature = "server")]
pub mod server;
pub mod state;
pub mod table;
pub mod think;
