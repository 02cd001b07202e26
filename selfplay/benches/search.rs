//! What search, rules and recording cost a row, with an evaluator that costs next to nothing.
//!
//! `cargo bench -p selfplay --bench search`; throughput is rows a second on one thread.
#[path = "../../tests/common/mod.rs"]
mod common;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, EvalError, Evaluation, Evaluator, HashEvaluator, mix};
use selfplay::game::{Features, Game, Past, Referee, Turn, Wdl};
use selfplay::mcts::{RootKind, Search, SearchConfig};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{Ruleset, View, World};
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
            priors: (0..256).map(variants).collect(),
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
        batch.beliefs.resize(batch.unknown.len(), [1.0 / 6.0; 6]);
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

static BELIEFS: [[f32; 6]; 16] = [[0.1, 0.1, 0.1, 0.2, 0.2, 0.3]; 16];

fn think<G: Features>(search: &mut Search<G>, visits: u32, batch: &mut Batch, canned: &mut Canned) {
    search.plan(visits, true);
    while search.gather(batch) {
        let (log_priors, wdl) = canned.next(batch.legal.len());
        search.apply(Evaluation {
            log_priors,
            wdl,
            moves_left: 40.0,
            beliefs: &BELIEFS[..batch.unknown.len()],
        });
        batch.clear();
    }
}

fn searches<G: Features>(c: &mut Criterion, name: &str, game: G, history: &G::History) {
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
                        search.begin(game, history, 1);
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
    FORMS.into_iter().for_each(|form| rules_of(c, form));
}

fn rules_of(c: &mut Criterion, form: &str) {
    let (view, history) = midgame(form);
    let (mut moves, mut record) = (Vec::new(), [0; RECORD_BYTES]);
    let mut group = c.benchmark_group(format!("rules-{form}"));
    group.bench_function("turn", |b| b.iter(|| view.turn(&history)));
    group.bench_function("legal_moves", |b| b.iter(|| view.legal_moves(&mut moves)));
    group.bench_function("record", |b| b.iter(|| view.record(&history, &mut record)));
    view.legal_moves(&mut moves);
    let mut past = history.clone();
    let mark = past.mark();
    group.bench_function("play", |b| {
        b.iter(|| {
            let mut next = view;
            next.play(moves[moves.len() / 2], &mut past);
            past.rewind(mark);
            next
        })
    });
    group.finish();
}

const FORMS: [&str; 4] = ["xiangqi", "jieqi", "fanqi-9", "fanqi-10"];

/// What the side to decide sees 14 random plies or more behind the arrangement, with some choice.
fn midgame(form: &str) -> (View, <View as Game>::History) {
    let ruleset = Ruleset::by_name(form).expect("a known form");
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let mut world = World::start(ruleset, &mut rng);
    let (mut moves, mut plies) = (Vec::new(), 0);
    while let Turn::Decision(turn) = world.turn() {
        world.view(turn).legal_moves(&mut moves);
        if plies >= 14 && moves.len() > 30 {
            return (world.view(turn), world.history(turn).clone());
        }
        plies += usize::from(world.is_public());
        world.apply(moves[rng.random_range(..moves.len())], &mut rng);
    }
    panic!("the game is over already");
}

fn workers(c: &mut Criterion) {
    FORMS.into_iter().for_each(|form| workers_of(c, form));
}

fn workers_of(c: &mut Criterion, form: &str) {
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
        random_arrangement_share: 0.25,
        resign_wrong_max: 0.05,
        resign_memory: 500,
        ply_cap: 0,
    };
    let search = SearchConfig {
        ..config(RootKind::Gumbel)
    };
    let mut ids = 0..u64::MAX;
    let ruleset = Ruleset::by_name(form).expect("a known form");
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
    group.bench_function(format!("{form}-round"), |b| b.iter(&mut round));
    group.finish();
}

fn all(c: &mut Criterion) {
    searches(c, "wide", Wide::new(3, 400), &Default::default());
    for form in FORMS {
        let (view, history) = midgame(form);
        searches(c, form, view, &history);
    }
    rules(c);
    workers(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
