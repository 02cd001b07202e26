//! The rules of every form: a form is data (a [`Ruleset`]), never a branch on its name.
//!
//! This module does no I/O, owns no random generator, and cannot fail once a [`Position`] stands.
mod attacks;
mod ending;
mod fen;
mod geometry;
mod history;
mod movegen;
mod notation;
mod perft;
mod position;
mod repetition;
mod ruleset;
mod safety;
mod types;
mod view;
mod world;
mod zobrist;

pub use ending::judge;
pub use fen::{FenError, FenField, board_text};
pub(crate) use geometry::crossed;
pub use history::History;
pub use notation::{Fault, Notation, NotationError, Ranks, Said, UnknownNotation};
pub use perft::divide;
pub use position::{IllegalMove, Position, Reveal};
pub use repetition::{Repetition, judge as judge_repetition};
pub use ruleset::{CheckDiscount, Kinds, Layout, RepetitionRule, Ruleset, SeenBy};
pub use types::{Face, Kind, Move, ParseMoveError, Piece, Square};
pub use view::View;
pub use world::World;

pub use crate::game::Color;
