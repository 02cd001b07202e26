//! Kept games: what is written is read, and however much of a file is there, whole games are.
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use selfplay::opponent::Builtin;
use selfplay::rules::{Ruleset, World};
use train::arena::{Fault, FaultKind, GameEnd, MatchConfig, PlayedGame, Player, Watch, play_match};
use train::records::games::Games;
use train::tournament::{KeptGame, pgn};

const NAMES: [&str; 2] = ["a run, 64 visits", "翻棋 \\ 2"];

/// Games of a form, some of them lost by a fault.
fn games(rules: &'static Ruleset, seed: u64) -> Vec<PlayedGame> {
    let start = |rng: &mut _| World::start(rules, rng);
    let watch = Watch {
        stop: &AtomicBool::new(false),
        finished: &|_| ControlFlow::Continue(()),
    };
    let config = MatchConfig {
        pairs: 3,
        opening_plies: 3,
        ply_cap: 40,
        threads: 1,
        games_per_thread: 1,
    };
    let players = [Builtin::Random, Builtin::Random].map(Player::Builtin);
    let players = [&players[0], &players[1]];
    let mut games = play_match(&start, players, &config, seed, &watch)
        .expect("a match")
        .games;
    for (game, kind) in games.iter_mut().zip(FaultKind::ALL) {
        game.ending = GameEnd::Failed {
            loser: game.first,
            fault: Fault {
                kind,
                detail: "answered 'a\"b\\', which is no move".to_owned(),
            },
        };
    }
    games
}

fn texts(rules: &'static Ruleset, games: &[PlayedGame]) -> Vec<String> {
    let text = |game| pgn::text(rules, NAMES, game).expect("a text");
    games.iter().map(text).collect()
}

/// The games in a file.
fn read(path: &Path, rules: &'static Ruleset) -> Vec<KeptGame> {
    let mut file = Games::open(path).expect("a file");
    std::iter::from_fn(|| file.next_game().expect("a game"))
        .map(|record| pgn::read(&record, rules, &NAMES).expect("a kept game"))
        .collect()
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.pgn");
    for rules in Ruleset::all() {
        let games = games(rules, 5);
        std::fs::write(&path, texts(rules, &games).concat()).expect("written");
        let kept: Vec<_> = (games.into_iter())
            .map(|game| KeptGame {
                players: [0, 1],
                game,
            })
            .collect();
        assert_eq!(read(&path, rules), kept, "{}", rules.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn of_a_part_of_a_file_the_whole_games_are_found(seed: u64, share in 0.0f64..1.0) {
        let rules = Ruleset::by_name("jieqi").expect("a form");
        let texts = texts(rules, &games(rules, seed));
        let all = texts.concat();
        let cut = (share * all.len() as f64) as usize;
        let mut whole = 0;
        for text in &texts {
            if whole + text.len() > cut {
                break;
            }
            whole += text.len();
        }
        prop_assert_eq!(pgn::whole(&all.as_bytes()[..cut]), whole);
        prop_assert_eq!(pgn::whole(all.as_bytes()), all.len());
    }
}
