//! The sequential test: error rates by simulation, laws, numbers of an independent computation.
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{Binomial, DiscreteCDF};
use train::rating::Pairs;
use train::rating::sprt::{Sprt, SprtError, Verdict};

/// A game's half points: so much stronger by Elo's curve, this share drawn between equals, decided by luck.
fn halves(elo: f64, draw_rate: f64, luck: f64) -> usize {
    let score = 1.0 / (1.0 + 10_f64.powf(-elo / 400.0));
    // The share of draws shrinks with the score's distance from 1/2, and leaves the score as it is.
    let draw = draw_rate * 4.0 * score * (1.0 - score);
    let loss = 1.0 - score - draw / 2.0;
    usize::from(luck >= loss) + usize::from(luck >= loss + draw)
}

/// Plays a test to its end; the second game of a pair goes against the first with probability `opposed`.
fn play(test: &Sprt, elo: f64, draw_rate: f64, opposed: f64, rng: &mut Pcg64Mcg) -> (Verdict, u32) {
    let mut pairs = Pairs::default();
    for count in 1.. {
        let (luck, other): (f64, f64) = (rng.random(), rng.random());
        let second = if rng.random_bool(opposed) {
            1.0 - luck
        } else {
            other
        };
        pairs[halves(elo, draw_rate, luck) + halves(elo, draw_rate, second)] += 1;
        let verdict = test.state(&pairs).verdict;
        if verdict != Verdict::Continue {
            return (verdict, count);
        }
    }
    unreachable!("a test without end");
}

/// Checks that the rates of both errors are at most `alpha` and `beta`: more errors than simulated happen
/// by chance more than once in 10^8.
fn check_errors(elo0: f64, elo1: f64, alpha: f64, beta: f64, draw_rate: f64, opposed: f64) {
    const SIMULATIONS: u64 = 1000;
    let test = Sprt::new(elo0, elo1, alpha, beta).expect("a test");
    let mut rng = Pcg64Mcg::seed_from_u64(19);
    for (elo, wrong, rate) in [
        (elo0, Verdict::AcceptH1, alpha),
        (elo1, Verdict::AcceptH0, beta),
    ] {
        let (mut errors, mut pairs) = (0, 0);
        for _ in 0..SIMULATIONS {
            let (verdict, count) = play(&test, elo, draw_rate, opposed, &mut rng);
            errors += u64::from(verdict == wrong);
            pairs += u64::from(count);
        }
        let label = format!("{elo0}..{elo1}, draws {draw_rate}, opposed {opposed}, at {elo}");
        eprintln!(
            "{label}: {errors} of {SIMULATIONS} wrong, {} pairs",
            pairs / SIMULATIONS
        );
        let chance = Binomial::new(rate, SIMULATIONS)
            .expect("a distribution")
            .sf(errors.max(1) - 1);
        assert!(chance > 1e-8, "{label}: {errors} of {SIMULATIONS} wrong");
    }
}

#[test]
fn error_rates_are_at_most_alpha_and_beta() {
    check_errors(0.0, 30.0, 0.05, 0.05, 0.3, 0.0);
    check_errors(0.0, 50.0, 0.05, 0.05, 0.0, 0.0);
    check_errors(0.0, 50.0, 0.05, 0.05, 0.6, 0.5);
    check_errors(-30.0, 30.0, 0.05, 0.2, 0.3, 0.8);
    check_errors(0.0, 100.0, 0.05, 0.05, 0.3, 0.0);
    check_errors(0.0, 200.0, 0.1, 0.01, 0.3, 0.3);
}

#[test]
fn exchanging_the_players_exchanges_the_hypotheses() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    for _ in 0..200 {
        let pairs: Pairs = std::array::from_fn(|_| rng.random_range(0..40));
        let (elo0, width): (f64, f64) =
            (rng.random_range(-100.0..100.0), rng.random_range(1.0..80.0));
        let mut reversed = pairs;
        reversed.reverse();
        let test = Sprt::new(elo0, elo0 + width, 0.05, 0.1).expect("a test");
        let mirror = Sprt::new(-elo0 - width, -elo0, 0.1, 0.05).expect("a test");
        let (a, b) = (test.state(&pairs), mirror.state(&reversed));
        assert!(
            (a.llr + b.llr).abs() < 1e-6 * (1.0 + a.llr.abs()),
            "{pairs:?} {a:?} {b:?}"
        );
        assert!((a.lower + b.upper).abs() < 1e-9 && (a.upper + b.lower).abs() < 1e-9);
    }
}

/// Checks a ratio against one computed independently (the constrained multinomials with numpy and scipy's brentq),
/// and the verdict at error rates of 5 %.
fn check(pairs: Pairs, elo0: f64, elo1: f64, llr: f64, verdict: Verdict) {
    let state = Sprt::new(elo0, elo1, 0.05, 0.05)
        .expect("a test")
        .state(&pairs);
    assert!(
        (state.llr - llr).abs() < 1e-6,
        "{pairs:?} {elo0} {elo1}: {}",
        state.llr
    );
    assert_eq!(state.verdict, verdict, "{pairs:?} {elo0} {elo1}");
    assert!((state.upper - 19_f64.ln()).abs() < 1e-12 && (state.lower + 19_f64.ln()).abs() < 1e-12);
}

#[test]
fn examples() {
    check([0, 0, 0, 0, 0], 0.0, 5.0, 0.0, Verdict::Continue);
    check(
        [253, 1245, 2113, 1341, 248],
        0.0,
        5.0,
        0.363_766_809,
        Verdict::Continue,
    );
    check(
        [10, 40, 90, 60, 20],
        0.0,
        20.0,
        3.174_578_744,
        Verdict::AcceptH1,
    );
    check(
        [0, 0, 9, 0, 0],
        0.0,
        50.0,
        -1.380_789_941,
        Verdict::Continue,
    );
    check(
        [0, 2, 5, 9, 4],
        -10.0,
        30.0,
        2.235_582_785,
        Verdict::Continue,
    );
    check(
        [0, 0, 0, 0, 8],
        0.0,
        100.0,
        1.976_104_858,
        Verdict::Continue,
    );
}

#[test]
fn senseless_tests_are_refused() {
    for (elo0, elo1) in [(5.0, 0.0), (0.0, 0.0), (f64::NAN, 5.0), (0.0, 1e9)] {
        let error = Sprt::new(elo0, elo1, 0.05, 0.05).expect_err("refused");
        let expected = format!(
            "elo0 {elo0} and elo1 {elo1}: expected two Elo differences within ±2000, elo0 below elo1"
        );
        assert_eq!(error.to_string(), expected);
    }
    for (alpha, beta) in [(0.0, 0.05), (0.05, 0.5), (f64::NAN, 0.05)] {
        let error = Sprt::new(0.0, 5.0, alpha, beta).expect_err("refused");
        assert!(matches!(error, SprtError::ErrorRates { .. }));
    }
}
