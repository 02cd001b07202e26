//! Positions on the command line: as a FEN, as lines of many, of the truth or of what a player knows.
mod binary;

use std::fs::File;

use binary::{fanqi, ok, refused};

#[test]
fn perft_and_legal_print_counts_and_moves() {
    let perft = ok(&mut fanqi(["perft", "--form", "xiangqi", "--depth", "3"]));
    assert_eq!(perft, "nodes 79666\n");
    let divide = ok(&mut fanqi(["perft", "--depth", "2", "--divide"]));
    let counts: Vec<_> = divide
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    assert_eq!(counts.len(), 44);
    let sum: u64 = counts
        .iter()
        .map(|(_, n)| n.parse::<u64>().expect("a count"))
        .sum();
    assert_eq!(divide.lines().last(), Some(format!("nodes {sum}").as_str()));
    assert_eq!(sum, 1920);
    let fen = "3k5/9/9/9/9/9/9/9/9/R3K4 w - - 0 1";
    let moves = ok(&mut fanqi(["legal", "--form", "xiangqi", "--fen", fen]));
    assert!(moves.lines().any(|mv| mv == "a0a9"), "{moves}");
    // On the d file the kings would face each other.
    assert!(!moves.lines().any(|mv| mv == "e0d0"), "{moves}");
}

/// The start of Jieqi, as both players know it.
const DEALT: &str =
    "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1";

#[test]
fn legal_answers_line_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("positions");
    let lines_of = |form: &str, text: &str| {
        std::fs::write(&path, text).expect("written");
        let mut command = fanqi(["legal", "--lines", "--form", form]);
        command.stdin(File::open(&path).expect("opened"));
        command
    };
    let lines = |text: &str| lines_of("xiangqi", text);
    let (mated, rook) = ("R3k4/1R7/9/9/9/9/9/9/9/3K5 b", "3k5/9/9/9/9/9/9/9/9/R3K4 w");
    let before = "3k5/9/9/9/9/9/9/9/9/1R2K4 b moves d9d8 b0a0 d8d9";
    let printed = ok(&mut lines(&format!("{mated}\n{rook}\n{before}\n")));
    let [first, second, third] = printed.lines().collect::<Vec<_>>()[..] else {
        panic!("{printed}");
    };
    assert_eq!((first, third), ("", second));
    let alone = ok(&mut fanqi(["legal", "--fen", rook]));
    assert_eq!(
        second.split(' ').collect::<Vec<_>>(),
        alone.lines().collect::<Vec<_>>()
    );
    refused(
        &mut lines(&format!("{rook}\n9/9 w\n")),
        &["line 2", "FEN, board", "10"],
    );
    let start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
    let both = format!("startpos moves h2e2\n{start} moves 1. h2e2\n");
    let printed = ok(&mut lines(&both));
    let printed: Vec<_> = printed.lines().collect();
    assert_eq!(printed[0], printed[1]);
    for other in ["", "h2e2 h9g7", "start"] {
        let start = "xiangqi starts from startpos, that is rnbakabnr/9/1c5c1/";
        let words = ["line 2", "is no FEN", "FEN or FEN moves h2e2", start];
        refused(&mut lines(&format!("{rook}\n{other}\n")), &words);
    }
    refused(
        &mut lines(&format!("{rook} moves a0a1 d9d8 a1a0 d9d7\n")),
        &["line 1", "move 4", "'d9d7'"],
    );
    let (view, told) = (DEALT, format!("{DEALT} moves h2e2=R"));
    ok(&mut lines_of("jieqi", &format!("{view} moves\n{told}\n")));
    refused(
        &mut lines_of("jieqi", &format!("{told}\n{view} moves h2e2\n")),
        &["line 2", "the last move turned up", "ABNRCP"],
    );
    refused(
        &mut fanqi(["legal", "--lines", "--fen", rook]),
        &["--lines", "--fen"],
    );
}

#[test]
fn a_wrong_position_is_refused_with_its_field() {
    let cases = [
        (
            "4k4/9/9/9/9/9/9/9/9/4KK3 w - - 0 1",
            &["board", "2 'K'"][..],
        ),
        ("9/9/9/9/9/9/9/9/9/4K4 w - - 0 1", &["board", "no 'k'"]),
        ("4k4/9/9/9/9/9/9/9/9/9/4K4 w - - 0 1", &["rank", "11"]),
        ("4k4/9/9/9/9/9/9/9/9/B3K4 w - - 0 1", &["a0"]),
        ("4k4/9/9/9/9/9/9/9/9/4K4 q - - 0 1", &["side"]),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w - - x 1", &["x"]),
        ("", &[]),
    ];
    for (fen, words) in cases {
        let error = refused(&mut fanqi(["legal", "--fen", fen]), words);
        assert!(error.contains("--fen"), "{error}");
    }
    refused(
        &mut fanqi(["legal", "--form", "chess"]),
        &["chess", "xiangqi"],
    );
}

#[test]
fn the_truth_and_what_a_player_knows_are_told_apart() {
    let truth = "3k5/9/9/9/9/9/9/9/9/1R?2K4 w - 0 1 world";
    let commands: [&[&str]; 4] = [
        &["legal"],
        &["perft", "--depth", "1"],
        &["adjudicate", "--moves", "b0c2"],
        &["notate", "--to", "wxf", "b0c2"],
    ];
    for command in commands {
        let of = |fen: &str| {
            let mut command = fanqi(command);
            command.args(["--form", "fanqi-10", "--fen", fen]);
            command
        };
        let words = ["--fen", "does not end in 'world'", "unknown piece is X"];
        refused(&mut of(&truth.replace(" world", "")), &words);
        let words = [
            "--fen",
            "ends in 'world', the truth",
            "red, black or nothing",
        ];
        refused(&mut of(&format!("{DEALT} world")), &words);
        // However it is set apart.
        for world in ["\tworld", "  world  "] {
            ok(&mut of(&truth.replace(" world", world)));
        }
    }
}
