//! A bound on the share of the time that the ladder works.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use selfplay::eval::{Batch, EvalError, Evaluator};

use crate::arena::Player;

/// Longest sleep without a look whether to stop.
const NAP: Duration = Duration::from_millis(20);

/// Makes those who work by it rest after every bit of work, so that on average they are busy no longer than a share of the time.
#[derive(Debug)]
pub struct Throttle {
    /// In 0..=1; 1: no rest.
    share: f64,
    /// When the work began that has not been rested from.
    since: Mutex<Instant>,
    stop: Arc<AtomicBool>,
}

/// How long to rest after working for `busy`, to have worked for `share` (above 0, at most 1) of the whole.
pub fn rest_after(busy: Duration, share: f64) -> Duration {
    busy.mul_f64((1.0 - share) / share)
}

impl Throttle {
    /// A bound of `share`, above 0 and at most 1; `stop` ends every rest.
    pub fn new(share: f64, stop: Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Throttle {
            share,
            since: Mutex::new(Instant::now()),
            stop,
        })
    }

    /// Work begins after idle time.
    pub fn begin(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Rests from the work since the last rest.
    pub fn rest(&self) {
        if self.share >= 1.0 {
            return;
        }
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + rest_after(since.elapsed(), self.share);
        while !self.stop.load(Relaxed)
            && let Some(left) = until.checked_duration_since(Instant::now())
            && !left.is_zero()
        {
            thread::sleep(left.min(NAP));
        }
        *since = Instant::now();
    }
}

/// An evaluator after each of whose batches its thread rests.
struct Throttled {
    evaluator: Box<dyn Evaluator>,
    throttle: Arc<Throttle>,
}

impl Evaluator for Throttled {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        self.evaluator.evaluate(batch)?;
        self.throttle.rest();
        Ok(())
    }

    fn step(&self) -> u64 {
        self.evaluator.step()
    }
}

/// The player, bound by `throttle` where it has a network.
pub fn throttled(player: Player, throttle: &Arc<Throttle>) -> Player {
    let Player::Searched(mut searched) = player else {
        return player;
    };
    let (make, throttle) = (searched.evaluators, throttle.clone());
    searched.evaluators = Arc::new(move || {
        Ok(Box::new(Throttled {
            evaluator: make()?,
            throttle: throttle.clone(),
        }))
    });
    Player::Searched(searched)
}
