//! The page's game where no server is: the answers that one would give, from the same code, to a script that fetches files and
//! runs the network.
//!
//! A search goes step by step: [`Player`] writes what the network reads of the next position into [`Numbers`], the script
//! computes the network and writes its answers there, and so on. [`abi`] is all that WebAssembly shows of it.
mod abi;
mod numbers;
mod player;

pub use numbers::{Numbers, Place};
pub use player::{Call, Player, Refusal};
