//! Games of self-play with stand-ins, and whether their rows tell what happened.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{EvalError, HashEvaluator};
use selfplay::game::{Color, Features, Game, Reason, Referee, Turn, Wdl};
use selfplay::mcts::RootKind;
use selfplay::record::{RECORD_BYTES, Record};
use selfplay::rules::{Ruleset, World};
use selfplay::worker::{EvalPort, FinishedGame, Games, InlinePort, SelfplayConfig, Worker};

use super::config;

pub type Done<W> = BTreeMap<u64, FinishedGame<W>>;

pub fn settings(games_per_worker: usize) -> SelfplayConfig {
    SelfplayConfig {
        games_per_worker,
        visits: 24,
        fast_visits: 6,
        full_search_share: 0.4,
        opening_plies: 4,
        temperature_start: 1.0,
        temperature_end: 0.2,
        temperature_halflife: 10.0,
        resign_below: 0.0,
        resign_moves: 2,
        resign_playout_share: 0.5,
        random_arrangement_share: 0.0,
        resign_wrong_max: 0.05,
        resign_memory: 500,
        ply_cap: 0,
    }
}

pub fn games<W: Referee + 'static>(
    ids: std::ops::Range<u64>,
    start: impl Fn(u64) -> W + Send + 'static,
) -> Games<W> {
    let next = AtomicU64::new(ids.start);
    Games {
        run_seed: 11,
        next_id: Box::new(move || Some(next.fetch_add(1, Relaxed)).filter(|id| *id < ids.end)),
        start: Box::new(move |rng| start(rand::Rng::next_u64(rng))),
    }
}

/// Plays until no game is left.
pub fn finish<W: Referee, P: EvalPort>(worker: &mut Worker<W, P>) -> Result<Done<W>, EvalError> {
    let mut done = BTreeMap::new();
    let mut keep = |game: FinishedGame<W>| {
        assert!(done.insert(game.id, game).is_none(), "a game ended twice");
    };
    while worker.round(&mut keep)? {}
    Ok(done)
}

pub fn play<W: Referee>(settings: SelfplayConfig, root: RootKind, games: Games<W>) -> Done<W> {
    let port = InlinePort::new(HashEvaluator::default());
    let mut worker = Worker::new(settings, &config(root), games, port);
    finish(&mut worker).expect("a stand-in does not fail")
}

pub fn same<W: Referee>(a: &Done<W>, b: &Done<W>) {
    assert!(a.keys().eq(b.keys()));
    for (id, game) in a {
        assert_eq!(game.moves, b[id].moves, "game {id}");
        assert_eq!(game.rows, b[id].rows, "game {id}");
    }
}

/// Replays a game and checks that every row says what the replay says.
pub fn check_rows<W: Referee>(game: &FinishedGame<W>, mut replay: impl FnMut(&mut W, usize)) {
    let rows = &game.rows;
    let mut world = game.start.clone();
    let resigned = game.ending.reason == Reason::Resignation;
    let columns = [
        rows.policy_end.len(),
        rows.policy_weight.len(),
        rows.search_wdl.len(),
        rows.outcome.len(),
        rows.plies_left.len(),
        rows.truth.len(),
        rows.game.len(),
        rows.ply.len(),
        rows.net_step.len(),
    ];
    assert_eq!(columns, [rows.len(); 9]);
    let (mut row, mut played) = (0, 0);
    for ply in 0..game.moves.len() + usize::from(resigned) {
        let Turn::Decision(decider) = world.turn() else {
            panic!("over too early")
        };
        let public = world.is_public();
        if !public || played >= game.opening_plies {
            for viewer in viewers(&world, decider) {
                check_row(game, row, &world, (viewer, decider), ply);
                row += 1;
            }
        }
        played += usize::from(public);
        if ply < game.moves.len() {
            replay(&mut world, ply);
        }
    }
    assert_eq!(row, rows.len());
    assert!(game.opening_plies <= played);
    let by_rule = ![Reason::Resignation, Reason::PlyCap].contains(&game.ending.reason);
    assert_eq!(world.turn() == Turn::Over(game.ending), by_rule);
}

/// Whose rows a decision leaves, in their order.
pub fn viewers<W: Referee>(world: &W, decider: Color) -> Vec<Color> {
    let watched = world.is_public() && !world.open_to_both();
    [decider, decider.other()][..1 + usize::from(watched)].to_vec()
}

/// What a viewer's row of the position would be.
pub fn record_of<W: Referee>(world: &W, viewer: Color) -> Record {
    let mut record = [0; RECORD_BYTES];
    world
        .view(viewer)
        .record(world.history(viewer), &mut record);
    record
}

fn check_row<W: Referee>(
    game: &FinishedGame<W>,
    row: usize,
    world: &W,
    (viewer, decider): (Color, Color),
    ply: usize,
) {
    let rows = &game.rows;
    let view = world.view(viewer);
    assert_eq!(rows.records[row], record_of(world, viewer));
    assert_eq!(rows.truth[row], world.truth(viewer));
    let mut legal = Vec::new();
    view.legal_moves(&mut legal);
    let mut legal: Vec<_> = legal.into_iter().map(|mv| view.policy_index(mv)).collect();
    let mut listed = rows.policy_index[rows.policy_range(row)].to_vec();
    legal.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, legal);
    let probs = &rows.policy_prob[rows.policy_range(row)];
    let total: i64 = probs.iter().map(|&p| i64::from(p)).sum();
    assert!((total - 65535).unsigned_abs() <= probs.len() as u64);
    let wdl = Wdl::of(game.ending.outcome, decider);
    let seen = [wdl.win, wdl.draw, wdl.loss][usize::from(rows.outcome[row])];
    assert_eq!(seen, 1.0);
    let left = game.moves.len() - ply;
    assert_eq!(
        (rows.ply[row], rows.plies_left[row]),
        (ply as u16, left as u16)
    );
    assert_eq!(rows.game[row], game.id);
    assert!((rows.search_wdl[row].iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

/// The form of that name.
pub fn form(name: &str) -> &'static Ruleset {
    Ruleset::by_name(name).expect("a known form")
}

/// Settings for many short searches.
pub fn quick(games_per_worker: usize) -> SelfplayConfig {
    SelfplayConfig {
        visits: 8,
        fast_visits: 2,
        ..settings(games_per_worker)
    }
}

/// Games of a form.
pub fn starts(rules: &'static Ruleset, ids: std::ops::Range<u64>) -> Games<World> {
    games(ids, move |seed| {
        World::start(rules, &mut Pcg64Mcg::seed_from_u64(seed))
    })
}

/// A generator for worlds, in which nothing is left to chance.
pub fn rng() -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(0)
}
