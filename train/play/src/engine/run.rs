//! A search under way, on a thread of its own.
//!
//! It searches as the network was trained to (`search.root`), in rounds, after each of which and also within
//! which it may end. Under PUCT a round is a few simulations. Sequential halving (gumbel) has to know its budget:
//! a round is what the time allows at the rate so far, or as many simulations as before where nothing limits them;
//! the tree stays, and what it knows counts from the start. A level of strength searches all its simulations in one
//! round, as in matches. Only one leaf at a time is evaluated.
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use selfplay::eval::{Batch, EvalError};
use selfplay::mcts::{RootKind, Search};
use selfplay::rules::View;

use super::budget::Budget;
use super::model::Model;
use super::options::Options;
use super::report;
use super::thinker::{Event, Order, Progress, Signal};

/// Simulations of a round of PUCT, and of the first of sequential halving if nothing is known of its rate.
const SHORTEST: u64 = 32;
/// Simulations of the longest round. Those that need no network take a few microseconds each and are not
/// interrupted, so a `stop` never waits for long.
const LONGEST: u64 = 4096;
/// Longest time between two reports.
const REPORT: Duration = Duration::from_millis(500);

/// A search under way.
pub struct Run<'a> {
    search: &'a mut Search<View>,
    budget: &'a mut Budget,
    signal: &'a Signal,
    say: &'a dyn Fn(Event),
    options: &'a Options,
    root: RootKind,
    pondering: bool,
    begun: Instant,
    /// Simulations a second of an earlier search.
    earlier_rate: Option<f64>,
    /// Simulations that the tree had.
    kept: u64,
    leaves: u64,
    depths: u64,
    depth: u64,
    seldepth: u64,
    reported: Instant,
    /// New simulations at the last report, if there was one.
    reported_nodes: Option<u64>,
}

impl<'a> Run<'a> {
    /// The search of `order` in the tree of `search`.
    pub fn new(
        order: &'a mut Order,
        signal: &'a Signal,
        say: &'a dyn Fn(Event),
        search: &'a mut Search<View>,
        earlier_rate: Option<f64>,
    ) -> Self {
        let (kept, root) = (visits(search), search.config().root);
        let now = Instant::now();
        Run {
            search,
            budget: &mut order.budget,
            signal,
            say,
            options: &order.options,
            root,
            earlier_rate,
            pondering: signal.pondering.load(Relaxed),
            begun: now,
            kept,
            leaves: 0,
            depths: 0,
            depth: 1,
            seldepth: 1,
            reported: now,
            reported_nodes: None,
        }
    }

    /// Searches until the budget is used up, or nothing more can be learned, or memory is; then says its lines.
    pub fn finish(&mut self, model: &mut Model, batch: &mut Batch) -> Result<(), EvalError> {
        loop {
            let before = self.nodes();
            let planned = (self.round())
                .min(self.budget.nodes_left(before))
                .max(u64::from(self.is_new()));
            if planned == 0 {
                break;
            }
            self.search.plan(planned as u32, false);
            let over = self.simulate(model, batch)?;
            let solved = self.nodes() - before < planned;
            let full = self.search.bytes() > (self.options.hash_mib << 20) / 2;
            if over || solved || full || self.is_settled() {
                break;
            }
        }
        if self.reported_nodes != Some(self.nodes()) {
            self.report();
        }
        Ok(())
    }

    /// Whether the network has not yet looked at the root.
    fn is_new(&self) -> bool {
        visits(self.search) == 0
    }

    /// New simulations.
    fn nodes(&self) -> u64 {
        visits(self.search).saturating_sub(self.kept)
    }

    /// Simulations a second; unknown before there are enough to tell.
    pub fn rate(&self) -> Option<f64> {
        let (nodes, seconds) = (self.nodes(), self.begun.elapsed().as_secs_f64());
        if nodes < SHORTEST {
            return self.earlier_rate;
        }
        Some(nodes as f64 / seconds.max(1e-3))
    }

    /// Simulations of the next round.
    fn round(&self) -> u64 {
        let time = self.budget.time_left().filter(|_| !self.pondering);
        let round = match (self.root, time, self.rate()) {
            // As it was measured. The budget has a limit then.
            _ if self.options.whole && !self.budget.is_endless() => return u32::MAX.into(),
            (RootKind::Puct, ..) | (_, Some(_), None) => SHORTEST,
            (RootKind::Gumbel, Some(left), Some(rate)) => (left.as_secs_f64() * rate) as u64,
            _ if self.pondering || self.budget.is_endless() => self.nodes().max(SHORTEST),
            (RootKind::Gumbel, None, _) => LONGEST,
        };
        round.clamp(SHORTEST / 4, LONGEST)
    }

    /// Searches a round; whether the search is over.
    fn simulate(&mut self, model: &mut Model, batch: &mut Batch) -> Result<bool, EvalError> {
        loop {
            batch.clear();
            if !self.search.gather(batch) {
                return Ok(self.is_over());
            }
            let depth = self.search.depth() as u64;
            model.evaluator.evaluate(batch)?;
            self.search.apply(batch.evaluation(0));
            (self.leaves, self.depths) = (self.leaves + 1, self.depths + depth);
            self.depth = self.depth.max(1 + self.depths / self.leaves);
            self.seldepth = self.seldepth.max(depth);
            if self.is_over() {
                return Ok(true);
            }
            // Early ones come as the simulations double.
            let doubled = |last| self.nodes() >= 2 * last;
            if self.reported_nodes.is_none_or(doubled) || self.reported.elapsed() >= REPORT {
                self.report();
            }
        }
    }

    fn is_over(&mut self) -> bool {
        if self.pondering && !self.signal.pondering.load(Relaxed) {
            self.pondering = false;
            self.budget.begin();
        }
        self.signal.stop.load(Relaxed) || !self.pondering && self.budget.is_over(self.depth)
    }

    /// Whether the move that leads cannot be caught up with any more.
    fn is_settled(&self) -> bool {
        if self.pondering || self.root == RootKind::Gumbel {
            return false;
        }
        let children = self.search.root().map(|root| {
            let mut visits: Vec<_> = root
                .moves()
                .map(|(_, _, c)| c.map_or(0, |c| c.visits()))
                .collect();
            visits.sort_unstable_by(|a, b| b.cmp(a));
            visits
        });
        let lead = match children.as_deref() {
            Some([first, second, ..]) => u64::from(first - second),
            _ => 0,
        };
        self.rate()
            .is_some_and(|rate| self.budget.is_settled(lead, rate))
    }

    fn report(&mut self) {
        let nodes = self.nodes();
        (self.reported, self.reported_nodes) = (Instant::now(), Some(nodes));
        let progress = Progress {
            depth: self.depth,
            seldepth: self.seldepth.max(self.depth),
            nodes,
            elapsed: self.begun.elapsed(),
        };
        let lines = report::lines(self.search, self.options.lines);
        (self.say)(Event::Lines(lines, progress));
    }
}

/// Simulations that the root has seen.
fn visits(search: &Search<View>) -> u64 {
    search.root().map_or(0, |root| root.visits().into())
}
