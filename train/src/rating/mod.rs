//! Strength from results: a match's score and Elo, ratings of any number of players, sequential tests.
//!
//! - [`score`]: one match between two players, without a model.
//! - [`rate`]: maximum-likelihood Elo of all players of a set of games, with draws ([`davidson`]), intervals from the
//!   pairs, cross table, goodness of fit and cycles.
//! - [`sprt`]: is one player stronger than another by so much? Play until it is known.
//!
//! An *opening pair* is one opening, or one deal, played twice with sides exchanged. Its two games depend on each
//! other, different pairs do not; so wherever a variance is estimated here, it is between pairs.
pub mod anchors;
mod covariance;
mod cross;
mod cycles;
pub mod davidson;
mod error;
mod fit;
mod list;
mod problem;
mod results;
pub mod score;
pub mod sprt;
mod text;

pub use cross::{CrossCell, GoodnessOfFit};
pub use cycles::Cycle;
pub use error::RatingError;
pub use list::{Estimate, PlayerRating, RatingList, RatingOptions, rate};
pub use results::{Encounter, GameScore};
pub use score::{Interval, Pairs, Rating, elo};
