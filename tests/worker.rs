//! Self-play workers: what a game is does not depend on its company, and its rows are consistent.
mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Table, Wide, config};
use selfplay::eval::HashEvaluator;
use selfplay::mcts::RootKind;
use selfplay::worker::{FinishedGame, Games, InlinePort, SelfplayConfig, Worker};

fn settings(games_per_worker: usize) -> SelfplayConfig {
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
        ply_cap: 0,
    }
}

/// Plays the games of ids `first..end`.
fn play(
    settings: SelfplayConfig,
    root: RootKind,
    ids: std::ops::Range<u64>,
) -> BTreeMap<u64, FinishedGame<Table<Wide>>> {
    let next = Arc::new(AtomicU64::new(ids.start));
    let games = Games {
        run_seed: 11,
        next_id: Box::new(move || {
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|id| *id < ids.end)
        }),
        start: Box::new(|_| Table::new(Wide::new(5, 60))),
    };
    let port = InlinePort::new(HashEvaluator::default());
    let mut worker = Worker::new(settings, &config(root), games, port);
    let mut done = BTreeMap::new();
    while worker
        .round(&mut |game| {
            done.insert(game.id, game);
        })
        .expect("stand-ins do not fail")
    {}
    done
}

#[test]
fn company_changes_nothing() {
    for root in [RootKind::Gumbel, RootKind::Puct] {
        let alone = play(settings(1), root, 0..12);
        let together = play(settings(7), root, 0..12);
        assert_eq!(alone.len(), 12);
        for (id, game) in &alone {
            assert_eq!(game.moves, together[id].moves);
            assert_eq!(game.rows, together[id].rows);
        }
        let resumed = play(settings(3), root, 8..12);
        assert!(resumed.iter().all(|(id, game)| game.rows == alone[id].rows));
    }
}
