//! Move texts (RULES.md §6): what else is read than what is printed, one position a line of `data/notation_spellings.jsonl`;
//! what is refused with which words, one text a line of `data/notation_errors.jsonl`; and texts changed at random.
#[path = "support/hidden_games.rs"]
mod hidden_games;

use hidden_games::{COLORS, Walk, form, forms_and_variants};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::rules::{Fault, Move, Notation, Position};
use serde_json::Value;

fn cases(lines: &str) -> impl Iterator<Item = (Value, Position)> {
    lines.lines().map(|line| {
        let case: Value = serde_json::from_str(line).unwrap();
        let rules = form(case["form"].as_str().unwrap());
        let position = Position::from_fen(rules, case["fen"].as_str().unwrap());
        (case, position.unwrap_or_else(|e| panic!("{line}: {e}")))
    })
}

#[test]
fn liberal_spellings_are_read() {
    for (case, position) in cases(include_str!("data/notation_spellings.jsonl")) {
        let mv = case["move"].as_str().unwrap();
        let mv = Notation::Coordinates.parse(&position, mv);
        for text in case["texts"].as_array().unwrap() {
            let text = text.as_str().unwrap();
            let notation = Notation::recognise(text).unwrap_or_else(|| panic!("{text}"));
            let read = notation.parse(&position, text);
            assert_eq!(read, mv, "{text} as {notation}");
        }
    }
}

#[test]
fn texts_that_are_no_legal_move_say_why() {
    for (case, position) in cases(include_str!("data/notation_errors.jsonl")) {
        let of = |key: &str| case[key].as_str().unwrap();
        let notation: Notation = of("notation").parse().unwrap();
        let error = notation.parse(&position, of("text")).unwrap_err();
        let said = error.to_string();
        assert_eq!(format!("{:?}", error.fault), of("fault"), "{said}");
        assert!(said.contains(of("text")), "{said}");
        for word in case["words"].as_array().unwrap() {
            let word = word.as_str().unwrap();
            assert!(said.contains(word), "no {word} in: {said}");
        }
    }
}

#[test]
fn texts_that_are_no_move_at_all_name_the_notation() {
    let start = Position::start(form("xiangqi"));
    let texts = "|x|炮|h2|e2e2|h2e2e4|z2e2|炮二平|C2=0|C2=55=5|h2e2=X|\u{0}|🀄";
    for notation in Notation::ALL {
        for text in texts.split('|') {
            assert_eq!(Notation::recognise(text), None, "{text}");
            let error = notation.parse(&start, text).unwrap_err();
            assert_eq!(error.fault, Fault::Unreadable, "{text}");
            assert!(error.to_string().contains(notation.name()), "{error}");
        }
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
    let (mut fed, mut read, mut moves) = (0, 0, Vec::new());
    while fed < bytes {
        let plies = rng.random_range(0..100);
        let walk = Walk::after(forms.choose(&mut rng).unwrap(), rng.random(), plies);
        let position = *walk.position(*COLORS.choose(&mut rng).unwrap());
        position.legal_moves(&mut moves);
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
