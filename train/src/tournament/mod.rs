//! A round robin: matches of paired games between all pairs of players, kept game by game.
//!
//! Every match has the same openings, in hidden forms the same deals. A game follows from the seed, its number and
//! the places of its players, so a tournament that was broken off goes on with exactly the games that were missing, as long as the
//! players are deterministic, which engines are by their own grace.
pub mod entrant;
pub mod file;
pub mod openings;
pub mod pgn;
pub mod store;
pub mod table;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use selfplay::eval::mix;
use selfplay::game::Color;
use selfplay::rules::Ruleset;

use crate::arena::{
    self, ArenaError, GameEnd, MatchConfig, MatchResult, Opening, PlayedGame, Watch,
};
use crate::atomic::FileError;
use crate::rating::sprt::{Sprt, Verdict};
use crate::rating::{Pairs, Rating};
use entrant::Entrant;
use store::Store;

/// A tournament to be played.
pub struct Tournament {
    /// The form.
    pub rules: &'static Ruleset,
    /// Who plays; at least two, no two of one name.
    pub entrants: Vec<Entrant>,
    /// The opening of each pair of games.
    pub openings: Vec<Opening>,
    /// What every game follows from.
    pub seed: u64,
    /// How matches without engines are played.
    pub config: MatchConfig,
    /// Games against an engine at a time.
    pub engine_games: usize,
    /// Time between two lines of progress within a match.
    pub report: Duration,
    /// A test of the first player of each match, which ends it once its verdict is known.
    pub sprt: Option<Sprt>,
}

/// The match between two entrants, by their places in the list, the first below the second.
#[derive(Clone, Debug)]
pub struct Encounter {
    /// The two.
    pub players: [usize; 2],
    /// What it brought so far.
    pub result: MatchResult,
}

/// Why a tournament broke off; what was played is kept.
#[derive(Debug, thiserror::Error)]
pub enum BrokenOff {
    /// A match could not be played on.
    #[error("{first} against {second}: {source}")]
    Match {
        /// Its first player.
        first: String,
        /// Its second player.
        second: String,
        /// What happened.
        source: ArenaError,
    },
    /// A game could not be kept.
    #[error(transparent)]
    Store(#[from] FileError),
}

/// The pairs of `count` players, in the order of their matches.
pub fn pairings(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| [first, second]))
}

/// A game of a tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptGame {
    /// Places of its players in the list, the first below the second.
    pub players: [usize; 2],
    /// The game.
    pub game: PlayedGame,
}

impl Tournament {
    /// Plays what `known` lacks of all matches, keeping each game in `store`; `say` gets a line a match and a line a
    /// fault. Ends early, with the games finished so far, once `stop` is set.
    pub fn play(
        &self,
        store: Option<&Store>,
        known: Vec<KeptGame>,
        stop: &AtomicBool,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Encounter>, BrokenOff> {
        let mut encounters = Vec::new();
        for players in pairings(self.entrants.len()) {
            let known: Vec<_> = (known.iter())
                .filter(|kept| kept.players == players)
                .map(|kept| kept.game.clone())
                .collect();
            let before = known.len();
            let games = self.play_match(players, known, store, stop, say)?;
            let is_new = games.len() > before;
            let result = MatchResult::of(games);
            if is_new {
                let names = players.map(|player| self.entrants[player].name.as_str());
                say(&describe(names, &result.pairs));
            }
            encounters.push(Encounter { players, result });
        }
        Ok(encounters)
    }

    /// All games of one match: `known`, and what that lacks.
    fn play_match(
        &self,
        players: [usize; 2],
        known: Vec<PlayedGame>,
        store: Option<&Store>,
        stop: &AtomicBool,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<PlayedGame>, BrokenOff> {
        let there: HashSet<_> = known.iter().map(number).collect();
        let missing: Vec<_> = (0..2 * self.openings.len())
            .filter(|game| !there.contains(game))
            .collect();
        let tally = Tally::of(known);
        if missing.is_empty() || self.is_decided(&tally.pairs) || stop.load(Relaxed) {
            return Ok(tally.games);
        }
        let [first, second] = players.map(|player| &self.entrants[player]);
        let failed = OnceLock::new();
        let tally = Mutex::new(tally);
        let finished = |game: &PlayedGame| {
            let names = [&first.name, &second.name].map(String::as_str);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_decided(&tally.pairs) {
                // It was not needed for the verdict, and might spoil it.
                return ControlFlow::Break(());
            }
            if let GameEnd::Failed { loser, fault } = &game.ending {
                let loser = names[usize::from(*loser != game.first)];
                let round = pgn::round(game);
                say(&format!("game {round}: {loser} lost: it {}", fault.detail));
            }
            if let Some(Err(error)) = store.map(|store| store.append(self.rules, names, game)) {
                // What cannot be kept is not played.
                let _ = failed.set(error);
                return ControlFlow::Break(());
            }
            tally.add(game.clone());
            if tally.shown.elapsed() >= self.report {
                tally.shown = Instant::now();
                say(&self.progress(names, &tally));
            }
            match self.is_decided(&tally.pairs) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let watch = Watch {
            stop,
            finished: &finished,
        };
        let config = self.match_config(players);
        let pair = [&first.player, &second.player];
        let seed = match_seed(self.seed, players);
        let played = arena::play_games(pair, &self.openings, &missing, &config, seed, &watch);
        if let Some(error) = failed.into_inner() {
            return Err(error.into());
        }
        played.map_err(|source| BrokenOff::Match {
            first: first.name.clone(),
            second: second.name.clone(),
            source,
        })?;
        let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(tally.games)
    }

    /// Whether the test, if there is one, has a verdict.
    fn is_decided(&self, pairs: &Pairs) -> bool {
        (self.sprt).is_some_and(|sprt| sprt.state(pairs).verdict != Verdict::Continue)
    }

    fn progress(&self, names: [&str; 2], tally: &Tally) -> String {
        let (games, all) = (tally.games.len(), 2 * self.openings.len());
        let score = describe(names, &tally.pairs);
        match self.sprt.map(|sprt| sprt.state(&tally.pairs)) {
            None => format!("{score}; {games} of {all} games"),
            Some(state) => format!("{score}; {games} of at most {all} games; {state}"),
        }
    }

    /// With an engine one thread serves all games, as many at a time as engines may think.
    fn match_config(&self, players: [usize; 2]) -> MatchConfig {
        let external = |player: usize| self.entrants[player].is_engine();
        match players.into_iter().any(external) {
            true => MatchConfig {
                threads: 1,
                games_per_thread: self.engine_games,
                ..self.config.clone()
            },
            false => self.config.clone(),
        }
    }
}

/// What a match has brought so far.
struct Tally {
    games: Vec<PlayedGame>,
    /// Points of the first player in the pairs of which one game is played.
    halves: HashMap<u32, usize>,
    pairs: Pairs,
    /// When it was last shown.
    shown: Instant,
}

impl Tally {
    fn of(games: Vec<PlayedGame>) -> Self {
        let mut tally = Tally {
            games: Vec::new(),
            halves: HashMap::new(),
            pairs: Pairs::default(),
            shown: Instant::now(),
        };
        games.into_iter().for_each(|game| tally.add(game));
        tally
    }

    fn add(&mut self, game: PlayedGame) {
        match self.halves.remove(&game.pair) {
            Some(points) => self.pairs[points + game.halves()] += 1,
            None => drop(self.halves.insert(game.pair, game.halves())),
        }
        self.games.push(game);
    }
}

/// The score of a match by its whole pairs.
fn describe([first, second]: [&str; 2], pairs: &Pairs) -> String {
    let rating = Rating::of(pairs);
    format!(
        "{first} against {second}: {:.1} % of {} games ({}), pairs {}",
        100.0 * rating.score,
        rating.games,
        rating.score_interval,
        pairs.map(|count| count.to_string()).join(" ")
    )
}

/// The seed of a match: openings are shared, the players' own chance is not, or equal matches would be played.
pub fn match_seed(seed: u64, [first, second]: [usize; 2]) -> u64 {
    mix(seed ^ mix(1 + ((first as u64) << 32 | second as u64)))
}

/// A game's number within its match: of pair `n` the one in which the first player has Red is `2 n`.
pub fn number(game: &PlayedGame) -> usize {
    2 * game.pair as usize + usize::from(game.first == Color::Black)
}
