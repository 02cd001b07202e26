//! The ladder's own thread, beside self-play and training.
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender};
use model::params::Weights;

use super::climb::{Event, Ladder};
use super::throttle::Throttle;

/// A ladder at work, with one thread. Only the newest of the checkpoints that wait for it is taken up, so it never falls behind.
pub struct Background {
    shared: Arc<Shared>,
    thread: JoinHandle<Option<Ladder>>,
    /// What it tells.
    pub events: Receiver<Event>,
}

/// What the two threads know of each other.
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Desk {
    /// The newest checkpoint, if the ladder has not taken it up.
    waiting: Option<Arc<Weights>>,
    /// Training step of the one that it is about to take up.
    taken: Option<u64>,
    /// What [`Ladder::needed`] says.
    needed: BTreeSet<u64>,
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next checkpoint, as soon as there is one; `None`: stop.
    fn next(&self, ladder: &Ladder) -> Option<Arc<Weights>> {
        let mut desk = self.desk();
        (desk.needed, desk.taken) = (ladder.needed(), None);
        while desk.waiting.is_none() && !self.stop.load(Relaxed) {
            desk = (self.changed.wait(desk)).unwrap_or_else(PoisonError::into_inner);
        }
        if self.stop.load(Relaxed) {
            return None;
        }
        let weights = desk.waiting.take()?;
        desk.taken = Some(weights.step);
        Some(weights)
    }
}

impl Background {
    /// Starts the thread, which takes `share` of one core's time.
    pub fn start(ladder: Ladder, share: f64) -> anyhow::Result<Background> {
        let (sender, events) = crossbeam_channel::unbounded();
        let desk = Desk {
            needed: ladder.needed(),
            ..Desk::default()
        };
        let shared = Arc::new(Shared {
            desk: Mutex::new(desk),
            changed: Condvar::new(),
            stop: Arc::default(),
        });
        let own = shared.clone();
        let thread = thread::Builder::new()
            .name("ladder".into())
            .spawn(move || run(ladder, share, &own, &sender))
            .context("cannot start a thread")?;
        Ok(Background {
            shared,
            thread,
            events,
        })
    }

    /// Lays a new checkpoint before it, in place of one that still waits.
    pub fn offer(&self, weights: Arc<Weights>) {
        self.shared.desk().waiting = Some(weights);
        self.shared.changed.notify_one();
    }

    /// Training steps of the checkpoints that must not go.
    pub fn needed(&self) -> BTreeSet<u64> {
        let desk = self.shared.desk();
        let waiting = desk.waiting.as_ref().map(|weights| weights.step);
        let more = [waiting, desk.taken].into_iter().flatten();
        desk.needed.iter().copied().chain(more).collect()
    }

    /// Ends the thread; games in progress are dropped. What it has told is still in `events`. After a bug there is no ladder any more.
    pub fn stop(self) -> (Option<Ladder>, Receiver<Event>) {
        self.shared.stop.store(true, Relaxed);
        // Whoever is about to wait has looked at `stop` under this lock.
        drop(self.shared.desk());
        self.shared.changed.notify_one();
        (self.thread.join().ok().flatten(), self.events)
    }
}

/// Takes checkpoints up until it is stopped. A failure ends the ladder's work, not the run's.
fn run(mut ladder: Ladder, share: f64, shared: &Shared, events: &Sender<Event>) -> Option<Ladder> {
    let throttle = Throttle::new(share, shared.stop.clone());
    // Nobody listens any more only if the run is ending anyway.
    let mut tell = |event| drop(events.send(event));
    let work = || -> anyhow::Result<()> {
        loop {
            ladder.climb(1, &throttle, &shared.stop, &mut tell)?;
            match shared.next(&ladder) {
                Some(weights) => ladder.enter(weights)?,
                None => return Ok(()),
            }
        }
    };
    let (why, ladder) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return Some(ladder),
        Ok(Err(error)) => (format!("{error:#}"), Some(ladder)),
        Err(panic) => (format!("a bug ended it: {}", message(&*panic)), None),
    };
    tell(Event::Said(format!(
        "the ladder stands still, the run goes on without it: {why}"
    )));
    ladder
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("no reason")
}
