//! What is to be fitted: parameters, anchors, the prior, and whether the players can be compared at all.
//!
//! **Prior.** Every player gets `prior_games` pseudo-games (1 unless told otherwise), half won and half lost, spread
//! over its opponents in proportion to its games against them; a meeting of two players takes the mean of what the
//! two assign to it. The first move's advantage gets as many, the draw parameter half as many decisive ones. One such
//! game is Jeffreys' prior of a single proportion, which takes away the maximum's bias to first order (Firth 1993,
//! Biometrika 80) and keeps players finite that won or lost everything: after 50 wins out of 50, about 800 Elo. Being
//! about differences between players that met, it moves no player towards a fixed point of the scale.
use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;

use super::davidson::LOGITS;
use super::error::RatingError;
use super::fit::State;
use super::results::{Meeting, Table};

/// Greatest anchor in Elo, so that no power of it overflows.
const MAX_ANCHOR: f64 = 100_000.0;

/// What is fitted, and from what.
pub(super) struct Problem<'a> {
    pub table: &'a Table,
    /// By player: its place among the parameters; `None` for an anchor.
    pub players: Vec<Option<usize>>,
    /// Place of the first move's advantage, if it is fitted.
    pub advantage: Option<usize>,
    /// Place of ln v, if any game was drawn.
    pub draw: Option<usize>,
    /// Number of parameters.
    pub size: usize,
    /// Pseudo-games a player.
    pub prior_games: f64,
    /// By meeting: pseudo-games.
    pub priors: Vec<f64>,
    /// Where the search for the maximum begins.
    pub start: State,
}

impl<'a> Problem<'a> {
    /// Checks anchors (by name, in Elo), that all players can be compared, and the prior's games.
    pub fn new(
        table: &'a Table,
        anchors: &BTreeMap<String, f64>,
        first_mover: bool,
        prior_games: f64,
    ) -> Result<Self, RatingError> {
        if !prior_games.is_finite() || prior_games < 0.0 {
            return Err(RatingError::Prior(prior_games));
        }
        let anchored = anchored(table, anchors)?;
        connected(table, &anchored)?;
        let mut size = 0;
        let mut place = || {
            size += 1;
            size - 1
        };
        let players: Vec<_> = anchored
            .iter()
            .map(|anchor| anchor.is_none().then(&mut place))
            .collect();
        let advantage = first_mover.then(&mut place);
        let games: Vec<_> = table.meetings.iter().map(|m| m.games.games()).collect();
        let drawn: u64 = games.iter().map(|g| g[1]).sum();
        let decisive: u64 = games.iter().map(|g| g[0] + g[2]).sum();
        let draw = (drawn > 0).then(&mut place);
        let count = anchors.len().max(1) as f64;
        let centre = LOGITS * anchors.values().sum::<f64>() / count;
        Ok(Problem {
            table,
            players,
            advantage,
            draw,
            size,
            prior_games,
            priors: priors(table, prior_games),
            start: State {
                ratings: anchored
                    .iter()
                    .map(|a| a.map_or(centre, |elo| LOGITS * elo))
                    .collect(),
                advantage: 0.0,
                draw: 2.0 * drawn as f64 / (decisive as f64 + 0.5),
            },
        })
    }
}

/// The module's head: pseudo-games by meeting.
fn priors(table: &Table, prior_games: f64) -> Vec<f64> {
    let count = |meeting: &Meeting| meeting.games.games().iter().sum::<u64>() as f64;
    let mut totals = vec![0.0; table.names.len()];
    for meeting in &table.meetings {
        totals[meeting.player] += count(meeting);
        totals[meeting.opponent] += count(meeting);
    }
    let share = |meeting: &Meeting, player: usize| count(meeting) / totals[player];
    table
        .meetings
        .iter()
        .map(|m| prior_games * (share(m, m.player) + share(m, m.opponent)) / 2.0)
        .collect()
}

/// By player: its anchor in Elo.
fn anchored(
    table: &Table,
    anchors: &BTreeMap<String, f64>,
) -> Result<Vec<Option<f64>>, RatingError> {
    let mut anchored = vec![None; table.names.len()];
    for (name, &elo) in anchors {
        let Ok(place) = table.names.binary_search(name) else {
            return Err(RatingError::UnknownAnchor {
                name: name.clone(),
                players: table.names.clone(),
            });
        };
        if elo.is_nan() || elo.abs() > MAX_ANCHOR {
            return Err(RatingError::AnchorRating {
                name: name.clone(),
                elo,
                max: MAX_ANCHOR,
            });
        }
        anchored[place] = Some(elo);
    }
    Ok(anchored)
}

/// Whether games, or anchors, connect all players.
fn connected(table: &Table, anchored: &[Option<f64>]) -> Result<(), RatingError> {
    let mut groups = UnionFind::new(table.names.len());
    for meeting in &table.meetings {
        groups.union(meeting.player, meeting.opponent);
    }
    let anchors: Vec<_> = (0..anchored.len())
        .filter(|&i| anchored[i].is_some())
        .collect();
    for two in anchors.windows(2) {
        groups.union(two[0], two[1]);
    }
    let mut by_label: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (name, label) in table.names.iter().zip(groups.into_labeling()) {
        by_label.entry(label).or_default().push(name.clone());
    }
    if by_label.len() == 1 {
        return Ok(());
    }
    let mut groups: Vec<_> = by_label.into_values().collect();
    groups.sort();
    Err(RatingError::Disconnected { groups })
}
