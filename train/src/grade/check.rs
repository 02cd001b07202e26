//! The check of levels by games that had no part in choosing them.
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::field::Field;
use super::grading::{Graded, Match, Part, Play, Verdict, Wish, rate, sorted};
use crate::rating::{Encounter, Rating, RatingList};

/// A match of neighbours may have this many times its first number of games.
const PATIENCE: u32 = 4;
/// Elo by which ratings ascend at least, so that they do so still when they are rounded; and half the least gap wished.
const LEAST_STEP: f64 = 1.0;

/// A gap as a share of the mean gap; the measurement of one alone is off by a fifth.
const EVEN: RangeInclusive<f64> = 0.5..=1.7;

/// The games of a check and what they say.
pub(super) struct Check {
    /// By match.
    pub games: Vec<Encounter>,
    /// The weakest first.
    pub levels: Vec<Graded>,
}

impl Check {
    /// The lower place of the first two neighbours that are not told apart, not in order or less than half of `min_gap`
    /// apart, and how.
    pub fn fault(&self, min_gap: f64) -> Option<(usize, String)> {
        let least = LEAST_STEP.max(min_gap / 2.0);
        let fault = |(place, two): (usize, &[Graded])| {
            let [below, above] = two else { return None };
            let rating = above.against_below.as_ref()?;
            let ascends = above.elo.value >= below.elo.value + least;
            let apart = rating.score_interval.lower > 0.5;
            (!ascends || !apart).then(|| {
                let why = format!(
                    "[{}] and [{}] are not apart: {:.1} % ({}) of {} games, {:+.0} Elo",
                    below.setting,
                    above.setting,
                    100.0 * rating.score,
                    rating.score_interval,
                    rating.games,
                    above.elo.value - below.elo.value
                );
                (place, why)
            })
        };
        self.levels.windows(2).enumerate().find_map(fault)
    }

    /// The first gap that is far from the mean of all, if there is one.
    pub fn unevenness(&self) -> Option<String> {
        let gaps = || {
            let twos = self.levels.windows(2);
            twos.map(|two| (two[1].elo.value - two[0].elo.value, two))
        };
        let mean = gaps().map(|(gap, _)| gap).sum::<f64>() / gaps().count().max(1) as f64;
        let (gap, two) = gaps().find(|(gap, _)| !EVEN.contains(&(gap / mean)))?;
        Some(format!(
            "[{}] and [{}] are {gap:.0} Elo apart, where the mean is {mean:.0}",
            two[0].setting, two[1].setting
        ))
    }

    /// What is said of the levels, by games of `part`; `short`: why there are fewer than were asked for.
    pub fn verdict(self, part: Part, short: Vec<String>) -> Verdict {
        Verdict {
            levels: self.levels,
            part,
            short,
        }
    }
}

/// Plays the games of a check of `levels`, places in the field, the weakest first.
pub(super) fn check<P: Play>(
    field: &Field,
    wish: &Wish,
    play: &mut P,
    part: Part,
    levels: &[usize],
) -> Result<Check, P::Error> {
    play.say(&format!("check of {} levels", levels.len()));
    let (pairs, most) = (wish.pairs(), PATIENCE * wish.pairs());
    // On these hangs where all levels lie on the scale, and they are cheap.
    let anchors = levels.iter().take(2);
    let mut wanted: BTreeMap<_, _> = anchors
        .map(|&level| ([Field::RANDOM, level], 2 * pairs))
        .collect();
    for away in 1..=2 {
        let two = levels
            .windows(away + 1)
            .map(|some| sorted(some[0], some[away]));
        wanted.extend(two.map(|players| (players, pairs.div_ceil(away as u32))));
    }
    loop {
        let matches: Vec<_> = (wanted.iter())
            .map(|(&players, &pairs)| Match { players, pairs })
            .collect();
        let games = play.play(part, &matches)?;
        let list = rate(field, &games)?;
        let graded = graded(field, levels, &games, &list);
        let mut goes_on = false;
        for two in graded.windows(2) {
            let pairs_played = wanted.get_mut(&sorted(two[0].player, two[1].player));
            let told = |r: &Rating| r.score_interval.lower > 0.5;
            if let Some(played) = pairs_played.filter(|played| **played < most)
                && !two[1].against_below.as_ref().is_some_and(told)
            {
                *played = (*played + pairs).min(most);
                goes_on = true;
            }
        }
        if !goes_on {
            return Ok(Check {
                games,
                levels: graded,
            });
        }
    }
}

/// The levels with their ratings.
fn graded(field: &Field, levels: &[usize], games: &[Encounter], list: &RatingList) -> Vec<Graded> {
    let name = |player: usize| field.name(player);
    let against = |above: usize, below: usize| {
        let (above, below) = (name(above), name(below));
        let seen = |game: &Encounter| {
            let ours = game.player == above && game.opponent == below;
            let theirs = game.player == below && game.opponent == above;
            match (ours, theirs) {
                (true, _) => Some(game.pentanomial()),
                (_, true) => Some(game.reversed().pentanomial()),
                _ => None,
            }
        };
        games.iter().find_map(seen).map(|pairs| Rating::of(&pairs))
    };
    let graded = |(place, &player): (usize, &usize)| {
        let found = list
            .players
            .iter()
            .find(|rating| rating.name == name(player))?;
        let below = place.checked_sub(1).map(|below| levels[below]);
        Some(Graded {
            player,
            setting: field.setting(player)?,
            elo: found.elo,
            against_below: below.and_then(|below| against(player, below)),
        })
    };
    levels.iter().enumerate().filter_map(graded).collect()
}
