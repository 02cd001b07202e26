//! The sequential probability ratio test on pairs: playing until it is known whether a player is `elo1` stronger than
//! another or only `elo0`.
//!
//! Wald's test (Wald 1945, Annals of Mathematical Statistics 16) adds up the log-likelihood ratio of the two
//! hypotheses, accepts `elo0` at `ln(beta / (1 - alpha))` and below and `elo1` at `ln((1 - beta) / alpha)` and above.
//! How the scores of pairs are distributed is not known, only what their mean is under either hypothesis, so each
//! takes the most likely distribution with its mean: the generalised test (GSPRT), as Fishtest has it (Van den Bergh,
//! "A practical introduction to the GSPRT", GSPRT_approximation.pdf, and support_MLE_multinomial.pdf, both linked from
//! "Fishtest mathematics" in Fishtest's documentation). Among distributions over the five scores `a` with mean `s`,
//! observed with frequencies `f`, the most likely one is (proposition 1.1 of the latter)
//!
//! ```text
//! p(a) = f(a) / (1 + x (a - s)),   x the root of   sum of f(a) (a - s) / (1 + x (a - s)) = 0
//! ```
use std::fmt::{self, Display};

use serde::Serialize;
use thiserror::Error;

use super::score::{PAIR_SCORES, Pairs};

/// Greatest Elo difference a test is about: beyond, no number of games tells two apart.
const MAX_ELO: f64 = 2000.0;

/// A test of `elo0` against `elo1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// Why a test makes no sense.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SprtError {
    /// The hypotheses are not in order.
    #[error("elo0 {elo0} and elo1 {elo1}: expected two Elo differences within ±{max}, elo0 below elo1", max = MAX_ELO)]
    Elo {
        /// Elo difference under H0.
        elo0: f64,
        /// Elo difference under H1.
        elo1: f64,
    },
    /// The error rates are none.
    #[error("alpha {alpha} and beta {beta}: expected two error rates, each above 0 and below 0.5")]
    ErrorRates {
        /// Rate of accepting H1 under H0.
        alpha: f64,
        /// Rate of accepting H0 under H1.
        beta: f64,
    },
}

/// What a test says so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More games are needed.
    Continue,
    /// The difference is `elo0` rather than `elo1`.
    AcceptH0,
    /// The difference is `elo1` rather than `elo0`.
    AcceptH1,
}

/// Where a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtState {
    /// Log-likelihood ratio of `elo1` to `elo0`.
    pub llr: f64,
    /// At or below it H0 is accepted.
    pub lower: f64,
    /// At or above it H1 is accepted.
    pub upper: f64,
    /// What follows.
    pub verdict: Verdict,
}

impl Display for SprtState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SprtState {
            llr, lower, upper, ..
        } = self;
        write!(f, "LLR {llr:.2} ({lower:.2}..{upper:.2})")
    }
}

impl Sprt {
    /// H0: the player is `elo0` Elo stronger than its opponent, H1: `elo1`; both by the score, `1 / (1 +
    /// 10^(-elo/400))`. `alpha` is the greatest probability of accepting H1 under H0, `beta` that of accepting H0
    /// under H1.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        if !(-MAX_ELO <= elo0 && elo0 < elo1 && elo1 <= MAX_ELO) {
            return Err(SprtError::Elo { elo0, elo1 });
        }
        let rate = |x: f64| 0.0 < x && x < 0.5;
        if !rate(alpha) || !rate(beta) {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Sprt {
            elo0,
            elo1,
            alpha,
            beta,
        })
    }

    /// Where the test stands after `pairs`.
    pub fn state(&self, pairs: &Pairs) -> SprtState {
        let llr = self.log_likelihood_ratio(pairs);
        let lower = (self.beta / (1.0 - self.alpha)).ln();
        let upper = ((1.0 - self.beta) / self.alpha).ln();
        let verdict = if llr >= upper {
            Verdict::AcceptH1
        } else if llr <= lower {
            Verdict::AcceptH0
        } else {
            Verdict::Continue
        };
        SprtState {
            llr,
            lower,
            upper,
            verdict,
        }
    }

    /// What `state` means, for people.
    pub fn describe(&self, state: &SprtState) -> String {
        let Sprt {
            elo0,
            elo1,
            alpha,
            beta,
        } = self;
        let verdict = match state.verdict {
            Verdict::AcceptH1 => format!("H1 is accepted: {elo1:+} Elo rather than {elo0:+}"),
            Verdict::AcceptH0 => format!("H0 is accepted: {elo0:+} Elo rather than {elo1:+}"),
            Verdict::Continue => "undecided".to_owned(),
        };
        format!(
            "SPRT of {elo0:+} against {elo1:+} Elo (alpha {alpha}, beta {beta}): {verdict}; {state}"
        )
    }

    fn log_likelihood_ratio(&self, pairs: &Pairs) -> f64 {
        if *pairs == [0; 5] {
            return 0.0;
        }
        let counts = pairs.map(|n| if n == 0 { UNSEEN } else { f64::from(n) });
        let [s0, s1] = [self.elo0, self.elo1].map(|elo| 1.0 / (1.0 + 10_f64.powf(-elo / 400.0)));
        let (x0, x1) = (tilt(&counts, s0), tilt(&counts, s1));
        counts
            .iter()
            .zip(PAIR_SCORES)
            .map(|(n, a)| n * ((x0 * (a - s0)).ln_1p() - (x1 * (a - s1)).ln_1p()))
            .sum()
    }
}

/// Number of pairs counted of a score that did not occur, so that every mean is possible (as in Fishtest).
const UNSEEN: f64 = 1e-3;

/// Halvings after which the root is known to a 10^18th of the interval.
const BISECTIONS: usize = 60;

/// The root `x` of the module's head for counts above 0 and a mean `s` in 0..1: the sum falls from infinity to minus
/// infinity.
fn tilt(counts: &[f64; 5], s: f64) -> f64 {
    let sum = |x: f64| -> f64 {
        counts
            .iter()
            .zip(PAIR_SCORES)
            .map(|(n, a)| n * (a - s) / (1.0 + x * (a - s)))
            .sum()
    };
    let (mut low, mut high) = (-1.0 / (1.0 - s), 1.0 / s);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if sum(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
