//! Which rated settings become levels: evenly spaced, from near-random to the strongest, a learner's before a coin's.
//!
//! The places of the levels are `count` points evenly spaced from the weakest setting, or 0 if there are weaker ones,
//! to the strongest. A dynamic programme finds the ascending settings of the least cost; with `s` the spacing, a
//! setting costs `(distance from its place / s)^2`, `WARM` more if its choice is warm, and each step upwards
//! `DETOUR` for an earlier checkpoint or fewer simulations than below, and `NARROW` `(missing / s)^2` where it is
//! smaller than the least gap by `missing`.
use super::field::Setting;

/// A warm setting is taken where no cold one lies nearer to the place than a third of the spacing.
const WARM: f64 = 1.0 / 9.0;
/// As much as a seventh of the spacing: a ladder that reads as one run's history is worth little unevenness.
const DETOUR: f64 = 0.02;
/// A gap too small to be told is worse than one at the wrong place.
const NARROW: f64 = 9.0;
/// Of the spacing: as far from its place a cold setting may be without a gap in the grid.
const NEAR: f64 = 1.0 / 3.0;

/// A setting with its rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rated {
    /// Its place among the players.
    pub player: usize,
    /// How it plays.
    pub setting: Setting,
    /// Its Elo.
    pub elo: f64,
    /// Lower end of the 95 % interval of that.
    pub lower: f64,
}

/// The places of the levels on the scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// Ascending; at least one.
    pub elo: Vec<f64>,
    /// Between one and the next; 0 of a single one.
    pub spacing: f64,
}

/// The strongest: `newest`, unless another one is above it by more than chance would have it.
pub fn strongest(rated: &[Rated], newest: usize) -> Option<&Rated> {
    let by_elo = |a: &&Rated, b: &&Rated| a.elo.total_cmp(&b.elo);
    let newest = rated.iter().find(|rated| rated.player == newest);
    let Some(newest) = newest else {
        return rated.iter().max_by(by_elo);
    };
    let surely = rated.iter().filter(|other| other.lower > newest.elo);
    surely.max_by(by_elo).or(Some(newest))
}

/// The places of as many of `levels` levels as the range up to `top` has room for, `min_gap` Elo apart.
pub fn places(rated: &[Rated], top: f64, levels: usize, min_gap: f64) -> Places {
    let weakest = rated.iter().map(|rated| rated.elo).fold(top, f64::min);
    let low = weakest.max(0.0).min(top);
    let range = top - low;
    let room = match min_gap > 0.0 {
        true => (range / min_gap + 1e-9).floor() as usize + 1,
        false => levels,
    };
    let below = rated.iter().filter(|rated| rated.elo < top).count();
    let count = levels.min(room).min(below + 1).max(1);
    let spacing = range / (count - 1).max(1) as f64;
    Places {
        elo: (0..count)
            .map(|place| top - spacing * (count - 1 - place) as f64)
            .collect(),
        spacing: if count > 1 { spacing } else { 0.0 },
    }
}

/// The places that no cold setting is near to.
pub fn gaps(rated: &[Rated], places: &Places) -> Vec<f64> {
    let cold = || rated.iter().filter(|rated| !rated.setting.is_warm());
    let near = |place: f64| cold().any(|rated| (rated.elo - place).abs() <= NEAR * places.spacing);
    let all = places.elo.iter().copied();
    all.filter(|&place| !near(place)).collect()
}

/// The settings for `places`, by player, ascending in Elo and ending with `strongest`; fewer where no ascending ones are
/// left.
pub fn choose(rated: &[Rated], strongest: &Rated, places: &Places, min_gap: f64) -> Vec<usize> {
    let mut all: Vec<_> = (rated.iter())
        .filter(|rated| rated.elo < strongest.elo && rated.player != strongest.player)
        .copied()
        .collect();
    all.sort_by(|a, b| a.elo.total_cmp(&b.elo).then(a.player.cmp(&b.player)));
    all.push(*strongest);
    let spacing = places.spacing.max(1.0);
    let own = |rated: &Rated, place: f64| {
        let warm = if rated.setting.is_warm() { WARM } else { 0.0 };
        ((rated.elo - place) / spacing).powi(2) + warm
    };
    // By setting: least cost of the levels so far that end with it, and the setting before.
    let mut paths: Vec<Vec<(f64, usize)>> = Vec::new();
    for &place in &places.elo {
        let next = |(here, rated): (usize, &Rated)| {
            let Some(before) = paths.last() else {
                return (own(rated, place), here);
            };
            let from =
                |below: usize| before[below].0 + step_cost(&all[below], rated, min_gap, spacing);
            let best = (0..here)
                .map(|below| (from(below), below))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let (cost, below) = best.unwrap_or((f64::INFINITY, here));
            (cost + own(rated, place), below)
        };
        let row = all.iter().enumerate().map(next).collect();
        paths.push(row);
    }
    let mut here = all.len() - 1;
    let mut levels = vec![all[here].player];
    for path in paths.iter().skip(1).rev() {
        if path[here].0.is_infinite() {
            break;
        }
        here = path[here].1;
        levels.push(all[here].player);
    }
    levels.reverse();
    levels
}

/// The cost of the step from a level to the next one.
fn step_cost(below: &Rated, above: &Rated, min_gap: f64, spacing: f64) -> f64 {
    if below.elo >= above.elo {
        return f64::INFINITY;
    }
    let detours = [
        above.setting.step < below.setting.step,
        above.setting.visits < below.setting.visits,
    ];
    let detours = detours.into_iter().filter(|&detour| detour).count() as f64;
    let missing = (min_gap - (above.elo - below.elo)).max(0.0);
    DETOUR * detours + NARROW * (missing / spacing).powi(2)
}
