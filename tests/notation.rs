//! Move texts (RULES.md §6): what is printed is what is read, of every legal move of every form; examples, one a line of
//! `data/notation.jsonl`; what else is read, and what is refused with which words.
#[path = "support/crowds.rs"]
mod crowds;
#[path = "support/hidden_games.rs"]
mod hidden_games;

use std::collections::HashMap;

use crowds::{crowd, rotated};
use hidden_games::{COLORS, Walk, form, forms_and_variants};
use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{Fault, Move, Notation, Position, Reveal, Ruleset};
use serde_json::Value;

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

/// Every legal move's text is its own, and is read as that move, also by its looks.
fn check_texts(position: &Position) {
    let moves = legal(position);
    for notation in Notation::ALL {
        let mut texts = HashMap::new();
        for &mv in &moves {
            let text = notation.print(position, mv).unwrap();
            let read = notation.parse(position, &text);
            let expected = Ok((mv, Reveal::default()));
            assert_eq!(read, expected, "{notation} {text} in {position:?}");
            if let Some(other) = texts.insert(text.clone(), mv) {
                panic!("{notation} {text} is both {mv} and {other} in {position:?}");
            }
            if notation != Notation::Uci {
                let looks = Notation::recognise(&text).unwrap();
                assert_eq!(looks.parse(position, &text), read, "{text} {position:?}");
            }
        }
    }
}

/// The same with what a move may bring to light.
fn check_reveals(position: &Position, rng: &mut Pcg64Mcg) {
    let Some(&mv) = legal(position).choose(rng) else {
        return;
    };
    let (mut next, mut reveals) = (*position, Vec::new());
    next.play(mv);
    next.reveals(&mut reveals);
    for (reveal, _) in reveals {
        for notation in Notation::ALL {
            let text = notation.print_revealed(position, mv, reveal).unwrap();
            let read = notation.parse(position, &text);
            assert_eq!(read, Ok((mv, reveal)), "{notation} {text} in {position:?}");
        }
    }
}

/// Seen from the other side of the board, WXF says the same.
fn check_rotated(position: &Position) {
    let texts = |p: &Position, goes: fn(Move) -> Move| {
        let text = |mv| (goes(mv).to_string(), Notation::Wxf.print(p, mv).unwrap());
        let mut all: Vec<_> = legal(p).into_iter().map(text).collect();
        all.sort();
        all
    };
    let (other, turn) = rotated(position);
    assert_eq!(
        texts(position, turn),
        texts(&other, |mv| mv),
        "{position:?}"
    );
}

/// Random games of every form, as each player sees them.
fn check_games(seed: u64, plies: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    for rules in forms_and_variants() {
        Walk::start(rules, seed).on(plies, |walk| {
            let positions = COLORS.map(|viewer| *walk.position(viewer));
            positions.iter().for_each(check_texts);
            if positions.iter().all(|p| p.arranging().is_none()) {
                let seen = positions.choose(&mut rng).unwrap();
                check_rotated(seen);
                check_reveals(seen, &mut rng);
            }
        });
    }
}

/// Positions with many pieces of one name on few files.
fn check_crowds(seed: u64, positions: usize) {
    let mut numbered = 0;
    for rules in Ruleset::all() {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut left = positions;
        while left > 0 {
            let Some(position) = crowd(rules, &mut rng) else {
                continue;
            };
            left -= 1;
            check_texts(&position);
            check_rotated(&position);
            check_reveals(&position, &mut rng);
            let text = |mv| Notation::Chinese.print(&position, mv).unwrap();
            let by_place = |mv: &Move| "一二三四五六七八九十".contains(&text(*mv)[..3]);
            numbered += legal(&position).iter().filter(|mv| by_place(mv)).count();
        }
    }
    assert!(numbered > positions, "{numbered} moves of numbered pieces");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_is_printed_is_read(seed: u64) {
        check_games(seed, 40);
    }

    #[test]
    fn what_is_printed_of_crowded_files_is_read(seed: u64) {
        check_crowds(seed, 12);
    }
}

#[test]
#[ignore = "minutes; run with --release"]
fn what_is_printed_is_read_in_many_games() {
    for seed in 0..8 {
        check_games(seed, 300);
    }
    check_crowds(1, 1000);
}

/// A line of examples: every notation prints the move so and reads it so.
fn check_example(case: &Value) {
    let rules = form(case["form"].as_str().unwrap());
    let position = Position::from_fen(rules, case["fen"].as_str().unwrap()).unwrap();
    let of = |notation: Notation| case[notation.name()].as_str().unwrap();
    let (mv, reveal) = Notation::Coordinates
        .parse(&position, of(Notation::Coordinates))
        .unwrap_or_else(|e| panic!("{case}: {e}"));
    for notation in Notation::ALL {
        let printed = notation.print_revealed(&position, mv, reveal);
        assert_eq!(printed.as_deref(), Ok(of(notation)), "{case}");
        let read = notation.parse(&position, of(notation));
        assert_eq!(read, Ok((mv, reveal)), "{case}");
    }
}

#[test]
fn examples() {
    for line in include_str!("data/notation.jsonl").lines() {
        check_example(&serde_json::from_str(line).unwrap());
    }
}

/// The shared examples: WXF and four characters, of which five are read but printed in four.
#[test]
fn shared_examples() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/notation.jsonl"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        return eprintln!("skipped: {path} is not there");
    };
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let of = |key: &str| case[key].as_str().unwrap();
        let position = Position::from_fen(form("xiangqi"), of("fen")).unwrap();
        let mv: Move = of("ucci").parse().unwrap();
        assert_eq!(Notation::Wxf.print(&position, mv).as_deref(), Ok(of("wxf")));
        let (chinese, remark) = of("chinese").split_once(' ').unwrap_or((of("chinese"), ""));
        let read = Notation::Chinese.parse(&position, chinese);
        assert_eq!(read, Ok((mv, Reveal::default())), "{case}");
        if remark.is_empty() {
            assert_eq!(
                Notation::Chinese.print(&position, mv).as_deref(),
                Ok(chinese)
            );
        }
    }
}

const START: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
const DEALT: &str = "xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w";
/// Two horses on a file, three pawns on another.
const TANDEM: &str = "3k5/6P2/6P2/6P2/9/1N7/9/9/9/1N2K4 w";
const TWO_FILES: &str = "5k3/9/3P5/3P1P1P1/5P3/9/9/9/9/4K4 w";

#[test]
fn liberal_spellings_are_read() {
    let check = |form_name: &str, fen: &str, texts: &[&str], mv: &str| {
        let position = Position::from_fen(form(form_name), fen).unwrap();
        let mv = Notation::Coordinates.parse(&position, mv).unwrap();
        for text in texts {
            let notation = Notation::recognise(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                notation.parse(&position, text),
                Ok(mv),
                "{text} as {notation}"
            );
        }
    };
    let cannon = [
        "炮二平五",
        "砲二平五",
        "包二平五",
        "炮2平5",
        "炮二平5",
        "炮２平５",
        "炮２＝５",
        "炮25",
        "炮二五",
        " 炮 二 平 五 ",
        "C2=5",
        "c2=5",
        "C2.5",
        "C.2=5",
        "Ｃ２＝５",
        "H2-E2",
        "h2-e2",
        "H2E2",
        "ｈ２ｅ２",
        "h2－e2",
    ];
    check("xiangqi", START, &cannon, "h2e2");
    let horse = [
        "马二进三",
        "馬二進三",
        "傌二进三",
        "馬２進３",
        "马2+3",
        "H2+3",
        "N2+3",
        "n2+3",
        "H.2+3",
    ];
    check("xiangqi", START, &horse, "h0g2");
    check(
        "xiangqi",
        START,
        &["相七进五", "象7进5", "E7+5", "B7+5", "e7+5"],
        "c0e2",
    );
    check(
        "xiangqi",
        START,
        &["帥五進一", "将5进1", "K5+1", "G5+1"],
        "e0e1",
    );
    check("xiangqi", START, &["仕六进五", "士6进5", "A6+5"], "d0e1");
    check("xiangqi", START, &["俥九進一", "車九进一", "R9+1"], "a0a1");
    let black = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b";
    check(
        "xiangqi",
        black,
        &["马8进7", "馬八進七", "傌８进７", "H8+7", "h8+7"],
        "h9g7",
    );
    check("xiangqi", black, &["卒3进1", "兵三进一", "P3+1"], "c6c5");
    let front = [
        "前马进七",
        "前馬進七",
        "马前进七",
        "H++7",
        "+H+7",
        "N++7",
        "前马+7",
    ];
    check("xiangqi", TANDEM, &front, "b4c6");
    let rear = [
        "后马进七",
        "後馬進七",
        "H-+7",
        "-H+7",
        "h-+7",
        "二马进七",
        "Hb+7",
    ];
    check("xiangqi", TANDEM, &rear, "b0c2");
    let middle = [
        "中兵平四",
        "中兵4",
        "二兵平四",
        "2兵平四",
        "23=4",
        "P23=4",
        "P.=4",
        "Pb=4",
        "中兵三平四",
    ];
    check("xiangqi", TANDEM, &middle, "g7f7");
    check(
        "xiangqi",
        TANDEM,
        &["后兵平四", "三兵平四", "后兵三平四", "33=4", "P-=4", "-P=4"],
        "g6f6",
    );
    let rear = [
        "后兵六平五",
        "後兵六平五",
        "四兵平五",
        "二兵六平五",
        "26=5",
        "Pd=5",
        "P26=5",
    ];
    check("xiangqi", TWO_FILES, &rear, "d6e6");
    // Of the two pawns in front only one can go there.
    check("xiangqi", TWO_FILES, &["前兵平七", "前兵六平七"], "d7c7");
    let turned = [
        "马二进三变车",
        "馬二進三變車",
        "马2+3=车",
        "马二进三=俥",
        "H2+3=R",
        "h2+3=r",
        "h0g2=r",
        "H0-G2=R",
    ];
    check("fanqi-10", DEALT, &turned, "h0g2=R");
    let cannon = "3k5/9/9/9/9/9/9/9/9/4K3C w";
    let laid = [
        "炮一平三变相",
        "砲一平三變象",
        "炮1=3~相",
        "炮13~相",
        "炮13~",
        "C1=3~E",
        "i0g0~",
        "Ｉ0-G0～",
    ];
    check("fanqi-10", cannon, &laid, "i0g0~");
    let known = "3k5/9/9/9/9/9/9/9/9/1R~2K4 w";
    check(
        "fanqi-1",
        known,
        &["马八进七", "马八进七变车", "H8+7", "b0c2=R"],
        "b0c2",
    );
}

#[test]
fn texts_that_are_no_legal_move_say_why() {
    use Notation::{Chinese, Coordinates, Iccs, Short, Uci, Wxf};
    let check =
        |form_name: &str, fen: &str, (notation, text): (Notation, &str), fault, words: &[&str]| {
            let position = Position::from_fen(form(form_name), fen).unwrap();
            let error = notation.parse(&position, text).unwrap_err();
            let said = error.to_string();
            assert_eq!(error.fault, fault, "{said}");
            assert!(said.contains(text.trim()), "{said}");
            words
                .iter()
                .for_each(|word| assert!(said.contains(word), "no {word} in: {said}"));
        };
    let start = |at, fault, words| check("xiangqi", START, at, fault, words);
    for notation in Notation::ALL {
        for text in [
            "",
            "x",
            "炮",
            "h2",
            "e2e2",
            "h2e2e4",
            "z2e2",
            "炮二平",
            "C2=0",
            "C2=55=5",
            "h2e2=X",
        ] {
            let words = [notation.name()];
            check(
                "xiangqi",
                START,
                (notation, text),
                Fault::Unreadable,
                &words,
            );
        }
    }
    start((Coordinates, "C2=5"), Fault::Unreadable, &["h2e2"]);
    start((Wxf, "h2e2"), Fault::Unreadable, &["C2=5"]);
    start((Uci, "h0e2"), Fault::Unreadable, &["ranks 1-10"]);
    start((Coordinates, "h3e3"), Fault::Illegal, &["h3"]);
    start(
        (Coordinates, "h9g7"),
        Fault::Illegal,
        &["no piece of Red's side", "h9"],
    );
    start(
        (Iccs, "A0-A3"),
        Fault::Illegal,
        &["a3 holds a piece of the same side"],
    );
    start((Chinese, "炮三平五"), Fault::NoPiece, &["炮 (C)", "file 3"]);
    start((Chinese, "前炮平五"), Fault::NoPiece, &["share a file"]);
    start((Wxf, "C+=5"), Fault::NoPiece, &["share a file"]);
    start(
        (Chinese, "马二进八"),
        Fault::Illegal,
        &["马 (N) on h0 never goes so"],
    );
    start((Chinese, "车一平二"), Fault::Illegal, &["h0 holds a piece"]);
    start(
        (Chinese, "车一进九"),
        Fault::Illegal,
        &["cannot go from i0 to i9"],
    );
    start(
        (Chinese, "炮二平五变马"),
        Fault::Illegal,
        &["no home square"],
    );
    start((Wxf, "C2=5=R"), Fault::Reveal, &["face up", "车 (R)"]);
    start((Coordinates, "h2e2xN"), Fault::Reveal, &["takes nothing"]);
    start((Short, "炮2+7x车"), Fault::Reveal, &["face up"]);
    check(
        "xiangqi",
        "3k5/9/9/9/9/9/9/9/9/R3K4 w",
        (Chinese, "马二进三"),
        Fault::NoPiece,
        &["not on the board"],
    );
    check(
        "xiangqi",
        TANDEM,
        (Chinese, "五兵平四"),
        Fault::NoPiece,
        &["only"],
    );
    check(
        "xiangqi",
        TANDEM,
        (Chinese, "马八进七"),
        Fault::Ambiguous,
        &["b0c2", "b4c6", "前"],
    );
    let front = "5k3/9/9/3P1P3/3P1P3/9/9/9/9/4K4 w";
    check(
        "xiangqi",
        front,
        (Chinese, "前兵平五"),
        Fault::Ambiguous,
        &["d6e6", "f6e6"],
    );
    let cannon = "3k5/9/9/9/9/9/9/9/9/4K3C w";
    check(
        "fanqi-10",
        cannon,
        (Chinese, "炮一平三变马"),
        Fault::Illegal,
        &["fake 相 (B)"],
    );
    check(
        "fanqi-10",
        cannon,
        (Chinese, "炮一平六变仕"),
        Fault::Illegal,
        &["i0", "d0"],
    );
    check(
        "jieqi",
        cannon,
        (Chinese, "炮一平三变相"),
        Fault::Illegal,
        &["cannot be laid down"],
    );
    check(
        "fanqi-1",
        cannon,
        (Coordinates, "i0i5~"),
        Fault::Illegal,
        &["cannot be laid down"],
    );
    let known = "3k5/9/9/9/9/9/9/9/9/1R~2K4 w";
    check(
        "fanqi-1",
        known,
        (Chinese, "马八进七变炮"),
        Fault::Reveal,
        &["车 (R)", "炮 (C)"],
    );
    let few = "3k5/9/9/9/9/9/9/9/9/1X2K4 w R1 0 1";
    check(
        "fanqi-10",
        few,
        (Chinese, "马八进七变炮"),
        Fault::Reveal,
        &["none of Red's 炮 (C) is left"],
    );
    let arranging = format!("{DEALT} A2B2N2R2C2P5a2b2n2r2c2p5 0 1 red");
    for at in [(Chinese, "马二进三"), (Coordinates, "h0g2"), (Wxf, "R@b0")] {
        check("fanqi-9", &arranging, at, Fault::Illegal, &["placed on a0"]);
    }
}

#[test]
fn illegal_moves_have_no_text() {
    let position = Position::start(form("xiangqi"));
    for text in ["h2h2", "a0a9", "h2e2~", "R@a0", "h9g7"] {
        let mv: Move = text.parse().unwrap_or_default();
        for notation in Notation::ALL {
            let error = notation.print(&position, mv).unwrap_err().to_string();
            assert!(error.contains("is not legal in"), "{error}");
        }
    }
}

#[test]
fn notations_have_names() {
    for notation in Notation::ALL {
        assert_eq!(notation.to_string().parse(), Ok(notation));
    }
    assert_eq!("ucci".parse(), Ok(Notation::Coordinates));
    let error = "san".parse::<Notation>().unwrap_err().to_string();
    assert!(
        error.contains("'san'") && error.contains("chinese"),
        "{error}"
    );
}

const SIGNS: &str = "abcdefghi0123456789kabnrcpehKABNRCPx=~@-+. 帅将仕士相象马馬车車炮砲兵卒\
    一二三四五六七八九十进退平前中后後变變１９＋－＝～\u{3000}\u{0}\u{fffd}…🀄";

/// A text with characters exchanged, left out or added.
fn changed(text: &str, rng: &mut Pcg64Mcg) -> String {
    let signs: Vec<char> = SIGNS.chars().collect();
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..rng.random_range(1..=2) {
        let sign = *signs.choose(rng).unwrap();
        let at = rng.random_range(0..=chars.len());
        match rng.random_range(0..3) {
            0 => chars.insert(at, sign),
            _ if at == chars.len() => {}
            1 => chars[at] = sign,
            _ => drop(chars.remove(at)),
        }
    }
    chars.into_iter().collect()
}

/// Whatever is read is a legal move, which has a text; no text makes a panic.
fn check_any(position: &Position, text: &str) -> usize {
    let _ = Notation::recognise(text);
    let mut read = 0;
    for notation in Notation::ALL {
        match notation.parse(position, text) {
            Ok((mv, reveal)) => {
                let again = notation.print_revealed(position, mv, reveal).unwrap();
                let back = notation.parse(position, &again);
                assert_eq!(
                    back,
                    Ok((mv, reveal)),
                    "{text:?} is {again} in {position:?}"
                );
                read += 1;
            }
            Err(error) => assert!(error.to_string().len() < 500, "{error}"),
        }
    }
    read
}

/// Feeds `bytes` bytes of changed texts and random ones to the readers.
fn fuzz(seed: u64, bytes: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let forms = forms_and_variants();
    let (mut fed, mut read) = (0, 0);
    while fed < bytes {
        let plies = rng.random_range(0..100);
        let walk = Walk::after(forms.choose(&mut rng).unwrap(), rng.random(), plies);
        let position = *walk.position(*COLORS.choose(&mut rng).unwrap());
        let moves = legal(&position);
        for _ in 0..300 {
            let text = match (moves.choose(&mut rng), rng.random_range(0..4)) {
                (Some(&mv), 0..3) => {
                    let notation = Notation::ALL.choose(&mut rng).unwrap();
                    changed(&notation.print(&position, mv).unwrap(), &mut rng)
                }
                _ => {
                    let mut noise = vec![0; rng.random_range(0..40)];
                    rng.fill_bytes(&mut noise);
                    String::from_utf8_lossy(&noise).into_owned()
                }
            };
            fed += text.len();
            read += check_any(&position, &text);
        }
    }
    assert!(read * 1000 > bytes / 10, "{read} texts were still read");
}

#[test]
fn changed_texts_are_refused_or_legal_moves() {
    fuzz(1, 60_000);
    // One text that never ends.
    let long = "炮二平五".repeat(100_000);
    check_any(&Position::start(form("xiangqi")), &long);
}

#[test]
#[ignore = "minutes; run with --release"]
fn ten_megabytes_of_changed_texts_are_refused_or_legal_moves() {
    fuzz(2, 10 << 20);
}
