//! Ratings: the interval covers the truth, uses the pairs' variance, and Elo is the logistic map.
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use train::rating::{Pairs, Rating, elo};

/// Points of one game in halves, drawn with the given probabilities.
fn game(win: f64, draw: f64, rng: &mut Pcg64Mcg) -> usize {
    let x: f64 = rng.random();
    if x < win {
        2
    } else {
        usize::from(x < win + draw)
    }
}

/// A match of `count` pairs whose second game repeats the first with probability `repeat`.
fn simulate(count: u32, win: f64, draw: f64, repeat: f64, rng: &mut Pcg64Mcg) -> Pairs {
    let mut pairs = Pairs::default();
    for _ in 0..count {
        let first = game(win, draw, rng);
        let second = if rng.random_bool(repeat) {
            first
        } else {
            game(win, draw, rng)
        };
        pairs[first + second] += 1;
    }
    pairs
}

/// Share of simulated matches whose interval covers the true score.
fn coverage(count: u32, win: f64, draw: f64, repeat: f64) -> f64 {
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    let truth = win + draw / 2.0;
    let covered = (0..4000)
        .filter(|_| {
            let interval = Rating::of(&simulate(count, win, draw, repeat, &mut rng)).score_interval;
            interval.lower <= truth && truth <= interval.upper
        })
        .count();
    covered as f64 / 4000.0
}

#[test]
fn the_interval_covers_the_truth() {
    // (pairs, win, draw, second game repeats the first, least and greatest coverage)
    for (count, win, draw, repeat, least, greatest) in [
        (50, 0.5, 0.0, 0.0, 0.94, 0.97),
        (50, 0.3, 0.4, 0.0, 0.94, 0.97),
        (50, 0.3, 0.4, 0.8, 0.94, 0.97),
        (50, 0.6, 0.2, 0.3, 0.94, 0.97),
        (200, 0.4, 0.5, 0.0, 0.94, 0.97),
        (10, 0.4, 0.4, 0.0, 0.94, 0.98),
        (50, 0.9, 0.05, 0.0, 0.94, 0.98),
        (50, 0.97, 0.01, 0.5, 0.94, 0.99),
        (50, 0.99, 0.01, 0.0, 0.95, 1.0),
        (4, 0.5, 0.2, 0.0, 0.94, 1.0),
    ] {
        let share = coverage(count, win, draw, repeat);
        eprintln!("{count} pairs, win {win}, draw {draw}, repeat {repeat}: {share}");
        assert!(
            (least..=greatest).contains(&share),
            "{count} pairs, win {win}, draw {draw}, repeat {repeat}: covers {share}"
        );
    }
}

/// Width of the score's interval.
fn width(pairs: Pairs) -> f64 {
    let interval = Rating::of(&pairs).score_interval;
    interval.upper - interval.lower
}

#[test]
fn the_variance_is_taken_between_pairs() {
    // 50 wins and 50 losses each: always one of each in a pair, independent, always alike.
    let (cancelling, independent, alike) =
        ([0, 0, 50, 0, 0], [12, 0, 26, 0, 12], [25, 0, 0, 0, 25]);
    assert!(width(cancelling) < 0.05);
    assert!(width(cancelling) > 0.0);
    assert!(width(independent) > 2.0 * width(cancelling));
    assert!(width(alike) > 1.3 * width(independent));
}

#[test]
fn the_interval_is_sane_for_every_small_match() {
    for code in 0..4_u32.pow(5) {
        let pairs: Pairs = std::array::from_fn(|i| code / 4_u32.pow(i as u32) % 4);
        let rating = Rating::of(&pairs);
        let interval = rating.score_interval;
        assert!(
            0.0 <= interval.lower && interval.upper <= 1.0,
            "{pairs:?} {interval:?}"
        );
        assert!(
            interval.lower <= rating.score && rating.score <= interval.upper,
            "{pairs:?} {interval:?}"
        );
        assert!(
            interval.upper - interval.lower > 0.01,
            "{pairs:?} {interval:?}"
        );

        assert_eq!(interval.upper == 1.0, pairs[..4] == [0; 4], "{pairs:?}");

        let mut reversed = pairs;
        reversed.reverse();
        let mirror = Rating::of(&reversed).score_interval;
        assert!(
            (mirror.lower + interval.upper - 1.0).abs() < 1e-9,
            "{pairs:?}"
        );
        assert!(
            (mirror.upper + interval.lower - 1.0).abs() < 1e-9,
            "{pairs:?}"
        );
    }
}

#[test]
fn more_pairs_narrow_the_interval() {
    for pairs in [
        [1, 2, 3, 2, 4],
        [0, 0, 0, 1, 9],
        [0, 0, 0, 0, 5],
        [0, 0, 5, 0, 0],
    ] {
        assert!(width(pairs.map(|n| 4 * n)) < width(pairs), "{pairs:?}");
    }
}

/// Checks a match's texts: score in per cent, its interval, Elo, its interval.
fn check(pairs: Pairs, expected: &str) {
    let rating = Rating::of(&pairs);
    let text = format!(
        "{:.1} {} {} {}",
        100.0 * rating.score,
        rating.score_interval,
        rating.elo_text(),
        rating.elo_interval
    );
    assert_eq!(text, expected, "{pairs:?}");
}

#[test]
fn examples() {
    check([0, 0, 0, 0, 0], "50.0 0.0..100.0 +0 -inf..+inf");
    check([0, 0, 0, 0, 50], "100.0 94.2..100.0 > +484 +484..+inf");
    check([50, 0, 0, 0, 0], "0.0 0.0..5.8 < -484 -inf..-484");
    // mean 0.645, variance between pairs 0.0589: the plain t interval would be 57.6..71.4.
    check([1, 4, 20, 15, 10], "64.5 57.3..71.1 +104 +51..+157");
    check([0, 0, 1, 0, 49], "99.0 93.4..99.9 +798 +460..+1136");
}

#[test]
fn elo_is_the_logistic_map() {
    for (score, expected) in [
        (0.5, 0.0),
        (0.75, 190.848_501_9),
        (0.25, -190.848_501_9),
        (10.0 / 11.0, 400.0),
    ] {
        let got = elo(score).expect("finite");
        assert!((got - expected).abs() < 1e-6, "{score}: {got}");
    }
    assert_eq!((elo(0.0), elo(1.0)), (None, None));
}
