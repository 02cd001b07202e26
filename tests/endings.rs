//! How games end (RULES.md §1, §5): each case a position, the moves played, and the ending that the
//! last of them brings about.
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Outcome, Reason, Referee, Turn};
use selfplay::rules::{CheckDiscount, Position, RepetitionRule, Ruleset, World};

const RED: Outcome = Outcome::Win(Color::Red);
const BLACK: Outcome = Outcome::Win(Color::Black);

fn xiangqi() -> &'static Ruleset {
    Ruleset::by_name("xiangqi").unwrap()
}

/// The first ending on the way, and after how many moves it stood.
fn first_ending(rules: &'static Ruleset, fen: &str, moves: &str) -> Option<(usize, Ending)> {
    let mut world = World::from_position(Position::from_fen(rules, fen).unwrap());
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    let mut moves = moves.split_whitespace();
    for played in 0.. {
        if let Turn::Over(ending) = world.turn() {
            return Some((played, ending));
        }
        let mv = moves.next()?.parse().unwrap();
        world.try_apply(mv, &mut rng).unwrap();
    }
    None
}

/// The last move, and no earlier one, ends the game as told.
fn check_under(rules: &'static Ruleset, fen: &str, moves: &str, outcome: Outcome, reason: Reason) {
    let expected = (moves.split_whitespace().count(), Ending { outcome, reason });
    assert_eq!(
        first_ending(rules, fen, moves),
        Some(expected),
        "{fen} {moves}"
    );
}

fn check(fen: &str, moves: &str, outcome: Outcome, reason: Reason) {
    check_under(xiangqi(), fen, moves, outcome, reason);
}

fn check_goes_on(rules: &'static Ruleset, fen: &str, moves: &str) {
    assert_eq!(first_ending(rules, fen, moves), None, "{fen} {moves}");
}

#[test]
fn mate_and_stalemate_lose() {
    check(
        "3k5/R8/1R7/9/9/9/9/9/9/4K4 w",
        "b7b9",
        RED,
        Reason::Checkmate,
    );
    check(
        "4k4/9/9/9/9/9/9/1r7/r8/3K5 b",
        "b2b0",
        BLACK,
        Reason::Checkmate,
    );
    // Facing kings guard the e-file.
    check("3k5/9/9/8R/9/9/9/9/9/4K4 w", "i6i8", RED, Reason::Stalemate);
    check(
        "4k4/9/9/9/9/9/8r/9/9/3K5 b",
        "i3i1",
        BLACK,
        Reason::Stalemate,
    );
}

#[test]
fn natural_limit() {
    let quiet = |count| format!("3k5/9/9/p8/9/9/P8/9/4R4/4K4 w - - {count} 90");
    check(&quiet(119), "e1f1", Outcome::Draw, Reason::NaturalLimit);
    check(
        &quiet(117),
        "e1f1 d9d8 f1e1",
        Outcome::Draw,
        Reason::NaturalLimit,
    );
    check(&quiet(120), "", Outcome::Draw, Reason::NaturalLimit);
    check_goes_on(xiangqi(), &quiet(118), "e1f1");
    // A capture starts the count anew.
    check_goes_on(
        xiangqi(),
        "3k5/9/9/p8/9/R8/9/9/9/4K4 w - - 119 90",
        "a4a6 d9d8 a6b6",
    );
    // Mate on the last ply counts.
    check(
        "3k5/R8/1R7/9/9/9/9/9/9/4K4 w - - 119 90",
        "b7b9",
        RED,
        Reason::Checkmate,
    );
    static UNLIMITED: Ruleset = Ruleset {
        no_capture_plies: 0,
        ..XIANGQI
    };
    check_goes_on(&UNLIMITED, &quiet(500), "e1f1");
}

/// What the configurable forms below vary.
const XIANGQI: Ruleset = Ruleset {
    name: "variation",
    ..Ruleset::XIANGQI
};

#[test]
fn discounted_checks_and_their_answers_do_not_count() {
    static TWO_FREE: Ruleset = Ruleset {
        check_discount: CheckDiscount::Beyond(2),
        repetition: RepetitionRule::Draw,
        ..XIANGQI
    };
    let counts = |rules: &'static Ruleset, moves: &str| {
        let mut position = Position::from_fen(rules, "4k4/9/9/9/9/9/9/9/R8/3K5 w - - 7 9").unwrap();
        moves
            .split(' ')
            .for_each(|mv| position.try_play(mv.parse().unwrap()).unwrap());
        position.no_capture()
    };
    let checks = "a1e1 e9f9 e1f1 f9e9 f1e1 e9f9 e1a1 f9f8";
    assert_eq!(counts(xiangqi(), checks), 15);
    // The third check and its answer are free, and the quiet move after them is not.
    assert_eq!(counts(&TWO_FREE, checks), 13);
}

#[test]
fn dead_positions() {
    check(
        "3k5/9/9/9/9/9/9/9/4r4/4K4 w",
        "e0e1",
        Outcome::Draw,
        Reason::DeadPosition,
    );
    check(
        "2bakab2/9/9/9/9/9/9/4B4/4A4/2BAK4 b",
        "",
        Outcome::Draw,
        Reason::DeadPosition,
    );
    // What can still cross the river is enough to go on.
    check_goes_on(xiangqi(), "3k5/9/9/9/9/9/9/9/9/C3K4 w", "");
    check_goes_on(xiangqi(), "3k5/9/9/9/9/9/P8/9/9/4K4 w", "");
    check_goes_on(xiangqi(), "3k5/9/9/9/9/9/9/9/p8/4K4 w", "");
}

#[test]
fn perpetual_check_loses() {
    let rook = "4k4/9/9/9/9/9/9/9/R8/3K5 w";
    let checks = "a1e1 e9f9 e1f1 f9e9 f1e1 e9f9 e1f1 f9e9 f1e1";
    check(rook, checks, BLACK, Reason::PerpetualCheck);
    let other = "3k5/r8/9/9/9/9/9/9/9/4K4 b";
    check(
        other,
        "a8e8 e0f0 e8f8 f0e0 f8e8 e0f0 e8f8 f0e0 f8e8",
        RED,
        Reason::PerpetualCheck,
    );
    static DRAWN: Ruleset = Ruleset {
        repetition: RepetitionRule::Draw,
        ..XIANGQI
    };
    check_under(&DRAWN, rook, checks, Outcome::Draw, Reason::Repetition);
}

#[test]
fn other_repetition_draws() {
    let rooks = "r3k4/9/9/9/9/9/9/9/9/R2K5 w";
    check(
        rooks,
        "a0b0 a9b9 b0a0 b9a9 a0b0 a9b9 b0a0 b9a9",
        Outcome::Draw,
        Reason::Repetition,
    );
    // A quiet move in each round of checks, or in the first round only.
    let checked = "4k4/9/9/9/9/9/9/9/4R4/3K5 b";
    let quiet_round = "e9f9 e1a1 f9e9 a1e1";
    let two_rounds = format!("{quiet_round} {quiet_round}");
    check(checked, &two_rounds, Outcome::Draw, Reason::Repetition);
    let then_checks = format!("{quiet_round} e9f9 e1f1 f9e9 f1e1");
    check(checked, &then_checks, Outcome::Draw, Reason::Repetition);
    // Both sides check with every move.
    let mutual = "3k5/9/9/8c/9/6P1P/9/6C2/9/5K3 w";
    let round = "g2i2 i6g6 i2g2 g6i6";
    check(
        mutual,
        &format!("{round} {round}"),
        Outcome::Draw,
        Reason::Repetition,
    );
}

#[test]
fn a_capture_ends_what_can_repeat() {
    // The rook's round before the capture does not count.
    let fen = "r3k4/9/9/9/9/9/9/9/p8/R2K5 w";
    let before = "a0b0 e9e8 b0a0 e8e9 a0a1";
    check_goes_on(
        xiangqi(),
        fen,
        &format!("{before} e9e8 a1a2 e8e9 a2a1 e9e8 a1a2 e8e9"),
    );
}
