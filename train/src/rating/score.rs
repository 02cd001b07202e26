//! Score, Elo difference and their 95 % intervals from games played in pairs.
//!
//! A pair is one opening played twice with colours exchanged; its score, the mean of the two games, is one
//! observation in 0..=1. The two games share an opening and so depend on each other, the pairs do not: all
//! variance is taken between pairs, never between games (the pentanomial model).
//!
//! The interval is Wilson's score interval (Wilson 1927) at the effective sample size of a clustered
//! proportion (Korn and Graubard 1998), with Student's t for the normal quantile. With `N` pairs of mean score
//! `m`, `t` the quantile of `N - 1` degrees of freedom (at least 1), and `m'`, `v'` the mean and variance of
//! the pairs after one pseudo-pair was added, spread evenly over the five pair scores:
//!
//! ```text
//! n = N m' (1 - m') / v'
//! (m + t^2 / 2n  ±  t sqrt(m (1 - m) / n + t^2 / 4n^2)) / (1 + t^2 / n)
//! ```
//!
//! An unpaired game counts as half a pair, with its own score.
//!
//! For many pairs and `m` away from 0 and 1 this is `m ± t sqrt(variance / N)`. It stays within 0..=1, and the
//! pseudo-pair keeps its width above zero where all pairs scored alike: at a full score, `n` is about `1.3 N`
//! and the lower end near `1 - 3 / N`.
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Score of a pair by its place in [`Pairs`]: the mean of two games of 0, 1/2 or 1.
pub(super) const PAIR_SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Number of pairs that brought 0, 1/2, 1, 3/2 and 2 points.
pub type Pairs = [u32; 5];

/// The two ends of a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval<T> {
    /// 2.5 % lie below.
    pub lower: T,
    /// 2.5 % lie above.
    pub upper: T,
}

/// What a match says about the difference in strength, seen from the first player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Number of games, twice the number of pairs.
    pub games: u32,
    /// Mean score of a game, 0..=1; 0.5 where none was played.
    pub score: f64,
    /// 95 % interval of the score, within 0..=1.
    pub score_interval: Interval<f64>,
    /// Elo difference of the score, `None` where it is infinite (a score of 0 or 1).
    pub elo: Option<f64>,
    /// The score's interval as Elo, `None` where an end is infinite.
    pub elo_interval: Interval<Option<f64>>,
}

impl Rating {
    /// The rating of a match's pairs.
    pub fn of(pairs: &Pairs) -> Self {
        let score = mean(&pairs.map(f64::from)).unwrap_or(0.5);
        let score_interval = score_interval(pairs, &[0; 3]);
        Rating {
            games: 2 * pairs.iter().sum::<u32>(),
            score,
            score_interval,
            elo: elo(score),
            elo_interval: Interval {
                lower: elo(score_interval.lower),
                upper: elo(score_interval.upper),
            },
        }
    }

    /// The Elo difference as text; a full score, whose Elo is infinite, shows the interval's finite end.
    pub fn elo_text(&self) -> String {
        match (self.elo, self.elo_interval.lower, self.elo_interval.upper) {
            (Some(elo), _, _) => format!("{elo:+.0}"),
            (None, Some(lower), _) => format!("> {lower:+.0}"),
            (None, None, Some(upper)) => format!("< {upper:+.0}"),
            (None, None, None) => "?".to_owned(),
        }
    }
}

impl Display for Interval<f64> {
    /// As a percentage.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}..{:.1}", 100.0 * self.lower, 100.0 * self.upper)
    }
}

impl Display for Interval<Option<f64>> {
    /// As Elo.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lower {
            Some(elo) => write!(f, "{elo:+.0}..")?,
            None => f.write_str("-inf..")?,
        }
        match self.upper {
            Some(elo) => write!(f, "{elo:+.0}"),
            None => f.write_str("+inf"),
        }
    }
}

/// Elo difference at which the first player is expected to score `score`, in 0..=1:
/// `400 log10(score / (1 - score))` (Elo 1978); `None` at 0 and 1.
pub fn elo(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| 400.0 * (score / (1.0 - score)).log10())
}

/// Mean score of weighted pairs; `None` without any.
fn mean(weights: &[f64; 5]) -> Option<f64> {
    let total: f64 = weights.iter().sum();
    let sum: f64 = weights.iter().zip(PAIR_SCORES).map(|(w, s)| w * s).sum();
    (total > 0.0).then(|| sum / total)
}

/// The 95 % interval of the module's head for pairs and unpaired games, lost, drawn and won; 0..=1 without any.
pub(super) fn score_interval(pairs: &Pairs, singles: &[u32; 3]) -> Interval<f64> {
    // (score, size in pairs, number, number with the pseudo-pair)
    let pairs =
        (pairs.iter().zip(PAIR_SCORES)).map(|(&n, s)| (s, 1.0, f64::from(n), f64::from(n) + 0.2));
    let singles =
        (singles.iter().zip([0.0, 0.5, 1.0])).map(|(&n, s)| (s, 0.5, f64::from(n), f64::from(n)));
    let seen: Vec<_> = pairs.chain(singles).collect();
    let clusters: f64 = seen.iter().map(|(_, _, n, _)| n).sum();
    if clusters == 0.0 {
        return Interval {
            lower: 0.0,
            upper: 1.0,
        };
    }
    let size: f64 = seen.iter().map(|(_, size, n, _)| size * n).sum();
    let m = seen.iter().map(|(s, size, n, _)| s * size * n).sum::<f64>() / size;
    let padded_mean = seen.iter().map(|(s, size, _, n)| s * size * n).sum::<f64>() / (size + 1.0);
    let squares: f64 = seen
        .iter()
        .map(|(s, size, _, n)| n * (size * (s - padded_mean)).powi(2))
        .sum();
    // The pseudo-pair has taken the place of the degree of freedom that the mean used up.
    let n = size * size * padded_mean * (1.0 - padded_mean) / squares;

    let t = t_quantile(clusters - 1.0);
    let centre = m + t * t / (2.0 * n);
    let half = t * (m * (1.0 - m) / n + t * t / (4.0 * n * n)).sqrt();
    let scale = 1.0 + t * t / n;
    // At a score of 0 and 1 the near end is that score; rounding must not leave a huge finite Elo there.
    Interval {
        lower: if m == 0.0 {
            0.0
        } else {
            ((centre - half) / scale).max(0.0)
        },
        upper: if m == 1.0 {
            1.0
        } else {
            ((centre + half) / scale).min(1.0)
        },
    }
}

/// 97.5 % quantile of Student's t with `freedom` degrees, at least 1.
fn t_quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}
