//! The search behind `go`, on a thread of its own.
//!
//! It searches as the network was trained to (`search.root`), in rounds, after each of which and also within
//! which it may end. Under PUCT a round is a few simulations. Sequential halving (gumbel) has to know its budget:
//! a round is what the time allows at the rate so far, or as many simulations as before where nothing limits them;
//! the tree stays, and what it knows counts from the start. Only one leaf at a time is evaluated.
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use model::device::compute_threads;
use selfplay::eval::{Batch, EvalError};
use selfplay::game::{Features, Game, Turn};
use selfplay::mcts::{RootKind, Search};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Move, View};

use super::budget::Budget;
use super::game::Told;
use super::model::Model;
use super::options::Options;
use super::report::{self, Line};

/// Simulations of a round of PUCT, and of the first of sequential halving if nothing is known of its rate.
const SHORTEST: u64 = 32;
/// Simulations of the longest round. Those that need no network take a few microseconds each and are not
/// interrupted, so a `stop` never waits for long.
const LONGEST: u64 = 4096;
/// Longest time between two reports.
const REPORT: Duration = Duration::from_millis(500);
/// How often a search that has nothing left to do looks for its end.
const NAP: Duration = Duration::from_millis(2);

/// What the session tells a running search.
#[derive(Debug, Default)]
pub struct Signal {
    /// To end.
    pub stop: AtomicBool,
    /// The opponent is to move still; cleared by `ponderhit`.
    pub pondering: AtomicBool,
}

/// A search to be done.
pub struct Order {
    /// From where.
    pub told: Told,
    /// The only moves to look at; empty: all.
    pub only: Vec<Move>,
    /// For how long.
    pub budget: Budget,
    /// How.
    pub options: Options,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Mean depth of the tree's leaves, plus 1; never falls.
    pub depth: u64,
    /// Depth of the deepest leaf.
    pub seldepth: u64,
    /// New simulations.
    pub nodes: u64,
    /// Since the search began.
    pub elapsed: Duration,
}

/// What a search says on its way.
pub enum Event {
    /// Its best lines.
    Lines(Vec<Line>, Progress),
    /// Something for people.
    Note(String),
}

/// A network, and the tree of the position that it thought about last.
#[derive(Default)]
pub struct Thinker {
    /// Without one, the first legal move is played.
    pub model: Option<Model>,
    search: Option<Search<View>>,
    /// The game whose tree `search` holds, if a later move of it can go on with it.
    last: Option<Told>,
    /// Simulations a second of the last search.
    rate: Option<f64>,
    batch: Batch,
}

impl Thinker {
    /// Plays with another network.
    pub fn load(&mut self, model: Model) {
        *self = Thinker {
            model: Some(model),
            ..Thinker::default()
        };
    }

    /// Forgets the tree.
    pub fn forget(&mut self) {
        (self.search, self.last) = (None, None);
    }

    /// The chosen move and the reply to it that is expected; `None` where there is no legal move.
    pub fn think(
        &mut self,
        mut order: Order,
        signal: &Signal,
        say: &dyn Fn(Event),
    ) -> Option<(Move, Option<Move>)> {
        let fallback = *(order.told.legal().iter())
            .find(|mv| order.only.is_empty() || order.only.contains(mv))?;
        compute_threads(order.options.threads);
        let chosen = self.search(&mut order, signal, say);
        wait(&order.budget, signal);
        Some(chosen.unwrap_or_else(|why| {
            say(Event::Note(format!("{why}; a legal move is played")));
            self.forget();
            (fallback, None)
        }))
    }

    fn search(
        &mut self,
        order: &mut Order,
        signal: &Signal,
        say: &dyn Fn(Event),
    ) -> Result<(Move, Option<Move>), String> {
        if self.model.is_none() {
            let why =
                "no network is loaded (setoption Model takes a run directory or a checkpoint)";
            return Err(why.to_owned());
        }
        let over = match order.told.view.turn(&order.told.history) {
            Turn::Over(ending) => Some(ending),
            Turn::Decision(_) | Turn::Chance => None,
        };
        if let Some(ending) = over {
            let reason = ending.reason;
            say(Event::Note(format!("the game is over here: {reason}")));
            order.told = order.told.without_history();
            self.forget();
            if matches!(order.told.view.turn(&order.told.history), Turn::Over(_)) {
                return Ok((self.likeliest(order)?, None));
            }
        }
        self.take_up(order)?;
        // A past that was left out is not the next move's.
        self.last = self.last.take().filter(|_| over.is_none());
        let Thinker {
            model: Some(model),
            search: Some(search),
            ..
        } = self
        else {
            return Err("no search".to_owned());
        };
        let mut run = Run::new(order, signal, say, search, self.rate);
        let ended = run.to_the_end(model, &mut self.batch);
        self.rate = run.rate();
        let mv = match ended {
            Ok(()) => search.choose(order.options.temperature),
            Err(error) => return Err(error.to_string()),
        };
        // After a placement it is the same side's turn again.
        let lines = report::lines(search, usize::MAX);
        let line = lines
            .iter()
            .find(|line| line.pv[0] == mv && mv.placed().is_none());
        Ok((mv, line.and_then(|line| line.pv.get(1).copied())))
    }

    /// Sets the tree up for the position: what is left of the last one where the game just went on and both
    /// players know the same (elsewhere what the network believes has to be asked anew), else an empty one.
    fn take_up(&mut self, order: &Order) -> Result<(), String> {
        let (told, only) = (&order.told, &order.only);
        let model = self.model.as_ref().ok_or("no network")?;
        let last = self.last.take();
        let plies = last.as_ref().and_then(|last| told.beyond(last));
        let keeps = only.is_empty() && told.view.position().rules().open_to_both();
        match (&mut self.search, plies) {
            (Some(search), Some(plies)) if keeps => {
                for &(mv, reveal) in plies {
                    search.advance(mv);
                    if let Some(reveal) = reveal {
                        search.reveal(reveal);
                    }
                }
            }
            (search, _) => {
                let mut config = model.search.clone();
                config.considered = config.considered.max(order.options.lines as u32);
                config.root = order.options.root.unwrap_or(config.root);
                let search = search.insert(Search::new(config));
                search.begin_among(told.view, &told.history, told.view.position().hash(), only);
            }
        }
        self.last = keeps.then(|| told.clone());
        Ok(())
    }

    /// The move that the network alone likes best, where the game is over by the rules but is played on.
    fn likeliest(&mut self, order: &Order) -> Result<Move, String> {
        let model = self.model.as_mut().ok_or("no network")?;
        let (view, mut moves) = (&order.told.view, order.told.legal());
        moves.retain(|mv| order.only.is_empty() || order.only.contains(mv));
        let (batch, mut record) = (&mut self.batch, [0; RECORD_BYTES]);
        batch.clear();
        view.record(&order.told.history, &mut record);
        batch.records.push(record);
        batch
            .legal
            .extend(moves.iter().map(|&mv| view.policy_index(mv)));
        batch.legal_end.push(moves.len() as u32);
        batch.unknown_end.push(0);
        let evaluated = model.evaluator.evaluate(batch);
        evaluated.map_err(|error| error.to_string())?;
        let liked = moves.iter().zip(&batch.log_priors);
        let best = liked.max_by(|a, b| a.1.total_cmp(b.1)).map(|(&mv, _)| mv);
        best.ok_or_else(|| "no legal move".to_owned())
    }
}

/// Holds an answer back that must not be given yet: while the opponent is to move, or in an endless search.
fn wait(budget: &Budget, signal: &Signal) {
    let early = || signal.pondering.load(Relaxed) || budget.is_endless();
    while early() && !signal.stop.load(Relaxed) {
        std::thread::sleep(NAP);
    }
}

/// A search under way.
struct Run<'a> {
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
    fn new(
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
    fn to_the_end(&mut self, model: &mut Model, batch: &mut Batch) -> Result<(), EvalError> {
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
    fn rate(&self) -> Option<f64> {
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
