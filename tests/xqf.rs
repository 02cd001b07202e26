//! XQF files: the game that the format's author printed, scrambled ones, damaged ones.
mod binary;

use binary::{fanqi, stderr};
use play::line::Line;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Outcome};
use selfplay::rules::{Notation, Position, Ruleset};
use train::records::{RecordedGame, xqf};

/// The pieces' squares at the start.
const MEN: [u8; 32] = [
    80, 70, 60, 50, 40, 30, 20, 10, 0, 72, 12, 83, 63, 43, 23, 3, //
    9, 19, 29, 39, 49, 59, 69, 79, 89, 17, 77, 6, 26, 46, 66, 86,
];

/// Starts and ends of the moves of the example in the description of version 10, as its file has them.
const EXAMPLE: [(u8, u8); 16] = [
    (0x2F, 0x38),
    (0x67, 0x63),
    (0x57, 0x60),
    (0x29, 0x3B),
    (0x2C, 0x4A),
    (0x2B, 0x27),
    (0x22, 0x36),
    (0x21, 0x33),
    (0x18, 0x2A),
    (0x2B, 0x2F),
    (0x24, 0x22),
    (0x27, 0x6B),
    (0x60, 0x6D),
    (0x33, 0x6D),
    (0x5E, 0x5E),
    (0x71, 0x6F),
];

/// The same moves as it prints them.
const PRINTED: &str = "兵七进一 马8进7 兵三进一 炮2平3 相七进五 马2进1 马八进七 车1平2 \
                       车九平八 车2进4 炮八平九 车2平8 炮二进五 炮3平8 马二进三 车9平8";

/// Bytes of a file before the moves.
fn head(version: u8) -> Vec<u8> {
    let mut head = vec![0; 1024];
    head[..3].copy_from_slice(&[b'X', b'Q', version]);
    head[16..48].copy_from_slice(&MEN);
    head[0x33] = 2;
    for (at, text) in [(0x50, "仙人指路"), (0x130, "柳大华"), (0x140, "吕  钦")] {
        let (bytes, ..) = encoding_rs::GBK.encode(text);
        head[at] = bytes.len() as u8;
        head[at + 1..=at + bytes.len()].copy_from_slice(&bytes);
    }
    head
}

/// The example as a file of version 10; a comment stands behind its second move.
fn example() -> Vec<u8> {
    let mut file = head(10);
    file.extend([0x18, 0x20, 0xF0, 0xFF, 0, 0, 0, 0]);
    for (i, (from, to)) in EXAMPLE.into_iter().enumerate() {
        let more = if i + 1 < EXAMPLE.len() { 0xF0 } else { 0 };
        let comment: &[u8] = if i == 1 { b"well" } else { b"" };
        file.extend([from, to, more, 0, comment.len() as u8, 0, 0, 0]);
        file.extend(comment);
    }
    file
}

/// The scrambling's polynomial, step by step as others write it.
fn times(key: u8, factor: u8) -> u8 {
    let square = key.wrapping_mul(key);
    let steps = [(3, 9), (3, 8), (2, 1), (3, 8)];
    let sum = steps.iter().fold(square, |sum, &(times, plus)| {
        sum.wrapping_mul(times).wrapping_add(plus)
    });
    sum.wrapping_mul(factor)
}

/// How a later version scrambles.
#[derive(Clone, Copy, Debug)]
struct Scrambling {
    version: u8,
    mask: u8,
    ors: [u8; 4],
    keys: [u8; 4],
}

impl Scrambling {
    /// The example, with a comment behind its second move and a variation to its fourth behind the last.
    fn example(self) -> Vec<u8> {
        let [sum, men, from, to] = self.keys;
        let mut file = head(self.version);
        (file[3], file[51]) = (self.mask, 2);
        file[8..12].copy_from_slice(&self.ors);
        file[12..16].copy_from_slice(&self.keys);
        let comment_key = (u32::from(sum) * 256 + u32::from(men)) % 32_000 + 767;
        let men = times(men, men);
        let from = times(from, men);
        let to = times(to, from);
        let turn = if self.version >= 12 {
            usize::from(men) + 1
        } else {
            0
        };
        for i in 0..32 {
            file[16 + i] = MEN[(i + turn) % 32].wrapping_add(men);
        }
        let mut step = |(start, end): (u8, u8), flags: u8, comment: &str| {
            let mut bytes = vec![start.wrapping_add(from), end.wrapping_add(to), flags, 0];
            if !comment.is_empty() {
                bytes[2] |= 0x20;
                bytes.extend((comment.len() as u32 + comment_key).to_le_bytes());
                bytes.extend(comment.bytes());
            }
            for byte in bytes {
                let at = file.len() % 32;
                let key = self.keys[at % 4] & self.mask | self.ors[at % 4];
                let text = b"[(C) Copyright Mr. Dong Shiwei.]";
                file.push(byte.wrapping_add(text[at] & key));
            }
        };
        step((0x18, 0x20), 0x80, "a comment on the start");
        for (i, &squares) in EXAMPLE.iter().enumerate() {
            let more = if i + 1 < EXAMPLE.len() { 0x80 } else { 0 };
            let flags = more | if i == 3 { 0x40 } else { 0 };
            step(squares, flags, if i == 1 { "well" } else { "" });
        }
        step((0x29, 0x28), 0, "");
        file
    }
}

fn chinese(game: &RecordedGame) -> String {
    let fen = game.tag("FEN").expect("a start");
    let mut line = Line::start(&Ruleset::XIANGQI, Some(fen)).expect("a start");
    let mut texts = Vec::new();
    for mv in &game.moves {
        let played = line.play(Notation::Coordinates, &mv.text).expect("legal");
        texts.push(played.text(Notation::Chinese).expect("a text"));
    }
    texts.join(" ")
}

fn check(game: &RecordedGame) {
    assert_eq!(game.fault, None);
    assert_eq!(chinese(game), PRINTED);
    assert_eq!(
        game.tag("FEN"),
        Some(Position::start(&Ruleset::XIANGQI).fen().as_str())
    );
    assert_eq!(game.outcome, Some(Outcome::Win(Color::Black)));
    let tags = ["Title", "Red", "Black"].map(|name| game.tag(name).unwrap_or_default());
    assert_eq!(tags, ["仙人指路", "柳大华", "吕  钦"]);
}

#[test]
fn the_example_of_the_description_is_read() {
    check(&xqf::game(&example()));
}

#[test]
fn later_versions_are_unscrambled() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for version in [11, 12, 15, 16, 18, 19] {
        for _ in 0..50 {
            let scrambling = Scrambling {
                version,
                mask: rng.random(),
                ors: rng.random(),
                keys: rng.random(),
            };
            check(&xqf::game(&scrambling.example()));
        }
    }
}

#[test]
fn a_position_of_black_to_move_is_read() {
    let mut file = head(10);
    file[16..48].fill(255);
    (file[16], file[16 + 4], file[32], file[32 + 4]) = (3, 40, 5, 49);
    file.extend([0x18, 0x20, 0xF0, 0xFF, 0, 0, 0, 0]);
    // The rook on a5 takes the one on a3.
    file.extend([5 + 24, 3 + 32, 0, 0, 0, 0, 0, 0]);
    let game = xqf::game(&file);
    assert_eq!(game.tag("FEN"), Some("4k4/9/9/9/r8/9/R8/9/9/4K4 b - - 0 1"));
    assert_eq!(game.moves[0].text, "a5a3");
}

#[test]
fn damaged_files_are_blamed_and_never_panic() {
    let whole = example();
    for length in 0..whole.len() {
        let game = xqf::game(&whole[..length]);
        let fault = game.fault.unwrap_or_else(|| panic!("{length} bytes"));
        assert!(
            fault.contains("XQF") && fault.contains("cut off"),
            "{fault}"
        );
    }
    let mut twice = whole.clone();
    twice[17] = twice[16];
    let fault = xqf::game(&twice).fault.expect("a fault");
    assert!(fault.contains("two pieces stand on i0"), "{fault}");
    let mut outside = whole.clone();
    outside[1024 + 8] = 24 + 99;
    let fault = xqf::game(&outside).fault.expect("a fault");
    assert!(fault.contains("move 1 leaves the board"), "{fault}");
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    for _ in 0..20_000 {
        let mut file = whole.clone();
        file[2] = rng.random_range(1..32);
        for _ in 0..rng.random_range(1..40) {
            let at = rng.random_range(3..file.len());
            file[at] = rng.random();
        }
        xqf::game(&file);
    }
}

#[test]
fn the_binary_imports_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cut) = (
        folder.path().join("game.xqf"),
        folder.path().join("cut.XQF"),
    );
    std::fs::write(&path, example()).expect("written");
    std::fs::write(&cut, &example()[..1100]).expect("written");
    let mut import = fanqi(["records", "import"]);
    import
        .args([&path, &cut])
        .arg("--out")
        .arg(folder.path().join("out.h5"));
    let output = import.output().expect("it starts");
    let said = stderr(&output);
    assert!(
        said.contains("cut.XQF: game 1") && said.contains("cut off"),
        "{said}"
    );
    assert_eq!(
        binary::stdout(&output),
        "2 games read: 1 used whole, 0 in part, 1 not; 16 rows written\n"
    );
}
