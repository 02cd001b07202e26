//! Who thinks: a network, the tree of the position thought about last, and the answer to `go`.
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use selfplay::eval::Batch;
use selfplay::game::{Features, Game, Turn};
use selfplay::mcts::Search;
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Move, View};

use super::budget::Budget;
use super::game::Told;
use super::model::Model;
use super::options::Options;
use super::report::{self, Line};
use super::run::Run;

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
        if let Some(model) = &mut self.model {
            model.evaluator.use_threads(order.options.threads);
        }
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
            return Err("no network is loaded (the option Model names one)".to_owned());
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
        let temperature = temperature(order, model);
        let mut run = Run::new(order, signal, say, search, self.rate);
        let ended = run.finish(model, &mut self.batch);
        self.rate = run.rate();
        let mv = match ended {
            Ok(()) => search.choose(temperature),
            Err(error) => return Err(error.to_string()),
        };
        // After a placement it is the same side's turn again.
        let lines = report::lines(search, usize::MAX);
        let line = lines
            .iter()
            .find(|line| line.pv[0] == mv && mv.placed().is_none());
        let reply = line.and_then(|line| line.pv.get(1).copied());
        Ok((
            mv,
            reply.filter(|&reply| is_plain(&order.told, [mv, reply])),
        ))
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
                // The same position is thought about alike, unless the choice is to vary.
                let seed = match temperature(order, model) > 0.0 {
                    true => RandomState::new().hash_one(SystemTime::now()),
                    false => told.view.position().hash(),
                };
                search.begin_among(told.view, &told.history, seed, only);
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
        batch.push(record, moves.iter().map(|&mv| view.policy_index(mv)), &[]);
        let evaluated = model.evaluator.evaluate(batch);
        evaluated.map_err(|error| error.to_string())?;
        let liked = moves.iter().zip(&batch.log_priors);
        let best = liked.max_by(|a, b| a.1.total_cmp(b.1)).map(|(&mv, _)| mv);
        best.ok_or_else(|| "no legal move".to_owned())
    }
}

/// Temperature of the choice: a secret arrangement that were always the same would be no secret.
fn temperature(order: &Order, model: &Model) -> f32 {
    let asked = order.options.temperature;
    match order.told.view.is_secret() {
        true => asked.max(model.arrangement_temperature),
        false => asked,
    }
}

/// Whether all is known of the moves, so that a program can tell them without knowing what they bring to light.
fn is_plain(told: &Told, moves: [Move; 2]) -> bool {
    let mut position = *told.view.position();
    moves.iter().all(|&mv| {
        position.play(mv);
        !position.awaits_reveal()
    })
}

/// Holds an answer back that must not be given yet: while the opponent is to move, or in an endless search.
fn wait(budget: &Budget, signal: &Signal) {
    let early = || signal.pondering.load(Relaxed) || budget.is_endless();
    while early() && !signal.stop.load(Relaxed) {
        std::thread::sleep(NAP);
    }
}
