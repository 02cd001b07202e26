//! The moves behind a position, as far as repetition needs them.
use super::types::Move;
use crate::game::Past;

/// One ply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Hash of the position in which it was played.
    pub before: u64,
    /// The move.
    pub mv: Move,
    /// Whether it gave check.
    pub gave_check: bool,
    /// Whether it captured: no position before it can come back.
    pub captured: bool,
}

/// The plies that led to a position, oldest first; a stack that a search winds back.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
}

impl History {
    /// Notes a ply.
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Completes the last ply, of which something was revealed: whether it gave check.
    pub(super) fn complete(&mut self, gave_check: bool) {
        if let Some(entry) = self.entries.last_mut() {
            entry.gave_check = gave_check;
        }
    }

    /// The last move.
    pub fn last(&self) -> Option<Move> {
        self.entries.last().map(|entry| entry.mv)
    }

    /// The plies since the last capture, oldest first.
    pub(super) fn reversible(&self) -> &[Entry] {
        let start = self
            .entries
            .iter()
            .rposition(|entry| entry.captured)
            .map_or(0, |i| i + 1);
        &self.entries[start..]
    }

    /// How often the position of that hash occurred before, when it stands now.
    pub fn occurrences(&self, hash: u64) -> usize {
        self.occurrences_at(hash).count()
    }

    /// How many plies ago each earlier occurrence stood, latest first.
    pub(super) fn occurrences_at(&self, hash: u64) -> impl Iterator<Item = usize> + '_ {
        let plies = self
            .entries
            .iter()
            .rev()
            .take_while(|entry| !entry.captured);
        plies
            .enumerate()
            .skip(3)
            .step_by(2)
            .filter(move |(_, entry)| entry.before == hash)
            .map(|(i, _)| i + 1)
    }
}

impl Past for History {
    fn mark(&self) -> usize {
        self.entries.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.entries.truncate(mark);
    }
}
