//! `fanqi notate`: games in other notations, and moves that cannot be.
mod binary;

use binary::{fanqi, ok, refused};

/// Prints `moves` of a game from `fen` in another notation, a move a line.
fn notate(form: &str, fen: Option<&str>, to: &str, moves: &[&str]) -> std::process::Command {
    let mut command = fanqi(["notate", "--form", form, "--to", to]);
    if let Some(fen) = fen {
        command.args(["--fen", fen]);
    }
    command.args(moves);
    command
}

#[test]
fn moves_are_played_one_after_the_other() {
    let game = [
        ("coordinates", "h2e2 h9g7 h0g2 i9h9"),
        ("uci", "h3e3 h10g8 h1g3 i10h10"),
        ("iccs", "H2-E2 H9-G7 H0-G2 I9-H9"),
        ("wxf", "C2=5 H8+7 H2+3 R9=8"),
        ("chinese", "炮二平五 马8进7 马二进三 车9平8"),
        ("short", "炮25 马8+7 马2+3 车98"),
    ];
    for (i, (_, from)) in game.iter().enumerate() {
        let moves: Vec<_> = from.split(' ').collect();
        let (name, expected) = game[(i + 1) % game.len()];
        let printed = ok(&mut notate("xiangqi", None, name, &moves));
        assert_eq!(printed, expected.replace(' ', "\n") + "\n", "{from}");
    }
    let mut quoted = notate("xiangqi", None, "wxf", &["h2e2 h9g7", "h0g2"]);
    assert_eq!(ok(&mut quoted), "C2=5\nH8+7\nH2+3\n");
    let mut mixed = notate(
        "xiangqi",
        None,
        "wxf",
        &["炮二平五", "h9g7", "H0-G2", "R9=8"],
    );
    assert_eq!(ok(&mut mixed), "C2=5\nH8+7\nH2+3\nR9=8\n");
    let tandem = Some("3k5/9/9/9/9/1N7/9/9/9/1N2K4 w");
    let mut sign_first = notate(
        "xiangqi",
        tandem,
        "chinese",
        &["--from", "wxf", "--", "-H+7"],
    );
    assert_eq!(ok(&mut sign_first), "后马进七\n");
    let mut given = notate("xiangqi", None, "coordinates", &["--from", "uci", "e4e5"]);
    assert_eq!(ok(&mut given), "e3e4\n");
}

#[test]
fn what_comes_to_light_is_told_or_follows() {
    let moves = ["马二进三变车", "马2进3变炮", "车三退一"];
    let printed = ok(&mut notate("fanqi-10", None, "coordinates", &moves));
    assert_eq!(printed, "h0g2=R\nb9c7=C\ng2g1\n");
    let last = ok(&mut notate("jieqi", None, "chinese", &["h0g2"]));
    assert_eq!(last, "马二进三\n");
    let words = ["move 2", "'b9c7'", "not told", "h0g2=R"];
    refused(
        &mut notate("jieqi", None, "chinese", &["h0g2", "b9c7"]),
        &words,
    );
    // Only the captor sees what it took, but the text tells it.
    let told = ["h2h9=CxR", "i9h9=P"];
    let printed = ok(&mut notate("jieqi", None, "iccs", &told));
    assert_eq!(printed, "H2-H9=CxR\nI9-H9=P\n");
    // Nothing else can turn up.
    let fen = Some("3k5/9/9/9/9/9/9/9/9/1X2K4 w R1 0 1");
    let printed = ok(&mut notate(
        "fanqi-10",
        fen,
        "chinese",
        &["b0c2", "d9d8", "c2c9"],
    ));
    assert_eq!(printed, "马八进七变车\n将4进1\n车七进七\n");
    // The truth tells it, and nothing else can be told.
    let truth = Some("3k5/9/9/9/9/9/9/9/9/1R?2K4 w - 0 1 world");
    let printed = ok(&mut notate("fanqi-10", truth, "short", &["b0c2", "d9d8"]));
    assert_eq!(printed, "马8+7=车\n将4+1\n");
    let known = Some("3k5/9/9/9/9/9/9/9/9/1R~2K4 w");
    refused(
        &mut notate("fanqi-1", known, "wxf", &["b0c2=N"]),
        &["move 1", "车 (R)", "马 (N)"],
    );
    let arranged = ok(&mut notate(
        "fanqi-9",
        Some(&arranging()),
        "chinese",
        &["R@a0", "N@b0"],
    ));
    assert_eq!(arranged, "R@a0\nN@b0\n");
}

fn arranging() -> String {
    let board = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX";
    format!("{board} w A2B2N2R2C2P5a2b2n2r2c2p5 0 1 red")
}

#[test]
fn an_impossible_move_is_named() {
    let check = |moves: &[&str], words: &[&str]| {
        refused(&mut notate("xiangqi", None, "chinese", moves), words);
    };
    check(
        &["h2e2", "马8进6"],
        &["move 2", "马8进6", "cannot go from h9 to f8"],
    );
    check(
        &["炮二平五", "马8进7", "车一平二"],
        &["move 3", "'车一平二'", "holds a piece"],
    );
    check(&["h2e2", "castles"], &["move 2", "castles", "coordinates"]);
    check(&["--from", "wxf", "h2e2"], &["move 1", "h2e2", "wxf"]);
    check(&["--from", "san", "e4"], &["--from", "san", "chinese"]);
    check(
        &["--fen", "nonsense", "h2e2"],
        &["--fen", "nonsense", "board"],
    );
    check(&[], &["MOVES"]);
    check(&[" "], &["MOVES", "none"]);
    refused(
        &mut notate("chess", None, "wxf", &["e4"]),
        &["chess", "xiangqi"],
    );
}
