//! What search, rules and recording cost a row, with an evaluator that costs next to nothing.
//!
//! `cargo bench -p selfplay --bench search`; throughput is rows a second on one thread.
#[path = "../../tests/common/mod.rs"]
mod common;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator, mix};
use selfplay::game::{Features, Game, Wdl};
use selfplay::mcts::{RootKind, Search, SearchConfig};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Position, Ruleset, View, World};
use selfplay::worker::{Games, InlinePort, SelfplayConfig, Worker};

use common::{Wide, config};

/// Answers drawn up beforehand: for every number of moves a few lively priors, and values in turn.
struct Canned {
    /// `[moves][variant]`: log priors.
    priors: Vec<Vec<Vec<f32>>>,
    row: u64,
}

impl Canned {
    fn new() -> Self {
        let variants = |moves: usize| (0..16).map(|v| Self::priors(moves, v)).collect();
        Canned {
            priors: (0..160).map(variants).collect(),
            row: 0,
        }
    }

    fn priors(moves: usize, variant: u64) -> Vec<f32> {
        let mut batch = Batch::default();
        let mut record = [0; RECORD_BYTES];
        (record[0], record[1]) = (moves as u8, variant as u8);
        batch.records.push(record);
        batch.legal.extend(0..moves as u16);
        batch.legal_end.push(moves as u32);
        HashEvaluator::default()
            .evaluate(&mut batch)
            .expect("a stand-in does not fail");
        batch.log_priors
    }

    fn next(&mut self, moves: usize) -> (&[f32], Wdl) {
        self.row += 1;
        let hash = mix(self.row);
        let win = (hash >> 40) as f32 / (1 << 24) as f32 * 0.7;
        let wdl = Wdl {
            win,
            draw: 0.3,
            loss: 0.7 - win,
        };
        (&self.priors[moves][hash as usize % 16], wdl)
    }
}

impl Evaluator for Canned {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        for row in 0..batch.len() {
            let moves = batch.legal_range(row).len();
            let (priors, wdl) = self.next(moves);
            batch.log_priors.extend_from_slice(priors);
            batch.wdl.push(wdl);
            batch.moves_left.push(40.0);
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

fn think<G: Features>(search: &mut Search<G>, visits: u32, batch: &mut Batch, canned: &mut Canned) {
    search.plan(visits, true);
    while search.gather(batch) {
        let (priors, wdl) = canned.next(batch.legal.len());
        search.apply(priors, wdl, 40.0);
        batch.clear();
    }
}

fn searches<G: Features>(c: &mut Criterion, name: &str, game: G) {
    let mut group = c.benchmark_group(name);
    let (mut batch, mut canned) = (Batch::default(), Canned::new());
    for (root, label) in [(RootKind::Gumbel, "gumbel"), (RootKind::Puct, "puct")] {
        for visits in [64, 800] {
            group.throughput(Throughput::Elements(visits.into()));
            let mut search = Search::new(config(root));
            group.bench_function(format!("{label}-{visits}"), |b| {
                b.iter_batched_ref(
                    || (),
                    |()| {
                        search.begin(game, &G::History::default(), 1);
                        think(&mut search, visits, &mut batch, &mut canned);
                    },
                    BatchSize::SmallInput,
                );
            });
        }
    }
    group.finish();
}

fn rules(c: &mut Criterion) {
    let (view, history) = xiangqi();
    let (mut moves, mut record) = (Vec::new(), [0; RECORD_BYTES]);
    c.bench_function("rules/turn", |b| b.iter(|| view.turn(&history)));
    c.bench_function("rules/legal_moves", |b| {
        b.iter(|| view.legal_moves(&mut moves))
    });
    c.bench_function("rules/record", |b| {
        b.iter(|| view.record(&history, &mut record))
    });
    view.legal_moves(&mut moves);
    let mut past = history.clone();
    c.bench_function("rules/play", |b| {
        b.iter(|| {
            let mut next = view;
            next.play(moves[7], &mut past);
            selfplay::game::Past::rewind(&mut past, 0);
            next
        })
    });
}

fn xiangqi() -> (View, <View as Game>::History) {
    let ruleset = Ruleset::by_name("xiangqi").expect("a known form");
    let fen = "r1bakabr1/4n4/1cn4c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C1N2/9/RNBAKAB1R w - - 0 1";
    let position = Position::from_fen(ruleset, fen).expect("a sound position");
    (View::new(position), Default::default())
}

fn workers(c: &mut Criterion) {
    let games_per_worker = 256;
    let settings = SelfplayConfig {
        games_per_worker,
        visits: 64,
        fast_visits: 16,
        full_search_share: 0.5,
        opening_plies: 8,
        temperature_start: 1.0,
        temperature_end: 0.2,
        temperature_halflife: 20.0,
        resign_below: 0.0,
        resign_moves: 4,
        resign_playout_share: 0.0,
        resign_wrong_max: 0.05,
        resign_memory: 500,
        ply_cap: 0,
    };
    let search = SearchConfig {
        ..config(RootKind::Gumbel)
    };
    let mut ids = 0..u64::MAX;
    let ruleset = Ruleset::by_name("xiangqi").expect("a known form");
    let games = Games::<World> {
        run_seed: 1,
        next_id: Box::new(move || ids.next()),
        start: Box::new(move |rng| World::start(ruleset, rng)),
    };
    let mut worker = Worker::new(settings, &search, games, InlinePort::new(Canned::new()));
    let mut round = || worker.round(&mut |_| ()).expect("a stand-in does not fail");
    (0..2000).for_each(|_| {
        round();
    });
    let mut group = c.benchmark_group("worker");
    group.throughput(Throughput::Elements(games_per_worker as u64));
    group.bench_function("xiangqi-round", |b| b.iter(&mut round));
    group.finish();
}

fn all(c: &mut Criterion) {
    searches(c, "wide", Wide::new(3, 400));
    searches(c, "xiangqi", xiangqi().0);
    rules(c);
    workers(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
