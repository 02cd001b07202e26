//! The rating list: what [`rate`] makes of a set of results.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::covariance::Covariance;
use super::cross::{CrossCell, GoodnessOfFit, cross_table};
use super::cycles::{Cycle, cycles};
use super::davidson::LOGITS;
use super::error::RatingError;
use super::fit::State;
use super::problem::Problem;
use super::results::{Encounter, Table};
use super::score::Interval;

/// How to rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RatingOptions {
    /// Players of known rating, in Elo. Without any, the mean of all ratings is 0.
    pub anchors: BTreeMap<String, f64>,
    /// Whether the advantage of the first move is fitted; it is 0 otherwise.
    pub first_mover: bool,
    /// Weight of the prior in games a player, half won and half lost; with 0 a player that won or lost everything has
    /// no finite rating.
    pub prior_games: f64,
}

impl Default for RatingOptions {
    fn default() -> Self {
        RatingOptions {
            anchors: BTreeMap::new(),
            first_mover: false,
            prior_games: 1.0,
        }
    }
}

/// A number and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval<f64>,
}

/// A player's place in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerRating {
    /// Its name.
    pub name: String,
    /// Rating in Elo, with its 95 % interval: without anchors against the mean of all players, with anchors on their
    /// scale. An anchor has no width.
    pub elo: Estimate,
    /// Whether the rating was given.
    pub anchor: bool,
    /// Number of its games lost, drawn and won.
    pub games: [u64; 3],
    /// Share of the points it scored, 0..=1.
    pub score: f64,
}

/// Ratings of all players, and how well they describe the games. Players stand everywhere in the order of `players`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatingList {
    /// The strongest first, equal ones by name.
    pub players: Vec<PlayerRating>,
    /// `[players, players]`, likelihood of superiority: how likely the row's player is stronger than the column's,
    /// 0..=1; 1/2 on the diagonal.
    pub superiority: Vec<Vec<f64>>,
    /// Share of drawn games between players of equal strength, 0..=1.
    pub draw_rate: Estimate,
    /// How much stronger, in Elo, moving first makes a player, if asked for.
    pub first_mover: Option<Estimate>,
    /// `[players, players]`, the row's player against the column's; `None` where they did not meet.
    pub cross_table: Vec<Vec<Option<CrossCell>>>,
    /// Whether single numbers explain the results.
    pub fit: GoodnessOfFit,
    /// Players each of which beat the next, and the last the first, significantly.
    pub cycles: Vec<Cycle>,
}

/// Maximum-likelihood ratings of all players of `encounters`, given in any order and from either player's view. Fails
/// where players cannot be compared, or an option makes no sense.
pub fn rate(encounters: &[Encounter], options: &RatingOptions) -> Result<RatingList, RatingError> {
    let table = Table::new(encounters)?;
    let problem = Problem::new(
        &table,
        &options.anchors,
        options.first_mover,
        options.prior_games,
    )?;
    let (state, there) = problem.solve()?;
    let covariance = Covariance::new(&problem, &state, &there)?;
    let mut order: Vec<usize> = (0..table.names.len()).collect();
    // The sort is stable, and the names are sorted.
    order.sort_by(|&a, &b| state.ratings[b].total_cmp(&state.ratings[a]));
    let (cross_table, fit) = cross_table(&problem, &state, &covariance, &order);
    let players = order
        .iter()
        .map(|&player| player_rating(&problem, &state, &covariance, player))
        .collect::<Vec<_>>();
    let cycles = cycles(&players, &cross_table);
    Ok(RatingList {
        superiority: order
            .iter()
            .map(|&a| {
                order
                    .iter()
                    .map(|&b| superiority(&problem, &state, &covariance, a, b))
                    .collect()
            })
            .collect(),
        draw_rate: draw_rate(&problem, &state, &covariance),
        first_mover: problem
            .advantage
            .map(|place| elo_estimate(state.advantage, covariance.variance(Some(place)))),
        players,
        cross_table,
        fit,
        cycles,
    })
}

fn player_rating(
    problem: &Problem,
    state: &State,
    covariance: &Covariance,
    player: usize,
) -> PlayerRating {
    let mut games = [0; 3];
    for meeting in &problem.table.meetings {
        let counts = meeting.games.games();
        for halves in 0..3 {
            if meeting.player == player {
                games[halves] += counts[halves];
            } else if meeting.opponent == player {
                games[2 - halves] += counts[halves];
            }
        }
    }
    let place = problem.players[player];
    PlayerRating {
        name: problem.table.names[player].clone(),
        elo: elo_estimate(state.ratings[player], covariance.variance(place)),
        anchor: place.is_none(),
        games,
        score: (games[2] as f64 + games[1] as f64 / 2.0) / games.iter().sum::<u64>() as f64,
    }
}

/// In Elo, from logits.
fn elo_estimate(value: f64, variance: f64) -> Estimate {
    let half = quantile() * variance.sqrt();
    Estimate {
        value: value / LOGITS,
        interval: Interval {
            lower: (value - half) / LOGITS,
            upper: (value + half) / LOGITS,
        },
    }
}

/// `v / (2 + v)`; its interval is one of ln v.
fn draw_rate(problem: &Problem, state: &State, covariance: &Covariance) -> Estimate {
    let rate = |draw: f64| draw / (2.0 + draw);
    let half = quantile() * covariance.variance(problem.draw).sqrt();
    Estimate {
        value: rate(state.draw),
        interval: Interval {
            lower: rate(state.draw * (-half).exp()),
            upper: rate(state.draw * half.exp()),
        },
    }
}

/// Normal probability that `a` is above `b`.
fn superiority(
    problem: &Problem,
    state: &State,
    covariance: &Covariance,
    a: usize,
    b: usize,
) -> f64 {
    let lead = state.ratings[a] - state.ratings[b];
    let variance = covariance.difference(problem.players[a], problem.players[b]);
    if lead == 0.0 || a == b {
        0.5
    } else {
        Normal::standard().cdf(lead / variance.sqrt())
    }
}

/// 97.5 % quantile of the normal distribution.
fn quantile() -> f64 {
    Normal::standard().inverse_cdf(0.975)
}
