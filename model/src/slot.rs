//! Where the newest weights are left for everyone who plays.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::params::Weights;

/// The latest published weights; evaluators look here between batches.
pub struct WeightSlot {
    published: AtomicU64,
    current: Mutex<Arc<Weights>>,
}

impl WeightSlot {
    /// A slot that holds `weights`.
    pub fn new(weights: Weights) -> Arc<Self> {
        Arc::new(WeightSlot {
            published: AtomicU64::new(1),
            current: Mutex::new(Arc::new(weights)),
        })
    }

    /// Replaces the weights.
    pub fn publish(&self, weights: Weights) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(weights);
        self.published.fetch_add(1, Ordering::Release);
    }

    /// How often weights were published; it changes only then.
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Acquire)
    }

    /// The newest weights.
    pub fn latest(&self) -> Arc<Weights> {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
