//! How sure the ratings are: the cluster-robust covariance of the fit.
//!
//! With `A` the Fisher information (prior included) and `u` the gradient of one cluster (an opening pair, or a single
//! game) at the maximum, the covariance is the sandwich `A⁻¹ B A⁻¹`, `B` the sum of `u uᵀ` over all clusters (Huber
//! 1967; Liang and Zeger 1986, Biometrika 73). It is right whatever the dependence within a pair: games of a pair
//! that balance each other out make it narrow, games that repeat each other wide. Three things are done for few
//! games:
//!
//! - each `u` is taken as it would be at ratings fitted without its cluster, `(1 - A_c A⁻¹)⁻¹ u` with `A_c` the
//!   cluster's information (the jackknife of estimating equations: Lipsitz, Dear and Zhao 1994, Biometrics 50; Mancl
//!   and DeRouen 2001, Biometrics 57);
//! - a variance estimated from a handful of games is worth little, and where a player won everything it is zero. So the
//!   model's `A_c` stands in for part of `u uᵀ`: a share `1 / (1 + m)`, `m` the variance of all points of the player
//!   where it is less, in pairs between equals without draws (about the number of pairs that could go either way).
//!   For pairs it is widened by the dispersion of all pairs ([`dispersion`]), if above 1;
//! - the prior's information counts in `B` as in `A`.
use nalgebra::{DMatrix, Matrix3};

use super::error::RatingError;
use super::fit::{Evaluation, State, clusters, factor};
use super::problem::Problem;

/// Variance of the points of a pair between equals without draws.
const PAIR_VARIANCE: f64 = 0.5;

/// Variance, in logits, of a parameter that nothing holds: without a prior the likelihood of a player that won
/// everything is flat, and so has no maximum, from somewhere on.
const MAX_VARIANCE: f64 = 1e6;

/// Covariance of the parameters, in logits.
pub(super) struct Covariance {
    /// `[size, size]`.
    matrix: DMatrix<f64>,
    /// Inverse of the information, the covariance if all games were independent. `[size, size]`.
    inverse: DMatrix<f64>,
}

impl Covariance {
    /// About the most likely state.
    pub fn new(problem: &Problem, state: &State, there: &Evaluation) -> Result<Self, RatingError> {
        let inverse = factor(there.information.clone())?.inverse();
        if inverse.diagonal().max() > MAX_VARIANCE {
            return Err(RatingError::NoMaximum);
        }
        let held = variance_by_player(problem, state);
        let spread = dispersion(problem, state).max(1.0);
        let mut meat = there.prior.clone();
        for meeting in &problem.table.meetings {
            let embedding = problem.embedding(meeting);
            let reach: Matrix3<f64> = (embedding.transpose() * &inverse * &embedding)
                .fixed_view::<3, 3>(0, 0)
                .into_owned();
            let pairs = held[meeting.player].min(held[meeting.opponent]) / PAIR_VARIANCE;
            let observed = pairs / (1.0 + pairs);
            let mut sum = Matrix3::zeros();
            for cluster in clusters(meeting, &problem.models(state, meeting)) {
                // Singular where nothing but this cluster, no prior either, says anything.
                let without = (Matrix3::identity() - cluster.information * reach)
                    .try_inverse()
                    .unwrap_or_else(Matrix3::identity);
                let gradient = without * cluster.gradient;
                let spread = if cluster.paired { spread } else { 1.0 };
                sum += cluster.count
                    * (observed * gradient * gradient.transpose()
                        + (1.0 - observed) * spread * cluster.information);
            }
            meat += &embedding * sum * embedding.transpose();
        }
        Ok(Covariance {
            matrix: &inverse * meat * &inverse,
            inverse,
        })
    }

    /// Variance of a parameter; 0 for none.
    pub fn variance(&self, place: Option<usize>) -> f64 {
        self.difference(place, None)
    }

    /// Variance of the difference of two parameters; none varies not.
    pub fn difference(&self, a: Option<usize>, b: Option<usize>) -> f64 {
        contrast(&self.matrix, a, b)
    }

    /// [`Self::difference`] if all games were independent.
    pub fn model_difference(&self, a: Option<usize>, b: Option<usize>) -> f64 {
        contrast(&self.inverse, a, b)
    }
}

fn contrast(matrix: &DMatrix<f64>, a: Option<usize>, b: Option<usize>) -> f64 {
    let at = |a: Option<usize>, b: Option<usize>| a.zip(b).map_or(0.0, |place| matrix[place]);
    (at(a, a) + at(b, b) - 2.0 * at(a, b)).max(0.0)
}

/// By player: the variance of its points.
fn variance_by_player(problem: &Problem, state: &State) -> Vec<f64> {
    let mut held = vec![0.0; problem.table.names.len()];
    for meeting in &problem.table.meetings {
        let sum: f64 = clusters(meeting, &problem.models(state, meeting))
            .map(|cluster| cluster.count * cluster.variance)
            .sum();
        held[meeting.player] += sum;
        held[meeting.opponent] += sum;
    }
    held
}

/// Variance of the pairs' points about their meeting's mean, over the variance of the model, in which the games of a
/// pair are independent; all meetings together, drawn towards 1 by one pair between equals. Below 1 where openings or
/// deals favour one side, above 1 where they favour a player.
pub(super) fn dispersion(problem: &Problem, state: &State) -> f64 {
    let (mut observed, mut expected) = (PAIR_VARIANCE, PAIR_VARIANCE);
    for meeting in &problem.table.meetings {
        let pairs = meeting.games.pentanomial().map(f64::from);
        let count: f64 = pairs.iter().sum();
        if count < 2.0 {
            continue;
        }
        let points = |place: usize| place as f64 / 2.0;
        let mean = pairs
            .iter()
            .enumerate()
            .map(|(i, n)| n * points(i))
            .sum::<f64>()
            / count;
        observed += pairs
            .iter()
            .enumerate()
            .map(|(i, n)| n * (points(i) - mean).powi(2))
            .sum::<f64>();
        let [first, second] = problem.models(state, meeting);
        expected += (count - 1.0) * (first.variance + second.variance);
    }
    observed / expected
}
