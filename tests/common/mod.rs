//! Toy games whose values are known or can be computed, and what the tests share.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]
mod chain;
pub mod games;
mod nim;
mod shuttle;
mod tictactoe;
mod wide;

use std::fmt;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluator};
use selfplay::game::{Color, Features, Game, Past, Referee, Turn, Wdl};
use selfplay::mcts::{RootKind, Search, SearchConfig};

pub use chain::{Chain, ChainEvaluator, TICKETS};
pub use nim::Nim;
pub use shuttle::Shuttle;
pub use tictactoe::TicTacToe;
pub use wide::Wide;

/// The move of every toy game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick(pub u8);

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The past of every toy game: one number a ply.
#[derive(Clone, Debug, Default)]
pub struct Trail(pub Vec<u64>);

impl Past for Trail {
    fn mark(&self) -> usize {
        self.0.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

/// A game in which both know everything, although one that is not `open` does not say so.
#[derive(Clone, Debug)]
pub struct Table<G: Game> {
    pub game: G,
    pub history: G::History,
    pub open: bool,
}

impl<G: Game> Table<G> {
    pub fn new(game: G) -> Self {
        Table {
            game,
            history: G::History::default(),
            open: true,
        }
    }
}

impl<G: Features> Referee for Table<G> {
    type View = G;

    fn view(&self, _: Color) -> G {
        self.game
    }

    fn history(&self, _: Color) -> &G::History {
        &self.history
    }

    fn open_to_both(&self) -> bool {
        self.open
    }

    fn turn(&self) -> Turn {
        self.game.turn(&self.history)
    }

    fn apply(&mut self, mv: G::Move, rng: &mut Pcg64Mcg) -> Option<G::Reveal> {
        self.game.play(mv, &mut self.history);
        if self.game.turn(&self.history) != Turn::Chance {
            return None;
        }
        let mut reveals = Vec::new();
        self.game.reveals(&mut reveals);
        let mut left = rng.random_range(0..reveals.iter().map(|r| r.1).sum::<u32>());
        let (reveal, _) = reveals.into_iter().find(|&(_, weight)| {
            let here = left < weight;
            left = left.wrapping_sub(weight);
            here
        })?;
        self.game.reveal(reveal, &mut self.history);
        Some(reveal)
    }
}

/// The settings of the paper, small enough for toy games.
pub fn config(root: RootKind) -> SearchConfig {
    SearchConfig {
        root,
        considered: 16,
        c_visit: 50.0,
        c_scale: 1.0,
        c_puct: 1.5,
        c_puct_base: 19652.0,
        fpu_reduction: 0.3,
        dirichlet_total: 10.0,
        dirichlet_share: 0.25,
        draw_score: 0.0,
        belief: true,
        secret_anchor: 1.0,
    }
}

/// Red's score of a position under best play, -1..=1, by looking at everything.
pub fn minimax<G: Game>(game: G, history: &mut G::History) -> f64 {
    let mark = history.mark();
    match game.turn(history) {
        Turn::Over(ending) => f64::from(Wdl::of(ending.outcome, Color::Red).q()),
        Turn::Chance => {
            let mut reveals = Vec::new();
            game.reveals(&mut reveals);
            let (mut sum, mut total) = (0.0, 0.0);
            for (reveal, weight) in reveals {
                let mut next = game;
                next.reveal(reveal, history);
                sum += f64::from(weight) * minimax(next, history);
                total += f64::from(weight);
                history.rewind(mark);
            }
            sum / total
        }
        Turn::Decision(turn) => {
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            let values = moves.into_iter().map(|mv| {
                let mut next = game;
                next.play(mv, history);
                let value = minimax(next, history);
                history.rewind(mark);
                value
            });
            match turn {
                Color::Red => values.fold(f64::NEG_INFINITY, f64::max),
                Color::Black => values.fold(f64::INFINITY, f64::min),
            }
        }
    }
}

/// A search that has begun at `game`.
pub fn begun<G: Features>(config: SearchConfig, game: G, seed: u64) -> Search<G> {
    let mut search = Search::new(config);
    search.begin(game, &G::History::default(), seed);
    search
}

/// Searches until the decision is ready; returns the rows evaluated.
pub fn think<G: Features>(
    search: &mut Search<G>,
    evaluator: &mut dyn Evaluator,
    visits: u32,
    explore: bool,
) -> u32 {
    let mut batch = Batch::default();
    let mut rows = 0;
    search.plan(visits, explore);
    while search.gather(&mut batch) {
        evaluator
            .evaluate(&mut batch)
            .expect("stand-ins do not fail");
        search.apply(batch.evaluation(0));
        batch.clear();
        rows += 1;
    }
    rows
}
