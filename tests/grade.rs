//! Grading: which settings are chosen, and the whole procedure with simulated players of known strength.
use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::mix;
use train::grade::choose::{self, Rated};
use train::grade::field::{Field, Setting};
use train::grade::grading::{Match, Part, Play, Verdict, Wish, grade};
use train::pipeline::keep::surplus;
use train::rating::davidson::outcome_probabilities;
use train::rating::{Encounter, GameScore, RatingError};

const STEPS: [u64; 12] = [0, 40, 80, 120, 160, 240, 320, 480, 640, 960, 1300, 1800];
const TOP: u32 = 32;
/// A field that is soon graded.
const FEW: [u64; 6] = [0, 60, 160, 400, 900, 1800];
const SCORES: [GameScore; 3] = [GameScore::Loss, GameScore::Draw, GameScore::Win];

/// A setting that plays without chance.
fn cold(step: u64, visits: u32) -> Setting {
    Setting {
        step,
        visits,
        temperature: 0.0,
    }
}

/// Settings with these ratings, `(Elo, temperature)`, of ever later checkpoints.
fn rated(all: &[(f64, f32)]) -> Vec<Rated> {
    let rated = |(player, &(elo, temperature)): (usize, &(f64, f32))| Rated {
        player,
        setting: Setting {
            temperature,
            ..cold(player as u64, 1)
        },
        elo,
        lower: elo - 50.0,
    };
    all.iter().enumerate().map(rated).collect()
}

fn chosen(rated: &[Rated], levels: usize, min_gap: f64) -> Vec<Rated> {
    let newest = rated.last().expect("a setting").player;
    let top = choose::strongest(rated, newest).expect("a setting");
    let places = choose::places(rated, top.elo, levels, min_gap);
    let players = choose::choose(rated, top, &places, min_gap);
    players.into_iter().map(|player| rated[player]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn levels_ascend_to_the_strongest(
        ratings in proptest::collection::vec((-100.0f64..1500.0, prop_oneof![Just(0.0f32), Just(1.0)]), 1..60),
        levels in 1usize..20,
        min_gap in prop_oneof![Just(0.0), 1.0f64..200.0],
    ) {
        let rated = rated(&ratings);
        let levels_chosen = chosen(&rated, levels, min_gap);
        prop_assert!(!levels_chosen.is_empty() && levels_chosen.len() <= levels);
        for two in levels_chosen.windows(2) {
            prop_assert!(two[0].elo < two[1].elo, "{levels_chosen:?}");
        }
        let newest = rated.last().expect("a setting");
        let top = choose::strongest(&rated, newest.player).expect("a setting");
        prop_assert_eq!(levels_chosen.last(), Some(top));
        prop_assert!(top.player == newest.player || top.lower > newest.elo);
    }

    #[test]
    fn of_a_dense_grid_levels_are_evenly_spaced(seed: u64, levels in 2usize..12, range in 300.0f64..1500.0) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut ratings: Vec<_> = (0..200).map(|_| (rng.random_range(0.0..range), 0.0)).collect();
        ratings.push((range, 0.0));
        let levels_chosen = chosen(&rated(&ratings), levels, 60.0);
        let room = (range / 60.0) as usize;
        prop_assert!(levels_chosen.len() >= levels.min(room), "{} of {levels}", levels_chosen.len());
        let gaps: Vec<_> = levels_chosen.windows(2).map(|two| two[1].elo - two[0].elo).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        prop_assert!(gaps.iter().all(|gap| (0.6..1.4).contains(&(gap / mean))), "{gaps:?}");
    }

    /// Whenever a checkpoint comes, `keep` of them are left: the first, the newest, and early ones.
    #[test]
    fn a_run_keeps_checkpoints_of_all_its_ages(keep in 8usize..30, every in 8u64..500, count in 1u64..300) {
        let mut kept = vec![0];
        for step in (1..=count).map(|n| n * every) {
            kept.push(step);
            let gone = surplus(&kept, keep);
            kept.retain(|step| !gone.contains(step));
            prop_assert!(kept.len() <= keep && kept[0] == 0 && kept.last() == Some(&step));
        }
        prop_assert_eq!(kept.len(), keep.min(count as usize + 1));
        let newest: Vec<_> = (0..keep as u64 / 2).filter_map(|n| count.checked_sub(n)).map(|n| n * every).collect();
        prop_assert!(newest.iter().all(|step| kept.contains(step)), "{kept:?}");
        prop_assert!(kept.contains(&every), "{kept:?}");
        // Between the first step and the newest half no hole is much wider than an even spread has them.
        let old = &kept[1..kept.len() - (keep / 2).min(kept.len() - 2)];
        let even = (count as f64).ln() / old.len() as f64;
        let widest = kept[1..].windows(2).map(|two| (two[1] as f64 / two[0] as f64).ln()).fold(0.0, f64::max);
        prop_assert!(widest <= 1.5 * even + 2f64.ln(), "{widest} of {even}: {kept:?}");
    }

    #[test]
    fn a_field_keeps_the_ends_and_names_everybody_apart(
        steps in proptest::collection::btree_set(0u64..100_000, 1..30),
        top in 1u32..3000,
    ) {
        let steps: Vec<_> = steps.into_iter().collect();
        let field = Field::new(&steps, top);
        prop_assert!(field.steps().len() == steps.len().min(8));
        prop_assert_eq!((field.steps().first(), field.steps().last()), (steps.first(), steps.last()));
        prop_assert!(field.visits().len() <= 7 && field.visits()[0] == 1);
        prop_assert_eq!(field.visits().last(), Some(&top));
        let names: BTreeSet<_> = (0..field.len()).map(|player| field.name(player)).collect();
        prop_assert_eq!(names.len(), field.len());
        let newest = field.setting(field.newest());
        prop_assert_eq!(newest, Some(cold(steps[steps.len() - 1], top)));
        // The first matches connect everybody without chance.
        let mut reached = BTreeSet::from([Field::RANDOM]);
        for _ in 0..field.len() {
            for [a, b] in field.first_matches() {
                prop_assert!(a < b);
                if reached.contains(&a) || reached.contains(&b) {
                    reached.extend([a, b]);
                }
            }
        }
        prop_assert!(field.cold().all(|player| reached.contains(&player)));
    }
}

#[test]
fn a_warm_setting_only_fills_a_gap() {
    let level = |all: &[(f64, f32)]| {
        let levels = chosen(&rated(all), 3, 60.0);
        assert_eq!(levels.len(), 3);
        levels[1]
    };
    let (bottom, top) = ((0.0, 0.0), (600.0, 0.0));
    assert_eq!(level(&[bottom, (230.0, 0.0), (300.0, 1.0), top]).elo, 230.0);
    assert_eq!(level(&[bottom, (100.0, 0.0), (300.0, 1.0), top]).elo, 300.0);
    let gaps = |all: &[(f64, f32)]| {
        let rated = rated(all);
        choose::gaps(&rated, &choose::places(&rated, 600.0, 3, 60.0))
    };
    assert!(gaps(&[bottom, (230.0, 0.0), top]).is_empty());
    assert_eq!(gaps(&[bottom, (100.0, 0.0), (300.0, 1.0), top]), [300.0]);
}

/// Players of known strength.
struct Simulation<'a> {
    field: &'a Field,
    /// In Elo, by setting.
    strength: fn(Setting) -> f64,
    seed: u64,
    said: RefCell<Vec<String>>,
}

impl Simulation<'_> {
    fn elo(&self, player: usize) -> f64 {
        match self.field.setting(player) {
            Some(setting) => (self.strength)(setting),
            None if player == Field::RANDOM => 0.0,
            None => 420.0,
        }
    }
}

impl Play for Simulation<'_> {
    type Error = RatingError;

    fn play(&mut self, part: Part, matches: &[Match]) -> Result<Vec<Encounter>, RatingError> {
        let part = match part {
            Part::Fit => 0,
            Part::Check(number) => u64::from(number),
        };
        let result = |game: &Match| {
            let [a, b] = game.players;
            let mut encounter = Encounter::new(self.field.name(a), self.field.name(b));
            let odds = outcome_probabilities(self.elo(a) - self.elo(b), 0.25);
            for pair in 0..game.pairs {
                let parts = [part, a as u64, b as u64, pair.into()];
                let seed = parts.iter().fold(self.seed, |seed, part| mix(seed ^ part));
                let mut rng = Pcg64Mcg::seed_from_u64(seed);
                let [first, second] = [0, 1].map(|_| {
                    let luck: f64 = rng.random();
                    SCORES[usize::from(luck >= odds[0]) + usize::from(luck >= odds[0] + odds[1])]
                });
                encounter.add_pair(first, second);
            }
            encounter
        };
        Ok(matches.iter().map(result).collect())
    }

    fn say(&self, text: &str) {
        self.said.borrow_mut().push(text.to_owned());
    }
}

/// A run that learns steadily.
fn steady(setting: Setting) -> f64 {
    let learnt = 150.0 * (1.0 + setting.step as f64 / 60.0).ln();
    let searched = 60.0 * f64::from(setting.visits).log2() * (setting.step as f64 / 200.0).min(1.0);
    5.0 + learnt + searched - 150.0 * f64::from(setting.temperature)
}

/// A run whose second checkpoint has learnt much.
fn sudden(setting: Setting) -> f64 {
    let learnt = if setting.step == 0 { 0.0 } else { 450.0 };
    learnt + 0.2 * steady(setting) - 150.0 * f64::from(setting.temperature)
}

/// A run that has learnt nothing.
fn flat(_: Setting) -> f64 {
    20.0
}

fn simulate(
    field: &Field,
    strength: fn(Setting) -> f64,
    levels: usize,
    games: u32,
    seed: u64,
) -> Verdict {
    let wish = Wish {
        levels,
        min_gap: 60.0,
        games,
    };
    let mut simulation = Simulation {
        field,
        strength,
        seed,
        said: RefCell::default(),
    };
    let verdict = grade(field, &wish, &mut simulation).expect("ratings");
    let gaps = gaps(&verdict, strength);
    let said = simulation.said.borrow().join("\n");
    eprintln!("{said}\n{:#?}\ntrue gaps {gaps:.0?}\n", verdict.short);
    verdict
}

/// True gaps between neighbours.
fn gaps(verdict: &Verdict, strength: fn(Setting) -> f64) -> Vec<f64> {
    let elo: Vec<_> = verdict
        .levels
        .iter()
        .map(|level| strength(level.setting))
        .collect();
    elo.windows(2).map(|two| two[1] - two[0]).collect()
}

#[test]
fn a_run_that_learns_gets_ten_levels_evenly_spaced() {
    let field = Field::new(&STEPS, TOP);
    for seed in 0..2 {
        let verdict = simulate(&field, steady, 10, 200, seed);
        let levels = &verdict.levels;
        let settings: Vec<_> = levels
            .iter()
            .map(|level| level.setting.to_string())
            .collect();
        assert_eq!(levels.len(), 10, "{settings:?}");
        assert_eq!(levels[9].setting, cold(1800, TOP));
        assert!(
            levels.iter().all(|level| !level.setting.is_warm()),
            "{settings:?}"
        );
        let gaps = gaps(&verdict, steady);
        let mean = gaps.iter().sum::<f64>() / 9.0;
        assert!(
            gaps.iter().all(|gap| (0.4..1.8).contains(&(gap / mean))),
            "seed {seed}: {gaps:?}"
        );
        assert!(steady(levels[0].setting).abs() < 60.0, "{settings:?}");
        for two in levels.windows(2) {
            let score = two[1].against_below.as_ref().expect("a match");
            assert!(score.score_interval.lower > 0.5 && two[0].elo.value < two[1].elo.value);
        }
    }
}

#[test]
fn the_ratings_of_the_levels_are_not_biased_by_their_choice() {
    let field = Field::new(&FEW, 8);
    let (mut inside, mut all, mut error) = (0, 0, 0.0);
    for seed in 100..116 {
        for level in simulate(&field, steady, 6, 100, seed).levels {
            let (truth, elo) = (steady(level.setting), level.elo);
            inside += usize::from((elo.interval.lower..=elo.interval.upper).contains(&truth));
            error += elo.value - truth;
            all += 1;
        }
    }
    eprintln!(
        "{inside} of {all} inside, mean error {:.1}",
        error / f64::from(all)
    );
    // The levels of a grading share their errors, so that this is the sureness of some thirty independent ones.
    assert!(inside as f64 >= 0.8 * f64::from(all), "{inside} of {all}");
    assert!((error / f64::from(all)).abs() < 20.0, "{error}");
}

#[test]
fn a_grading_follows_from_its_seed() {
    let field = Field::new(&FEW, 4);
    let verdict = simulate(&field, steady, 6, 40, 7);
    assert_eq!(simulate(&field, steady, 6, 40, 7), verdict);
    assert_ne!(simulate(&field, steady, 6, 40, 8), verdict);
}

#[test]
fn a_gap_at_the_low_end_is_filled_by_warm_play() {
    let verdict = simulate(&Field::new(&FEW, 16), sudden, 8, 200, 3);
    let warm = |level: &&train::grade::grading::Graded| level.setting.is_warm();
    let settings: Vec<_> = verdict
        .levels
        .iter()
        .map(|level| level.setting.to_string())
        .collect();
    assert!(
        verdict.levels.iter().any(|level| warm(&level)),
        "{settings:?}"
    );
    // Above the gap nothing is left to chance.
    let top = verdict.levels.iter().rev().take(3);
    assert!(top.into_iter().all(|level| !warm(&level)), "{settings:?}");
}

#[test]
fn a_run_without_room_gets_fewer_levels_and_is_told_why() {
    let field = Field::new(&FEW, 8);
    let verdict = simulate(&field, flat, 10, 100, 1);
    assert!(verdict.levels.len() <= 2, "{:?}", verdict.levels);
    assert!(
        verdict.short[0].contains("of 10 levels"),
        "{:?}",
        verdict.short
    );
    let narrow = |setting: Setting| 0.3 * steady(setting);
    let verdict = simulate(&field, narrow, 10, 200, 1);
    assert!(
        (3..=8).contains(&verdict.levels.len()),
        "{:?}",
        verdict.levels
    );
    assert!(gaps(&verdict, narrow).iter().all(|gap| *gap > 0.0));
    assert!(!verdict.short.is_empty());
}
