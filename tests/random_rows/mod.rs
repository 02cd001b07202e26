//! Rows that keep all laws and are otherwise random, for tests of what stores them.
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::policy;
use selfplay::record::{DOWN, HOMES, IDENTITY_SHIFT, RECORD_BYTES, Rows, at};

/// `games` games from id `first_game` on, of 1..=`plies` rows each, of 1..=`moves` legal moves each.
pub fn random_rows(seed: u64, first_game: u64, games: u64, plies: u16, moves: usize) -> Rows {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut rows = Rows::default();
    for game in first_game..first_game + games {
        let length = rng.random_range(1..=plies);
        for ply in 0..length {
            push_row(&mut rng, &mut rows, moves);
            rows.game.push(game);
            rows.ply.push(ply);
            rows.plies_left.push(length - ply);
        }
    }
    rows
}

fn push_row(rng: &mut Pcg64Mcg, rows: &mut Rows, moves: usize) {
    let mut record = [0; RECORD_BYTES];
    for square in &mut record[..policy::SQUARES] {
        let code = rng.random_range(2..=7) + 8 * rng.random_range(0..=1);
        let known = DOWN | rng.random_range(2..=7) << IDENTITY_SHIFT;
        *square = match rng.random_range(0..10) {
            0..2 => code,
            2 => code | known,
            _ => 0,
        };
    }
    let mut truth = [0; HOMES.len()];
    for (kind, home) in truth.iter_mut().zip(HOMES) {
        if rng.random_bool(0.3) {
            record[home as usize] = rng.random_range(2..=7) | DOWN;
            *kind = rng.random_range(2..=7);
        }
    }
    rows.truth.push(truth);
    record[at::NO_CAPTURE] = rng.random();
    record[at::LAST_FROM] = rng.random_range(0..90);
    record[at::LAST_TO] = if rng.random_bool(0.1) {
        u8::MAX
    } else {
        rng.random_range(0..90)
    };
    record[at::PLACING] = u8::MAX;
    rows.records.push(record);
    let count = rng.random_range(1..=moves);
    let mut left = u16::MAX;
    for k in 0..count {
        let index = loop {
            let index = rng.random_range(0..policy::INDICES as u16);
            if policy::squares(index).is_some() {
                break index;
            }
        };
        let prob = if k + 1 == count {
            left
        } else {
            rng.random_range(0..=left)
        };
        left -= prob;
        rows.policy_index.push(index);
        rows.policy_prob.push(prob);
    }
    rows.policy_end.push(rows.policy_index.len() as u64);
    rows.policy_weight.push(rng.random_range(0..=1));
    let win: f32 = rng.random_range(0.0..0.6);
    rows.search_wdl.push([win, 0.3, 0.7 - win]);
    rows.outcome.push(rng.random_range(0..=2));
    rows.net_step.push(rng.random());
}
