//! The engine: it survives whatever stands on its input, and says nothing but its protocol.
#[path = "support/talk.rs"]
mod talk;

use play::engine::Protocol;
use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use talk::{Talk, is_protocol, model};

/// One of the commands with something in it changed.
fn mutated(rng: &mut Pcg64Mcg) -> Vec<u8> {
    const COMMANDS: [&str; 24] = [
        "uci",
        "ucci",
        "isready",
        "ucinewgame",
        "setoption name UCI_Variant value jieqi",
        "setoption name UCI_Variant value fanqi-9",
        "setoption name UCI_Ranks value 1-10",
        "setoption name MultiPV value 3",
        "setoption name Hash value 1",
        "setoption newgame",
        "setoption usemillisec true",
        "position startpos moves h2e2 h9g7 h0g2",
        "position startpos moves h3e3 h10g8",
        "position startpos moves R@a0 N@b0",
        "position fen xxxxkxxxx/9/1x5x1/x1x1x1x1x/9/9/X1X1X1X1X/1X5X1/9/XXXXKXXXX w A2B2N2R2C2P5a2b2n2r2c2p5 0 1 moves h2e2=R h7h0=CxN",
        "position fen 3k5/9/9/9/9/9/9/9/4R4/5K3 w - - 0 1 moves e1d1 d9e9 d1e1 e9d9 e1d1 d9e9 d1e1 e9d9",
        "banmoves h2e2 b2e2",
        "go nodes 3 searchmoves h2e2",
        "go wtime 1 btime 1 winc 0 binc 0 movestogo 1",
        "go time 1 increment 0 opptime 1",
        "go infinite",
        "go ponder movetime 1",
        "ponderhit",
        "stop",
    ];
    let mut bytes = COMMANDS.choose(rng).expect("commands").as_bytes().to_vec();
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..=bytes.len());
        match rng.random_range(0..5) {
            0 => bytes.insert(at, rng.random()),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] = rng.random(),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ => {
                let other = COMMANDS.choose(rng).expect("commands").split(' ');
                let words: Vec<_> = other.collect();
                let word = words.choose(rng).expect("words");
                bytes.splice(at..at, word.bytes().chain([b' ']));
            }
        }
    }
    bytes.push(b'\n');
    bytes
}

/// So many bytes of garbage and of changed commands are read to the end, with an answer to each `go` at most.
fn fuzz(protocol: Protocol, seed: u64, bytes: usize) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut talk, mut read) = (Talk::new(protocol, Some(model())), 0);
    while read < bytes {
        let mut text = Vec::new();
        for _ in 0..20 {
            if rng.random_bool(0.2) {
                let length = rng.random_range(0..200);
                text.extend((0..length).map(|_| rng.random::<u8>()));
            }
            text.extend(mutated(&mut rng));
        }
        read += text.len();
        let ended = talk.session.run(&text[..]);
        assert!(ended.is_ok());
        for line in talk.said() {
            assert!(is_protocol(protocol, &line), "{line:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn garbage_is_survived(seed: u64, ucci: bool) {
        fuzz(if ucci { Protocol::Ucci } else { Protocol::Uci }, seed, 4000);
    }
}

#[test]
#[ignore = "minutes; run with --release"]
fn ten_megabytes_of_garbage_are_survived() {
    fuzz(Protocol::Uci, 1, 10_000_000);
    fuzz(Protocol::Ucci, 2, 10_000_000);
}

#[test]
fn long_and_strange_lines_are_survived() {
    let check = |text: &[u8], answer: &str| {
        let mut talk = Talk::new(Protocol::Uci, Some(model()));
        assert!(talk.session.run(text).is_ok());
        let said = talk.said();
        assert!(said.iter().any(|line| line.contains(answer)), "{said:?}");
        assert!(said.iter().all(|line| line.len() < 5000));
    };
    let long = |letter: u8, length: usize| vec![letter; length];
    let ready = b"\nisready".to_vec();
    check(&[long(b'x', 1 << 20), ready.clone()].concat(), "readyok");
    check(&[long(b'x', 5 << 20), ready.clone()].concat(), "not read");
    check(&[long(b'x', 5 << 20), ready.clone()].concat(), "readyok");
    check(&[long(0, 1 << 20), ready.clone()].concat(), "readyok");
    check(&[long(b' ', 1 << 20), ready.clone()].concat(), "readyok");
    check(b"isready\r\n", "readyok");
    check(b"  isready \t \n", "readyok");
    let shuttle = b"position startpos moves ".to_vec();
    let moves = b"h0g2 h9g7 g2h0 g7h9 ".repeat(20_000);
    let go = b"\ngo nodes 3\n".to_vec();
    check(&[shuttle, moves, go].concat(), "bestmove");
    check(
        b"go wtime 99999999999999999999999 btime -5 depth 1",
        "bestmove",
    );
    check(b"go movetime soon", "'soon' is no whole number");
}
