//! The self-play threads of a run, and on a GPU the one thread that owns the network.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, bounded};
use model::device::{Placement, single_threaded};
use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use selfplay::eval::EvalError;
use selfplay::mcts::SearchConfig;
use selfplay::rules::World;
use selfplay::server::{self, ChannelPort};
use selfplay::worker::{EvalPort, FinishedGame, Games, InlinePort, SelfplayConfig, Worker};
use tch::Device;

use super::pace::Pace;
use crate::config::Config;
use crate::forms::Forms;

/// What a thread of self-play tells the coordinator.
pub enum Message {
    /// A game ended.
    Game(Box<FinishedGame<World>>),
    /// The thread broke off.
    Failed(String),
}

/// Finished games that may wait for the coordinator.
const QUEUE: usize = 4096;

/// The running threads.
pub struct Selfplay {
    pace: Arc<Pace>,
    threads: Vec<JoinHandle<()>>,
    /// Finished games and failures.
    pub messages: Receiver<Message>,
}

/// All that one thread needs.
#[derive(Clone)]
struct Thread {
    selfplay: SelfplayConfig,
    search: SearchConfig,
    forms: Forms,
    seed: u64,
    pace: Arc<Pace>,
    messages: Sender<Message>,
}

impl Selfplay {
    /// Starts the threads; on a CPU each has a network of its own, on a GPU they share one.
    pub fn start(
        config: &Config,
        forms: &Forms,
        placement: Placement,
        slot: &Arc<WeightSlot>,
        pace: &Arc<Pace>,
    ) -> anyhow::Result<Self> {
        let (sender, messages) = bounded(QUEUE);
        let thread = Thread {
            selfplay: config.selfplay.clone(),
            search: config.search.clone(),
            forms: forms.clone(),
            seed: config.run.seed,
            pace: pace.clone(),
            messages: sender,
        };
        let workers = worker_count(config, placement.device);
        let mut threads = Vec::new();
        if placement.device == Device::Cpu {
            for i in 0..workers {
                let evaluator = NetEvaluator::new(slot.clone(), placement)?;
                let thread = thread.clone();
                threads.push(spawn(format!("selfplay-{i}"), move || {
                    single_threaded();
                    thread.play(InlinePort::new(evaluator));
                })?);
            }
        } else {
            let (jobs, queue) = crossbeam_channel::unbounded();
            let mut evaluator = NetEvaluator::new(slot.clone(), placement)?;
            let max_rows = config.selfplay.games_per_worker * workers;
            threads.push(spawn("evaluator".into(), move || {
                server::serve(
                    &mut evaluator,
                    &queue,
                    max_rows,
                    &server::Counters::default(),
                );
            })?);
            for i in 0..workers {
                let (thread, port) = (thread.clone(), ChannelPort::new(jobs.clone()));
                threads.push(spawn(format!("selfplay-{i}"), move || thread.play(port))?);
            }
        }
        Ok(Selfplay {
            pace: pace.clone(),
            threads,
            messages,
        })
    }

    /// Ends all threads after their round; games in progress are dropped. Returns the games that had
    /// ended before.
    pub fn stop(self) -> Vec<FinishedGame<World>> {
        self.pace.stop();
        let mut games = Vec::new();
        // Emptying the queue lets threads that wait for room in it go on to their end.
        for message in self.messages.iter() {
            if let Message::Game(game) = message {
                games.push(*game);
            }
        }
        for thread in self.threads {
            // A panic was reported as a failure already.
            let _ = thread.join();
        }
        games
    }
}

/// Threads of self-play that `config` asks for on `device`.
pub fn worker_count(config: &Config, device: Device) -> usize {
    match (config.run.workers, device) {
        (0, Device::Cpu) => thread::available_parallelism().map_or(1, usize::from),
        (0, _) => 2,
        (n, _) => n,
    }
}

/// Threads of matches whose networks compute on `devices`: as of self-play where all do so on the CPU, else one.
pub fn match_threads(config: &Config, devices: impl IntoIterator<Item = Device>) -> usize {
    match devices.into_iter().any(|device| device != Device::Cpu) {
        true => 1,
        false => worker_count(config, Device::Cpu),
    }
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> anyhow::Result<JoinHandle<()>> {
    thread::Builder::new()
        .name(name)
        .spawn(body)
        .context("cannot start a thread")
}

impl Thread {
    /// Plays until the pace ends it; whatever goes wrong is told with what reproduces it.
    fn play<P: EvalPort>(self, port: P) {
        let (pace, forms) = (self.pace.clone(), self.forms.clone());
        let games = Games {
            run_seed: self.seed,
            next_id: Box::new(move || Some(pace.next_game.fetch_add(1, Relaxed))),
            start: Box::new(move |rng| forms.start(rng)),
        };
        let mut worker = Worker::new(self.selfplay.clone(), &self.search, games, port);
        let busy = worker.busy();
        let failure = match catch_unwind(AssertUnwindSafe(|| self.rounds(&mut worker))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => {
                let (id, seed) = busy.game();
                format!(
                    "a bug ended self-play in game {id} (run seed {}, game seed {seed})",
                    self.seed
                )
            }
        };
        // Nobody listens any more only if the run is ending anyway.
        let _ = self.messages.send(Message::Failed(failure));
    }

    fn rounds<P: EvalPort>(&self, worker: &mut Worker<World, P>) -> Result<(), EvalError> {
        while self.pace.go_on() {
            worker.set_resign_below(self.pace.resign_below());
            worker.round(&mut |game| {
                let _ = self.messages.send(Message::Game(Box::new(game)));
            })?;
            self.pace
                .evaluated
                .fetch_add(worker.rows_out() as u64, Relaxed);
            self.pace
                .capacity
                .fetch_add(self.selfplay.games_per_worker as u64, Relaxed);
        }
        Ok(())
    }
}
