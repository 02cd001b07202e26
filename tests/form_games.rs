//! Self-play of every form: games end, can be replayed from what is kept of them, and what a player cannot
//! know changes nothing that it sees, notes or does.
mod common;

use common::config;
use common::games::{Done, check_rows, finish, games, play, record_of, same, settings, viewers};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator};
use selfplay::game::{Color, Referee, Turn};
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::record::{DOWN, HOMES, IDENTITY_SHIFT, at, flag};
use selfplay::rules::{Kind, Layout, Move, Ruleset, Square, World};
use selfplay::server::{ChannelPort, Counters, serve};
use selfplay::worker::{FinishedGame, Games, InlinePort, Resignation, SelfplayConfig, Worker};

fn form(name: &str) -> &'static Ruleset {
    Ruleset::by_name(name).expect("a known form")
}

fn quick(games_per_worker: usize) -> SelfplayConfig {
    SelfplayConfig {
        visits: 8,
        fast_visits: 2,
        ..settings(games_per_worker)
    }
}

fn starts(rules: &'static Ruleset, ids: std::ops::Range<u64>) -> Games<World> {
    games(ids, move |seed| {
        World::start(rules, &mut Pcg64Mcg::seed_from_u64(seed))
    })
}

fn rng() -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(0)
}

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
    let mut arrangements = std::collections::HashSet::new();
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

/// A board's field, a square a text, by index.
fn cells(fen: &str) -> (Vec<String>, &str) {
    let (board, rest) = fen.split_once(' ').expect("fields");
    let mut cells = vec![String::new(); 90];
    for (rank, text) in (0..10).rev().zip(board.split('/')) {
        let mut file = 0;
        for c in text.chars() {
            match c.to_digit(10) {
                Some(gap) => file += gap as usize,
                None if c.is_alphabetic() => {
                    cells[9 * rank + file].push(c);
                    file += 1;
                }
                None => cells[9 * rank + file - 1].push(c),
            }
        }
    }
    (cells, rest)
}

/// The world with what lies on `squares`, of one side each, moved on to the next of them.
fn rotated(world: &World, squares: &[Vec<Square>]) -> World {
    let fen = world.fen();
    let (mut board, rest) = cells(&fen);
    for squares in squares.iter().filter(|squares| !squares.is_empty()) {
        let first = board[squares[0].index()].clone();
        for pair in squares.windows(2) {
            board[pair[0].index()] = board[pair[1].index()].clone();
        }
        board[squares[squares.len() - 1].index()] = first;
    }
    let one = |cell: &String| {
        if cell.is_empty() {
            "1".into()
        } else {
            cell.clone()
        }
    };
    let ranks: Vec<String> = board
        .chunks(9)
        .rev()
        .map(|rank| rank.iter().map(one).collect())
        .collect();
    let fen = format!("{} {rest}", ranks.join("/"));
    let rules = world.position(Color::Red).rules();
    World::from_fen(rules, &fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// By colour, the squares of the pieces at the start whose identity never comes to light to any of `viewers`.
fn never_seen(game: &FinishedGame<World>, viewers: &[Color]) -> [Vec<Square>; 2] {
    let mut world = game.start.clone();
    let mut unseen: [Vec<Square>; 2] = Default::default();
    for square in Square::all() {
        if let Some(piece) = world.position(Color::Red).piece_at(square)
            && piece.is_down()
        {
            unseen[piece.color as usize].push(square);
        }
    }
    for &mv in &game.moves {
        let Turn::Decision(decider) = world.turn() else {
            panic!("over too early")
        };
        let sees = |viewer: &Color| {
            world
                .position(*viewer)
                .rules()
                .sees_captured(Some(*viewer), decider)
        };
        if mv.placed().is_none() {
            unseen[decider as usize].retain(|&square| square != mv.from());
            if viewers.iter().any(sees) {
                unseen[decider.other() as usize].retain(|&square| square != mv.to());
            }
        }
        world.apply(mv, &mut rng());
    }
    unseen
}

/// What nobody ever saw changes nothing at all: not a move, not a row.
#[test]
fn a_truth_that_never_comes_to_light_changes_no_game() {
    let mut permuted = 0;
    for name in ["fanqi-4", "fanqi-6", "fanqi-8", "fanqi-10", "jieqi"] {
        let settings = SelfplayConfig {
            ply_cap: 60,
            ..quick(4)
        };
        let done = play(settings.clone(), RootKind::Gumbel, starts(form(name), 0..4));
        for (id, game) in done {
            let squares = never_seen(&game, &[Color::Red, Color::Black]);
            let other = rotated(&game.start, &squares);
            permuted += usize::from(other.fen() != game.start.fen());
            let again = play(
                settings.clone(),
                RootKind::Gumbel,
                games(id..id + 1, {
                    let other = other.clone();
                    move |_| other.clone()
                }),
            );
            let again = &again[&id];
            let truthless = |game: &FinishedGame<World>| {
                let mut rows = game.rows.clone();
                rows.truth.clear();
                rows
            };
            assert_eq!(
                (&again.moves, &again.reveals),
                (&game.moves, &game.reveals),
                "{name} {id}"
            );
            assert_eq!(truthless(again), truthless(&game), "{name} {id}");
        }
    }
    assert!(permuted > 10, "{permuted}");
}

/// The rows of `viewer` and its views in `world` are those of the game as it was, if `moves` are played.
fn check_secrecy(game: &FinishedGame<World>, mut world: World, moves: &[Move], viewer: Color) {
    let mut truth = game.start.clone();
    let mut rows = game.rows.records.iter();
    let mut played = 0;
    for (&mv, &other) in game.moves.iter().zip(moves) {
        let Turn::Decision(decider) = truth.turn() else {
            panic!("over too early")
        };
        assert_eq!(world.turn(), truth.turn());
        assert_eq!(world.view(viewer), truth.view(viewer));
        let public = truth.is_public();
        if !public || played >= game.opening_plies {
            for seer in viewers(&truth, decider) {
                let row = rows.next().expect("a row");
                if seer == viewer {
                    assert_eq!(*row, record_of(&world, viewer));
                }
            }
        }
        played += usize::from(public);
        truth.apply(mv, &mut rng());
        world
            .try_apply(other, &mut rng())
            .expect("legal in either truth");
    }
}

#[test]
fn what_a_player_never_saw_changes_none_of_its_rows() {
    let mut permuted = 0;
    let closed = Ruleset::all().iter().filter(|rules| !rules.open_to_both());
    for rules in closed {
        let settings = SelfplayConfig {
            ply_cap: 70,
            ..quick(4)
        };
        for game in play(settings, RootKind::Gumbel, starts(rules, 0..4)).values() {
            for viewer in [Color::Red, Color::Black] {
                let mut unseen = never_seen(game, &[viewer]);
                let mut moves = game.moves.clone();
                let mut world = game.start.clone();
                if rules.layout == Layout::Arranged {
                    // The opponent arranges those pieces in another way.
                    let squares = std::mem::take(&mut unseen[viewer.other() as usize]);
                    rotate_placements(&mut moves, &squares);
                } else {
                    world = rotated(&world, &unseen);
                }
                permuted += usize::from(moves != game.moves || world.fen() != game.start.fen());
                check_secrecy(game, world, &moves, viewer);
            }
        }
    }
    assert!(permuted > 20, "{permuted}");
}

/// Places on each of `squares` what was placed on the next of them.
fn rotate_placements(moves: &mut [Move], squares: &[Square]) {
    let place = |mv: &Move| mv.placed().filter(|_| squares.contains(&mv.from()));
    let mut kinds: Vec<Kind> = moves.iter().filter_map(place).collect();
    if !kinds.is_empty() {
        kinds.rotate_left(1);
    }
    let mut kinds = kinds.into_iter();
    for mv in moves.iter_mut().filter(|mv| place(mv).is_some()) {
        *mv = Move::place(kinds.next().expect("as many"), mv.from());
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
    let mut worker = Worker::new(quick(4), &search, starts(form(name), 0..4), port);
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
