//! When a search has had its time.
use std::time::{Duration, Instant};

use selfplay::game::Color;

use super::command::Go;
use super::options::Options;

/// Moves that a clock is shared among where nothing says how many are left.
const HORIZON: u64 = 30;
/// Share of an increment that is spent with the move that brings it.
const INCREMENT_SHARE: f64 = 0.75;
/// Share of what is left on a clock that one move may take.
const LARGEST_SHARE: f64 = 0.4;

/// What ends a search; its time runs from [`Budget::begin`].
#[derive(Clone, Debug)]
pub struct Budget {
    begun: Instant,
    /// Until then the search goes on, unless it is stopped.
    time: Option<Duration>,
    /// Whether the time comes from a clock, so that what is not needed is saved.
    saves: bool,
    nodes: Option<u64>,
    depth: Option<u64>,
}

impl Budget {
    /// The budget of a search for `color`, begun at `begun`.
    ///
    /// Of a clock: left / moves + 3/4 of the increment, `moves` being those to the next control, at most 30, and
    /// 30 without one; at most 2/5 of what is left unless it is the last move. The overhead is taken off first.
    pub fn new(go: &Go, options: &Options, color: Color, begun: Instant) -> Budget {
        let visits = (options.visits > 0 && !go.infinite).then_some(options.visits);
        let nodes = [go.nodes, visits].into_iter().flatten().min();
        let net = |ms: u64| ms.saturating_sub(options.overhead_ms).max(1);
        let clock = go.clock_ms[color as usize].filter(|_| go.move_ms.is_none());
        let share = clock.map(|left| {
            let (left, increment) = (net(left) as f64, go.increment_ms[color as usize] as f64);
            let moves = go.moves_to_go.unwrap_or(HORIZON).clamp(1, HORIZON);
            let most = if moves == 1 { 1.0 } else { LARGEST_SHARE };
            let ms = left / moves as f64 + INCREMENT_SHARE * increment;
            ms.min(most * left).max(1.0) as u64
        });
        let ms = go.move_ms.map(net).or(share);
        Budget {
            begun,
            time: ms.filter(|_| !go.infinite).map(Duration::from_millis),
            saves: clock.is_some() && !go.infinite,
            nodes: nodes.filter(|_| !go.infinite),
            depth: go.depth.filter(|_| !go.infinite),
        }
    }

    /// Whether nothing but a stop ends it.
    pub fn is_endless(&self) -> bool {
        self.time.is_none() && self.nodes.is_none() && self.depth.is_none()
    }

    /// Lets the time run from now on.
    pub fn begin(&mut self) {
        self.begun = Instant::now();
    }

    /// New simulations that are left after `nodes`; `u64::MAX` without a limit.
    pub fn nodes_left(&self, nodes: u64) -> u64 {
        self.nodes
            .map_or(u64::MAX, |limit| limit.saturating_sub(nodes))
    }

    /// Whether time or depth are up.
    pub fn is_over(&self, depth: u64) -> bool {
        self.depth.is_some_and(|limit| depth >= limit)
            || self.time.is_some_and(|time| self.begun.elapsed() >= time)
    }

    /// Time that is left, where there is a limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.time
            .map(|time| time.saturating_sub(self.begun.elapsed()))
    }

    /// Whether at this rate (simulations a second) no move can catch up with one that is `lead` simulations
    /// ahead before the time is up. Only of a clock: a time given for the move is used.
    pub fn is_settled(&self, lead: u64, rate: f64) -> bool {
        let left = self.time_left().filter(|_| self.saves);
        left.is_some_and(|left| lead as f64 > left.as_secs_f64() * rate)
    }
}
