//! The rules of the hidden forms by example; each case cites its paragraph of RULES.md.
#[path = "support/hidden_games.rs"]
mod hidden_games;

use std::collections::BTreeSet;

use hidden_games::{COLORS, form, seen_by, varied};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Outcome, Reason, Referee, Turn};
use selfplay::rules::{Kind, Move, Position, Reveal, Ruleset, SeenBy, Square, World};

fn mv(text: &str) -> Move {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn position(rules: &'static Ruleset, fen: &str) -> Position {
    Position::from_fen(rules, fen).unwrap_or_else(|e| panic!("{fen}: {e}"))
}

fn legal(position: &Position) -> BTreeSet<String> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves.iter().map(Move::to_string).collect()
}

/// The moves from `squares` (all, if empty) in `fen`.
fn check_moves(rules: &'static Ruleset, fen: &str, squares: &str, moves: &str) {
    let from = |text: &&String| squares.is_empty() || squares.contains(&text[..2]);
    let got = legal(&position(rules, fen));
    let got: Vec<&String> = got.iter().filter(from).collect();
    let expected: BTreeSet<&str> = moves.split_whitespace().collect();
    assert_eq!(got, Vec::from_iter(expected), "{} {fen}", rules.name);
}

/// The position after a move without chance.
fn check_after(rules: &'static Ruleset, fen: &str, moved: &str, after: &str) {
    let mut position = position(rules, fen);
    position
        .try_play(mv(moved))
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(position.fen(), after, "{moved}");
}

/// The world after some moves, `R@a0`s among them.
fn played(rules: &'static Ruleset, fen: &str, moves: &str) -> World {
    let mut world = World::from_fen(rules, fen).unwrap_or_else(|e| panic!("{fen}: {e}"));
    play(&mut world, moves);
    world
}

fn play(world: &mut World, moves: &str) {
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    for text in moves.split_whitespace() {
        world
            .try_apply(mv(text), &mut rng)
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Both players see the same ending, or none.
fn check_ending(world: &World, ending: Option<(Outcome, Reason)>) {
    use selfplay::game::Game;
    let expected = ending.map(|(outcome, reason)| Turn::Over(Ending { outcome, reason }));
    let expected = expected.unwrap_or(Turn::Decision(world.position(Color::Red).turn()));
    assert_eq!(world.turn(), expected, "{}", world.fen());
    for viewer in COLORS {
        let turn = world.view(viewer).turn(world.history(viewer));
        assert_eq!(turn, expected, "{viewer:?} of {}", world.fen());
    }
}

fn square(name: &str) -> Square {
    mv(&format!("P@{name}")).from()
}

/// §2: a fake piece moves by the square it lies on, in the usual range of that kind.
#[test]
fn fakes_move_by_their_squares() {
    let start = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w";
    check_moves(
        form("jieqi"),
        start,
        "c0 d0 b0 a0",
        "c0a2 c0e2 d0e1 b0a2 b0c2 a0a1 a0a2",
    );
    // Known fakes play by their squares as well: a chariot on an advisor's.
    let known = "4k4/9/9/9/9/9/9/9/9/3R~1K3 w - 0 1";
    check_moves(form("fanqi-10"), known, "d0", "d0e1");
    let roaming = varied("fanqi-10", |rules| rules.fake_roams = true);
    check_moves(roaming, known, "d0", "d0c1 d0e1");
    // A pawn on a cannon's square jumps to capture.
    let cannon = "4k4/9/9/9/1r7/9/1p7/1P~7/9/3K5 w - 0 1";
    check_moves(
        form("fanqi-4"),
        cannon,
        "b2",
        "b2a2 b2b0 b2b1 b2b5 b2c2 b2d2 b2e2 b2f2 b2g2 b2h2 b2i2",
    );
    // Every move turns it up (每走必翻).
    check_after(
        form("fanqi-10"),
        known,
        "d0e1",
        "4k4/9/9/9/9/9/9/9/4R4/5K3 b - 1 1",
    );
}

/// §2, roaming: where B or A takes part, a face-up one leaves its range; blocking still applies.
#[test]
fn roaming() {
    let bishop = "3k5/9/9/9/9/2B6/9/9/9/4K4 w";
    check_moves(form("fanqi-4"), bishop, "c4", "c4a2 c4e2");
    check_moves(form("fanqi-7"), bishop, "c4", "c4a2 c4e2");
    check_moves(form("fanqi-5"), bishop, "c4", "c4a2 c4a6 c4e2 c4e6");
    check_moves(
        form("jieqi"),
        "3k5/9/9/9/3p5/2B6/9/9/9/4K4 w",
        "c4",
        "c4a2 c4a6 c4e2",
    );
    let advisor = "3k5/9/9/9/9/9/9/5A3/9/4K4 w";
    check_moves(form("fanqi-6"), advisor, "f2", "f2e1");
    check_moves(
        form("fanqi-7"),
        advisor,
        "f2",
        "f2e1 f2e3 f2e3~ f2g1 f2g3 f2g3~",
    );
    check_moves(
        form("jieqi"),
        "4k4/4A4/9/9/9/9/9/9/9/3K5 w",
        "e8",
        "e8d7 e8d9 e8f7 e8f9",
    );
}

/// §2, roaming and check: roaming advisors and bishops attack kings, and can be taken, or blocked.
#[test]
fn roamers_give_check() {
    let advisor = "4k4/3A5/9/3r5/9/9/9/9/9/5K3 b";
    assert!(position(form("fanqi-10"), advisor).in_check());
    check_moves(form("fanqi-10"), advisor, "", "d6d8 e9d9 e9e8");
    let bishop = "4k4/8r/2B6/9/9/9/2r6/9/9/5K3 b";
    assert!(position(form("fanqi-10"), bishop).in_check());
    check_moves(form("fanqi-10"), bishop, "", "c3c7 e9d9 e9e8 i8d8");
    // One that does not roam gives none: fanqi-7's bishop cannot even be there.
    assert!(Position::from_fen(form("fanqi-7"), bishop).is_err());
    // Nor does a king step into a roamer's reach.
    check_moves(
        form("jieqi"),
        "4k4/9/3A5/9/9/9/9/9/9/3K5 b",
        "",
        "e9d9 e9f9",
    );
}

/// §2, check: a piece on the point that a bishop crosses is pinned, unless it takes the bishop.
#[test]
fn pins_by_roaming_bishops() {
    let knight = "4k4/3n5/2B6/9/9/9/9/9/9/5K3 b";
    check_moves(form("fanqi-10"), knight, "", "e9d9 e9e8");
    let advisor = "4k4/3a5/2B6/9/9/9/9/9/9/5K3 b";
    check_moves(form("fanqi-10"), advisor, "d8", "d8c7");
    // The bishop's own side uncovers the check.
    let own = "4k4/3N5/2B6/9/9/9/9/9/9/5K3 w - 0 1";
    check_after(
        form("fanqi-10"),
        own,
        "d8b7",
        "4k4/9/1NB6/9/9/9/9/9/9/5K3 b - 1 1",
    );
    assert!(position(form("fanqi-10"), "4k4/9/1NB6/9/9/9/9/9/9/5K3 b").in_check());
}

/// §2, turning down again: by moving or capturing, on any of the own 15 home squares but the king's.
#[test]
fn laying_down() {
    let rook = "4k4/9/9/9/9/r8/9/R8/9/3K5 w - - 7 5";
    let moves =
        "a2a0 a2a0~ a2a1 a2a3 a2a3~ a2a4 a2b2 a2b2~ a2c2 a2d2 a2e2 a2f2 a2g2 a2h2 a2h2~ a2i2";
    check_moves(form("fanqi-1"), rook, "a2", moves);
    check_after(
        form("fanqi-1"),
        rook,
        "a2a3~",
        "4k4/9/9/9/9/r8/R~8/9/9/3K5 b - - 8 5",
    );
    // With a capture.
    let capture = "4k4/9/9/9/9/9/r8/R8/9/3K5 w - - 7 5";
    check_after(
        form("fanqi-1"),
        capture,
        "a2a3~",
        "4k4/9/9/9/9/9/R~8/9/9/3K5 b - - 0 5",
    );
    // On squares of kinds that take no part: an advisor's.
    check_moves(
        form("fanqi-4"),
        "4k4/9/9/9/9/9/9/9/2CK5/9 w",
        "c1",
        "c1a1 c1b1 c1c0 c1c0~ c1c2 c1c3 c1c3~ c1c4 c1c5 c1c6 c1c7 c1c8 c1c9",
    );
    // Not on the king's square, though that is empty, nor on the opponent's home squares.
    check_moves(
        form("fanqi-4"),
        "3k5/9/9/8p/7R1/9/9/9/9/5K3 w",
        "h5",
        "h5a5 h5b5 h5c5 h5d5 h5e5 h5f5 h5g5 h5h0 h5h0~ h5h1 h5h2 h5h2~ h5h3 h5h4 h5h6 h5h7 h5h8 h5h9 h5i5",
    );
    check_moves(
        form("fanqi-4"),
        "3k5/9/9/9/9/9/9/9/4N4/5K3 w",
        "e1",
        "e1c0 e1c0~ e1c2 e1d3 e1f3 e1g0 e1g0~ e1g2",
    );
    check_moves(
        form("fanqi-4"),
        "5k3/9/9/9/9/9/9/3N5/9/3K5 w",
        "d2",
        "d2b1 d2b3 d2c0 d2c0~ d2c4 d2e0 d2e4 d2f1 d2f3",
    );
}

/// §2, turning down again: who may not.
#[test]
fn not_laid_down() {
    // Kinds that take no part, and the king.
    let guards = "3k5/9/9/9/9/9/9/4B4/4A4/4K4 w";
    check_moves(
        form("fanqi-4"),
        guards,
        "e2 e1",
        "e1d0 e1d2 e1f0 e1f2 e2c0 e2c4 e2g0 e2g4",
    );
    check_moves(form("fanqi-6"), guards, "e1", "e1d0 e1d2 e1f0 e1f2");
    check_moves(
        form("fanqi-9"),
        guards,
        "e1",
        "e1d0 e1d0~ e1d2 e1f0 e1f0~ e1f2",
    );
    check_moves(
        form("fanqi-6"),
        "3k5/9/9/9/9/9/9/4B4/9/4K4 w",
        "e2",
        "e2c0 e2c0~ e2c4 e2g0 e2g0~ e2g4",
    );
    check_moves(
        form("fanqi-1"),
        "3k5/9/9/9/9/9/9/9/9/4K4 w",
        "",
        "e0e1 e0f0",
    );
    // What was face down when it moved, known or not.
    check_moves(
        form("fanqi-10"),
        "4k4/9/9/9/9/9/p8/9/9/R~2K5 w",
        "a0",
        "a0a1 a0a2 a0a3 a0b0 a0c0",
    );
    check_moves(
        form("fanqi-10"),
        "4k4/9/9/9/9/9/p8/9/9/X2K5 w R1 0 1",
        "a0",
        "a0a1 a0a2 a0a3 a0b0 a0c0",
    );
    // Jieqi has no turning down (§3).
    check_moves(
        form("jieqi"),
        "4k4/9/9/9/9/9/9/9/9/1R1K5 w",
        "b0",
        "b0a0 b0b1 b0b2 b0b3 b0b4 b0b5 b0b6 b0b7 b0b8 b0b9 b0c0",
    );
}

/// §2, check: judged after the piece has turned up, or down.
#[test]
fn check_is_judged_after_turning() {
    let fen = "4k4/9/9/9/9/9/9/9/9/X4K3 w R1 0 1";
    for (kind, check) in [
        (Kind::Rook, true),
        (Kind::Knight, false),
        (Kind::Cannon, false),
    ] {
        let fen = fen.replace("R1", &format!("{}1", kind.letter()));
        let mut position = position(form("fanqi-10"), &fen);
        position.play(mv("a0a9"));
        assert!(position.awaits_reveal());
        let mover = Some(kind);
        position.reveal(Reveal { mover, taken: None });
        assert_eq!(position.in_check(), check, "{position:?}");
    }
    // A chariot on the king's file gives check; laid down there it is a pawn.
    let rook = position(form("fanqi-1"), "4k4/9/9/9/9/9/8R/9/9/3K5 w");
    for (moved, check) in [("i3e3", true), ("i3e3~", false)] {
        let mut after = rook;
        after.try_play(mv(moved)).expect("legal");
        assert_eq!(after.in_check(), check, "{moved}");
    }
}

/// Who knows what Black's captured piece was, by Red's and by Black's pool.
fn check_seen(rules: &'static Ruleset, red: [u8; 2], black: [u8; 2], text: &str) {
    let fen = "r?n?2k4/9/9/9/R8/9/9/9/9/3K5 w - 3 9 world";
    let world = played(rules, fen, "a5a9");
    let unseen = |viewer: Color| {
        let pool = world.position(viewer).pool(Color::Black);
        [pool[Kind::Rook.index()], pool[Kind::Knight.index()]]
    };
    assert_eq!(unseen(Color::Red), red, "{:?}", rules.captured_seen_by);
    assert_eq!(unseen(Color::Black), black, "{:?}", rules.captured_seen_by);
    assert_eq!(world.fen(), text);
}

/// §3: a captured face-down piece is seen by the captor only; §2: by both; or nobody, as the field says.
#[test]
fn captured_pieces_are_seen_by_whom_the_field_says() {
    let both = "Rn?2k4/9/9/9/9/9/9/9/9/3K5 b - 0 9 world";
    let lost = both.replace(" - ", " r1 ");
    check_seen(form("jieqi"), [0, 1], [1, 1], &lost);
    check_seen(form("fanqi-10"), [0, 1], [0, 1], both);
    check_seen(seen_by("jieqi", SeenBy::Both), [0, 1], [0, 1], both);
    check_seen(seen_by("fanqi-10", SeenBy::Captor), [0, 1], [1, 1], &lost);
    check_seen(seen_by("fanqi-10", SeenBy::Nobody), [1, 1], [1, 1], &lost);
    check_seen(seen_by("jieqi", SeenBy::Nobody), [1, 1], [1, 1], &lost);
}

/// §2 with an owner who knows its own pieces: it need not be shown what it lost.
#[test]
fn an_arranging_owner_knows_what_it_lost() {
    let fen = "r!n!2k4/9/9/9/R8/9/9/9/9/3K5 w - 3 9 world";
    for (choice, red) in [(SeenBy::Both, 1), (SeenBy::Captor, 1), (SeenBy::Nobody, 2)] {
        let world = played(seen_by("fanqi-9", choice), fen, "a5a9");
        let left = |viewer: Color| world.position(viewer).pool(Color::Black).iter().sum::<u8>();
        assert_eq!(
            (left(Color::Red), left(Color::Black)),
            (red, 0),
            "{choice:?}"
        );
    }
}

/// §2: what may come to light, and in how many ways.
#[test]
fn reveals_are_weighed_by_the_pools() {
    let one = "x3k4/9/9/9/9/9/9/9/9/X2K5 w R1n1 0 1";
    let mut position = position(form("fanqi-10"), one);
    position.play(mv("a0a9"));
    let mut reveals = Vec::new();
    position.reveals(&mut reveals);
    let reveal = Reveal {
        mover: Some(Kind::Rook),
        taken: Some(Kind::Knight),
    };
    assert_eq!(reveals, [(reveal, 1)]);
    let text = "x1x1k4/9/9/9/9/9/X1X6/9/9/X2K5 w R1P2r1n1 0 1";
    let mut two = Position::from_fen(form("fanqi-10"), text).expect(text);
    two.play(mv("a0b0"));
    two.reveals(&mut reveals);
    let mut found: Vec<(String, u32)> = reveals.iter().map(|(r, n)| (r.to_string(), *n)).collect();
    found.sort();
    assert_eq!(found, [("=P".into(), 2), ("=R".into(), 1)]);
}

/// §2: natural limit 120 plies; §3: 80; only captures reset it, a reveal or a laying down does not.
#[test]
fn natural_limits() {
    let draw = Some((Outcome::Draw, Reason::NaturalLimit));
    let at = |plies: u16| format!("4k4/9/9/p8/9/9/9/9/9/R?2K5 w - {plies} 90 world");
    check_ending(&played(form("jieqi"), &at(78), "a0a1"), None);
    check_ending(&played(form("jieqi"), &at(79), "a0a1"), draw);
    check_ending(&played(form("jieqi"), &at(79), "a0a6"), None);
    check_ending(&played(form("fanqi-10"), &at(118), "a0a1"), None);
    check_ending(&played(form("fanqi-10"), &at(119), "a0a1"), draw);
    let up = at(119).replace("R?", "1R").replace("2K", "1K");
    check_ending(&played(form("fanqi-4"), &up, "b0a0~"), draw);
}

/// §1: never a draw for want of attackers while a piece is hidden.
#[test]
fn nothing_is_dead_while_a_piece_is_face_down() {
    let dead = Some((Outcome::Draw, Reason::DeadPosition));
    let bare = "3k5/9/9/9/9/9/9/9/9/4K4 w - 0 1 world";
    check_ending(&played(form("fanqi-4"), bare, ""), dead);
    check_ending(&played(form("jieqi"), bare, ""), dead);
    let with = |piece: &str| bare.replace("4K4", &format!("{piece}2K4"));
    check_ending(&played(form("jieqi"), &with("1P?"), ""), None);
    check_ending(&played(form("fanqi-4"), &with("1P~"), ""), None);
    // A guard that roams can attack; one that stays at home cannot.
    check_ending(&played(form("jieqi"), &with("1B"), ""), None);
    check_ending(
        &played(form("fanqi-4"), &with("2B").replace("2B2K4", "2B1K4"), ""),
        dead,
    );
}

/// §2, free arrangement: placements in a fixed order of home squares, of the kinds that are left.
#[test]
fn arrangement() {
    let rules = form("fanqi-3");
    let mut rng = Pcg64Mcg::seed_from_u64(0);
    let mut world = World::start(rules, &mut rng);
    let order = |world: &World, viewer| world.position(viewer).next_placed().map(|s| s.to_string());
    assert_eq!(order(&world, Color::Red).as_deref(), Some("a0"));
    assert_eq!(order(&world, Color::Black).as_deref(), Some("a9"));
    assert_eq!(
        legal(world.position(Color::Red)),
        ["C@a0", "N@a0", "P@a0", "R@a0"].map(String::from).into()
    );
    let before = *world.position(Color::Black);
    play(&mut world, "R@a0 R@b0");
    // An exhausted kind is refused, and so are the wrong square and any move.
    assert_eq!(
        legal(world.position(Color::Red)),
        ["C@h0", "N@h0", "P@h0"].map(String::from).into()
    );
    for refused in ["R@h0", "N@i0", "N@a0", "A@h0", "h2e2", "h0g2", "e0e1"] {
        assert!(world.try_apply(mv(refused), &mut rng).is_err(), "{refused}");
    }
    play(&mut world, "N@h0 N@i0 C@b2 C@h2 P@a3 P@c3 P@e3 P@g3");
    assert_eq!(order(&world, Color::Red).as_deref(), Some("i3"));
    assert_eq!(world.turn(), Turn::Decision(Color::Red));
    play(&mut world, "P@i3");
    // Then Black arranges, and has seen nothing.
    assert_eq!(
        (world.turn(), *world.position(Color::Black)),
        (Turn::Decision(Color::Black), before)
    );
    let red = *world.position(Color::Red);
    assert_eq!(red.pool(Color::Red), [0; 7]);
    play(
        &mut world,
        "P@a9 P@b9 P@h9 P@i9 P@b7 R@h7 R@a6 N@c6 N@e6 C@g6 C@i6",
    );
    assert_eq!(*world.position(Color::Red), red);
    assert_eq!(world.turn(), Turn::Decision(Color::Red));
    let text = "p!p!bakabp!p!/9/1p!5r!1/r!1n!1n!1c!1c!/9/9/P!1P!1P!1P!1P!/1C!5C!1/9/R!R!BAKABN!N! w - 0 1 world";
    assert_eq!(world.fen(), text);
    // The owner knows its own piece, the opponent learns what turns up.
    play(&mut world, "b2e2");
    let knight = |viewer| {
        world
            .position(viewer)
            .piece_at(square("h0"))
            .and_then(|p| p.identity())
    };
    assert_eq!(
        (knight(Color::Red), knight(Color::Black)),
        (Some(Kind::Knight), None)
    );
    assert_eq!(
        world.position(Color::Black).pool(Color::Red)[Kind::Cannon.index()],
        1
    );
}

/// §5: positions repeat with their face-down flags and known identities.
#[test]
fn repetition_with_laid_down_pieces() {
    let draw = Some((Outcome::Draw, Reason::Repetition));
    let known = "4k4/9/9/p8/9/9/9/9/9/R~2K5 w - 0 1 world";
    let round = "a0a1 e9e8 a1a0~ e8e9 ";
    let twice = round.repeat(2);
    check_ending(&played(form("fanqi-10"), known, &twice), draw);
    check_ending(&played(form("fanqi-9"), known, &twice), draw);
    // Face up on the same square it is another position.
    let once_up = format!("{round}a0a1 e9e8 a1a0 e8e9");
    check_ending(&played(form("fanqi-10"), known, &once_up), None);
    // What was secret or unknown is known when it comes back, to its owner's count as well.
    for (name, mark) in [("fanqi-9", "R!"), ("fanqi-10", "R?")] {
        let hidden = known.replace("R~", mark);
        check_ending(&played(form(name), &hidden, &twice), None);
        check_ending(&played(form(name), &hidden, &round.repeat(3)), draw);
    }
}

/// §5: perpetual check loses in these forms, too.
#[test]
fn perpetual_check_loses() {
    let fen = "4k4/9/9/9/9/9/9/9/R8/3K5 w - 0 1 world";
    let checks = "a1e1 e9f9 e1f1 f9e9 f1e1 e9f9 e1f1 f9e9 f1e1";
    let lost = Some((Outcome::Win(Color::Black), Reason::PerpetualCheck));
    check_ending(&played(form("fanqi-10"), fen, checks), lost);
}
