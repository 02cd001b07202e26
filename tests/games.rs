//! Games as text: what is written is what is read, and the rest is a clear error.
use std::fs;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use selfplay::game::{Color, Ending, Outcome, Reason};
use train::games::{self, GameText};

fn game(id: u64, plies: usize) -> GameText {
    GameText {
        id,
        run: "5f3a90c1d2e4b678".into(),
        seed: id.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        form: "xiangqi".into(),
        start: "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1".into(),
        moves: vec!["h2e2".to_string(); plies],
        ending: Ending {
            outcome: Outcome::Win(Color::Red),
            reason: Reason::Checkmate,
        },
        net_step_first: 10,
        net_step_last: 20,
        would_resign: None,
    }
}

fn any_game() -> impl Strategy<Value = GameText> {
    let color = prop_oneof![Just(Color::Red), Just(Color::Black)];
    let outcome = prop_oneof![color.clone().prop_map(Outcome::Win), Just(Outcome::Draw)];
    let reason = prop_oneof![
        Just(Reason::Checkmate),
        Just(Reason::Stalemate),
        Just(Reason::NaturalLimit),
        Just(Reason::DeadPosition),
        Just(Reason::Repetition),
        Just(Reason::PerpetualCheck),
        Just(Reason::PerpetualChase),
        Just(Reason::PerpetualAttack),
        Just(Reason::Resignation),
        Just(Reason::PlyCap),
        Just(Reason::GameRule),
    ];
    let moves = prop::collection::vec("[a-i][0-9][a-i][0-9](=[RNBACP])?", 0..200);
    let resign = prop::option::of((color, any::<u16>()));
    (
        any::<[u64; 4]>(),
        "[ -!#-~]{0,60}",
        "[0-9a-f]{16}",
        moves,
        outcome,
        reason,
        resign,
    )
        .prop_map(
            |(
                [id, seed, net_step_first, net_step_last],
                start,
                run,
                moves,
                outcome,
                reason,
                would_resign,
            )| GameText {
                id,
                run,
                seed,
                form: "jieqi".into(),
                start,
                moves,
                ending: Ending { outcome, reason },
                net_step_first,
                net_step_last,
                would_resign,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(64) })]
    #[test]
    fn games_come_back_as_they_were_written(all in prop::collection::vec(any_game(), 0..5)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.txt");
        games::write(&path, &all).unwrap();
        let run = games::read_run(&path).ok();
        prop_assert_eq!(run.as_ref(), all.first().map(|game| &game.run));
        prop_assert_eq!(games::read(&path).unwrap(), all);
    }
}

#[test]
fn games_that_would_not_come_back_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.txt");
    let check = |change: fn(&mut GameText)| {
        let mut g = game(4, 3);
        change(&mut g);
        let error = games::write(&path, &[g]).unwrap_err().to_string();
        assert!(error.contains("game 4 ") && !path.exists(), "{error}");
    };
    check(|g| g.moves[1] = "h2 e2".into());
    check(|g| g.moves[1] = String::new());
    check(|g| g.moves[1] = "1:".into());
    check(|g| g.start = "a\"b".into());
    check(|g| g.start = "a\nb".into());
    check(|g| g.run = "a\"b".into());
}

#[test]
fn games_with_errors_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.txt");
    games::write(&path, &[game(1, 12), game(2, 3)]).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let check = |from: &str, to: &str, expected: &str| {
        assert!(good.contains(from));
        let error = games::parse(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(
        "[Plies \"12\"]",
        "[Plies \"13\"]",
        "game 1: 12 moves, but Plies says 13",
    );
    check(
        "[Result \"red\"]",
        "[Result \"1-0\"]",
        "game 1: the tag Result",
    );
    let run = "[Run \"5f3a90c1d2e4b678\"]\n";
    check(run, "", "game 1: the tag Run");
    fs::write(&path, good.replace(run, "")).unwrap();
    let error = games::read_run(&path).unwrap_err().to_string();
    assert!(
        error.contains("games.txt: games without the tag Run"),
        "{error}"
    );
    check("[Reason \"checkmate\"]\n", "", "game 1: the tag Reason");
    check("[Id \"2\"]", "[Id 2]", "not a tag");
    check("[Id \"1\"]\n", "", "a game without Id");
}
