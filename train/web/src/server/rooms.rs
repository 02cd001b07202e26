//! The games that are being played, each under a name that nobody can guess.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::Refusal;
use crate::game::Game;

/// Most games at once; the one that was asked for longest ago gives way to a new one.
const MOST: usize = 1000;

/// A game that is being played.
#[derive(Debug)]
pub struct Room {
    game: Mutex<Game>,
}

impl Room {
    /// The game, which nobody else has meanwhile.
    pub fn game(&self) -> MutexGuard<'_, Game> {
        self.game.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Games by name.
#[derive(Debug, Default)]
pub struct Rooms {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// With the number of the request that asked for it last.
    rooms: HashMap<String, (u64, Arc<Room>)>,
    requests: u64,
}

impl Rooms {
    /// Takes a game in; its name.
    pub fn add(&self, game: Game) -> Result<String, Refusal> {
        let name: String = random::<16>()?.iter().map(|b| format!("{b:02x}")).collect();
        let mut held = self.held();
        if held.rooms.len() >= MOST {
            let oldest = held.rooms.iter().min_by_key(|(_, (asked, _))| *asked);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                held.rooms.remove(&name);
            }
        }
        held.requests += 1;
        let game = Mutex::new(game);
        let entry = (held.requests, Arc::new(Room { game }));
        held.rooms.insert(name.clone(), entry);
        Ok(name)
    }

    /// The game of that name.
    pub fn get(&self, name: &str) -> Result<Arc<Room>, Refusal> {
        let mut held = self.held();
        held.requests += 1;
        let now = held.requests;
        let (asked, room) = held.rooms.get_mut(name).ok_or(Refusal::NoGame)?;
        *asked = now;
        Ok(Arc::clone(room))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A seed that nobody can guess.
pub fn seed() -> Result<u64, Refusal> {
    Ok(u64::from_le_bytes(random()?))
}

fn random<const N: usize>() -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Refusal::Failed(format!("no random numbers: {error}")))?;
    Ok(bytes)
}
