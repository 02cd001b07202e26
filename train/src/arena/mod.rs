//! Matches of paired games: every opening is played twice, colours exchanged.
//!
//! Each thread plays several games in lock-step: in a round every game goes on until a network is asked, then
//! each player's rows are evaluated as one batch. Built-in opponents answer at once. All chance follows from
//! the seed and the game's number, so neither the number of threads nor that of games at a time changes a
//! result, as long as the evaluator gives a row the same answer in any batch.
mod lane;
mod opening;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, EvalError, Evaluator, mix};
use selfplay::game::{Color, Ending, Game, Outcome, Referee};
use selfplay::mcts::SearchConfig;
use selfplay::opponent::{Builtin, Material};
use serde::{Deserialize, Serialize};

use crate::rating::{Pairs, Rating};
use lane::{Lane, Step};
use opening::Opening;

/// The `[arena]` table: how strength is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArenaConfig {
    /// Built-in opponents.
    pub opponents: Vec<Builtin>,
    /// Whether the run's first checkpoint is an opponent.
    pub first_checkpoint: bool,
    /// Measure after every so many checkpoints and at the end; 0: at the end only.
    pub every_checkpoints: u32,
    /// Games against each opponent; an odd number is rounded up to whole pairs.
    pub games: u32,
    /// Games that one thread plays at a time, at least 1.
    pub games_per_thread: usize,
    /// Random plies before the players take over, at least 1 for players that always answer alike.
    pub opening_plies: u16,
    /// New network evaluations a move.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
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
}

/// A player that searches, without exploration noise.
#[derive(Clone)]
pub struct Searched {
    /// The evaluators.
    pub evaluators: EvaluatorFactory,
    /// Settings of the search.
    pub search: SearchConfig,
    /// New evaluations a move.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
}

/// What a caller may see of and say to a running match.
pub struct Watch<'a> {
    /// Set it to end the match early; whole pairs that are finished count.
    pub stop: &'a AtomicBool,
    /// Called from any thread after each game.
    pub finished: &'a (dyn Fn(&PlayedGame) + Sync),
}

/// A finished game of a match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayedGame {
    /// The pair's number, from 0; equal numbers share an opening.
    pub pair: u32,
    /// The first player's colour.
    pub first: Color,
    /// Moves of the opening and the game in coordinates, separated by spaces.
    pub moves: String,
    /// Number of moves.
    pub plies: u32,
    /// How many of them are the opening.
    pub opening_plies: u16,
    /// How the game ended.
    pub ending: Ending,
}

impl PlayedGame {
    /// Points of the first player in halves: 2 win, 1 draw, 0 loss.
    pub fn halves(&self) -> usize {
        match self.ending.outcome {
            Outcome::Draw => 1,
            Outcome::Win(color) if color == self.first => 2,
            Outcome::Win(_) => 0,
        }
    }
}

/// A match's result, seen from the first player. Only whole pairs are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Pairs by points.
    pub pairs: Pairs,
    /// Mean length of a game in plies, the opening included; 0 without games.
    pub mean_plies: f64,
    /// Number of games by how they ended.
    pub reasons: BTreeMap<String, u32>,
    /// The games, by pair, the one in which the first player is Red first.
    pub games: Vec<PlayedGame>,
}

impl MatchResult {
    /// Counts `games`, which come in any order.
    pub fn of(mut games: Vec<PlayedGame>) -> Self {
        games.sort_by_key(|game| (game.pair, game.first == Color::Black));
        let mut result = MatchResult::default();
        for pair in games
            .chunk_by(|a, b| a.pair == b.pair)
            .filter(|pair| pair.len() == 2)
        {
            result.pairs[pair[0].halves() + pair[1].halves()] += 1;
            result.games.extend_from_slice(pair);
        }
        for game in &result.games {
            match game.halves() {
                2 => result.wins += 1,
                1 => result.draws += 1,
                _ => result.losses += 1,
            }
            *result
                .reasons
                .entry(game.ending.reason.to_string())
                .or_default() += 1;
        }
        let plies: u32 = result.games.iter().map(|game| game.plies).sum();
        result.mean_plies = f64::from(plies) / result.games.len().max(1) as f64;
        result
    }

    /// Score, Elo and their intervals.
    pub fn rating(&self) -> Rating {
        Rating::of(&self.pairs)
    }
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

/// A move of `W`'s game.
type MoveOf<W> = <<W as Referee>::View as Game>::Move;

/// What the threads of a match share.
struct Match<'a, W: Referee> {
    players: [&'a Player; 2],
    openings: Vec<Opening<W>>,
    config: &'a MatchConfig,
    seed: u64,
    watch: &'a Watch<'a>,
    next_game: AtomicUsize,
}

/// Plays a match between two players from random openings after `start`, which sets up a game (a dealt form
/// deals with the generator). The same seed gives the same openings whoever plays.
pub fn play_match<W>(
    start: &dyn Fn(&mut Pcg64Mcg) -> W,
    players: [&Player; 2],
    config: &MatchConfig,
    seed: u64,
    watch: &Watch,
) -> Result<MatchResult, ArenaError>
where
    W: Referee + Sync,
    W::View: Material,
    MoveOf<W>: Sync,
{
    let openings = opening::draw(start, config.pairs as usize, config.opening_plies, seed)?;
    let shared = Match {
        players,
        openings,
        config,
        seed,
        watch,
        next_game: AtomicUsize::new(0),
    };
    let results: Vec<_> = thread::scope(|scope| {
        let handles: Vec<_> = (0..config.threads.max(1))
            .map(|_| scope.spawn(|| shared.play_games()))
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().unwrap_or_else(|p| std::panic::resume_unwind(p)))
            .collect()
    });
    let games = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(MatchResult::of(games.concat()))
}

impl<W> Match<'_, W>
where
    W: Referee,
    W::View: Material,
{
    /// The number of a game that no thread plays yet; game `2 n` and `2 n + 1` are pair `n`.
    fn take_game(&self) -> Option<usize> {
        if self.watch.stop.load(Ordering::Relaxed) {
            return None;
        }
        let game = self.next_game.fetch_add(1, Ordering::Relaxed);
        (game < 2 * self.openings.len()).then_some(game)
    }

    /// One thread's work: games in lock-step until none is left.
    fn play_games(&self) -> Result<Vec<PlayedGame>, ArenaError> {
        let mut minds = [
            Mind::new(self.players[0], 0)?,
            Mind::new(self.players[1], 1)?,
        ];
        let mut finished = Vec::new();
        let mut lanes: Vec<Lane<W>> = (0..self.config.games_per_thread.max(1))
            .map_while(|_| self.take_game())
            .map(|game| Lane::new(self, game))
            .collect();
        while !lanes.is_empty() && !self.watch.stop.load(Ordering::Relaxed) {
            let mut ended = Vec::new();
            for (index, lane) in lanes.iter_mut().enumerate() {
                match self.advance(lane, &mut minds, &mut finished) {
                    Some(player) => minds[player].asking.push(index),
                    None => ended.push(index),
                }
            }
            for (player, mind) in minds.iter_mut().enumerate() {
                mind.answer(&mut lanes)
                    .map_err(|source| ArenaError::eval(player, source))?;
            }
            for &index in ended.iter().rev() {
                lanes.swap_remove(index);
            }
        }
        Ok(finished)
    }

    /// Plays a lane's games on until one asks a network, whose player is returned, or none is left.
    fn advance(
        &self,
        lane: &mut Lane<W>,
        minds: &mut [Mind; 2],
        finished: &mut Vec<PlayedGame>,
    ) -> Option<usize> {
        loop {
            let [first, second] = minds;
            match lane.run(self.config.ply_cap, [&mut first.batch, &mut second.batch]) {
                Step::Asked(player) => return Some(player),
                Step::Over(ending) => {
                    let game = lane.finished(ending);
                    (self.watch.finished)(&game);
                    finished.push(game);
                    lane.begin(self, self.take_game()?);
                }
            }
        }
    }
}

/// One player's network on one thread, and the rows that wait for it.
struct Mind {
    evaluator: Option<Box<dyn Evaluator>>,
    batch: Batch,
    /// The lane of each row.
    asking: Vec<usize>,
}

impl Mind {
    fn new(player: &Player, index: usize) -> Result<Self, ArenaError> {
        let evaluator = match player {
            Player::Builtin(_) => None,
            Player::Searched(searched) => {
                Some((searched.evaluators)().map_err(|source| ArenaError::eval(index, source))?)
            }
        };
        Ok(Mind {
            evaluator,
            batch: Batch::default(),
            asking: Vec::new(),
        })
    }

    /// Evaluates the waiting rows and hands each lane its own.
    fn answer<W>(&mut self, lanes: &mut [Lane<W>]) -> Result<(), EvalError>
    where
        W: Referee,
        W::View: Material,
    {
        let Some(evaluator) = self.evaluator.as_mut().filter(|_| !self.batch.is_empty()) else {
            return Ok(());
        };
        evaluator.evaluate(&mut self.batch)?;
        for (row, &lane) in self.asking.iter().enumerate() {
            let log_priors = &self.batch.log_priors[self.batch.legal_range(row)];
            lanes[lane].answer(log_priors, self.batch.wdl[row], self.batch.moves_left[row]);
        }
        self.batch.clear();
        self.asking.clear();
        Ok(())
    }
}
