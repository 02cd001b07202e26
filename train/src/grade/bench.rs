//! Matches of a grading, played by several threads: each takes the next match as a whole, so that the network's batches
//! are of many games however short the matches are.
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use super::hall::House;
use crate::arena::{self, MatchConfig, Opening, PlayedGame, Player, Watch};
use crate::atomic::FileError;
use crate::tournament::store::Store;
use crate::tournament::{BrokenOff, match_seed};

/// What a match lacks.
pub struct Job {
    /// Places of the players.
    pub players: [usize; 2],
    /// Numbers of games.
    pub missing: Vec<usize>,
}

/// How jobs are played.
pub struct Bench<'a> {
    /// How games are played.
    pub house: &'a House,
    /// Names and players by place.
    pub players: &'a [(String, Player)],
    /// One for each pair of games.
    pub openings: &'a [Opening],
    /// Where games are kept.
    pub store: &'a Store,
    /// What every game follows from.
    pub seed: u64,
    /// Set to end early.
    pub stop: &'a AtomicBool,
    /// Called now and then with the number of games played, and of all.
    pub show: &'a (dyn Fn(usize, usize) + Sync),
}

/// Games by the places of their players.
pub type Games = Vec<([usize; 2], Vec<PlayedGame>)>;

/// How far the threads are.
struct Progress {
    /// Games to be played.
    all: usize,
    /// Threads of a job.
    threads: usize,
    next: AtomicUsize,
    done: AtomicUsize,
    /// Whether a job failed, so that the others end.
    broken: AtomicBool,
    /// A game could not be kept.
    failed: OnceLock<FileError>,
    shown: Mutex<Instant>,
}

impl Bench<'_> {
    /// Plays jobs, in order; fewer games once it is stopped.
    pub fn work(&self, jobs: &[Job]) -> Result<Games, BrokenOff> {
        let progress = Progress {
            all: jobs.iter().map(|job| job.missing.len()).sum(),
            threads: (self.house.threads / jobs.len().max(1)).max(1),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            failed: OnceLock::new(),
            shown: Mutex::new(Instant::now()),
        };
        let workers = self.house.threads.min(jobs.len());
        let played: Vec<_> = thread::scope(|scope| {
            let share = || self.share(jobs, &progress);
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(share)).collect();
            let end = |panic| std::panic::resume_unwind(panic);
            let join = |worker: thread::ScopedJoinHandle<_>| worker.join().unwrap_or_else(end);
            workers.into_iter().map(join).collect()
        });
        if let Some(error) = progress.failed.into_inner() {
            return Err(error.into());
        }
        let played = played.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(played.concat())
    }

    /// One thread's share of the jobs.
    fn share(&self, jobs: &[Job], progress: &Progress) -> Result<Games, BrokenOff> {
        let mut played = Vec::new();
        while let Some(job) = jobs.get(progress.next.fetch_add(1, Relaxed)) {
            if self.stop.load(Relaxed) || progress.broken.load(Relaxed) {
                break;
            }
            let games = self.play(job, progress);
            let games = games.inspect_err(|_| progress.broken.store(true, Relaxed))?;
            played.push((job.players, games));
        }
        Ok(played)
    }

    fn play(&self, job: &Job, progress: &Progress) -> Result<Vec<PlayedGame>, BrokenOff> {
        let [first, second] = job.players.map(|player| &self.players[player]);
        let names = [first.0.as_str(), second.0.as_str()];
        let finished = |game: &PlayedGame| {
            if let Err(error) = self.store.append(self.house.rules, names, game) {
                // What cannot be kept is not played.
                let _ = progress.failed.set(error);
                progress.broken.store(true, Relaxed);
            }
            self.count(progress);
            match progress.broken.load(Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let watch = Watch {
            stop: self.stop,
            finished: &finished,
        };
        let config = MatchConfig {
            threads: progress.threads,
            ..self.house.config.clone()
        };
        let seed = match_seed(self.seed, job.players);
        let players = [&first.1, &second.1];
        let games = arena::play_games(players, self.openings, &job.missing, &config, seed, &watch);
        games.map_err(|source| BrokenOff::Match {
            first: format!("[{}]", first.0),
            second: format!("[{}]", second.0),
            source,
        })
    }

    /// Counts a game.
    fn count(&self, progress: &Progress) {
        let done = 1 + progress.done.fetch_add(1, Relaxed);
        let mut shown = progress
            .shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() >= self.house.report {
            *shown = Instant::now();
            (self.show)(done, progress.all);
        }
    }
}
