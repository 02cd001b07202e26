//! `fanqi adjudicate` (RULES.md §5): what it prints, and what it refuses with which words.
mod binary;

use std::process::Command;

use binary::{fanqi, ok, refused};

fn adjudicate(form: &str, fen: &str, moves: &str, more: &[&str]) -> Command {
    let mut command = fanqi(["adjudicate", "--form", form, "--moves", moves]);
    if !fen.is_empty() {
        command.args(["--fen", fen]);
    }
    command.args(more);
    command
}

fn check(mut command: Command, lines: &[&str]) {
    let printed = ok(&mut command);
    assert_eq!(printed.lines().collect::<Vec<_>>(), lines, "{command:?}");
}

#[test]
fn it_tells_verdict_reason_cycle_and_chased_pieces() {
    let fen = "3k5/9/9/9/9/9/c8/1R7/9/4K4 w";
    let round = "b2a2 a3b3 a2b2 b3a3";
    let (twice, cycle) = (format!("{round} {round}"), format!("cycle {round} {round}"));
    let chase = ["verdict black_wins", "reason perpetual_chase"];
    let guilty = "offence red perpetual_chase";
    let chased = [&chase[..], &[&cycle, guilty, "chased black cannon a3"]].concat();
    check(adjudicate("xiangqi", fen, &twice, &[]), &chased);
    let rule = |rule| adjudicate("xiangqi", fen, &twice, &["--repetition", rule]);
    check(rule("wxf"), &chased);
    check(rule("cxa"), &chased);
    let drawn = ["verdict draw", "reason repetition", &cycle];
    check(rule("draw"), &drawn);
    // Moves before the cycle do not belong to it, and those behind the end do not count.
    let longer = format!("b1b2 a4a3 {twice} b2a2");
    let before = "3k5/9/9/9/9/c8/9/9/1R7/4K4 w";
    let expected = [&chase[..], &["after ply 10"], &chased[2..]].concat();
    check(adjudicate("xiangqi", before, &longer, &[]), &expected);
    let undecided = ["verdict undecided", "reason none"];
    check(adjudicate("xiangqi", fen, round, &[]), &undecided);
    check(adjudicate("xiangqi", "", "", &[]), &undecided);
    let mate = ["verdict red_wins", "reason checkmate"];
    let rooks = "3k5/R8/1R7/9/9/9/9/9/9/4K4 w";
    check(adjudicate("xiangqi", rooks, "b7b9", &[]), &mate);
}

#[test]
fn hidden_forms_are_judged_by_the_truth_or_by_what_came_to_light() {
    let fen = "9/3k5/9/4a4/8c/9/9/9/4K4/R~8 w - 0 1 world";
    let round = "a0a5 i5i0 a5a0~ i0i5";
    let lines = [
        "verdict black_wins",
        "reason perpetual_chase",
        &format!("cycle {round} {round}"),
        "offence red perpetual_chase",
        "chased black cannon i5",
    ];
    let twice = format!("{round} {round}");
    check(adjudicate("fanqi-10", fen, &twice, &[]), &lines);
    let view = fen.replace(" world", "");
    check(adjudicate("fanqi-10", &view, &twice, &[]), &lines);
    let undecided = ["verdict undecided", "reason none"];
    check(adjudicate("jieqi", "", "h2e2=R h9g7=N", &[]), &undecided);
    refused(
        &mut adjudicate("jieqi", "", "h2e2=R h9g7", &[]),
        &["--moves", "the last move turned up", "ABNRCP", "h0g2="],
    );
    refused(
        &mut adjudicate("jieqi", "", "h2e2=K", &[]),
        &["move 1", "'h2e2=K'", "any of"],
    );
    refused(
        &mut adjudicate("fanqi-10", &fen.replace('~', "?"), "a0a5=N", &[]),
        &["move 1", "any of R"],
    );
}

#[test]
fn a_true_telling_of_what_is_known_is_taken() {
    let undecided = ["verdict undecided", "reason none"];
    let known = "3k5/9/9/9/9/9/9/1C~7/9/4K4 w - 0 1 world";
    check(adjudicate("fanqi-10", known, "b2b5=C", &[]), &undecided);
    refused(
        &mut adjudicate("fanqi-10", known, "b2b5=R", &[]),
        &["move 1", "known to be", "(C)"],
    );
    let taken = "3k5/9/1c~7/9/9/9/9/1R7/9/4K4 w - 0 1 world";
    check(adjudicate("fanqi-10", taken, "b2b7=RxC", &[]), &undecided);
    refused(
        &mut adjudicate("fanqi-10", taken, "b2b7xN", &[]),
        &["move 1", "known to be", "(C)"],
    );
    refused(
        &mut adjudicate("fanqi-3", "", "R@a0", &[]),
        &["move 1", "an arrangement starts from a FEN"],
    );
    check(
        adjudicate("fanqi-3", "startpos red", "R@a0", &[]),
        &undecided,
    );
    refused(
        &mut adjudicate("jieqi", "startpos red", "R@a0", &[]),
        &["move 1", "pieces are not arranged in jieqi"],
    );
}

#[test]
fn moves_may_be_in_any_notation() {
    let undecided = ["verdict undecided", "reason none"];
    check(
        adjudicate("xiangqi", "", "炮二平五 马8进7 H2+3 I9-H9", &[]),
        &undecided,
    );
    refused(
        &mut adjudicate("xiangqi", "", "炮二平五 炮五进四 h0g2", &[]),
        &["--moves: move 2", "炮五进四"],
    );
}

#[test]
fn lists_are_read_as_people_write_them() {
    let undecided = ["verdict undecided", "reason none"];
    let numbered = "1. 炮二平五 马8进7 2.h0g2, i9h9，3… c3c4";
    check(adjudicate("xiangqi", "startpos", numbered, &[]), &undecided);
    check(
        adjudicate("xiangqi", "3k5/9/9/9/9/4C4/9/4C4/9/4K4 w", "-C+1", &[]),
        &undecided,
    );
    check(
        adjudicate("xiangqi", "", "h3e3 h8e8", &["--from", "uci"]),
        &undecided,
    );
    refused(
        &mut adjudicate("xiangqi", "", "h3e3 h8e8", &[]),
        &["move 1", "0-9", "--from uci"],
    );
    refused(
        &mut adjudicate("xiangqi", "", "1. 12", &[]),
        &["move 1", "'12'"],
    );
}

#[test]
fn no_more_can_be_told_than_there_is() {
    let taken = "h2e2=C b7b0=RxN e2d2 b0c0xN d2e2 c0d0xN";
    for fen in ["startpos red", ""] {
        refused(
            &mut adjudicate("jieqi", fen, taken, &[]),
            &["move 6", "'c0d0xN'", "no N of Red's", "2 were told"],
        );
    }
    // As Black knows it, who sees what it takes.
    refused(
        &mut adjudicate("jieqi", "startpos black", taken, &[]),
        &["move 6", "none of Red's", "(N)"],
    );
    let half = |moves: &str| {
        let out = adjudicate("jieqi", "startpos black", moves, &[]).output();
        String::from_utf8(out.expect("it runs").stderr).expect("UTF-8")
    };
    let said = half("h2e2=C b7b0=R e2d2");
    assert!(said.contains("told as h0g2xN"), "{said}");
    assert!(!said.contains("turned up"), "{said}");
    let said = half("h2e2=C b7b0xN e2d2");
    assert!(said.contains("turned up a piece"), "{said}");
    assert!(!said.contains("took a piece"), "{said}");
}

#[test]
fn games_are_judged_line_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games");
    let lines = |text: &str| {
        std::fs::write(&path, text).expect("written");
        let mut command = fanqi(["adjudicate", "--lines"]);
        command.stdin(std::fs::File::open(&path).expect("opened"));
        command
    };
    let rook = "3k5/9/9/9/9/9/c8/1R7/9/4K4 w";
    let round = "b2a2 a3b3 a2b2 b3a3";
    let mate = "3k5/R8/1R7/9/9/9/9/9/9/4K4 w";
    let text = format!("{rook} moves {round} {round} b2a2\n{mate} moves b7b9\n{rook}\n");
    let told = ok(&mut lines(&text));
    assert_eq!(
        told,
        "black_wins perpetual_chase 8\nred_wins checkmate 1\nundecided none 0\n"
    );
    refused(
        &mut lines(&format!("{mate}\n{rook} moves b2b9 h9h8\n")),
        &["line 2", "move 2", "h9h8"],
    );
    refused(lines("").args(["--moves", "h2e2"]), &["--lines", "--moves"]);
    refused(&mut fanqi(["adjudicate"]), &["--moves"]);
}

#[test]
fn bad_moves_are_named() {
    let words = ["--moves: move 2", "'h9g8'", "does not move so"];
    refused(&mut adjudicate("xiangqi", "", "h2e2 h9g8", &[]), &words);
    let words = ["--moves: move 1", "'h2e'", "no move"];
    refused(&mut adjudicate("xiangqi", "", "h2e", &[]), &words);
    let words = ["move 1", "'炮二进十'", "no move"];
    refused(&mut adjudicate("xiangqi", "", "炮二进十", &[]), &words);
    refused(
        &mut adjudicate("xiangqi", "", "", &["--repetition", "axf"]),
        &["--repetition", "axf", "wxf", "cxa", "draw"],
    );
    refused(&mut adjudicate("chess", "", "", &[]), &["--form", "chess"]);
    refused(
        &mut adjudicate("xiangqi", "9", "", &[]),
        &["--fen", "board"],
    );
}
