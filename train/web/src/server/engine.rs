//! What plays: networks, and how much may be searched at once.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selfplay::bundle::Level;
use selfplay::eval::{Batch, Evaluator};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::Refusal;
use crate::facts::{Facts, Order};
use crate::think::Think;

/// Longest time of a search; then it ends with what it has found.
const LONGEST: Duration = Duration::from_secs(60);
/// Most requests that wait for a search.
const MOST_WAITING: usize = 64;

/// Opens the network of a level, or the one that plays as well as it can.
pub type Open = Box<dyn Fn(Option<&Level>) -> Result<Box<dyn Evaluator>, String> + Send + Sync>;

/// Networks that answer requests.
pub struct Engine {
    facts: Facts,
    open: Open,
    /// Networks that nobody uses now, by the level that they are opened for.
    idle: Mutex<HashMap<Network, Vec<Box<dyn Evaluator>>>>,
    /// Searches at once, one a core.
    searches: Arc<Semaphore>,
    /// Searches at once and those that wait.
    places: Arc<Semaphore>,
}

/// Names a network: the CRC-32C of its checkpoint; empty for the one that plays as well as it can.
type Network = String;

/// Leave to search, which ends as it is dropped.
pub struct Permit {
    _search: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl Engine {
    /// What `open` opens, in as many threads as there are cores.
    pub fn new(facts: Facts, open: Open) -> Engine {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Engine {
            facts,
            open,
            idle: Mutex::default(),
            searches: Arc::new(Semaphore::new(cores)),
            places: Arc::new(Semaphore::new(cores + MOST_WAITING)),
        }
    }

    /// What is known of them.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Leave to search, when it is this one's turn.
    pub async fn admit(&self) -> Result<Permit, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Refusal::Busy)?;
        let search = Arc::clone(&self.searches).acquire_owned().await;
        Ok(Permit {
            _search: search.map_err(|_| Refusal::Busy)?,
            _place: place,
        })
    }

    /// Searches to the end or as long as it is `wanted`, in the calling thread.
    pub fn run(
        &self,
        order: &Order,
        think: &mut Think,
        wanted: impl Fn(&Think) -> bool,
    ) -> Result<(), Refusal> {
        let network = (order.level.as_ref()).map_or(String::new(), |level| level.crc32c.clone());
        let idle = self.idle().get_mut(&network).and_then(Vec::pop);
        let mut evaluator = match idle {
            Some(evaluator) => evaluator,
            None => (self.open)(order.level.as_ref()).map_err(Refusal::Failed)?,
        };
        let (begun, mut batch) = (Instant::now(), Batch::default());
        while begun.elapsed() < LONGEST && wanted(think) && think.gather(&mut batch) {
            let evaluated = evaluator.evaluate(&mut batch);
            evaluated.map_err(|error| Refusal::Failed(error.to_string()))?;
            think.apply(&batch);
        }
        self.idle().entry(network).or_default().push(evaluator);
        Ok(())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, HashMap<Network, Vec<Box<dyn Evaluator>>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
