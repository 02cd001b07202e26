//! Speed of the rules core: `cargo bench -p selfplay --bench rules`.
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use selfplay::game::{Features, Game};
use selfplay::record::RECORD_BYTES;
use selfplay::rules::{History, Position, Ruleset, View};

/// The start, a crowded middle game with checks and pins, an end game.
const POSITIONS: [(&str, &str); 3] = [
    (
        "start",
        "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
    ),
    (
        "middle",
        "1rbaka2R/5r3/6n2/2p1p1p2/4P1bP1/PpC3Bc1/1nPR2P2/2N2AN2/1c2K1p2/2BAC4 w",
    ),
    ("end", "5a3/3k5/3aR4/9/5r3/5n3/9/3A1A3/5K3/2BC2B2 w"),
];

fn rules(c: &mut Criterion) {
    let rules = Ruleset::by_name("xiangqi").expect("it is built in");
    for (name, fen) in POSITIONS {
        let position = Position::from_fen(rules, fen).expect("a sound position");
        let (view, history) = (View::new(position), History::default());
        let (mut moves, mut record) = (Vec::new(), [0; RECORD_BYTES]);
        c.bench_function(&format!("legal_moves/{name}"), |b| {
            b.iter(|| black_box(&position).legal_moves(&mut moves));
        });
        c.bench_function(&format!("turn/{name}"), |b| {
            b.iter(|| black_box(&view).turn(&history))
        });
        c.bench_function(&format!("record/{name}"), |b| {
            b.iter(|| black_box(&view).record(&history, &mut record));
        });
        c.bench_function(&format!("perft3/{name}"), |b| {
            b.iter(|| black_box(&position).perft(3))
        });
    }
}

criterion_group!(benches, rules);
criterion_main!(benches);
