//! What the ladder does: it takes a checkpoint up, plays its matches, and rates.
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::device::Placement;
use model::params::Weights;
use selfplay::eval::mix;
use selfplay::opponent::Builtin;
use selfplay::rules::{Ruleset, World};

use super::list::{LadderList, Outcome, Standing};
use super::schedule::{Meeting, Player, Rung, meetings, missing, next_rung, still_needed};
use super::store::{Store, list_path};
use super::throttle::{Throttle, throttled};
use super::{as_arena, settings};
use crate::arena::{self, MatchConfig, PlayedGame, Watch, draw_openings};
use crate::config::Config;
use crate::forms::Forms;
use crate::pipeline::{load, strength};
use crate::run_dir::{RunFiles, State};

/// What the ladder tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// A line for people.
    Said(String),
    /// A checkpoint has met all whom it had to.
    Rated {
        /// Name of the form.
        form: String,
        /// Training step.
        step: u64,
        /// Its place.
        standing: Standing,
    },
}

/// A run's ladder.
pub struct Ladder {
    config: Config,
    forms: Forms,
    placement: Placement,
    files: RunFiles,
    state: State,
    store: Store,
    /// The weights of the newest checkpoint on it, if this process has made them.
    newest: Option<Arc<Weights>>,
}

/// A match that is not over.
struct Task {
    rules: &'static Ruleset,
    meeting: Meeting,
    /// Numbers of the games that are missing.
    games: Vec<usize>,
}

impl Ladder {
    /// Opens the ladder of a run as `state` says it stands; also a line for people for each thing dropped.
    pub fn open(
        files: &RunFiles,
        state: &State,
        config: &Config,
        forms: &Forms,
        placement: Placement,
    ) -> anyhow::Result<(Ladder, Vec<String>)> {
        let config = as_arena(config);
        let (store, said) = Store::open(
            &files.ladder_path(),
            &state.run,
            &settings(&config),
            forms,
            state.training.step,
        )?;
        let ladder = Ladder {
            config,
            forms: forms.clone(),
            placement,
            files: files.clone(),
            state: state.clone(),
            store,
            newest: None,
        };
        Ok((ladder, said))
    }

    /// Training step of the newest checkpoint on it.
    pub fn last(&self) -> Option<u64> {
        self.store.rungs().last().map(|rung| rung.step)
    }

    /// Training steps of the checkpoints that must not go.
    pub fn needed(&self) -> BTreeSet<u64> {
        let is_over = |form: &str, meeting: &Meeting| self.is_over(form, meeting);
        still_needed(self.store.rungs(), self.config.ladder.rivals, &is_over)
    }

    /// Takes up the checkpoint of these weights, unless it or a later one stands there already.
    pub fn enter(&mut self, weights: Arc<Weights>) -> anyhow::Result<()> {
        let step = weights.step;
        if self.last().is_some_and(|last| last >= step) {
            return Ok(());
        }
        let forms: Vec<_> = self.forms.rules().map(|rules| rules.name).collect();
        let is_there = |step| self.files.checkpoint_path(step).is_file();
        let rung = next_rung(
            self.store.rungs(),
            step,
            &forms,
            &self.config.ladder,
            &is_there,
            &|form, builtin| self.is_beaten(form, builtin),
        );
        self.store.add(rung)?;
        self.newest = Some(weights);
        Ok(())
    }

    /// Whether an opponent has lost every game to the last checkpoint of a form that met it.
    fn is_beaten(&self, form: &str, builtin: Builtin) -> bool {
        let of_form = (self.store.rungs().iter()).filter(|rung| rung.form == form);
        let met = |rung: &Rung| {
            let players = [Player::Step(rung.step), Player::Builtin(builtin)];
            let outcomes = self.store.outcomes(form, players);
            let whole = outcomes.len() >= rung.games as usize;
            whole.then(|| outcomes.iter().all(|outcome| outcome.halves == 2))
        };
        of_form.rev().find_map(met).unwrap_or(false)
    }

    fn is_over(&self, form: &str, meeting: &Meeting) -> bool {
        self.store.outcomes(form, meeting.players).len() >= meeting.games as usize
    }

    /// The first match that is not over.
    fn task(&self) -> Option<Task> {
        let of_form = |rules: &'static Ruleset| {
            let all = meetings(self.store.rungs(), rules.name);
            let mut open = all.into_iter().filter(|m| !self.is_over(rules.name, m));
            open.next().map(|meeting| (rules, meeting))
        };
        let first = self.forms.rules().filter_map(of_form);
        let (rules, meeting) = first.min_by_key(|(_, meeting)| meeting.rung)?;
        let outcomes = self.store.outcomes(rules.name, meeting.players);
        let played: HashSet<_> = outcomes.iter().map(|outcome| outcome.number).collect();
        Some(Task {
            rules,
            games: missing(&meeting, &played),
            meeting,
        })
    }

    /// Plays all that is not over, on so many threads, and rates after every match. Returns early once `stop` is set.
    pub fn climb(
        &mut self,
        threads: usize,
        throttle: &Arc<Throttle>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        throttle.begin();
        while let Some(task) = self.task().filter(|_| !stop.load(Relaxed)) {
            let players = task
                .meeting
                .players
                .map(|player| self.player(player, throttle));
            let [first, second] = match players {
                [Ok(first), Ok(second)] => [first, second],
                [Err(why), _] | [_, Err(why)] => {
                    let [first, second] = task.meeting.players;
                    tell(Event::Said(format!(
                        "ladder: {first} against {second} is dropped: {why:#}"
                    )));
                    self.store.remove(&task.meeting)?;
                    continue;
                }
            };
            self.play(&task, [&first, &second], threads, throttle, stop)?;
            if !stop.load(Relaxed) {
                self.rate(&task, tell)?;
                throttle.rest();
            }
        }
        Ok(())
    }

    fn player(&self, player: Player, throttle: &Arc<Throttle>) -> anyhow::Result<arena::Player> {
        let step = match player {
            Player::Builtin(builtin) => return Ok(arena::Player::Builtin(builtin)),
            Player::Step(step) => step,
        };
        let newest = self.newest.as_ref().filter(|weights| weights.step == step);
        let weights = match newest {
            Some(weights) => Weights::clone(weights),
            None => load::weights(&self.files, &self.state, step)?,
        };
        let searched = strength::searched(&self.config, self.placement, weights);
        Ok(throttled(searched, throttle))
    }

    /// Plays the missing games of a match, keeping each.
    fn play(
        &mut self,
        task: &Task,
        players: [&arena::Player; 2],
        threads: usize,
        throttle: &Throttle,
        stop: &AtomicBool,
    ) -> anyhow::Result<()> {
        let (form, meeting, arena) = (task.rules.name, &task.meeting, &self.config.arena);
        let config = MatchConfig {
            pairs: meeting.games / 2,
            ..arena.match_config(threads)
        };
        let seed = seed(self.config.run.seed, form, meeting.players);
        let start = |rng: &mut _| World::start(task.rules, rng);
        let openings = draw_openings(&start, config.pairs as usize, config.opening_plies, seed)?;
        let (failed, kept) = (OnceLock::new(), Mutex::new(Vec::new()));
        let finished = |game: &PlayedGame| match self.store.keep(form, meeting, game) {
            Ok(()) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push(Outcome::of(game));
                drop(kept);
                throttle.rest();
                ControlFlow::Continue(())
            }
            Err(error) => {
                // What cannot be kept is not played.
                let _ = failed.set(error);
                ControlFlow::Break(())
            }
        };
        let watch = Watch {
            stop,
            finished: &finished,
        };
        let played = arena::play_games(players, &openings, &task.games, &config, seed, &watch);
        // Whatever ended the match: what is kept is not played again.
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.store.count(form, meeting, kept)?;
        played?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Rates all players of a form, and tells of the checkpoint that has no match left.
    fn rate(&self, task: &Task, tell: &mut dyn FnMut(Event)) -> anyhow::Result<()> {
        let (form, step) = (task.rules.name, task.meeting.rung);
        let list = match LadderList::rate(form, self.store.matches(form)) {
            Ok(list) => list,
            Err(why) => {
                tell(Event::Said(format!(
                    "ladder: {form} cannot be rated: {why}"
                )));
                return Ok(());
            }
        };
        list.write(&list_path(&self.files.ladder_path(), form))?;
        let is_next = |next: Task| next.meeting.rung == step;
        if !self.task().is_some_and(is_next)
            && let Some(standing) = list.standing(step)
        {
            tell(Event::Rated {
                form: form.to_owned(),
                step,
                standing: standing.clone(),
            });
        }
        Ok(())
    }
}

/// The seed of a match: each has openings of its own, so that no two matches depend on each other.
fn seed(run: u64, form: &str, players: [Player; 2]) -> u64 {
    let names = players.map(|player| player.to_string());
    let parts = [form, &names[0], &names[1]];
    parts.into_iter().fold(run, |seed, part| {
        mix(seed ^ u64::from(crc32c::crc32c(part.as_bytes())))
    })
}
