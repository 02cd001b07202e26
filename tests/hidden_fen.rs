//! Texts of the hidden forms (RULES.md §3): what is read, how it is written, what is refused and why.
#[path = "support/hidden_games.rs"]
mod hidden_games;

use hidden_games::{form, seen_by};
use selfplay::rules::{FenError, FenField, Position, Ruleset, SeenBy, World};

/// A view's text is read, and written as `written`.
fn check_view(rules: &'static Ruleset, text: &str, written: &str) {
    match Position::from_fen(rules, text) {
        Ok(position) => assert_eq!(position.fen(), written, "{} {text}", rules.name),
        Err(error) => panic!("{} {text}: {error}", rules.name),
    }
}

/// A world's text is read, and written as it was.
fn check_world(rules: &'static Ruleset, text: &str) {
    match World::from_fen(rules, text) {
        Ok(world) => assert_eq!(world.fen(), text),
        Err(error) => panic!("{} {text}: {error}", rules.name),
    }
}

fn check_error(error: &FenError, text: &str, field: FenField, why: &str) {
    assert_eq!(error.field, field, "{text}: {error}");
    assert!(
        error.to_string().contains(why),
        "{text}: '{error}' lacks '{why}'"
    );
}

/// A view's text is refused for `field`, and the message holds `why`.
fn check_no_view(rules: &'static Ruleset, text: &str, field: FenField, why: &str) {
    let error = Position::from_fen(rules, text).expect_err(text);
    check_error(&error, text, field, why);
}

/// The same of a world's.
fn check_no_world(rules: &'static Ruleset, text: &str, field: FenField, why: &str) {
    let error = World::from_fen(rules, text).expect_err(text);
    check_error(&error, text, field, why);
}

const DEALT: &str = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX";
const FULL: &str = "A2B2N2R2C2P5a2b2n2r2c2p5";

#[test]
fn dialects_of_jieqi() {
    let jieqi = form("jieqi");
    let start = format!("{DEALT} w {FULL} 0 1");
    assert_eq!(Position::start(jieqi).fen(), start);
    for text in [
        format!("{DEALT} w {FULL} 0 1"),
        // The pool's kinds in any order, one by one, with other letters.
        format!("{DEALT} w R2r2N2n2B2b2A2a2C2c2P5p5 0 1"),
        format!("{DEALT} w RRNHEBAAC1CPPPPPrrnhbea2c2p5"),
        // The pool before the side, as older programs have it.
        format!("{DEALT} {FULL} w 0 1"),
        format!("{DEALT} {FULL} r - 0 1"),
        // JieqiBox's field of captured pieces.
        format!("{DEALT} w {FULL} - 0 1"),
        // No pool told: it follows from the board.
        format!("{DEALT} w - - 0 1"),
        format!("{DEALT} w - 0 1"),
        format!("{DEALT} w 0 1"),
        format!("{DEALT} w"),
        format!("{DEALT} w {FULL}"),
        format!("{DEALT} w {FULL} 0"),
    ] {
        check_view(jieqi, &text, &start);
    }
    let taken = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/2X1X1X1X/1X5X1/9/XXXXKXXXX b A2B2N2R2C2P5a2b2n2r2c2p5 R1 0 4";
    check_view(jieqi, taken, &taken.replace(" R1 ", " "));
    // Known but face down, as pychess writes it.
    let known = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/R~1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R1C2P5a2b2n2r2c2p5 0 1";
    check_view(jieqi, known, known);
    check_view(
        jieqi,
        &known.replace("A2B2N2R1C2P5a2b2n2r2c2p5", "-"),
        known,
    );
}

#[test]
fn views_of_each_kind_of_form() {
    let open = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
    check_view(form("fanqi-1"), open, open);
    check_view(
        form("fanqi-1"),
        &open.replace("R w", "R~ w"),
        &open.replace("R w", "R~ w"),
    );
    let at_home = "r~n~bakabn~r~/9/1c~5c~1/p~1p~1p~1p~1p~/9/9/P~1P~1P~1P~1P~/1C~5C~1/9/R~N~BAKABN~R~ w - - 0 1";
    assert_eq!(Position::start(form("fanqi-2")).fen(), at_home);
    check_view(form("fanqi-2"), at_home, at_home);
    let part = "xxbakabxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXBAKABXX w N2R2C2P5n2r2c2p5 0 1";
    check_view(form("fanqi-4"), part, part);
    check_view(
        form("fanqi-4"),
        &part.replace("N2R2C2P5n2r2c2p5", "-"),
        part,
    );
    // Where both know the same, whose view it is makes no difference.
    check_view(form("fanqi-4"), &format!("{part} red"), part);
    // One player's view: what only it knows, the opponent's pieces unknown.
    let red = "x3k4/9/9/9/9/9/9/9/9/R!N~1K5 w n1 12 40 red";
    check_view(form("fanqi-9"), red, red);
    let black = "r!3k4/9/9/9/9/9/9/9/9/XN~1K5 w R1 12 40 black";
    check_view(form("fanqi-9"), black, black);
    let arranging = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/P!R!R!XKXXXX w A2B2N2C2P4a2b2n2r2c2p5 0 1 red";
    check_view(form("fanqi-9"), arranging, arranging);
    // Nothing unseen is left, though pieces may have been lost unseen.
    let none = "4k4/9/9/9/9/9/9/9/9/R2K5 b - 3 60 black";
    check_view(form("jieqi"), none, none);
    let lost = "4k4/9/9/9/9/9/9/9/9/R2K5 b r1c2 3 60 black";
    check_view(form("jieqi"), lost, lost);
}

#[test]
fn worlds() {
    let open = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
    check_world(form("xiangqi"), open);
    check_world(form("fanqi-1"), &open.replace("R w", "R~ w"));
    check_world(
        form("fanqi-10"),
        "r?n~2k4/9/9/9/9/9/9/9/9/P?2K5 w - 4 20 world",
    );
    check_world(
        form("jieqi"),
        "r?n?2k4/9/9/9/9/9/9/9/9/P?2K5 w R1p2 4 20 world",
    );
    check_world(
        form("fanqi-9"),
        "r!n~2k4/9/9/9/9/9/9/9/9/P!2K5 w - 4 20 world",
    );
    check_world(
        seen_by("fanqi-9", SeenBy::Nobody),
        "r!3k4/9/9/9/9/9/9/9/9/P!2K5 w R1p2 4 20 world",
    );
    let arranging = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/P!R!R!XKXXXX w - 0 1 world";
    check_world(form("fanqi-9"), arranging);
    let arranging =
        "r!xxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/P!1P!1P!1P!1P!/1C!5C!1/9/R!N!B!A!KA!B!N!R! w - 0 1 world";
    check_world(form("fanqi-9"), arranging);
}

#[test]
fn a_world_is_no_view_and_a_view_no_world() {
    let world = "r?n~2k4/9/9/9/9/9/9/9/9/P?2K5 w - 4 20 world";
    check_no_view(
        form("fanqi-10"),
        world,
        FenField::Who,
        "'world' is the truth",
    );
    check_no_view(
        form("xiangqi"),
        "4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 1 world",
        FenField::Who,
        "no player may know",
    );
    for (who, whose) in [
        ("", "what both players know"),
        (" red", "what Red knows"),
        (" black", "what Black knows"),
    ] {
        let view = format!("x3k4/9/9/9/9/9/9/9/9/R!2K5 w n1 4 20{who}");
        let told = format!("{whose}; expected the truth");
        check_no_world(form("fanqi-9"), &view, FenField::Who, &told);
    }
    check_no_view(
        form("fanqi-10"),
        &world.replace(" world", ""),
        FenField::Rank(0),
        "does not end in 'world'",
    );
    check_no_view(
        form("fanqi-10"),
        &world.replace("world", "green"),
        FenField::Rest,
        "'green'",
    );
    check_no_view(
        form("fanqi-10"),
        &world.replace("world", "red black"),
        FenField::Rest,
        "'black'",
    );
}

/// Views of fanqi-4 with Red's rank 0 given.
fn fanqi_4(rank: &str, rest: &str) -> String {
    format!("3k5/9/9/9/9/9/9/9/9/{rank} w {rest}")
}

#[test]
fn boards_that_cannot_be() {
    let (four, nine, jieqi) = (form("fanqi-4"), form("fanqi-9"), form("jieqi"));
    let refused = |rank: &str, at: usize, why: &str| {
        check_no_view(four, &fanqi_4(rank, "R1 0 1"), FenField::Rank(at), why);
    };
    refused(
        "4X4",
        0,
        "'X' lies face down on e0, which is no home square",
    );
    refused(
        "4KB~3",
        0,
        "'B' lies face down, but takes no part in fanqi-4",
    );
    refused(
        "4KA~3",
        0,
        "'A' lies face down, but takes no part in fanqi-4",
    );
    refused("3K~5", 0, "takes no part");
    refused("R!3K4", 0, "'!' tells what only the owner knows");
    refused("R?3K4", 0, "'?' tells what nobody knows");
    refused("X~3K4", 0, "'~' is no piece letter");
    refused("~X3K4", 0, "'~' is no piece letter");
    refused("R~~3K4", 0, "'~' is no piece letter");
    let off_home = "3k5/9/9/9/9/1X7/9/9/9/4K4 w R1 0 1";
    check_no_view(four, off_home, FenField::Rank(4), "face down on b4");
    let other_side = "3k5/9/9/X8/9/9/9/9/9/4K4 w R1 0 1";
    check_no_view(jieqi, other_side, FenField::Rank(6), "face down on a6");
    // Forms that hide nothing.
    check_no_view(
        form("xiangqi"),
        &fanqi_4("X3K4", "- - 0 1"),
        FenField::Rank(0),
        "which xiangqi has not",
    );
    check_no_view(
        form("xiangqi"),
        &fanqi_4("R~3K4", "- - 0 1"),
        FenField::Rank(0),
        "which xiangqi has not",
    );
    check_no_view(
        form("fanqi-2"),
        &fanqi_4("X3K4", "- - 0 1"),
        FenField::Rank(0),
        "hides nothing",
    );
    // Only the owner's view of an arranged form tells secrets.
    check_no_view(
        nine,
        &fanqi_4("R!3K4", "- 0 1 black"),
        FenField::Rank(0),
        "only the owner",
    );
    check_no_view(
        nine,
        &fanqi_4("R!3K4", "- 0 1"),
        FenField::Rank(0),
        "only the owner",
    );
    check_no_view(
        jieqi,
        &fanqi_4("R!3K4", "- 0 1 red"),
        FenField::Rank(0),
        "only the owner",
    );
    // A bishop that does not roam stays at home, one that roams does not.
    check_no_view(
        four,
        "3k5/9/9/B8/9/9/9/9/9/4K4 w",
        FenField::Rank(6),
        "can never stand on a6",
    );
    check_view(
        form("fanqi-6"),
        "3k5/9/9/B8/9/9/9/9/9/4K4 w",
        "3k5/9/9/B8/9/9/9/9/9/4K4 w - 0 1",
    );
    // A pawn turns up anywhere where pawns are hidden.
    check_no_view(
        form("fanqi-2"),
        &fanqi_4("P3K4", "- - 0 1"),
        FenField::Rank(0),
        "can never stand on a0",
    );
    check_view(four, &fanqi_4("P3K4", ""), &fanqi_4("P3K4", "- 0 1"));
    check_no_view(
        form("fanqi-2"),
        &fanqi_4("P~3K4", "- - 0 1"),
        FenField::Rank(0),
        "can never lie on a0",
    );
    let unseen = "4k4/9/9/9/9/9/9/9/X8/3K5 w R1 0 1";
    check_no_view(jieqi, unseen, FenField::Rank(1), "face down on a1");
}

#[test]
fn pools_that_do_not_add_up() {
    let (four, nine, jieqi) = (form("fanqi-4"), form("fanqi-9"), form("jieqi"));
    let pool = FenField::Pool;
    let refused = |told: &str, why: &str| {
        check_no_view(four, &fanqi_4("XX2K4", &format!("{told} 0 1")), pool, why);
    };
    refused("R1", "1 pieces of Red unseen, but 2 unknown");
    refused("R1N1C1", "3 pieces of Red unseen, but 2 unknown");
    refused("R1r1", "1 pieces of Red unseen, but 2 unknown");
    refused("R1N1r1", "1 pieces of Black unseen, but 0 unknown");
    refused("-", "11 pieces of Red unseen, but 2 unknown");
    refused("R3", "3 'R', at most 2");
    refused("R99999999999999999999", "at most 2");
    // Named more than once, up to where a sum in few bits would begin anew.
    for often in [2, 127, 128, 129, 255, 256, 257] {
        refused(&"R2".repeat(often), "2 and 2 'R', at most 2");
        refused(&("R2".repeat(often) + "R1"), "2 and 2 'R', at most 2");
    }
    refused("R1A1", "takes no part in fanqi-4");
    check_no_view(
        four,
        &fanqi_4("XX2K4", "R1K1 0 1"),
        pool,
        "1 'K' beside 1 on the board, at most 1",
    );
    refused("R1X1", "'R1X1' is no list");
    refused("2R", "'2R' is no list");
    refused("R1N1 Z", "'Z'");
    refused("R1N1 R7", "at most 2");
    // A pool and what was taken, no third list.
    for text in [
        format!("{DEALT} {FULL} w A1 A1 0 1"),
        format!("{DEALT} w {FULL} A1 A1 0 1"),
        format!("{DEALT} - w A1 P5 0 1"),
    ] {
        check_no_view(jieqi, &text, FenField::NoCapture, "is not a whole number");
    }
    check_no_view(
        four,
        &fanqi_4("XXR1K4", "R2 0 1"),
        pool,
        "2 'R' beside 1 on the board, at most 2",
    );
    check_no_view(
        four,
        &fanqi_4("R~RR1K4", "- 0 1"),
        FenField::Board,
        "3 'R', at most 2",
    );
    check_no_view(four, &fanqi_4("5K3/XX2K4", ""), FenField::Board, "11 ranks");
    // In Jieqi a side does not know what it lost, and so may have more unseen than lie there.
    check_view(
        jieqi,
        &fanqi_4("X3K4", "R2N1 0 1 red"),
        &fanqi_4("X3K4", "N1R2 0 1 red"),
    );
    check_no_view(
        jieqi,
        &fanqi_4("X3K4", "R2N1 0 1 black"),
        pool,
        "3 pieces of Red unseen, but 1",
    );
    check_no_view(
        jieqi,
        &fanqi_4("XX2K4", "R1 0 1 red"),
        pool,
        "1 pieces of Red unseen, but 2",
    );
    let nobody = seen_by("jieqi", SeenBy::Nobody);
    check_view(
        nobody,
        &fanqi_4("X3K4", "R2 0 1"),
        &fanqi_4("X3K4", "R2 0 1"),
    );
    // The owner knows what it arranged.
    check_no_view(
        nine,
        &fanqi_4("R!3K4", "N1 0 1 red"),
        pool,
        "1 pieces of Red unseen, but 0",
    );
    check_no_view(
        form("fanqi-2"),
        &fanqi_4("R~3K4", "R1 0 1"),
        pool,
        "1 pieces of Red unseen, but 0",
    );
}

#[test]
fn arrangements_that_cannot_be() {
    let nine = form("fanqi-9");
    let start = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/P!R!R!XKXXXX w A2B2N2C2P4a2b2n2r2c2p5 0 1 red";
    let with = |from: &str, to: &str| start.replacen(from, to, 1);
    let refused = |text: &str, field, why: &str| check_no_view(nine, text, field, why);
    refused(
        &with("A2B2", "A2B1"),
        FenField::Pool,
        "11 pieces of Red unseen, but 12",
    );
    refused(&with("A2B2", "R1A2B1"), FenField::Pool, "1 'R' beside 2");
    refused(&with(" w ", " b "), FenField::Side, "Red is to move");
    refused(
        &with(" 0 1 ", " 3 1 "),
        FenField::NoCapture,
        "nothing has been played",
    );
    refused(&with("P!R!R!XK", "P!R!1XKR"), FenField::Rank(0), "files");
    refused(
        &with("P!R!R!X", "P!R!R~X"),
        FenField::Rank(0),
        "c0 is not as at the start",
    );
    refused(
        &with("P!R!R!X", "P!R!RX"),
        FenField::Rank(0),
        "c0 is not as at the start",
    );
    refused(
        &with("xxxxkxxxx/9", "xxxx1xxxx/4k4"),
        FenField::Rank(8),
        "e8 is not as at the start",
    );
    refused(
        &with("P!R!R!X", "P!R!XR!"),
        FenField::Rank(0),
        "d0 has its piece, but c0",
    );
    // The opponent's view does not tell whether pieces are still arranged.
    let other = start
        .replace("P!R!R!X", "XXXX")
        .replace("A2B2N2C2P4", "A2B2N2R2C2P5");
    check_view(nine, &other, &other);
    let world = "r!xxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/P!R!R!XKXXXX w - 0 1 world";
    let refused = |from: &str, to: &str, field, why: &str| {
        check_no_world(nine, &world.replacen(from, to, 1), field, why);
    };
    refused(" w ", " b ", FenField::Side, "Red is to move");
    refused("r!x", "xr!", FenField::Rank(9), "b9 has its piece, but a9");
    refused(
        "R!R!X",
        "R!XR!",
        FenField::Rank(0),
        "d0 has its piece, but c0",
    );
    refused(
        " 0 1 ",
        " 3 1 ",
        FenField::NoCapture,
        "nothing has been played",
    );
    refused("R!R!X", "R!R!R!", FenField::Board, "3 'R', at most 2");
    refused(
        "1X5X1",
        "1X7",
        FenField::Rank(2),
        "h2 is not as at the start",
    );
    let lost = world.replace(" - ", " r1 ");
    check_no_world(
        seen_by("fanqi-9", SeenBy::Nobody),
        &lost,
        FenField::Pool,
        "none is lost",
    );
}

#[test]
fn worlds_that_cannot_be() {
    let (nine, ten, jieqi) = (form("fanqi-9"), form("fanqi-10"), form("jieqi"));
    let world = |rank: &str, lost: &str| format!("3k5/9/9/9/9/9/9/9/9/{rank} w {lost} 0 1 world");
    let rank = FenField::Rank(0);
    check_no_world(ten, &world("R!3K4", "-"), rank, "not arranged in this form");
    check_no_world(nine, &world("R?3K4", "-"), rank, "not dealt in this form");
    check_no_world(ten, &world("X3K4", "-"), rank, "which tells every piece");
    check_no_world(nine, &world("X3K4", "-"), rank, "b0 is not as at the start");
    check_no_world(form("fanqi-2"), &world("R?3K4", "- -"), rank, "not dealt");
    check_no_world(form("fanqi-4"), &world("B?3K4", "-"), rank, "takes no part");
    check_no_world(
        ten,
        &world("R?R?R1K4", "-"),
        FenField::Board,
        "3 'R', at most 2",
    );
    check_no_world(
        ten,
        &world("R?4K3", "R1"),
        FenField::Pool,
        "both players know every piece taken",
    );
    check_no_world(
        nine,
        &world("R!4K3", "R1"),
        FenField::Pool,
        "both players know every piece taken",
    );
    check_no_world(
        jieqi,
        &world("R?R?3K3", "R1"),
        FenField::Pool,
        "1 'R' beside 2",
    );
    check_no_world(
        jieqi,
        &world("R?4K3", "K1"),
        FenField::Pool,
        "takes no part",
    );
    let four = seen_by("fanqi-4", SeenBy::Nobody);
    check_no_world(four, &world("R?4K3", "B1"), FenField::Pool, "takes no part");
    check_no_world(
        ten,
        "4k4/9/9/9/9/9/9/9/9/R?3K4 w - 0 1 world",
        FenField::Side,
        "kings face",
    );
    check_no_world(
        ten,
        "4k4/9/9/9/9/9/9/9/9/R?8 w - 0 1 world",
        FenField::Board,
        "no 'K'",
    );
}

/// The examples in the description of position texts are what they are said to be.
#[test]
fn a_half_made_arrangement_is_written_as_the_description_shows() {
    let nine = form("fanqi-9");
    let description = include_str!("../selfplay/src/rules/fen.rs");
    let examples: Vec<_> = (description.lines())
        .filter_map(|line| {
            line.strip_prefix("//! ")
                .filter(|line| line.contains("R!N!B!A!K"))
        })
        .collect();
    let [view, world] = examples[..] else {
        panic!("{examples:?}");
    };
    check_view(nine, view, view);
    check_world(nine, world);
    let seen = World::from_fen(nine, world).expect("a world");
    assert_eq!(seen.position(selfplay::rules::Color::Red).fen(), view);
}

#[test]
fn an_arrangement_is_before_the_first_move_and_red_s_comes_first() {
    let nine = form("fanqi-9");
    let view = format!("{DEALT} w {FULL} 0 1 red").replace("/XXXXKXXXX", "/R!XXXKXXXX");
    let view = view.replace("R2C2P5a2", "R1C2P5a2");
    check_view(nine, &view, &view);
    let later = view.replace(" 0 1 red", " 0 9 red");
    check_no_view(nine, &later, FenField::MoveNumber, "still arranged");
    let world = format!("{DEALT} w - 0 1 world");
    assert_eq!(
        World::from_fen(nine, &world).expect("none placed").fen(),
        world
    );
    let later = world.replace(" 0 1 ", " 0 2 ");
    check_no_world(nine, &later, FenField::MoveNumber, "still arranged");
    let early = world.replace("xxxxkxxxx", "r!xxxkxxxx");
    check_no_world(nine, &early, FenField::Rank(9), "Red, who places first");
}
