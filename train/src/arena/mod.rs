//! Matches of paired games: every opening is played twice, colours exchanged.
//!
//! Each thread plays several games in lock-step: in a round every game goes on until a network is asked, then
//! each player's rows are evaluated as one batch. Built-in opponents answer at once. All chance follows from
//! the seed and the game's number, so neither the number of threads nor that of games at a time changes a
//! result, as long as the evaluator gives a row the same answer in any batch.
//!
//! An external engine is a process of its own for each game at a time. While it thinks, its game waits and the
//! thread's other games go on: only where all of them wait for engines does the thread, too.
mod external;
mod lane;
mod opening;
mod result;
mod rounds;
mod seat;
pub mod spec;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use rand_pcg::Pcg64Mcg;
use rayon::ThreadPoolBuilder;
use selfplay::eval::{EvalError, Evaluator, mix};
use selfplay::mcts::SearchConfig;
use selfplay::opponent::Builtin;
use selfplay::rules::World;
use serde::{Deserialize, Serialize};

pub use external::{External, Fault, FaultKind, StartError};
pub use opening::{Opening, deal_rng, draw as draw_openings};
pub use result::{GameEnd, MatchResult, PlayedGame};

/// The `[arena]` table: how strength is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArenaConfig {
    /// Built-in opponents, each once.
    pub opponents: Vec<Builtin>,
    /// Whether the run's first checkpoint is an opponent.
    pub first_checkpoint: bool,
    /// Whether in the arranged forms the same network with a random arrangement is an opponent.
    pub random_arrangement: bool,
    /// Measure after every so many checkpoints and at the end; 0: at the end only.
    pub every_checkpoints: u32,
    /// Games against each opponent; even, and no more than there are openings of so many plies.
    pub games: u32,
    /// Games that one thread plays at a time, at least 1.
    pub games_per_thread: usize,
    /// Random plies before the players take over, at least 1 for players that always answer alike.
    pub opening_plies: u16,
    /// New simulations a move, each at most one network evaluation; 0: as self-play's full search.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
    /// Temperature of the choice of every placement of a secret arrangement.
    pub arrangement_temperature: f32,
    /// Ply at which a game is cut (reason `ply_cap`, a draw); 0: never.
    pub ply_cap: u16,
}

/// How a match is played; what the players are is [`Player`]'s.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchConfig {
    /// Pairs of games.
    pub pairs: u32,
    /// Random plies of each opening.
    pub opening_plies: u16,
    /// Ply at which a game is cut as a draw; 0: never.
    pub ply_cap: u16,
    /// Threads, at least 1, each with evaluators of its own.
    pub threads: usize,
    /// Games that one thread plays at a time, at least 1.
    pub games_per_thread: usize,
}

impl ArenaConfig {
    /// The match against one opponent, on so many threads.
    pub fn match_config(&self, threads: usize) -> MatchConfig {
        MatchConfig {
            pairs: self.games.div_ceil(2),
            opening_plies: self.opening_plies,
            ply_cap: self.ply_cap,
            threads,
            games_per_thread: self.games_per_thread,
        }
    }
}

/// Makes the evaluator of one thread; called once a thread and match.
pub type EvaluatorFactory = Arc<dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Send + Sync>;

/// Who plays.
#[derive(Clone)]
pub enum Player {
    /// A built-in opponent.
    Builtin(Builtin),
    /// A search over an evaluator.
    Searched(Searched),
    /// A program that speaks UCI or UCCI.
    External(Arc<External>),
}

/// A player that searches, without exploration noise.
#[derive(Clone)]
pub struct Searched {
    /// The evaluators.
    pub evaluators: EvaluatorFactory,
    /// Settings of the search.
    pub search: SearchConfig,
    /// New simulations a move, each at most one evaluation.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
    /// How it arranges its pieces in secret.
    pub arrangement: Arrangement,
}

/// How a player that searches arranges its pieces in secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrangement {
    /// A search a placement, and so warm a choice among its moves.
    Searched {
        /// Temperature of the choice; at 0 an opponent that knows the player knows its arrangement.
        temperature: f32,
    },
    /// At random, each arrangement as likely.
    Random,
}

/// What a caller may see of and say to a running match.
pub struct Watch<'a> {
    /// Set it to end the match early; whole pairs that are finished count.
    pub stop: &'a AtomicBool,
    /// Called from any thread after each game; a break ends the match early, too.
    pub finished: &'a (dyn Fn(&PlayedGame) -> ControlFlow<()> + Sync),
}

/// Why a match could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ArenaError {
    /// A player's evaluator could not be made or failed.
    #[error("{player} player of the match: {source}")]
    Eval {
        /// `first` or `second`.
        player: &'static str,
        /// What happened.
        source: EvalError,
    },
    /// Random play always ended the game or led to a mate in one.
    #[error("no playable opening of {plies} random plies was found; choose fewer opening plies")]
    NoOpening {
        /// Plies asked for.
        plies: u16,
    },
    /// An engine could not be started (again).
    #[error(transparent)]
    Engine(#[from] StartError),
    /// The system gives no more threads.
    #[error("cannot start the threads of a match: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl ArenaError {
    fn eval(player: usize, source: EvalError) -> Self {
        ArenaError::Eval {
            player: ["first", "second"][player],
            source,
        }
    }
}

/// A seed that follows from the match's seed and what it is for.
fn seed_of(seed: u64, purpose: [u64; 3]) -> u64 {
    purpose.iter().fold(seed, |state, part| mix(state ^ part))
}

/// What the threads of a match share.
struct Match<'a> {
    players: [&'a Player; 2],
    openings: &'a [Opening],
    /// Numbers of the games to play; game `2 n` and `2 n + 1` are pair `n`.
    games: &'a [usize],
    config: &'a MatchConfig,
    seed: u64,
    watch: &'a Watch<'a>,
    /// How many of `games` are taken up.
    taken: AtomicUsize,
    /// Whether the match has been ended.
    ended: AtomicBool,
}

/// Plays a match between two players from random openings after `start`, which sets up a game (a dealt form
/// deals with the generator). The same seed gives the same openings whoever plays.
pub fn play_match(
    start: &dyn Fn(&mut Pcg64Mcg) -> World,
    players: [&Player; 2],
    config: &MatchConfig,
    seed: u64,
    watch: &Watch,
) -> Result<MatchResult, ArenaError> {
    let pairs = config.pairs as usize;
    let openings = draw_openings(start, pairs, config.opening_plies, seed)?;
    let all: Vec<_> = (0..2 * pairs).collect();
    let games = play_games(players, &openings, &all, config, seed, watch)?;
    Ok(MatchResult::of(games))
}

/// Plays some games of a match between two players, by number: games `2 n` and `2 n + 1` are pair `n`, from opening
/// `n`, the first player with Red in the first of them. A game follows from the seed and its number, whichever
/// others are played.
pub fn play_games(
    players: [&Player; 2],
    openings: &[Opening],
    games: &[usize],
    config: &MatchConfig,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<PlayedGame>, ArenaError> {
    let shared = Match {
        players,
        openings,
        games,
        config,
        seed,
        watch,
        taken: AtomicUsize::new(0),
        ended: AtomicBool::new(false),
    };
    let threads = ThreadPoolBuilder::new()
        .num_threads(config.threads.max(1))
        .build()?;
    let results = threads.broadcast(|_| shared.play_games());
    let games = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(games.concat())
}
