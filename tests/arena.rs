//! The arena: results follow from the seed alone, colours are exchanged evenly, openings are sound.
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, EvalError, Evaluator, HashEvaluator};
use selfplay::game::{Color, Game, Outcome, Referee, Turn, Wdl};
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::opponent::Builtin;
use selfplay::rules::{Position, Ruleset, World};
use train::arena::{
    ArenaError, Arrangement, GameEnd, MatchConfig, MatchResult, PlayedGame, Player, Searched,
    Watch, play_match,
};
use train::rating::Rating;
use train::strength::{StrengthRow, StrengthTable};

fn start(rng: &mut Pcg64Mcg) -> World {
    World::start(
        Ruleset::by_name("xiangqi").expect("Xiangqi is built in"),
        rng,
    )
}

fn config(pairs: u32) -> MatchConfig {
    MatchConfig {
        pairs,
        opening_plies: 4,
        ply_cap: 0,
        threads: 2,
        games_per_thread: 8,
    }
}

fn search_config(root: RootKind) -> SearchConfig {
    SearchConfig {
        root,
        considered: 8,
        c_visit: 50.0,
        c_scale: 1.0,
        c_puct: 1.25,
        c_puct_base: 19652.0,
        fpu_reduction: 0.25,
        dirichlet_total: 10.0,
        dirichlet_share: 0.25,
        draw_score: 0.0,
        belief: true,
        secret_anchor: 1.0,
    }
}

fn searched<E: Evaluator + Clone + Sync + 'static>(
    evaluator: E,
    visits: u32,
    temperature: f32,
) -> Player {
    Player::Searched(Searched {
        arrangement: Arrangement::Searched { temperature: 0.0 },
        evaluators: Arc::new(move || Ok(Box::new(evaluator.clone()) as Box<dyn Evaluator>)),
        search: search_config(RootKind::Gumbel),
        visits,
        temperature,
    })
}

fn hashed(seed: u64) -> HashEvaluator {
    HashEvaluator {
        seed,
        ..HashEvaluator::default()
    }
}

fn play(first: &Player, second: &Player, config: &MatchConfig, seed: u64) -> MatchResult {
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished: &|_| ControlFlow::Continue(()),
    };
    play_match(&start, [first, second], config, seed, &watch).expect("a match")
}

#[test]
fn a_result_follows_from_the_seed_alone() {
    let first = searched(hashed(1), 8, 1.0);
    for second in [
        Player::Builtin(Builtin::Greedy),
        searched(hashed(2), 4, 0.5),
    ] {
        let layout = |threads, games_per_thread| MatchConfig {
            threads,
            games_per_thread,
            ..config(4)
        };
        let expected = play(&first, &second, &layout(1, 1), 3);
        assert_eq!(expected.games.len(), 8);
        for (threads, games_per_thread) in [(1, 3), (1, 64), (2, 2), (3, 1)] {
            assert_eq!(
                play(&first, &second, &layout(threads, games_per_thread), 3),
                expected
            );
        }
        assert_ne!(
            play(&first, &second, &layout(2, 4), 4).games,
            expected.games
        );
    }
}

#[test]
fn a_player_that_always_answers_alike_halves_every_pair_with_itself() {
    let player = searched(hashed(5), 6, 0.0);
    let result = play(&player, &player, &config(6), 1);
    assert_eq!(result.pairs, [0, 0, 6, 0, 0]);
    for pair in result.games.chunks(2) {
        assert_eq!(pair[0].moves, pair[1].moves);
        assert_eq!((pair[0].first, pair[1].first), (Color::Red, Color::Black));
    }
}

/// What Red places first: so early that no search meets chance.
fn placements(game: &PlayedGame) -> Vec<&str> {
    game.moves.split(' ').take(10).collect()
}

#[test]
fn a_secret_arrangement_is_drawn_anew_unless_its_temperature_is_0() {
    let rules = Ruleset::by_name("fanqi-9").expect("a form");
    let start = |rng: &mut _| World::start(rules, rng);
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished: &|_| ControlFlow::Continue(()),
    };
    for (arrangement, constant) in [
        (Arrangement::Searched { temperature: 0.0 }, true),
        (Arrangement::Searched { temperature: 1.0 }, false),
        (Arrangement::Random, false),
    ] {
        let mut player = searched(hashed(5), 4, 0.0);
        if let Player::Searched(searched) = &mut player {
            searched.arrangement = arrangement;
        }
        let config = MatchConfig {
            ply_cap: 6,
            ..config(3)
        };
        let result = play_match(&start, [&player, &player], &config, 1, &watch).expect("a match");
        let all: HashSet<_> = result.games.iter().map(placements).collect();
        assert!(all.iter().flatten().all(|mv| mv.contains('@')));
        assert_eq!(all.len() == 1, constant, "{arrangement:?}");
    }
}

/// The moves of a game's opening.
fn opening(game: &PlayedGame) -> Vec<&str> {
    game.moves
        .split(' ')
        .take(game.opening_plies.into())
        .collect()
}

#[test]
fn colours_are_exchanged_and_openings_shared() {
    let players = [
        Player::Builtin(Builtin::Greedy),
        Player::Builtin(Builtin::Random),
    ];
    let result = play(&players[0], &players[1], &config(20), 9);
    let mut openings = HashSet::new();
    for (index, pair) in result.games.chunks(2).enumerate() {
        assert_eq!((pair[0].first, pair[1].first), (Color::Red, Color::Black));
        assert!(
            pair.iter()
                .all(|game| game.pair == index as u32 && game.opening_plies == 4)
        );
        assert_eq!(opening(&pair[0]), opening(&pair[1]));
        openings.insert(opening(&pair[0]));
    }
    assert_eq!(openings.len(), 20);

    let others = play(&players[1], &players[1], &config(20), 9);
    let mut shared = others.games.iter().zip(&result.games);
    assert!(
        shared.all(|(a, b)| opening(a) == opening(b)),
        "openings depend on the players"
    );
}

#[test]
fn openings_are_playable() {
    let random = Player::Builtin(Builtin::Random);
    for opening_plies in [0, 1, 2, 9, 40, 100] {
        let result = play(
            &random,
            &random,
            &MatchConfig {
                opening_plies,
                ..config(30)
            },
            2,
        );
        for game in result.games.iter().step_by(2) {
            assert_eq!(game.opening_plies, opening_plies);
            let mut rng = Pcg64Mcg::seed_from_u64(0);
            let mut world = start(&mut rng);
            for mv in opening(game) {
                world
                    .try_apply(mv.parse().expect(mv), &mut rng)
                    .expect("a legal move");
            }
            let Turn::Decision(side) = world.turn() else {
                panic!("over: {game:?}")
            };
            let mut legal = Vec::new();
            world.view(side).legal_moves(&mut legal);
            for mv in legal {
                let mut next = world.clone();
                next.apply(mv, &mut rng);
                let won = matches!(next.turn(), Turn::Over(e) if e.outcome == Outcome::Win(side));
                assert!(!won, "{mv} wins at once: {game:?}");
            }
        }
    }
}

/// A config allows as many games as there are openings, twice as many as a match draws.
#[test]
fn no_opening_repeats_in_the_longest_match_that_a_config_allows() {
    let random = Player::Builtin(Builtin::Random);
    let board = selfplay::rules::Position::start(selfplay::rules::Ruleset::all()[0]);
    for opening_plies in [1, 2] {
        let longest = MatchConfig {
            opening_plies,
            ply_cap: opening_plies + 1,
            ..config(board.perft(opening_plies.into()) as u32 / 2)
        };
        let result = play(&random, &random, &longest, 6);
        let openings: HashSet<_> = result.games.iter().map(opening).collect();
        assert_eq!(openings.len() as u32, longest.pairs);
    }
}

#[test]
fn games_are_legal_and_counted_as_they_ended() {
    let (first, second) = (
        searched(hashed(3), 4, 1.0),
        Player::Builtin(Builtin::Greedy),
    );
    let result = play(&first, &second, &config(5), 8);
    for game in &result.games {
        let mut rng = Pcg64Mcg::seed_from_u64(0);
        let mut world = start(&mut rng);
        for mv in game.moves.split(' ') {
            world
                .try_apply(mv.parse().expect(mv), &mut rng)
                .expect("a legal move");
        }
        let Turn::Over(ending) = world.turn() else {
            panic!("not over: {game:?}");
        };
        assert_eq!(game.ending, GameEnd::Ruled(ending));
        assert_eq!(game.moves.split(' ').count(), game.plies as usize);
    }
    assert_eq!(result.wins + result.draws + result.losses, 10);
    assert_eq!(result.reasons.values().sum::<u32>(), 10);
    let from_pairs: u32 = (0..)
        .zip(result.pairs)
        .map(|(halves, count)| halves * count)
        .sum();
    assert_eq!(from_pairs, 2 * result.wins + result.draws);

    let swapped = play(&second, &first, &config(5), 8);
    assert_eq!(swapped.games.len(), 10);
}

#[test]
fn a_ply_cap_is_its_own_reason() {
    let random = Player::Builtin(Builtin::Random);
    let result = play(
        &random,
        &random,
        &MatchConfig {
            ply_cap: 10,
            ..config(5)
        },
        1,
    );
    let capped: Vec<_> = result
        .games
        .iter()
        .filter(|game| game.ending.reason() == "ply_cap")
        .collect();
    assert!(capped.len() > 5);
    assert!(
        capped
            .iter()
            .all(|game| game.plies == 10 && game.ending.outcome() == Outcome::Draw)
    );
}

/// Judges by the material in the record, knows no moves.
#[derive(Clone)]
struct MaterialEvaluator;

impl Evaluator for MaterialEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        // K A B N R C P, as in the record.
        const VALUES: [f32; 7] = [0.0, 2.0, 2.0, 4.0, 9.0, 4.5, 1.0];
        for row in 0..batch.len() {
            let moves = batch.legal_range(row).len();
            batch
                .log_priors
                .extend(std::iter::repeat_n(-(moves as f32).ln(), moves));
            let balance: f32 = batch.records[row][..90]
                .iter()
                .map(|&code| match code {
                    0 => 0.0,
                    1..=7 => VALUES[code as usize - 1],
                    _ => -VALUES[code as usize - 9],
                })
                .sum();
            let win = 1.0 / (1.0 + (-0.4 * balance).exp());
            batch.wdl.push(Wdl {
                win,
                draw: 0.0,
                loss: 1.0 - win,
            });
            batch.moves_left.push(50.0);
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}

#[test]
fn known_strength_is_measured() {
    let counting = searched(MaterialEvaluator, 64, 0.0);
    let [random, greedy] = [Builtin::Random, Builtin::Greedy].map(Player::Builtin);
    let mut table = StrengthTable::default();
    for (name, first, second, pairs) in [
        ("greedy - random", &greedy, &random, 15),
        ("counting - random", &counting, &random, 6),
    ] {
        let row = StrengthRow::new("tictactoe", name, &play(first, second, &config(pairs), 4));
        assert!(row.is_stronger(), "{row:?}");
        table.rows.push(row);
    }
    // A player is as strong as itself.
    let row = StrengthRow::new(
        "tictactoe",
        "random - random",
        &play(&random, &random, &config(30), 4),
    );
    assert!(
        !row.is_stronger() && row.rating.score_interval.upper > 0.5,
        "{row:?}"
    );
    table.rows.push(row);
    eprintln!("{table}");
}

#[derive(Clone)]
struct Broken;

impl Evaluator for Broken {
    fn evaluate(&mut self, _: &mut Batch) -> Result<(), EvalError> {
        Err(EvalError::Failed("no such thing".to_owned()))
    }

    fn step(&self) -> u64 {
        0
    }
}

#[test]
fn a_failing_evaluator_fails_the_match() {
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished: &|_| ControlFlow::Continue(()),
    };
    let players = [&Player::Builtin(Builtin::Greedy), &searched(Broken, 4, 0.0)];
    let error = play_match(&start, players, &config(2), 0, &watch).expect_err("no evaluation");
    assert!(
        matches!(
            error,
            ArenaError::Eval {
                player: "second",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_start_without_playable_openings_is_an_error() {
    // Red mates at once, whatever Black did before.
    let mated = |_: &mut Pcg64Mcg| {
        let rules = Ruleset::by_name("xiangqi").expect("Xiangqi is built in");
        let fen = "3k5/R8/9/9/9/9/9/9/8R/4K4 w - - 0 1";
        World::from_position(Position::from_fen(rules, fen).expect(fen))
    };
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished: &|_| ControlFlow::Continue(()),
    };
    let random = Player::Builtin(Builtin::Random);
    let config = MatchConfig {
        opening_plies: 0,
        ..config(1)
    };
    let error = play_match(&mated, [&random, &random], &config, 0, &watch).expect_err("no opening");
    assert!(
        matches!(error, ArenaError::NoOpening { plies: 0 }),
        "{error}"
    );
}

/// A match that ends after its seventh game, by either way of ending one.
fn check_stop(by_flag: bool) {
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let finished = |_: &PlayedGame| match count.fetch_add(1, Ordering::Relaxed) + 1 {
        7 if by_flag => {
            stop.store(true, Ordering::Relaxed);
            ControlFlow::Continue(())
        }
        7 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let watch = Watch {
        stop: &stop,
        finished: &finished,
    };
    let players = [
        &Player::Builtin(Builtin::Greedy),
        &Player::Builtin(Builtin::Random),
    ];
    let config = MatchConfig {
        threads: 1,
        games_per_thread: 1,
        ..config(50)
    };
    let result = play_match(&start, players, &config, 0, &watch).expect("a match");
    assert_eq!((count.load(Ordering::Relaxed), result.games.len()), (7, 6));
}

#[test]
fn a_stopped_match_counts_whole_pairs() {
    check_stop(true);
    check_stop(false);
}

#[test]
fn the_table_is_aligned() {
    let row = |opponent: &str, wins, draws, losses, pairs| StrengthRow {
        form: "xiangqi".to_owned(),
        opponent: opponent.to_owned(),
        wins,
        draws,
        losses,
        mean_plies: 80.0,
        rating: Rating::of(&pairs),
    };
    let table = StrengthTable {
        rows: vec![
            row("random", 100, 0, 0, [0, 0, 0, 0, 50]),
            row("alphabeta:2", 40, 49, 11, [1, 4, 20, 15, 10]),
        ],
    };
    let expected = "\
form     opponent     games    W   D   L  score %         95 %     Elo        95 %
xiangqi  random         100  100   0   0    100.0  94.2..100.0  > +484  +484..+inf
xiangqi  alphabeta:2    100   40  49  11     64.5   57.3..71.1    +104   +51..+157
";
    assert_eq!(table.to_string(), expected);
    let json = serde_json::to_string(&table.rows[0]).expect("a row");
    assert!(
        json.contains(r#""elo":null,"elo_interval":{"lower":484"#),
        "{json}"
    );
}
