//! The most likely ratings: Newton's method on the likelihood of all games, with a weak prior (`problem.rs`).
//!
//! The likelihood treats all games as independent. Its maximum is a consistent estimate also where the two games of a
//! pair are not; only its covariance has to be taken between the pairs (`covariance.rs`).
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Vector3, linalg::Cholesky};

use super::davidson::GameModel;
use super::error::RatingError;
use super::problem::Problem;
use super::results::Meeting;

/// Steps after which a maximum not found is one that is not there.
const MAX_STEPS: usize = 200;
/// Length of a step, in logits, at which the maximum is found.
const STEP_FOUND: f64 = 1e-10;

/// Values of all parameters.
#[derive(Clone)]
pub(super) struct State {
    /// By player, in logits.
    pub ratings: Vec<f64>,
    /// In logits.
    pub advantage: f64,
    /// v.
    pub draw: f64,
}

/// The likelihood about a state.
pub(super) struct Evaluation {
    value: f64,
    gradient: DVector<f64>,
    /// Minus the second derivative, otherwise like `information`. `[size, size]`.
    curvature: DMatrix<f64>,
    /// Fisher information with the prior's and, without an anchor, of a mean of 0. `[size, size]`.
    pub information: DMatrix<f64>,
    /// The prior's share of it.
    pub prior: DMatrix<f64>,
}

/// Observations that depend on each other, pairs, or a single game, with the same outcome.
pub(super) struct Cluster {
    /// How many there are.
    pub count: f64,
    log_probability: f64,
    /// The gradient of one.
    pub gradient: Vector3<f64>,
    /// Minus the second derivative of one.
    curvature: Matrix3<f64>,
    /// The Fisher information of one.
    pub information: Matrix3<f64>,
    /// Variance of the player's points in one.
    pub variance: f64,
    /// Whether it is a pair.
    pub paired: bool,
}

impl Problem<'_> {
    /// The most likely state, and the likelihood about it.
    pub fn solve(&self) -> Result<(State, Evaluation), RatingError> {
        let mut state = self.start.clone();
        let mut here = self.evaluate(&state);
        for _ in 0..MAX_STEPS {
            // Newton's step where the likelihood is concave, else a scoring step: both lead up.
            let step = factor(here.curvature.clone())
                .or_else(|_| factor(here.information.clone()))?
                .solve(&here.gradient);
            let mut share = 1.0;
            let (next, there) = loop {
                let next = self.moved(&state, &(share * &step));
                let there = self.evaluate(&next);
                // Less by no more than rounding is no less.
                if there.value >= here.value - 1e-12 * (1.0 + here.value.abs()) {
                    break (next, there);
                }
                share /= 2.0;
                if share < 1e-12 {
                    return Err(RatingError::NoMaximum);
                }
            };
            (state, here) = (next, there);
            if share * step.amax() < STEP_FOUND {
                return Ok((state, here));
            }
        }
        Err(RatingError::NoMaximum)
    }

    /// The models of a meeting's games in which the player moves first, and second.
    pub fn models(&self, state: &State, meeting: &Meeting) -> [GameModel; 2] {
        let difference = state.ratings[meeting.player] - state.ratings[meeting.opponent];
        [1.0, -1.0].map(|side| GameModel::new(difference, state.advantage, side, state.draw))
    }

    /// How a meeting's (difference, advantage, ln v) follow from the parameters. `[size, 3]`.
    pub fn embedding(&self, meeting: &Meeting) -> DMatrix<f64> {
        let mut embedding = DMatrix::zeros(self.size, 3);
        let places = [
            (self.players[meeting.player], 0, 1.0),
            (self.players[meeting.opponent], 0, -1.0),
            (self.advantage, 1, 1.0),
            (self.draw, 2, 1.0),
        ];
        for (row, column, value) in places {
            if let Some(row) = row {
                embedding[(row, column)] = value;
            }
        }
        embedding
    }

    fn moved(&self, state: &State, step: &DVector<f64>) -> State {
        let by = |place: Option<usize>| place.map_or(0.0, |place| step[place]);
        State {
            ratings: state
                .ratings
                .iter()
                .zip(&self.players)
                .map(|(rating, &place)| rating + by(place))
                .collect(),
            advantage: state.advantage + by(self.advantage),
            draw: state.draw * by(self.draw).exp(),
        }
    }

    fn evaluate(&self, state: &State) -> Evaluation {
        let mut sum = Evaluation {
            value: 0.0,
            gradient: DVector::zeros(self.size),
            curvature: DMatrix::zeros(self.size, self.size),
            information: DMatrix::zeros(self.size, self.size),
            prior: DMatrix::zeros(self.size, self.size),
        };
        for (meeting, prior) in self.table.meetings.iter().zip(&self.priors) {
            let mut gradient = Vector3::zeros();
            let (mut curvature, mut information) = (Matrix3::zeros(), Matrix3::zeros());
            for cluster in clusters(meeting, &self.models(state, meeting)) {
                sum.value += cluster.count * cluster.log_probability;
                gradient += cluster.count * cluster.gradient;
                curvature += cluster.count * cluster.curvature;
                information += cluster.count * cluster.information;
            }
            let difference = state.ratings[meeting.player] - state.ratings[meeting.opponent];
            let pseudo = pseudo_games(difference, *prior);
            sum.value += pseudo[0];
            gradient[0] += pseudo[1];
            let embedding = self.embedding(meeting);
            sum.gradient += &embedding * gradient;
            sum.curvature += &embedding * curvature * embedding.transpose();
            sum.information += &embedding * information * embedding.transpose();
            let column = embedding.column(0);
            sum.prior += pseudo[2] * column * column.transpose();
        }
        if let Some(place) = self.advantage {
            sum.add_prior(place, pseudo_games(state.advantage, self.prior_games));
        }
        if let Some(place) = self.draw {
            let (drawn, games) = (state.draw / (2.0 + state.draw), self.prior_games / 2.0);
            let decisive = (1.0 - drawn).ln();
            sum.add_prior(
                place,
                [decisive, -drawn, drawn * (1.0 - drawn)].map(|x| games * x),
            );
        }
        let ratings = self.players.len();
        let centred = self.players.iter().all(Option::is_some);
        for matrix in [&mut sum.curvature, &mut sum.information] {
            *matrix += &sum.prior;
            if centred {
                matrix
                    .view_mut((0, 0), (ratings, ratings))
                    .add_scalar_mut(1.0);
            }
        }
        sum
    }
}

impl Evaluation {
    fn add_prior(&mut self, place: usize, [value, gradient, information]: [f64; 3]) {
        self.value += value;
        self.gradient[place] += gradient;
        self.prior[(place, place)] += information;
    }
}

/// Cholesky's factor of an information.
pub(super) fn factor(information: DMatrix<f64>) -> Result<Cholesky<f64, Dyn>, RatingError> {
    Cholesky::new(information).ok_or(RatingError::NoMaximum)
}

/// A meeting's games by outcome; outcomes that did not occur are left out.
pub(super) fn clusters(
    meeting: &Meeting,
    [first, second]: &[GameModel; 2],
) -> impl Iterator<Item = Cluster> {
    let games = &meeting.games;
    let pairs = (0..9).map(move |i| (games.pairs[i / 3][i % 3], [Some(i / 3), Some(i % 3)]));
    let singles = (0..3).flat_map(move |i| {
        [
            (games.moving_first[i], [Some(i), None]),
            (games.moving_second[i], [None, Some(i)]),
        ]
    });
    pairs
        .chain(singles)
        .filter(|(count, _)| *count > 0)
        .map(move |(count, halves)| {
            let mut cluster = Cluster {
                count: count.into(),
                log_probability: 0.0,
                gradient: Vector3::zeros(),
                curvature: Matrix3::zeros(),
                information: Matrix3::zeros(),
                variance: 0.0,
                paired: halves.iter().all(Option::is_some),
            };
            for (game, halves) in [first, second].into_iter().zip(halves) {
                if let Some(halves) = halves {
                    cluster.log_probability += game.log_probability[halves];
                    cluster.gradient += game.gradient[halves];
                    cluster.curvature += game.curvature[halves];
                    cluster.information += game.information;
                    cluster.variance += game.variance;
                }
            }
            cluster
        })
}

/// Log-likelihood of `games` pseudo-games, half won and half lost, at a difference in logits; its derivative; its
/// information.
fn pseudo_games(difference: f64, games: f64) -> [f64; 3] {
    let game = GameModel::new(difference, 0.0, 1.0, 0.0);
    let value = (game.log_probability[0] + game.log_probability[2]) / 2.0;
    [value, 0.5 - game.expected, game.variance].map(|x| games * x)
}
