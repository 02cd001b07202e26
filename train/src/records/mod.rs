//! Game records: games in the players' own texts.
pub mod line;
