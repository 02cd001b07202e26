//! Where the games of a grading are played and kept: `RUN/grade/FORM/`, a folder for each [`Part`].
//!
//! ```text
//! RUN/grade/FORM/fit/        what the levels are chosen by, a tournament as `fanqi arena --out` keeps it
//! RUN/grade/FORM/check-1/ …  what checks them
//! ```
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use play::output::note;
use selfplay::eval::mix;
use selfplay::rules::{Ruleset, World};

use super::bench::{Bench, Job};
use super::grading::{Match, Part, Play};
use crate::arena::{
    ArenaError, MatchConfig, MatchResult, Opening, PlayedGame, Player, draw_openings,
};
use crate::atomic::FileError;
use crate::rating::{Encounter, GameScore, RatingError};
use crate::tournament::store::{self, Settings, Store};
use crate::tournament::{BrokenOff, number};

/// Pairs that a tournament of a grading may have.
const MOST_PAIRS: usize = u32::MAX as usize;

/// Why a grading did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum HallError {
    /// It was stopped; the games are kept.
    #[error("stopped")]
    Stopped,
    /// The folder of a part cannot be used.
    #[error("{0:#}")]
    Folder(anyhow::Error),
    /// A match could not be played on, or a game not be kept.
    #[error(transparent)]
    BrokenOff(#[from] BrokenOff),
    /// No openings.
    #[error(transparent)]
    Openings(#[from] ArenaError),
    /// The results give no ratings.
    #[error(transparent)]
    Rating(#[from] RatingError),
}

/// How games are played, whoever plays them.
#[derive(Clone, Debug)]
pub struct House {
    /// The form.
    pub rules: &'static Ruleset,
    /// Of a match; `pairs` and `threads` are each match's own.
    pub config: MatchConfig,
    /// Threads in all.
    pub threads: usize,
    /// What every game follows from.
    pub seed: u64,
    /// Time between two lines of progress.
    pub report: Duration,
}

/// Plays matches and keeps their games.
pub struct Hall<'a> {
    house: House,
    players: Vec<(String, Player)>,
    folder: PathBuf,
    settings: Settings,
    parts: BTreeMap<Part, Kept>,
    stop: &'a AtomicBool,
    begun: Instant,
}

/// A part's games.
struct Kept {
    store: Store,
    openings: Vec<Opening>,
    /// By number, whatever the order in which they ended.
    games: BTreeMap<[usize; 2], Vec<PlayedGame>>,
}

impl<'a> Hall<'a> {
    /// A hall for `players` by place, whose games are kept in `folder`; `settings`: what must be the same when
    /// the grading goes on. It ends with [`HallError::Stopped`] once `stop` is set.
    pub fn new(
        house: House,
        players: Vec<(String, Player)>,
        folder: &Path,
        settings: Settings,
        stop: &'a AtomicBool,
    ) -> Hall<'a> {
        Hall {
            house,
            players,
            folder: folder.to_owned(),
            settings,
            parts: BTreeMap::new(),
            stop,
            begun: Instant::now(),
        }
    }

    /// The games of a part in which a player took part.
    pub fn games(&self, part: Part, player: usize) -> impl Iterator<Item = (&PlayedGame, usize)> {
        let kept = self
            .parts
            .get(&part)
            .into_iter()
            .flat_map(|kept| &kept.games);
        kept.flat_map(move |(players, games)| {
            let place = players.iter().position(|&place| place == player);
            let games = place.map(|place| games.iter().map(move |game| (game, place)));
            games.into_iter().flatten()
        })
    }

    fn seed(&self, part: Part) -> u64 {
        let number = match part {
            Part::Fit => 0,
            Part::Check(number) => u64::from(number),
        };
        mix(self.house.seed ^ mix(number))
    }

    /// Opens a part, and sees that it has openings for so many pairs.
    fn open(&mut self, part: Part, pairs: u32) -> Result<(), HallError> {
        if !self.parts.contains_key(&part) {
            let kept = self.read(part).map_err(HallError::Folder)?;
            self.parts.insert(part, kept);
        }
        let (seed, rules) = (self.seed(part), self.house.rules);
        if let Some(kept) = self.parts.get_mut(&part)
            && kept.openings.len() < pairs as usize
        {
            let start = |rng: &mut _| World::start(rules, rng);
            kept.openings = draw_openings(
                &start,
                pairs as usize,
                self.house.config.opening_plies,
                seed,
            )?;
        }
        Ok(())
    }

    fn read(&self, part: Part) -> anyhow::Result<Kept> {
        let folder = self.folder.join(folder_name(part));
        let names: Vec<_> = self.players.iter().map(|(name, _)| name.as_str()).collect();
        let opened = Store::open(
            &folder,
            &self.settings,
            self.house.rules,
            &names,
            MOST_PAIRS,
        )
        .with_context(|| format!("the games of a grading in {}", self.folder.display()))?;
        let mut games: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for kept in opened.games {
            games.entry(kept.players).or_default().push(kept.game);
        }
        games
            .values_mut()
            .for_each(|games| games.sort_by_key(number));
        let there: usize = games.values().map(Vec::len).sum();
        if there > 0 {
            note(format_args!(
                "{}: going on after {there} games",
                folder_name(part)
            ));
        }
        Ok(Kept {
            store: opened.store,
            openings: Vec::new(),
            games,
        })
    }

    /// Plays jobs and keeps the games.
    fn work(&mut self, part: Part, jobs: &[Job]) -> Result<(), HallError> {
        let Some(kept) = self.parts.get(&part) else {
            return Ok(());
        };
        let name = folder_name(part);
        let show = |done: usize, all: usize| {
            self.say(&format!("{name}: {done} of {all} games of this round"));
        };
        let bench = Bench {
            house: &self.house,
            players: &self.players,
            openings: &kept.openings,
            store: &kept.store,
            seed: self.seed(part),
            stop: self.stop,
            show: &show,
        };
        let played = bench.work(jobs)?;
        if let Some(kept) = self.parts.get_mut(&part) {
            for (players, games) in played {
                let all = kept.games.entry(players).or_default();
                all.extend(games);
                all.sort_by_key(number);
            }
        }
        Ok(())
    }

    /// What the kept games of a match lack of its first pairs.
    fn missing(&self, part: Part, game: &Match) -> Job {
        let there: HashSet<_> = self
            .parts
            .get(&part)
            .and_then(|kept| kept.games.get(&game.players))
            .into_iter()
            .flatten()
            .map(number)
            .collect();
        let all = 0..2 * game.pairs as usize;
        Job {
            players: game.players,
            missing: all.filter(|number| !there.contains(number)).collect(),
        }
    }

    /// The result of a match's first pairs, seen from its first player.
    fn result(&self, part: Part, game: &Match) -> Encounter {
        let [first, second] = game.players.map(|player| self.players[player].0.as_str());
        let mut encounter = Encounter::new(first, second);
        let kept = self
            .parts
            .get(&part)
            .and_then(|kept| kept.games.get(&game.players));
        let first_pairs = |played: &&PlayedGame| played.pair < game.pairs;
        let games = kept
            .into_iter()
            .flatten()
            .filter(first_pairs)
            .cloned()
            .collect();
        for pair in MatchResult::of(games).games.chunks_exact(2) {
            let [first, second] = [0, 1].map(|game| GameScore::from_halves(pair[game].halves()));
            encounter.add_pair(first, second);
        }
        encounter
    }
}

impl Play for Hall<'_> {
    type Error = HallError;

    fn play(&mut self, part: Part, matches: &[Match]) -> Result<Vec<Encounter>, HallError> {
        let most = matches.iter().map(|game| game.pairs).max().unwrap_or(0);
        self.open(part, most)?;
        let mut jobs: Vec<_> = matches
            .iter()
            .map(|game| self.missing(part, game))
            .collect();
        jobs.retain(|job| !job.missing.is_empty());
        // The longest first, so that none is left over at the end.
        jobs.sort_by_key(|job| {
            std::cmp::Reverse(job.missing.len() as u64 * self.cost(job.players))
        });
        self.work(part, &jobs)?;
        if self.stop.load(Relaxed) {
            return Err(HallError::Stopped);
        }
        Ok(matches.iter().map(|game| self.result(part, game)).collect())
    }

    fn say(&self, text: &str) {
        note(format_args!("{} {text}", minutes(self.begun.elapsed())));
    }
}

impl Hall<'_> {
    /// Simulations of a move of each of two players.
    fn cost(&self, players: [usize; 2]) -> u64 {
        let visits = players.map(|player| match &self.players[player].1 {
            Player::Searched(searched) => u64::from(searched.visits),
            Player::Builtin(_) | Player::External(_) => 0,
        });
        1 + visits[0] + visits[1]
    }
}

fn folder_name(part: Part) -> String {
    match part {
        Part::Fit => "fit".to_owned(),
        Part::Check(number) => format!("check-{number}"),
    }
}

/// `m:ss`.
fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Refuses to go on with the games of a grading in `folder` that was made with other settings.
pub fn refuse_another(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let Some(known) = store::settings_in(&folder.join(folder_name(Part::Fit)))? else {
        return Ok(());
    };
    let differ = store::differences(&known, settings);
    ensure!(
        differ.is_empty(),
        "{}: the games of another grading are kept here; {}. Give the same command to go on with it, or --fresh to drop its games and begin anew",
        folder.display(),
        differ.join("; ")
    );
    Ok(())
}

/// Drops the games of the grading in `folder`, if there is one; an error where a process plays them.
pub fn drop_games(folder: &Path) -> Result<(), FileError> {
    if !folder.exists() {
        return Ok(());
    }
    let fit = folder.join(folder_name(Part::Fit));
    let _lock = fit.exists().then(|| store::take_lock(&fit)).transpose()?;
    fs::remove_dir_all(folder).map_err(|e| FileError::io(folder, "removing", e))
}
