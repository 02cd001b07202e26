//! What the network reads is what the tables of `selfplay::expand` say of a record.
mod model_rows;

use half::bf16;
use model::expand::{GLOBALS, Input, InputBuffer, PLANES};
use model::params::to_vec;
use model_rows::{eval_batch, record, rng};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::expand::expand;
use selfplay::game::{Color, Features, Referee};
use selfplay::policy::SQUARES;
use selfplay::record::{self as codec, DOWN, OTHER, RECORD_BYTES, Record, at};
use selfplay::rules::{Ruleset, World};
use tch::{Device, Kind};

/// `[plane][square]` and the globals.
fn read(record: &Record) -> (Vec<Vec<f32>>, Vec<f32>) {
    let (mut planes, mut globals) = (vec![9.0; SQUARES * PLANES], vec![9.0; GLOBALS]);
    expand(&[*record], &mut planes, &mut globals, |x| x);
    let plane = |p: usize| (0..SQUARES).map(|s| planes[s * PLANES + p]).collect();
    ((0..PLANES).map(plane).collect(), globals)
}

/// A record with the bytes of `bytes` gives just `planes`, as (plane, square), besides the last plane of ones,
/// and just `globals`, as (global, value), besides those of the empty record: an open form, nothing to place.
fn check(bytes: &[(usize, u8)], planes: &[(usize, usize)], globals: &[(usize, f32)]) {
    let mut record = [0; RECORD_BYTES];
    for byte in [at::LAST_FROM, at::LAST_TO, at::PLACING] {
        record[byte] = u8::MAX;
    }
    bytes.iter().for_each(|&(at, byte)| record[at] = byte);
    let (mut expected, mut numbers) = (vec![vec![0.0; SQUARES]; PLANES], vec![0.0; GLOBALS]);
    expected[32].fill(1.0);
    numbers[16] = 1.0;
    for &(plane, square) in planes {
        expected[plane][square] = 1.0;
    }
    for &(global, value) in globals {
        numbers[global] = value;
    }
    assert_eq!(read(&record), (expected, numbers), "{bytes:?}");
}

#[test]
fn planes_and_globals_are_as_the_tables_say() {
    check(&[], &[], &[]);
    // Face up: an own K, an opponent's K and C.
    check(
        &[(4, 1), (85, 9), (60, 14)],
        &[(0, 4), (7, 85), (12, 60)],
        &[],
    );
    // Face down and unknown: an own piece that plays as R, an opponent's that plays as P.
    check(
        &[(0, DOWN | 5), (62, DOWN | OTHER | 7)],
        &[(4, 0), (17, 0), (13, 62), (18, 62)],
        &[],
    );
    // Face down and known: an own A that plays as N, an opponent's P that plays as C.
    check(
        &[(1, DOWN | 2 << 4 | 4), (70, DOWN | OTHER | 7 << 4 | 6)],
        &[(3, 1), (17, 1), (19, 1), (12, 70), (18, 70), (30, 70)],
        &[],
    );
    // The same A, which the opponent does not know.
    check(
        &[(1, DOWN | 2 << 4 | 4), (at::SECRETS, 2)],
        &[(3, 1), (17, 1), (19, 1), (31, 1)],
        &[],
    );
    check(
        &[(at::SECRETS + 11, 2), (at::SECRETS + 1, 128)],
        &[(31, 89), (31, 15)],
        &[],
    );
    check(
        &[(at::LAST_FROM, 7), (at::LAST_TO, 89)],
        &[(14, 7), (15, 89)],
        &[],
    );
    check(&[(at::PLACING, 35)], &[(16, 35)], &[(5, 1.0)]);
    check(
        &[(at::NO_CAPTURE, 30), (at::NO_CAPTURE_LIMIT, 120)],
        &[],
        &[(0, 0.25), (34, 1.0)],
    );
    check(
        &[(at::NO_CAPTURE, 90), (at::NO_CAPTURE_LIMIT, 60)],
        &[],
        &[(0, 1.0), (34, 0.5)],
    );
    check(&[(at::NO_CAPTURE, 90)], &[], &[]);
    check(&[(at::REPETITIONS, 1)], &[], &[(1, 1.0)]);
    check(&[(at::REPETITIONS, 2)], &[], &[(1, 1.0), (2, 1.0)]);
    check(&[(at::IN_CHECK, 1)], &[], &[(3, 1.0)]);
    for (bit, global) in [(1, 4), (2, 6), (4, 7)] {
        check(&[(at::FLAGS, bit)], &[], &[(global, 1.0)]);
    }
    for kind in 1..7 {
        check(&[(at::TAKES_PART, 1 << kind)], &[], &[(9 + kind, 1.0)]);
        let set = if kind == 6 { 5.0 } else { 2.0 };
        check(&[(at::OWN_POOL + kind, 1)], &[], &[(21 + kind, 1.0 / set)]);
        check(
            &[(at::OTHER_POOL + kind, 2)],
            &[],
            &[(27 + kind, 2.0 / set)],
        );
    }
    check(&[(at::ROAMS, 2)], &[], &[(8, 1.0)]);
    check(&[(at::ROAMS, 4)], &[], &[(9, 1.0)]);
    for layout in 1..4 {
        check(
            &[(at::SECRECY, layout)],
            &[],
            &[(16, 0.0), (16 + layout as usize, 1.0)],
        );
    }
    check(&[(at::SECRECY, 1 << 2)], &[], &[(20, 1.0)]);
    check(&[(at::SECRECY, 2 << 2)], &[], &[(21, 1.0)]);
    check(&[(at::REPETITION_RULE, 1)], &[], &[(35, 1.0)]);
    check(&[(at::REPETITION_RULE, 2)], &[], &[(35, 2.0)]);
}

/// The planes of a square's byte, one question at a time.
fn planes_of(byte: u8) -> Vec<usize> {
    let (is_down, other, kind, identity) = (byte >= 128, byte / 8 % 2, byte % 8, byte / 16 % 8);
    let is_piece = if is_down {
        identity != 1
    } else {
        identity == 0
    };
    if kind == 0 || !is_piece {
        return Vec::new();
    }
    let (other, kind, identity) = (other as usize, kind as usize, identity as usize);
    let mut planes = vec![7 * other + kind - 1];
    planes.extend(is_down.then_some(17 + other));
    planes.extend((identity > 1).then(|| 19 + 6 * other + identity - 2));
    planes
}

#[test]
fn every_byte_of_a_square_is_read_on_every_square() {
    for byte in 0..=255 {
        for square in [0, 44, 89] {
            let planes: Vec<_> = planes_of(byte).into_iter().map(|p| (p, square)).collect();
            check(&[(square, byte)], &planes, &[]);
        }
    }
}

#[test]
fn the_forms_are_told_apart_at_the_start_and_by_both_players() {
    let mut seen: Vec<(&str, Vec<f32>)> = Vec::new();
    for rules in Ruleset::all() {
        let world = World::start(rules, &mut Pcg64Mcg::seed_from_u64(1));
        let mut record = [0; RECORD_BYTES];
        for viewer in [Color::Red, Color::Black] {
            world
                .view(viewer)
                .record(world.history(viewer), &mut record);
            let (planes, globals) = read(&record);
            let pieces: f32 = planes[..14].iter().flatten().sum();
            let kings: f32 = planes[0].iter().chain(&planes[7]).sum();
            assert!(
                (2.0..=32.0).contains(&pieces) && kings == 2.0,
                "{}",
                rules.name
            );
            assert!(globals[34] * 120.0 == rules.no_capture_plies as f32);
            seen.push((rules.name, globals[6..].to_vec()));
        }
    }
    for (name, globals) in &seen {
        let same = |other: &&(&str, Vec<f32>)| &other.1 == globals;
        assert!(
            seen.iter().filter(same).all(|(other, _)| other == name),
            "{name}"
        );
    }
}

fn input(kind: Kind, records: &[Record]) -> Input {
    InputBuffer::new(kind, Device::Cpu).fill(records).unwrap()
}

#[test]
fn a_mirrored_record_has_mirrored_planes_and_the_same_globals() {
    let batch = eval_batch(32, 1);
    let mut mirrored = batch.records.clone();
    mirrored.iter_mut().for_each(codec::mirror);
    let (a, b) = (
        input(Kind::Float, &batch.records),
        input(Kind::Float, &mirrored),
    );
    assert!(a.planes.flip([3]) == b.planes && a.globals == b.globals);
    assert!(a.planes != b.planes);
}

#[test]
fn a_buffer_used_again_holds_nothing_of_before_in_any_precision() {
    let mut rng = rng(3);
    for kind in [Kind::Float, Kind::BFloat16, Kind::Half] {
        let mut buffer = InputBuffer::new(kind, Device::Cpu);
        for rows in [5, 2, 9, 1] {
            let records: Vec<_> = (0..rows).map(|_| record(&mut rng)).collect();
            let (got, exact) = (buffer.fill(&records).unwrap(), input(Kind::Float, &records));
            assert_eq!(got.planes.size(), [rows, PLANES as i64, 10, 9]);
            assert_eq!(got.globals.size(), [rows, GLOBALS as i64]);
            assert!(got.planes == exact.planes.to_kind(kind));
            assert!(got.globals == exact.globals.to_kind(kind));
        }
    }
    assert_eq!(
        bf16::from_f32(1.0).to_f32(),
        to_vec(&input(Kind::BFloat16, &[[0; 128]]).globals).unwrap()[16]
    );
}
