//! The replay window against a plain list of all rows, and the bucket against its law.
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use selfplay::policy;
use selfplay::record::{self, Rows};
use train::replay::{Pick, Replay, ReplayBucket, ReplayConfig, RowTotals};
use train::samples::{self, SamplesConfig, ShardHead};

mod random_rows;
use random_rows::random_rows;

fn config() -> ReplayConfig {
    ReplayConfig {
        min_rows: 100,
        max_rows: 1000,
        growth_slope: 0.4,
        growth_exponent: 0.75,
        policy_entries_per_row: 64,
        ratio: 4.0,
        burst_rows: 0,
        held_out_share: 0.1,
        held_out_rows: 50,
        mirror: true,
    }
}

fn cases(n: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(n)
    }
}

/// Row `i` of `rows`, alone.
fn row(rows: &Rows, i: usize) -> Rows {
    let range = rows.policy_range(i);
    Rows {
        records: vec![rows.records[i]],
        policy_end: vec![range.len() as u64],
        policy_index: rows.policy_index[range.clone()].to_vec(),
        policy_prob: rows.policy_prob[range].to_vec(),
        policy_weight: vec![rows.policy_weight[i]],
        search_wdl: vec![rows.search_wdl[i]],
        outcome: vec![rows.outcome[i]],
        plies_left: vec![rows.plies_left[i]],
        truth: vec![rows.truth[i]],
        game: vec![rows.game[i]],
        ply: vec![rows.ply[i]],
        net_step: vec![rows.net_step[i]],
    }
}

/// All rows ever pushed, training and held-out ones.
#[derive(Default)]
struct Model {
    training: Rows,
    held_out: Rows,
}

impl Model {
    fn push(&mut self, rows: &Rows, config: &ReplayConfig) {
        for i in 0..rows.len() {
            let held_out = config.is_held_out(rows.game[i]);
            if held_out {
                &mut self.held_out
            } else {
                &mut self.training
            }
            .append(&row(rows, i));
        }
    }

    /// The longest tail of at most `rows` rows and `entries` moves.
    fn tail(all: &Rows, rows: u64, entries: u64) -> u64 {
        let (mut n, mut moves) = (0, 0);
        while n < rows.min(all.len() as u64) {
            moves += all.policy_range(all.len() - 1 - n as usize).len() as u64;
            if moves > entries {
                break;
            }
            n += 1;
        }
        n
    }
}

fn check_against_model(replay: &Replay, model: &Model, c: &ReplayConfig) {
    let total = model.training.len() as u64;
    let entries = |rows: u64| (rows * c.policy_entries_per_row).max(policy::INDICES as u64);
    let held = Model::tail(&model.training, c.max_rows, entries(c.max_rows));
    assert_eq!(
        replay.totals(),
        RowTotals {
            training: total,
            held_out: model.held_out.len() as u64
        }
    );
    assert_eq!(replay.window_rows(), c.window_rows(total).min(held));
    let mut out = Rows::default();
    for row_id in total - replay.window_rows()..total {
        replay.fill(
            &[Pick {
                row: row_id,
                mirror: false,
            }],
            &mut out,
        );
        assert_eq!(out, row(&model.training, row_id as usize));
    }
    let n = Model::tail(&model.held_out, c.held_out_rows, entries(c.held_out_rows));
    assert_eq!(replay.held_out_rows(), n);
    for i in 0..n {
        replay.fill_held_out(i..i + 1, &mut out);
        assert_eq!(
            out,
            row(&model.held_out, model.held_out.len() - (n - i) as usize)
        );
    }
}

proptest! {
    #![proptest_config(cases(40))]
    #[test]
    fn the_window_holds_the_last_rows_in_order(
        seed: u64, batches in 1u64..8, games in 1u64..40, moves in 1usize..90,
        max_rows in 100u64..600, per_row in 1u64..60,
    ) {
        let c = ReplayConfig { max_rows, policy_entries_per_row: per_row, ..config() };
        let (mut replay, mut model) = (Replay::new(&c).unwrap(), Model::default());
        let mut totals = RowTotals::default();
        for k in 0..batches {
            let rows = random_rows(seed ^ k, k * games, games, 20, moves);
            replay.push(&rows);
            totals.add(c.totals_of(&rows.game));
            prop_assert_eq!(replay.totals(), totals);
            model.push(&rows, &c);
            check_against_model(&replay, &model, &c);
        }
    }

    #[test]
    fn a_restored_replay_is_the_one_that_was_killed(seed: u64, batches in 1u64..12, max_rows in 100u64..600, per_row in 8u64..60) {
        let c = ReplayConfig { max_rows, policy_entries_per_row: per_row, ..config() };
        let folder = tempfile::tempdir().unwrap();
        let head = ShardHead { run: "a".into(), form: "xiangqi".into(), ruleset: String::new() };
        let samples_config = SamplesConfig { shard_rows: 1, chunk_rows: 64, gzip_level: 1 };
        let (mut replay, mut model, mut shards) = (Replay::new(&c).unwrap(), Model::default(), Vec::new());
        for k in 0..batches {
            let rows = random_rows(seed ^ k, k * 30, 30, 10, 40);
            shards.push(folder.path().join(format!("{k}.h5")));
            samples::write(&shards[k as usize], &rows, &head, &samples_config).unwrap();
            replay.push(&rows);
            model.push(&rows, &c);
        }
        let mut again = Replay::new(&c).unwrap();
        again.restore(&shards, replay.totals(), "xiangqi").unwrap();
        check_against_model(&again, &model, &c);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        replay.pick(seed, 7, 64, &mut a);
        again.pick(seed, 7, 64, &mut b);
        prop_assert_eq!(a, b);
    }

    #[test]
    fn the_window_grows_and_stays_within_bounds(min in 1u64..1000, slope in 0.0f64..=1.0, exponent in 0.01f64..=1.0, steps in prop::collection::vec(1u64..5000, 1..30)) {
        let c = ReplayConfig { min_rows: min, max_rows: 20_000, growth_slope: slope, growth_exponent: exponent, ..config() };
        let (mut total, mut last) = (0, 0);
        prop_assert_eq!(c.window_rows(min), min);
        for step in steps {
            total += step;
            let rows = c.window_rows(total);
            prop_assert!(rows >= last && rows >= total.min(min) && rows <= total && rows <= c.max_rows);
            last = rows;
        }
    }

    #[test]
    fn training_never_outruns_the_ratio(ratio in 0.05f64..8.0, burst in 0u64..500, events in prop::collection::vec((0u64..300, 1u64..200), 1..100)) {
        let c = ReplayConfig { ratio, burst_rows: burst, ..config() };
        let (mut bucket, mut made, mut trained) = (ReplayBucket::default(), 0, 0);
        for (new, batch) in events {
            made += new;
            bucket.made(made, &c);
            prop_assert!(burst == 0 || bucket.available(&c) <= burst);
            while bucket.take(batch, &c) {
                trained += batch;
                prop_assert!(made >= c.min_rows);
            }
            prop_assert!(trained as f64 <= ratio * made as f64);
            // Nothing is left lying: what may not be trained now is less than a batch, or it is too early.
            prop_assert!(made < c.min_rows || bucket.available(&c) < batch);
            prop_assert!(burst > 0 || made < c.min_rows || trained as f64 + (batch as f64) > ratio * made as f64 - 1.0);
        }
    }
}

fn filled(c: &ReplayConfig) -> (Replay, Rows) {
    let mut replay = Replay::new(c).unwrap();
    let rows = random_rows(3, 0, 100, 40, 40);
    replay.push(&rows);
    (replay, rows)
}

#[test]
fn picks_depend_on_seed_and_step_alone() {
    let (replay, _) = filled(&config());
    let pick = |seed, step| {
        let mut out = vec![Pick {
            row: 9,
            mirror: true,
        }];
        replay.pick(seed, step, 100, &mut out);
        out
    };
    assert_eq!(pick(1, 1).len(), 100);
    assert_eq!(pick(1, 1), pick(1, 1));
    assert_ne!(pick(1, 1), pick(1, 2));
    assert_ne!(pick(1, 1), pick(2, 1));
    let mut none = Vec::new();
    Replay::new(&config()).unwrap().pick(1, 1, 100, &mut none);
    assert!(none.is_empty());
}

#[test]
fn picks_are_uniform_over_the_window() {
    let (replay, _) = filled(&config());
    let (window, total) = (replay.window_rows(), replay.totals().training);
    assert!(window > 200 && window < total);
    let (mut counts, mut mirrored, mut picks) = (vec![0u32; window as usize], 0, Vec::new());
    let mean = 200.0;
    let steps = (mean * window as f64 / 100.0).round() as u64;
    for step in 0..steps {
        replay.pick(5, step, 100, &mut picks);
        for p in &picks {
            counts[(p.row - (total - window)) as usize] += 1;
            mirrored += u64::from(p.mirror);
        }
    }
    // Pearson's statistic has mean k and deviation sqrt(2 k); five deviations are allowed.
    let n = (steps * 100) as f64;
    let expected = n / window as f64;
    let chi2: f64 = counts
        .iter()
        .map(|&c| (f64::from(c) - expected).powi(2) / expected)
        .sum();
    let k = window as f64 - 1.0;
    assert!(
        (chi2 - k).abs() < 5.0 * (2.0 * k).sqrt(),
        "chi2 {chi2} of {k}"
    );
    assert!(
        (mirrored as f64 - n / 2.0).abs() < 5.0 * n.sqrt() / 2.0,
        "{mirrored} of {n} mirrored"
    );
}

#[test]
fn a_mirrored_row_is_the_mirror_image() {
    let (replay, _) = filled(&config());
    let row = replay.totals().training - 5;
    let (mut plain, mut mirrored) = (Rows::default(), Rows::default());
    replay.fill(&[Pick { row, mirror: false }], &mut plain);
    replay.fill(&[Pick { row, mirror: true }], &mut mirrored);
    assert_ne!(plain, mirrored);
    record::mirror(&mut mirrored.records[0]);
    mirrored.truth[0] = selfplay::record::mirror_truth(&mirrored.truth[0]);
    mirrored
        .policy_index
        .iter_mut()
        .for_each(|i| *i = policy::mirror(*i));
    assert_eq!(plain, mirrored);
}

#[test]
fn about_the_share_of_games_is_held_out() {
    let check = |share: f64, least: usize, most: usize| {
        let c = ReplayConfig {
            held_out_share: share,
            ..config()
        };
        let n = (0..100_000).filter(|&g| c.is_held_out(g)).count();
        assert!((least..=most).contains(&n), "{n} of 100000 at {share}");
    };
    check(0.0, 0, 0);
    check(0.1, 9_500, 10_500);
    check(0.029, 2_600, 3_200);
}

#[test]
fn too_large_a_window_is_an_error_that_names_its_keys() {
    let check = |max_rows, held_out_rows, policy_entries_per_row, lower: &str| {
        let c = ReplayConfig {
            max_rows,
            held_out_rows,
            policy_entries_per_row,
            ..config()
        };
        let error = Replay::new(&c).unwrap_err();
        let keys = [
            format!("`replay.max_rows` = {max_rows}, "),
            format!("`replay.held_out_rows` = {held_out_rows} "),
            format!("`replay.policy_entries_per_row` = {policy_entries_per_row} "),
            format!("{:.1} GB", c.memory_bytes() as f64 / 1e9),
            format!("; lower `replay.{lower}`"),
        ];
        for words in keys {
            assert!(error.contains(&words), "{error}: {words}");
        }
    };
    check(1_000_000_000, 1, 512, "max_rows");
    check(1, 1_000_000_000, 512, "held_out_rows");
    check(1 << 50, 1, 64, "max_rows");
    check(u64::MAX, u64::MAX, u64::MAX, "max_rows");
}

/// Not a test: reserves a window that this process may not have, when started by one.
#[test]
fn glutton() {
    if std::env::var_os("FANQI_TEST_GLUTTON").is_some() {
        let c = ReplayConfig {
            max_rows: 10_000_000,
            ..config()
        };
        println!("refused: {}", Replay::new(&c).unwrap_err());
    }
}

#[test]
fn memory_that_the_system_does_not_give_is_an_error() {
    let out = std::process::Command::new("bash")
        .args([
            "-c",
            "ulimit -v 3000000; exec \"$0\" --exact glutton --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("FANQI_TEST_GLUTTON", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    let refused = "refused: no memory for the replay window: `replay.max_rows` = 10000000";
    assert!(out.status.success() && text.contains(refused), "{text}");
}

/// Resident memory of this process, in bytes.
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn filling_the_window_does_not_grow_the_process() {
    let c = ReplayConfig {
        max_rows: 200_000,
        held_out_rows: 20_000,
        ..config()
    };
    let mut replay = Replay::new(&c).unwrap();
    let Some(before) = resident() else {
        eprintln!("skipped: no /proc/self/statm here");
        return;
    };
    assert!(
        before > c.memory_bytes(),
        "{before} resident, {} reserved",
        c.memory_bytes()
    );
    let rows = random_rows(3, 0, 100, 40, 90);
    while replay.totals().training < 2 * c.max_rows {
        replay.push(&rows);
    }
    let grown = resident().unwrap().saturating_sub(before);
    // Other tests run beside it and need a few megabytes.
    assert!(
        grown < c.memory_bytes() / 4,
        "{grown} more of {}",
        c.memory_bytes()
    );
}
