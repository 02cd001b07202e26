//! What the pipeline's threads tell each other besides games: stop, pause, threshold, counts.
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

/// Shared by the coordinator and all self-play threads.
#[derive(Debug, Default)]
pub struct Pace {
    stopped: AtomicBool,
    paused: Mutex<bool>,
    resumed: Condvar,
    /// Bits of the resignation threshold in force.
    resign_below: AtomicU32,
    /// Id of the next game to start.
    pub next_game: AtomicU64,
    /// Rows evaluated.
    pub evaluated: AtomicU64,
    /// Rows that the batches could have held.
    pub capacity: AtomicU64,
}

impl Pace {
    /// Ends every thread at its next round.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
        self.set_paused(false);
    }

    /// Holds self-play between two rounds, or lets it go on.
    pub fn set_paused(&self, paused: bool) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = paused;
        self.resumed.notify_all();
    }

    /// Waits while self-play is paused; false: end the thread.
    pub fn go_on(&self) -> bool {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        while *paused && !self.stopped.load(Relaxed) {
            paused = self
                .resumed
                .wait(paused)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !self.stopped.load(Relaxed)
    }

    /// The resignation threshold in force.
    pub fn resign_below(&self) -> f32 {
        f32::from_bits(self.resign_below.load(Relaxed))
    }

    /// Sets the resignation threshold.
    pub fn set_resign_below(&self, below: f32) {
        self.resign_below.store(below.to_bits(), Relaxed);
    }
}
