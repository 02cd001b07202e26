//! Self-play workers: what a game is does not depend on its company, and its rows tell what happened.
mod common;

use common::games::{Done, check_rows, finish, games, play, same, settings};
use common::{Nim, Table, Wide, config};
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator, UniformEvaluator};
use selfplay::game::{Game, Outcome, Reason, Referee};
use selfplay::mcts::RootKind;
use selfplay::server::{ChannelPort, Counters, serve};
use selfplay::worker::{
    FinishedGame, Games, InlinePort, Resignation, SelfplayConfig, Worker, game_seed,
};

fn wide(ids: std::ops::Range<u64>) -> Games<Table<Wide>> {
    games(ids, |_| Table::new(Wide::new(5, 60)))
}

#[test]
fn company_changes_nothing() {
    for root in [RootKind::Gumbel, RootKind::Puct] {
        let alone = play(settings(1), root, wide(0..12));
        assert_eq!(alone.len(), 12);
        same(&alone, &play(settings(7), root, wide(0..12)));
        // A run that goes on at a later id plays the same games.
        let resumed = play(settings(3), root, wide(8..12));
        assert!(resumed.iter().all(|(id, game)| game.rows == alone[id].rows));
        assert_ne!(alone[&0].moves, alone[&1].moves);
    }
}

#[test]
fn a_server_merges_and_changes_nothing() {
    let alone = play(settings(1), RootKind::Gumbel, wide(0..24));
    for max_rows in [1, 6, 1000] {
        let (jobs, queue) = crossbeam_channel::unbounded();
        let counters = Counters::default();
        let done = std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let (queue, mut evaluator) = (queue, HashEvaluator::default());
                serve(&mut evaluator, &queue, max_rows, &counters);
            });
            let workers = [0..8, 8..16, 16..24].map(|ids| {
                let port = ChannelPort::new(jobs.clone());
                scope.spawn(move || {
                    let search = config(RootKind::Gumbel);
                    finish(&mut Worker::new(settings(5), &search, wide(ids), port))
                })
            });
            drop(jobs);
            let done = workers.map(|w| w.join().expect("no panic").expect("no failure"));
            serving.join().expect("no panic");
            done.into_iter().flatten().collect::<Done<_>>()
        });
        same(&alone, &done);
        let rows: u64 = done.values().map(|game| game.evaluations).sum();
        assert_eq!(counters.rows(), rows);
        assert!(counters.batches() <= rows);
    }
}

/// Fails at its last batch, and counts each before as a training step.
struct Mortal {
    inner: UniformEvaluator,
    batches: u64,
    last: u64,
}

impl Evaluator for Mortal {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        self.batches += 1;
        if self.batches == self.last {
            return Err(EvalError::Failed("out of memory".into()));
        }
        self.inner.evaluate(batch)
    }

    fn step(&self) -> u64 {
        self.batches
    }
}

#[test]
fn a_failing_evaluator_stops_the_worker() {
    let mortal = || Mortal {
        inner: UniformEvaluator,
        batches: 0,
        last: 9,
    };
    let failed = EvalError::Failed("out of memory".into());
    let search = config(RootKind::Puct);
    let port = InlinePort::new(mortal());
    let mut worker = Worker::new(settings(4), &search, wide(0..100), port);
    assert_eq!(finish(&mut worker).err(), Some(failed.clone()));
    let (jobs, queue) = crossbeam_channel::unbounded();
    let mut worker = Worker::new(settings(4), &search, wide(0..100), ChannelPort::new(jobs));
    std::thread::scope(|scope| {
        scope.spawn(move || serve(&mut mortal(), &queue, 100, &Counters::default()));
        assert_eq!(finish(&mut worker).err(), Some(failed));
        drop(worker);
    });
}

#[test]
fn a_server_that_is_gone_is_noticed() {
    let (jobs, queue) = crossbeam_channel::unbounded();
    let search = config(RootKind::Puct);
    let mut worker = Worker::new(settings(4), &search, wide(0..100), ChannelPort::new(jobs));
    assert!(worker.round(&mut |_| ()).expect("sent"));
    drop(queue);
    assert!(matches!(
        worker.round(&mut |_| ()),
        Err(EvalError::Failed(_))
    ));
}

#[test]
fn rows_know_the_net_and_a_worker_what_it_plays() {
    let port = InlinePort::new(Mortal {
        inner: UniformEvaluator,
        batches: 0,
        last: u64::MAX,
    });
    let search = config(RootKind::Gumbel);
    let mut worker = Worker::new(settings(4), &search, wide(0..9), port);
    let busy = worker.busy();
    assert!(worker.round(&mut |_| ()).expect("no failure"));
    assert_eq!(worker.live_ids(), [0, 1, 2, 3]);
    assert_eq!(busy.game(), (3, game_seed(11, 3)));
    for (id, game) in finish(&mut worker).expect("no failure") {
        let steps = &game.rows.net_step;
        assert!(steps.is_sorted(), "game {id}");
        assert!(steps.iter().all(|&step| step > 0), "game {id}");
        assert_eq!(game.net_steps, (steps[0], steps[steps.len() - 1]));
    }
    assert!(worker.live_ids().is_empty());
}

#[test]
fn rows_tell_the_game() {
    for (resign_below, ply_cap) in [(0.0, 0), (0.45, 0), (0.0, 9)] {
        let settings = SelfplayConfig {
            resign_below,
            ply_cap,
            ..settings(6)
        };
        for game in play(settings, RootKind::Gumbel, wide(0..30)).values() {
            let mut rng = rand::SeedableRng::seed_from_u64(0);
            check_rows(game, |world, ply| {
                world.apply(game.moves[ply], &mut rng);
            });
            if ply_cap > 0 && game.moves.len() == 9 && game.ending.reason == Reason::PlyCap {
                assert_eq!(game.ending.outcome, Outcome::Draw);
            }
            assert!(ply_cap == 0 || game.moves.len() <= 9);
        }
    }
}

/// Where the players know different things, each search starts from the mover's own view.
#[test]
fn closed_games_keep_no_tree() {
    let closed = |_| Table {
        open: false,
        ..Table::new(Wide::new(5, 60))
    };
    let done = play(settings(6), RootKind::Gumbel, games(0..10, closed));
    for game in done.values() {
        let mut rng = rand::SeedableRng::seed_from_u64(0);
        check_rows(game, |world, ply| {
            world.apply(game.moves[ply], &mut rng);
        });
        // Two rows a decision, one of each player.
        let full: u64 = game.rows.policy_weight.iter().map(|&w| u64::from(w)).sum();
        let fast = game.rows.len() as u64 - full;
        assert!(game.evaluations > (24 * full + 6 * fast) / 2 / 2);
    }
}

#[test]
fn reveals_replay_a_game_of_chance() {
    let done = play(
        settings(5),
        RootKind::Gumbel,
        games(0..40, |r| Table::new(Nim::lucky(10 + (r % 8) as u8))),
    );
    assert!(done.values().any(|game| !game.reveals.is_empty()));
    for game in done.values() {
        check_rows(game, |table, ply| {
            table.game.play(game.moves[ply], &mut table.history);
            for (_, reveal) in game.reveals.iter().filter(|(at, _)| *at == ply) {
                table.game.reveal(*reveal, &mut table.history);
            }
        });
    }
}

#[test]
fn resignation_is_counted_or_played_out() {
    let with = |share| SelfplayConfig {
        resign_below: 0.42,
        resign_playout_share: share,
        ..settings(8)
    };
    let resigning = play(with(0.0), RootKind::Gumbel, wide(0..60));
    let playing_on = play(with(1.0), RootKind::Gumbel, wide(0..60));
    let mut resigned = 0;
    for (id, game) in &resigning {
        let Resignation::Resigned(loser) = game.resignation else {
            assert_ne!(game.ending.reason, Reason::Resignation);
            assert_eq!(game.resignation, Resignation::None);
            same_play(game, &playing_on[id]);
            continue;
        };
        resigned += 1;
        assert_eq!(game.ending.reason, Reason::Resignation);
        assert_eq!(game.ending.outcome, Outcome::Win(loser.other()));
        let last = game.rows.search_wdl[game.rows.len() - 1];
        assert!(last[0] + 0.5 * last[1] < 0.42);
        assert_eq!(game.rows.plies_left.last(), Some(&0));
        // The same game, played on, goes the same way and further.
        let on = &playing_on[id];
        assert_eq!(on.moves[..game.moves.len()], game.moves);
        let Resignation::PlayedOn {
            loser: same,
            ply,
            false_positive,
        } = on.resignation
        else {
            panic!("game {id} would have been resigned");
        };
        assert_eq!((same, ply), (loser, game.moves.len()));
        assert_eq!(
            false_positive,
            on.ending.outcome != Outcome::Win(loser.other())
        );
    }
    assert!(resigned > 5, "{resigned}");
    for game in playing_on.values() {
        // The lowest threshold under which it would have resigned tells whether it would have.
        let lowest = game.lowest.expect("played on");
        let would = lowest.iter().any(|&score| score < 0.42);
        assert_eq!(would, game.resignation != Resignation::None);
    }
}

fn same_play<W: Referee>(a: &FinishedGame<W>, b: &FinishedGame<W>) {
    assert_eq!((&a.moves, a.ending), (&b.moves, b.ending));
}

#[test]
fn searches_are_full_or_fast_by_their_share() {
    let done = play(settings(16), RootKind::Gumbel, wide(0..150));
    let rows: usize = done.values().map(|game| game.rows.len()).sum();
    let weights = done.values().flat_map(|game| &game.rows.policy_weight);
    let full: usize = weights.map(|&w| usize::from(w)).sum();
    let share = full as f32 / rows as f32;
    assert!((share - 0.4).abs() < 0.05, "{share}");
    let openings: Vec<_> = done.values().map(|game| game.opening_plies).collect();
    assert!((0..=4).all(|plies| openings.contains(&plies)));
    for game in done.values() {
        // A full search costs 24 rows, a fast one 6, the opening one a ply; a proof may end it early.
        let full: u64 = game.rows.policy_weight.iter().map(|&w| u64::from(w)).sum();
        let fast = game.rows.len() as u64 - full;
        assert!(game.evaluations <= 24 * full + 6 * fast + game.opening_plies as u64);
    }
}

#[test]
fn temperature_halves() {
    let c = settings(1);
    let cases = [(0, 1.0), (10, 0.6), (20, 0.4), (1000, 0.2)];
    for (ply, expected) in cases {
        assert!((c.temperature(ply) - expected).abs() < 1e-6, "{ply}");
    }
}
