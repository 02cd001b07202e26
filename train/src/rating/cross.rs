//! The cross table, and whether the ratings explain it.
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::covariance::{Covariance, dispersion};
use super::fit::State;
use super::problem::Problem;
use super::results::Meeting;
use super::score::{Interval, score_interval};

/// Share of a difference's information from elsewhere below which a residual says nothing.
const LEAST_FREEDOM: f64 = 0.05;

/// The games of two players, seen from the first, and what their ratings expect of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CrossCell {
    /// Number of games lost, drawn and won.
    pub games: [u64; 3],
    /// Points scored.
    pub points: f64,
    /// Points the ratings expect.
    pub expected: f64,
    /// `points - expected` in standard deviations of such a residual; `None` where these games alone decide the
    /// difference of the two, so that they cannot contradict it.
    pub standardised: Option<f64>,
    /// Score in these games, 0..=1.
    pub score: f64,
    /// Its 95 % interval, from these games alone, by opening pairs.
    pub score_interval: Interval<f64>,
}

/// Whether one number a player explains who scores how much against whom.
///
/// Pearson's chi-squared: the sum over all meetings of (points - expected)² / variance, with the model's variance of
/// the points, for pairs times the dispersion (as for quasi-likelihood: McCullagh and Nelder 1989, section 4.5). It
/// is approximate, and needs several games a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GoodnessOfFit {
    /// Variance of the pairs' points over that of two independent games: below 1 where openings or deals favour one
    /// side.
    pub dispersion: f64,
    /// The statistic.
    pub chi_squared: f64,
    /// Its degrees of freedom: meetings less fitted ratings.
    pub degrees: usize,
    /// Probability of a greater chi-squared if the ratings explain everything; `None` without a degree of freedom.
    /// Small means non-transitive: some score better against certain players than their ratings say.
    pub p_value: Option<f64>,
}

/// `[players, players]` in the given order of players, and the fit as a whole.
pub(super) fn cross_table(
    problem: &Problem,
    state: &State,
    covariance: &Covariance,
    order: &[usize],
) -> (Vec<Vec<Option<CrossCell>>>, GoodnessOfFit) {
    let mut rank = vec![0; order.len()];
    for (place, &player) in order.iter().enumerate() {
        rank[player] = place;
    }
    let dispersion = dispersion(problem, state);
    let mut rows = vec![vec![None; order.len()]; order.len()];
    let mut chi_squared = 0.0;
    for meeting in &problem.table.meetings {
        let (cell, share) = cell(problem, state, covariance, meeting, dispersion);
        let (row, column) = (rank[meeting.player], rank[meeting.opponent]);
        rows[row][column] = Some(cell);
        rows[column][row] = Some(reversed(&cell));
        chi_squared += share;
    }
    let free = problem.players.iter().flatten().count();
    let all_free = free == order.len();
    let degrees = problem
        .table
        .meetings
        .len()
        .saturating_sub(free - usize::from(all_free));
    let p_value = ChiSquared::new(degrees as f64)
        .ok()
        .map(|c| c.sf(chi_squared));
    let fit = GoodnessOfFit {
        dispersion,
        chi_squared,
        degrees,
        p_value,
    };
    (rows, fit)
}

/// A cell and its share of chi-squared.
fn cell(
    problem: &Problem,
    state: &State,
    covariance: &Covariance,
    meeting: &Meeting,
    dispersion: f64,
) -> (CrossCell, f64) {
    let [first, second] = problem.models(state, meeting);
    let pentanomial = meeting.games.pentanomial();
    let pairs: f64 = pentanomial.iter().copied().map(f64::from).sum();
    let sum = |games: &[u32; 3]| games.iter().copied().map(f64::from).sum::<f64>();
    let singles = [
        sum(&meeting.games.moving_first),
        sum(&meeting.games.moving_second),
    ];
    let weigh =
        |f: f64, s: f64, pair: f64| pair * pairs * (f + s) + singles[0] * f + singles[1] * s;
    let games = meeting.games.games();
    let points = games[2] as f64 + games[1] as f64 / 2.0;
    let count = games.iter().sum::<u64>() as f64;
    let expected = weigh(first.expected, second.expected, 1.0);
    let variance = weigh(first.variance, second.variance, dispersion);
    let information = weigh(first.information[(0, 0)], second.information[(0, 0)], 1.0);
    let (a, b) = (
        problem.players[meeting.player],
        problem.players[meeting.opponent],
    );
    let freedom = 1.0 - information * covariance.model_difference(a, b);
    let residual = points - expected;
    let cell = CrossCell {
        games,
        points,
        expected,
        standardised: (freedom > LEAST_FREEDOM).then(|| residual / (variance * freedom).sqrt()),
        score: points / count,
        score_interval: score_interval(&pentanomial, &meeting.games.singles()),
    };
    (cell, residual.powi(2) / variance)
}

/// Seen from the other player.
fn reversed(cell: &CrossCell) -> CrossCell {
    let games: u64 = cell.games.iter().sum();
    let [lost, drawn, won] = cell.games;
    CrossCell {
        games: [won, drawn, lost],
        points: games as f64 - cell.points,
        expected: games as f64 - cell.expected,
        standardised: cell.standardised.map(|z| -z),
        score: 1.0 - cell.score,
        score_interval: Interval {
            lower: 1.0 - cell.score_interval.upper,
            upper: 1.0 - cell.score_interval.lower,
        },
    }
}
