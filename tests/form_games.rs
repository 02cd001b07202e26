//! Self-play of every form: games end, and can be replayed from what is kept of them.
mod common;

use std::collections::HashSet;

use common::games::{Done, check_rows, finish, form, play, quick, rng, same, starts};
use common::{begun, config, think};
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator};
use selfplay::game::{Color, Game, Referee};
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::record::{DOWN, HOMES, IDENTITY_SHIFT, at, flag};
use selfplay::rules::{Move, Ruleset, World};
use selfplay::server::{ChannelPort, Counters, serve};
use selfplay::worker::{FinishedGame, InlinePort, Resignation, SelfplayConfig, Worker};

fn from_text(world: &World) -> World {
    let rules = world.position(Color::Red).rules();
    World::from_fen(rules, &world.fen()).expect("a world's own text")
}

#[test]
fn every_form_is_played_to_its_end_and_can_be_replayed() {
    for rules in Ruleset::all() {
        let done = play(quick(4), RootKind::Gumbel, starts(rules, 0..4));
        assert_eq!(done.len(), 4);
        for game in done.into_values() {
            let start = from_text(&game.start);
            let game = FinishedGame { start, ..game };
            let mut reveals = Vec::new();
            check_rows(&game, |world, ply| {
                let light = world.try_apply(game.moves[ply], &mut rng());
                reveals.extend(light.expect("legal").map(|light| (ply, light)));
            });
            assert_eq!(reveals, game.reveals, "{}", rules.name);
            assert_eq!(rules.hides(), !reveals.is_empty(), "{}", rules.name);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_games_in_any_company() {
    for (i, rules) in Ruleset::all().iter().enumerate() {
        let root = [RootKind::Gumbel, RootKind::Puct][i % 2];
        let alone = play(quick(1), root, starts(rules, 0..3));
        same(&alone, &play(quick(3), root, starts(rules, 0..3)));
        assert_ne!(alone[&0].moves, alone[&1].moves);
    }
}

#[test]
fn an_arrangement_is_played_by_its_owner_alone() {
    let done = play(quick(6), RootKind::Gumbel, starts(form("fanqi-9"), 0..6));
    let mut arrangements = HashSet::new();
    for game in done.values() {
        let (placed, played) = game.moves.split_at(30);
        assert!(placed.iter().all(|mv| mv.placed().is_some()));
        assert!(played.iter().all(|mv| mv.placed().is_none()));
        let in_order =
            |mvs: &[Move], order: fn(&Move) -> (usize, usize)| mvs.is_sorted_by_key(order);
        assert!(in_order(&placed[..15], |mv| (
            mv.from().rank(),
            mv.from().file()
        )));
        assert!(in_order(&placed[15..], |mv| (
            9 - mv.from().rank(),
            mv.from().file()
        )));
        for (ply, row) in (0..30).zip(&game.rows.records) {
            assert_ne!(row[at::PLACING], 255, "ply {ply}");
            assert_ne!(row[at::FLAGS] & flag::VIEWER_DECIDES, 0, "ply {ply}");
        }
        assert_eq!(
            game.rows.ply[..30],
            std::array::from_fn::<u16, 30, _>(|i| i as u16)
        );
        arrangements.insert(placed[..15].to_vec());
    }
    assert!(arrangements.len() > 4, "they explore");
}

/// The plies of a game's arrangement that left rows, by side.
fn placement_rows(game: &FinishedGame<World>) -> [usize; 2] {
    let plies = game.rows.ply.iter().filter(|&&ply| ply < 30);
    let black = plies.clone().filter(|&&ply| ply >= 15).count();
    [plies.count() - black, black]
}

#[test]
fn a_random_arrangement_leaves_no_row() {
    for (share, seen) in [(0.0, [0, 32]), (0.5, [16, 16]), (1.0, [32, 0])] {
        let settings = SelfplayConfig {
            random_arrangement_share: share,
            ply_cap: 6,
            ..quick(4)
        };
        let done = play(settings, RootKind::Gumbel, starts(form("fanqi-9"), 0..16));
        let sides: Vec<_> = done.values().flat_map(placement_rows).collect();
        let counts = [0, 15].map(|rows| sides.iter().filter(|&&n| n == rows).count());
        assert_eq!(counts.iter().sum::<usize>(), 32, "all or none of a side's");
        let near = |(&a, b): (&usize, usize)| a.abs_diff(b) <= if share == 0.5 { 8 } else { 0 };
        assert!(counts.iter().zip(seen).all(near), "{share}: {counts:?}");
        let arrangements: HashSet<_> = done.values().map(|game| &game.moves[..15]).collect();
        assert!(arrangements.len() > 12, "{share}");
    }
}

#[test]
fn a_secret_decisions_priors_are_anchored() {
    let world = World::start(form("fanqi-9"), &mut rng());
    let view = world.view(Color::Red);
    let priors = |anchor: f32| {
        let settings = SearchConfig {
            secret_anchor: anchor,
            ..config(RootKind::Gumbel)
        };
        let mut search = begun(settings, view, 1);
        let mut evaluator = HashEvaluator::default();
        let planned = [4, 4].map(|visits| {
            think(&mut search, &mut evaluator, visits, false);
            search.decision()
        });
        planned.map(|d| {
            d.moves
                .into_iter()
                .map(|m| (m.mv, m.prior))
                .collect::<Vec<_>>()
        })
    };
    let [raw, _] = priors(0.0);
    for anchor in [0.0, 0.3, 1.0] {
        let weight = |&(mv, prior): &(Move, f32)| {
            prior.powf(1.0 - anchor) * (view.ways(mv) as f32).powf(anchor)
        };
        let total: f32 = raw.iter().map(weight).sum();
        for planned in priors(anchor) {
            for (expected, found) in raw.iter().zip(planned) {
                assert_eq!(expected.0, found.0);
                let expected = weight(expected) / total;
                assert!((expected - found.1).abs() < 1e-5, "{anchor}: {found:?}");
            }
        }
    }
}

#[test]
fn both_players_rows_stand_side_by_side_where_they_know_different_things() {
    for (name, both) in [
        ("jieqi", true),
        ("fanqi-9", true),
        ("fanqi-10", false),
        ("fanqi-2", false),
    ] {
        for game in play(quick(4), RootKind::Gumbel, starts(form(name), 0..4)).values() {
            let rows = &game.rows;
            let own = |row: &usize| rows.records[*row][at::FLAGS] & flag::VIEWER_DECIDES != 0;
            let others = (0..rows.len()).filter(|row| !own(row));
            assert_eq!(others.clone().count() > 0, both, "{name}");
            for row in others {
                assert!(own(&(row - 1)));
                let policy = |row| {
                    let range = rows.policy_range(row);
                    (&rows.policy_index[range.clone()], &rows.policy_prob[range])
                };
                assert_eq!(policy(row), policy(row - 1));
                let rest = |row: usize| {
                    (
                        rows.policy_weight[row],
                        rows.search_wdl[row],
                        rows.outcome[row],
                        rows.plies_left[row],
                        rows.ply[row],
                    )
                };
                assert_eq!(rest(row), rest(row - 1));
            }
        }
    }
}

/// Answers like [`HashEvaluator`] and looks at what is asked.
struct Asked {
    inner: HashEvaluator,
    rows: usize,
    asking: usize,
}

impl Evaluator for Asked {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        for row in 0..batch.len() {
            let unknown = &batch.unknown[batch.unknown_range(row)];
            self.rows += 1;
            self.asking += usize::from(!unknown.is_empty());
            for &square in unknown {
                assert!(HOMES.contains(&square));
                let byte = batch.records[row][usize::from(square)];
                assert!(byte >= DOWN && byte >> IDENTITY_SHIFT & 7 == 0, "{byte}");
            }
        }
        self.inner.evaluate(batch)
    }

    fn step(&self) -> u64 {
        0
    }
}

fn asked(name: &str, belief: bool) -> (usize, Done<World>) {
    let port = InlinePort::new(Asked {
        inner: HashEvaluator::default(),
        rows: 0,
        asking: 0,
    });
    let search = SearchConfig {
        belief,
        ..config(RootKind::Gumbel)
    };
    let mut worker = Worker::new(quick(4), &search, starts(form(name), 0..12), port);
    let done = finish(&mut worker).expect("a stand-in does not fail");
    let Asked { rows, asking, .. } = worker.port().evaluator();
    assert!(*asking < *rows);
    (*asking, done)
}

#[test]
fn beliefs_are_asked_for_where_the_opponent_knows_more() {
    for (name, expected) in [
        ("xiangqi", false),
        ("fanqi-2", false),
        ("fanqi-10", false),
        ("fanqi-3", true),
        ("fanqi-9", true),
        ("jieqi", true),
    ] {
        let (asking, believing) = asked(name, true);
        assert_eq!(asking > 0, expected, "{name}");
        let (asking, unbelieving) = asked(name, false);
        assert_eq!(asking, 0, "{name}");
        // They matter.
        let moves = |done: &Done<World>| {
            done.values()
                .map(|game| game.moves.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(moves(&believing) != moves(&unbelieving), expected, "{name}");
    }
}

/// Workers of several forms, with questions about unknown pieces and without, share a server.
#[test]
fn a_server_carries_beliefs_and_changes_nothing() {
    let forms = ["jieqi", "fanqi-9", "xiangqi"];
    let (jobs, queue) = crossbeam_channel::unbounded();
    let together = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut evaluator = HashEvaluator::default();
            serve(&mut evaluator, &queue, 8, &Counters::default());
        });
        let workers = forms.map(|name| {
            let port = ChannelPort::new(jobs.clone());
            scope.spawn(move || {
                let search = config(RootKind::Gumbel);
                finish(&mut Worker::new(
                    quick(3),
                    &search,
                    starts(form(name), 0..4),
                    port,
                ))
            })
        });
        drop(jobs);
        workers.map(|w| w.join().expect("no panic").expect("no failure"))
    });
    for (name, together) in forms.into_iter().zip(together) {
        let alone = play(quick(1), RootKind::Gumbel, starts(form(name), 0..4));
        same(&alone, &together);
    }
}

#[test]
fn only_a_players_own_rows_make_it_resign() {
    for name in ["jieqi", "fanqi-9"] {
        let with = |share| SelfplayConfig {
            resign_below: 0.45,
            resign_playout_share: share,
            ..quick(8)
        };
        let resigning = play(with(0.0), RootKind::Gumbel, starts(form(name), 0..8));
        let resigned =
            |game: &&FinishedGame<World>| matches!(game.resignation, Resignation::Resigned(_));
        assert!(resigning.values().filter(resigned).count() > 2);
        for (id, on) in play(with(1.0), RootKind::Gumbel, starts(form(name), 0..8)) {
            let lowest = on.lowest.expect("played on");
            let would = lowest.iter().any(|&score| score < 0.45);
            assert_eq!(would, on.resignation != Resignation::None);
            let game = &resigning[&id];
            assert_eq!(
                would,
                matches!(game.resignation, Resignation::Resigned(_)),
                "{name} {id}"
            );
            check_rows(game, |world, ply| {
                world.apply(game.moves[ply], &mut rng());
            });
        }
    }
}
