//! What is played to grade a run, and what follows from the results.
//!
//! 1. **Fit.** Every setting of the grid meets its neighbours in the grid, then in some rounds the next ones above it in
//!    rating; where a level's place has no setting near it, warm ones of the weakest network above it join. Then in
//!    some rounds those that would be chosen play more: what was taken for a level by luck is found out.
//! 2. **Check.** The levels chosen meet in other games, from other openings: each the next and the one after it, the
//!    weakest two the player `random`. A pair of neighbours plays on until the 95 % interval of its score is above 1/2,
//!    up to four times as many games; that is looked at after each portion, so of equal neighbours more than one in
//!    forty passes. All these games, and no others, make the ratings of the levels.
//! 3. Where neighbours are not told apart, their ratings do not ascend or are unevenly spaced, the games of the check
//!    join the fit and the levels are chosen anew, twice at most. In the last check uneven levels stay; neighbours not
//!    told apart cost a level: what is left is proven.
use std::collections::{BTreeMap, BTreeSet};

use super::check::check;
use super::choose::{self, Rated};
use super::field::{Field, Setting};
use crate::rating::{self, Encounter, Estimate, Rating, RatingError, RatingList, RatingOptions};

/// Rounds of the fit after the first matches: how many places above it in rating each player's opponent stands.
const ROUNDS: [usize; 3] = [1, 2, 1];
/// Rounds in which the levels that would be chosen play more, before each check.
const REFINEMENTS: usize = 4;
/// Checks, at most.
const CHECKS: u32 = 3;
/// A match of the fit has this part of the pairs of a check's.
const FIT_SHARE: u32 = 25;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Levels, at least 1.
    pub levels: usize,
    /// Least distance of neighbours in Elo, from 0.
    pub min_gap: f64,
    /// Games of each match of neighbours to begin with, at least 2.
    pub games: u32,
}

impl Wish {
    /// Opening pairs of a match of neighbours to begin with.
    pub(super) fn pairs(&self) -> u32 {
        self.games.div_ceil(2)
    }
}

/// What games are for; games of one part have nothing to do with those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// To find out how strong each setting is.
    Fit,
    /// To check the levels, numbered from 1.
    Check(u32),
}

/// A match to be played: `pairs` opening pairs, counted from the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Places of the two in the field, the first below the second.
    pub players: [usize; 2],
    /// Opening pairs, those already played among them.
    pub pairs: u32,
}

/// Whoever plays the games.
pub trait Play {
    /// Why it could not.
    type Error: From<RatingError>;
    /// The matches' results, each seen from its first player, under the names of the field. A pair's games follow from
    /// the part, the players and its number alone.
    fn play(&mut self, part: Part, matches: &[Match]) -> Result<Vec<Encounter>, Self::Error>;
    /// Tells people how far it is.
    fn say(&self, text: &str);
}

/// A level as the check's games have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// Its place in the field.
    pub player: usize,
    /// How it plays.
    pub setting: Setting,
    /// Its Elo.
    pub elo: Estimate,
    /// Its match against the level below.
    pub against_below: Option<Rating>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The weakest first; at least one.
    pub levels: Vec<Graded>,
    /// The games they come from.
    pub part: Part,
    /// Why there are fewer than were asked for.
    pub short: Vec<String>,
}

/// Grades the settings of `field`.
pub fn grade<P: Play>(field: &Field, wish: &Wish, play: &mut P) -> Result<Verdict, P::Error> {
    let mut grading = Grading {
        field,
        wish,
        play,
        active: field.cold().collect(),
        fitted: BTreeMap::new(),
        checked: Vec::new(),
    };
    grading.fit()?;
    for attempt in 1..CHECKS {
        let (levels, short) = grading.choose_surely()?;
        let part = Part::Check(attempt);
        let check = check(field, wish, grading.play, part, &levels)?;
        let Some(why) = check
            .fault(wish.min_gap)
            .map(|(_, why)| why)
            .or(check.unevenness())
        else {
            return Ok(check.verdict(part, short));
        };
        grading.play.say(&why);
        grading.checked.extend(check.games);
    }
    let (mut levels, mut short) = grading.choose_surely()?;
    let part = Part::Check(CHECKS);
    loop {
        let check = check(field, wish, grading.play, part, &levels)?;
        let Some((weak, why)) = check.fault(wish.min_gap) else {
            return Ok(check.verdict(part, short));
        };
        grading.play.say(&why);
        // The strongest stays, and where it can the weakest.
        let above_is_top = weak + 2 == levels.len();
        levels.remove(if above_is_top { weak } else { weak + 1 });
        short.push(format!("{why}; one of the two is left out"));
    }
}

struct Grading<'a, P> {
    field: &'a Field,
    wish: &'a Wish,
    play: &'a mut P,
    /// Settings that may become levels.
    active: BTreeSet<usize>,
    /// The fit's matches.
    fitted: BTreeMap<[usize; 2], Encounter>,
    /// The games of checks that failed.
    checked: Vec<Encounter>,
}

/// Two places in the order of the field.
pub(super) fn sorted(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

impl<P: Play> Grading<'_, P> {
    /// Pairs of a match of the fit.
    fn portion(&self) -> u32 {
        self.wish.pairs().div_ceil(FIT_SHARE)
    }

    fn fit(&mut self) -> Result<(), P::Error> {
        let (steps, visits) = (self.field.steps().len(), self.field.visits());
        self.play.say(&format!(
            "fit: {steps} checkpoints with {visits:?} simulations, {} settings",
            self.active.len()
        ));
        self.more(self.field.first_matches(), self.portion())?;
        for away in ROUNDS {
            self.nearest(away, |_| true)?;
        }
        self.fill_gaps()
    }

    /// The levels, after those that would be chosen have played more: what was chosen by luck is found out.
    fn choose_surely(&mut self) -> Result<(Vec<usize>, Vec<String>), P::Error> {
        for _ in 0..REFINEMENTS {
            let (levels, _) = self.choose()?;
            let neighbours = levels
                .windows(2)
                .map(|two| sorted(two[0], two[1]))
                .collect();
            self.more(neighbours, 3 * self.portion())?;
        }
        Ok(self.choose()?)
    }

    /// Plays `pairs` more of each match.
    fn more(&mut self, matches: Vec<[usize; 2]>, pairs: u32) -> Result<(), P::Error> {
        let matches: BTreeSet<_> = matches.into_iter().collect();
        let there = |players: &[usize; 2]| self.fitted.get(players).map_or(0, count);
        let matches: Vec<_> = (matches.iter())
            .map(|players| Match {
                players: *players,
                pairs: there(players) + pairs,
            })
            .collect();
        let results = self.play.play(Part::Fit, &matches)?;
        let results = matches.iter().zip(results);
        self.fitted
            .extend(results.map(|(game, result)| (game.players, result)));
        Ok(())
    }

    /// A round in which each player meets the one `away` places above it in rating; of these matches those that have a
    /// player that is `wanted`. Few long matches, for a network's batch is of the games of one match.
    fn nearest(&mut self, away: usize, wanted: impl Fn(usize) -> bool) -> Result<(), P::Error> {
        let list = self.ratings()?;
        let places: BTreeMap<_, _> = (0..self.field.len())
            .map(|p| (self.field.name(p), p))
            .collect();
        let order: Vec<_> = list
            .players
            .iter()
            .map(|player| places[&player.name])
            .collect();
        let twos = order
            .windows(away + 1)
            .map(|some| sorted(some[0], some[away]));
        let matches = twos.filter(|players| players.iter().any(|&player| wanted(player)));
        self.more(matches.collect(), 2 * self.portion())
    }

    /// Lets warm settings join where the grid leaves a gap.
    fn fill_gaps(&mut self) -> Result<(), P::Error> {
        let rated = self.rated()?;
        let Some(top) = choose::strongest(&rated, self.field.newest()) else {
            return Ok(());
        };
        let places = choose::places(&rated, top.elo, self.wish.levels, self.wish.min_gap);
        let mut joining = BTreeSet::new();
        let mut matches = Vec::new();
        for gap in choose::gaps(&rated, &places) {
            let elo = |player| {
                rated
                    .iter()
                    .find(|r| r.player == player)
                    .map_or(f64::NAN, |r| r.elo)
            };
            let steps = 0..self.field.steps().len();
            let above = steps.filter(|&step| elo(self.field.bare(step)) > gap);
            let bare = |step: &usize| elo(self.field.bare(*step));
            let Some(step) = above.min_by(|a, b| bare(a).total_cmp(&bare(b))) else {
                continue;
            };
            for warm in self.field.warm(step) {
                joining.insert(warm);
                matches.push(sorted(self.field.bare(step), warm));
                matches.push([Field::RANDOM, warm]);
            }
        }
        if joining.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = joining
            .iter()
            .map(|&player| self.field.name(player))
            .collect();
        self.play
            .say(&format!("a gap in the grid: [{}] join", names.join("], [")));
        self.active.extend(&joining);
        self.more(matches, self.portion())?;
        for away in ROUNDS {
            self.nearest(away, |player| joining.contains(&player))?;
        }
        Ok(())
    }

    /// Ratings by all games so far.
    fn ratings(&self) -> Result<RatingList, RatingError> {
        let games: Vec<_> = self.fitted.values().chain(&self.checked).cloned().collect();
        rate(self.field, &games)
    }

    /// The settings that may become levels, with their ratings.
    fn rated(&self) -> Result<Vec<Rated>, RatingError> {
        let list = self.ratings()?;
        let rated = |player: &usize| {
            let name = self.field.name(*player);
            let found = list.players.iter().find(|rating| rating.name == name)?;
            Some(Rated {
                player: *player,
                setting: self.field.setting(*player)?,
                elo: found.elo.value,
                lower: found.elo.interval.lower,
            })
        };
        Ok(self.active.iter().filter_map(rated).collect())
    }

    /// The levels by what is known so far, the weakest first, and why they are fewer than were asked for.
    fn choose(&self) -> Result<(Vec<usize>, Vec<String>), RatingError> {
        let (rated, wish) = (self.rated()?, self.wish);
        let newest = self.field.newest();
        let Some(top) = choose::strongest(&rated, newest) else {
            return Ok((vec![newest], Vec::new()));
        };
        let places = choose::places(&rated, top.elo, wish.levels, wish.min_gap);
        let levels = choose::choose(&rated, top, &places, wish.min_gap);
        let mut short = Vec::new();
        if levels.len() < wish.levels {
            short.push(format!(
                "{:.0} Elo from the weakest to the strongest have room for {} of {} levels at least {} apart",
                top.elo - places.elo[0],
                levels.len(),
                wish.levels,
                wish.min_gap
            ));
        }
        Ok((levels, short))
    }
}

/// The ratings of a field's players.
pub(super) fn rate(field: &Field, games: &[Encounter]) -> Result<RatingList, RatingError> {
    let anchors = BTreeMap::from([(field.name(Field::RANDOM), 0.0)]);
    let options = RatingOptions {
        anchors,
        ..RatingOptions::default()
    };
    rating::rate(games, &options)
}

/// Number of opening pairs.
fn count(encounter: &Encounter) -> u32 {
    encounter.pentanomial().iter().sum()
}
