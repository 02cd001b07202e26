//! FEN: what is read, what is refused and why (RULES.md §1, §3).
use selfplay::rules::{Color, FenField, Kind, Move, Piece, Position, Ruleset, Square};

fn parse(fen: &str) -> Result<Position, selfplay::rules::FenError> {
    Position::from_fen(Ruleset::by_name("xiangqi").unwrap(), fen)
}

/// `fen` is read, and written as `written`.
fn check_read(fen: &str, written: &str) {
    match parse(fen) {
        Ok(position) => assert_eq!(position.fen(), written, "{fen}"),
        Err(error) => panic!("{fen}: {error}"),
    }
}

/// `fen` is refused for `field`, and the message holds `why`.
fn check_refused(fen: &str, field: FenField, why: &str) {
    let error = parse(fen).expect_err(fen);
    assert_eq!(error.field, field, "{fen}: {error}");
    assert!(
        error.to_string().contains(why),
        "{fen}: '{error}' lacks '{why}'"
    );
}

const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";

#[test]
fn read_and_written() {
    check_read(START, START);
    check_read(START.trim_end_matches(" - - 0 1"), START);
    check_read(START.trim_end_matches(" 0 1"), START);
    check_read(&START.replace(" - - 0 1", " 0 1"), START);
    check_read(&START.replace(" w ", " r "), START);
    check_read(&START.replace('N', "H").replace('b', "e"), START);
    check_read(&START.replace(" 0 1", " 7"), &START.replace(" 0 1", " 7 1"));
    check_read(&START.replace(" 0 1", " 0 0"), START);
    check_read(
        "  4k4/9/9/9/9/9/9/9/9/3K5   b ",
        "4k4/9/9/9/9/9/9/9/9/3K5 b - - 0 1",
    );
    let late = "4k4/9/9/9/9/9/9/9/9/3K5 b - - 118 77";
    check_read(late, late);
    let longest = "4k4/9/9/9/9/9/9/9/9/3K5 b - - 65535 32768";
    check_read(longest, longest);
    check_read(
        "11111k21/9/9/9/9/9/9/9/9/3K5 w",
        "5k3/9/9/9/9/9/9/9/9/3K5 w - - 0 1",
    );
}

#[test]
fn counters_go_on() {
    let mut position = parse("4k4/9/9/9/9/9/9/9/p8/R2K5 w - - 8 30").unwrap();
    for (mv, fen) in [
        ("d0d1", "4k4/9/9/9/9/9/9/9/p2K5/R8 b - - 9 30"),
        ("e9e8", "9/4k4/9/9/9/9/9/9/p2K5/R8 w - - 10 31"),
        ("a0a1", "9/4k4/9/9/9/9/9/9/R2K5/9 b - - 0 31"),
    ] {
        position.try_play(mv.parse().unwrap()).unwrap();
        assert_eq!(position.fen(), fen);
    }
}

#[test]
fn squares_and_pieces() {
    let start = parse(START).unwrap();
    assert_eq!(start.turn(), Color::Red);
    let b2 = Square::new(1, 2).unwrap();
    assert_eq!((b2.index(), b2.to_string().as_str()), (19, "b2"));
    assert_eq!(
        start.piece_at(b2),
        Some(Piece::up(Color::Red, Kind::Cannon))
    );
    assert_eq!(start.king(Color::Black).to_string(), "e9");
    assert_eq!(start.pieces().count(), 32);
}

#[test]
fn moves_as_text() {
    for text in ["h2e2", "a0i9", "e9e8"] {
        assert_eq!(text.parse::<Move>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "h2",
        "h2e",
        "h2e10",
        "j2e2",
        "h2h2",
        "H2E2",
        "h2-e2",
        "炮二平五",
        "h2e:",
    ] {
        let error = text.parse::<Move>().expect_err(text);
        assert!(error.to_string().contains("h2e2"), "{error}");
    }
}

#[test]
fn wrong_boards() {
    let board = FenField::Board;
    let with = |from: &str, to: &str| START.replacen(from, to, 1);
    check_refused("", board, "'' has no ranks; expected 10");
    check_refused("startpos", board, "'startpos' has no ranks");
    check_refused(&with("/9/", "/9/9/"), board, "11 ranks instead of 10");
    check_refused(&with("/9/", "/"), board, "9 ranks instead of 10");
    check_refused(
        &with("rnbakabnr", "rnbakabn"),
        FenField::Rank(9),
        "8 files instead of 9",
    );
    check_refused(&with("9", "91"), FenField::Rank(8), "10 files instead of 9");
    check_refused(
        &with("1c5c1", "1c5c9999999999999999999"),
        FenField::Rank(7),
        "files instead of 9",
    );
    check_refused(&with("p1p1p1p1p", "p1p1x1p1p"), FenField::Rank(6), "'x'");
    check_refused(&with("9", "0"), FenField::Rank(8), "'0'");
    check_refused(&with("9", "８１"), FenField::Rank(8), "'８'");
    check_refused(&with("rnbakabnr", "rnbaka馬nr"), FenField::Rank(9), "'馬'");
    check_refused(&with("rnbakabnr", "rnba1abnr"), board, "no 'k'");
    check_refused(&with("RNBAKABNR", "RNBA1ABNR"), board, "no 'K'");
    check_refused(
        &with("/9/RNBAKABNR", "/4K4/RNBAKABNR"),
        board,
        "2 'K', at most 1",
    );
    check_refused(&with("1c5c1", "1cr4c1"), board, "3 'r', at most 2");
    check_refused(
        &with("9/9/P1P1P1P1P", "9/P8/P1P1P1P1P"),
        board,
        "6 'P', at most 5",
    );
}

#[test]
fn pieces_where_none_can_stand() {
    let refused = |rank: usize, text: &str, why: &str| {
        let mut ranks = ["3k5", "9", "9", "9", "9", "9", "9", "9", "9", "5K3"];
        ranks[9 - rank] = text;
        check_refused(&(ranks.join("/") + " w"), FenField::Rank(rank), why);
    };
    refused(0, "2K6", "'K' can never stand on c0");
    refused(3, "4K4", "'K' can never stand on e3");
    refused(6, "4k4", "'k' can never stand on e6");
    refused(0, "4AK3", "'A' can never stand on e0");
    refused(3, "4A4", "'A' can never stand on e3");
    refused(7, "4a4", "'a' can never stand on e7");
    refused(0, "B4K3", "'B' can never stand on a0");
    refused(2, "2B6", "'B' can never stand on c2");
    refused(5, "2B6", "'B' can never stand on c5");
    refused(4, "2b6", "'b' can never stand on c4");
    refused(7, "6b2", "'b' can never stand on g7");
    refused(2, "P8", "'P' can never stand on a2");
    refused(4, "1P7", "'P' can never stand on b4");
    refused(5, "1p7", "'p' can never stand on b5");
    refused(7, "p8", "'p' can never stand on a7");
}

#[test]
fn wrong_fields_after_the_board() {
    let with = |rest: &str| START.replace("w - - 0 1", rest);
    check_refused(&with(""), FenField::Side, "missing");
    check_refused(&with("white"), FenField::Side, "'white'");
    check_refused(&with("w KQkq - 0 1"), FenField::Pool, "'KQkq'");
    check_refused(&with("w - x 0 1"), FenField::Pool, "'x'");
    check_refused(&with("w - - -1 1"), FenField::NoCapture, "'-1'");
    check_refused(&with("w - - a 1"), FenField::NoCapture, "'a'");
    check_refused(&with("w - - 99999999999 1"), FenField::NoCapture, "65535");
    check_refused(&with("w - - 0 1.5"), FenField::MoveNumber, "'1.5'");
    check_refused(&with("w - - 0 32769"), FenField::MoveNumber, "32768");
    check_refused(&with("w - - 0 1 moves"), FenField::Rest, "'moves'");
    check_refused(&with("w - - - 0 1"), FenField::NoCapture, "'-'");
}

#[test]
fn the_side_that_has_moved_is_not_in_check() {
    let refused = |fen: &str| check_refused(fen, FenField::Side, "not to move is in check");
    refused("4k4/9/9/9/9/9/9/9/9/4K4 w");
    refused("4k4/9/9/9/9/9/9/9/9/4K4 b");
    refused("4k4/9/9/9/9/9/9/9/4R4/3K5 w");
    refused("4k4/9/9/4n4/9/9/9/9/4C4/3K5 w");
    refused("4k4/9/3N5/9/9/9/9/9/9/3K5 w");
    refused("4k4/4P4/9/9/9/9/9/9/9/3K5 w");
    check_read(
        "4k4/9/9/9/9/9/9/9/4R4/3K5 b",
        "4k4/9/9/9/9/9/9/9/4R4/3K5 b - - 0 1",
    );
    let blocked_horse = "4k4/3r5/3N5/9/9/9/9/9/9/3K5 w - - 0 1";
    check_read(blocked_horse, blocked_horse);
}
