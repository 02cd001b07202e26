//! Levels of playing strength from the checkpoints of a run.
//!
//! ```text
//! field (who may be a level) -> fit (how strong each is) -> choose (evenly spaced) -> check (by other games)
//!                                    ^                                                    | not told apart
//!                                    +----------------------------------------------------+
//! ```
//!
//! [`field`] and [`choose`] are pure; [`grading`] decides what is played and is told the results, by [`hall`], which plays
//! and keeps the games, or by a simulation. All follows from the seed and the games, so a grading that was broken
//! off goes on by doing the same again with the games that are kept.
//!
//! **A learner, not a coin.** A setting is a checkpoint of the run and a number of simulations, and chooses what
//! it takes for best: weak play is what an earlier network believes in, or what it overlooks without search. Only
//! where no such setting lies near a level's place is the choice made warm, and then of a network's bare policy:
//! at temperature 1 that is its own opinion of how likely each move is. Noise is never used.
mod bench;
mod check;
pub mod choose;
pub mod field;
pub mod grading;
pub mod hall;
pub mod loss;
pub mod table;
