//! Ratings of simulated players of known strength: intervals, likelihoods of superiority and tests of fit are as sure
//! as they say.
use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use statrs::distribution::{Binomial, DiscreteCDF};
use train::rating::{Encounter, Estimate, GameScore, RatingList, RatingOptions, rate};

const SCORES: [GameScore; 3] = [GameScore::Loss, GameScore::Draw, GameScore::Win];

/// How the second game of a pair depends on the first; either way each game alone is as if there were no other.
#[derive(Clone, Copy)]
enum Coupling {
    None,
    /// In this share of pairs what helped a player in the first game helps the other in the second.
    Opposed(f64),
    /// In this share of pairs both games go the same way.
    Alike(f64),
}

/// Players of known strength and how they play.
#[derive(Clone, Copy)]
struct World<'a> {
    /// In Elo.
    ratings: &'a [f64],
    draw_rate: f64,
    /// Of the first move, in Elo.
    advantage: f64,
    /// Number of opening pairs of every two players.
    pairs: usize,
    /// Number of unpaired games of every two players, each moving first in every other one.
    singles: usize,
    coupling: Coupling,
}

/// The plainest world: three players 100 Elo apart.
const PLAIN: World = World {
    ratings: &[100.0, 0.0, -100.0],
    draw_rate: 0.3,
    advantage: 0.0,
    pairs: 50,
    singles: 0,
    coupling: Coupling::None,
};

fn name(player: usize) -> String {
    format!("p{player}")
}

impl World<'_> {
    /// A game of a player so much stronger, decided by luck, 0..1, high being good.
    fn game(&self, difference: f64, luck: f64) -> GameScore {
        let draw = 2.0 * self.draw_rate / (1.0 - self.draw_rate);
        let d = (1.0 + draw / 2.0) * difference * std::f64::consts::LN_10 / 400.0;
        let (win, loss) = ((d / 2.0).exp(), (-d / 2.0).exp());
        let total = win + draw + loss;
        SCORES[usize::from(luck >= loss / total) + usize::from(luck >= (loss + draw) / total)]
    }

    fn meeting(&self, a: usize, b: usize, rng: &mut Pcg64Mcg) -> Encounter {
        let mut games = Encounter::new(name(a), name(b));
        let difference = self.ratings[a] - self.ratings[b];
        for _ in 0..self.pairs {
            let (luck, other): (f64, f64) = (rng.random(), rng.random());
            let second = match self.coupling {
                Coupling::Opposed(share) if rng.random_bool(share) => 1.0 - luck,
                Coupling::Alike(share) if rng.random_bool(share) => luck,
                _ => other,
            };
            games.add_pair(
                self.game(difference + self.advantage, luck),
                self.game(difference - self.advantage, second),
            );
        }
        for i in 0..self.singles {
            let first = i % 2 == 0;
            let side = if first { 1.0 } else { -1.0 };
            games.add_game(
                first,
                self.game(difference + side * self.advantage, rng.random()),
            );
        }
        games
    }

    /// Everyone against everyone.
    fn round_robin(&self, rng: &mut Pcg64Mcg) -> Vec<Encounter> {
        let count = self.ratings.len();
        let meetings = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        meetings.map(|(a, b)| self.meeting(a, b, rng)).collect()
    }
}

fn elo(list: &RatingList, player: &str) -> Estimate {
    let found = list.players.iter().find(|p| p.name == player);
    found.expect("a player").elo
}

fn covers(estimate: Estimate, truth: f64) -> bool {
    estimate.interval.lower <= truth && truth <= estimate.interval.upper
}

/// Whether `hits` of `trials` of probability `p` happen by chance, but less than once in 10^8, this seldom or this
/// often.
fn plausible(hits: u64, trials: u64, p: f64) -> bool {
    let binomial = Binomial::new(p, trials).expect("a distribution");
    let least = binomial.cdf(hits);
    let most = if hits == 0 {
        1.0
    } else {
        binomial.sf(hits - 1)
    };
    least > 1e-8 && most > 1e-8
}

const SIMULATIONS: u64 = 400;

/// Checks that the 95 % intervals of every free player, of the draw rate and of the advantage hold the truth in 95 % of
/// simulations, where the first `anchors` players are anchored.
fn check_coverage(label: &str, world: World, anchors: usize) {
    let truth: Vec<f64> = if anchors > 0 {
        world.ratings.to_vec()
    } else {
        let mean = world.ratings.iter().sum::<f64>() / world.ratings.len() as f64;
        world.ratings.iter().map(|rating| rating - mean).collect()
    };
    let options = RatingOptions {
        anchors: (0..anchors).map(|i| (name(i), truth[i])).collect(),
        first_mover: world.advantage != 0.0,
        ..RatingOptions::default()
    };
    let mut hits: BTreeMap<String, u64> = BTreeMap::new();
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    for _ in 0..SIMULATIONS {
        let list = rate(&world.round_robin(&mut rng), &options).expect("ratings");
        let mut count = |what: String, hit| *hits.entry(what).or_default() += u64::from(hit);
        for (i, &rating) in truth.iter().enumerate().skip(anchors) {
            count(name(i), covers(elo(&list, &name(i)), rating));
        }
        if world.draw_rate > 0.0 {
            count("draw rate".into(), covers(list.draw_rate, world.draw_rate));
        }
        if let Some(advantage) = list.first_mover {
            count("advantage".into(), covers(advantage, world.advantage));
        }
    }
    eprintln!("{label}: {hits:?} of {SIMULATIONS}");
    for (what, hits) in hits {
        assert!(
            plausible(hits, SIMULATIONS, 0.95),
            "{label}: the interval of {what} holds the truth in {hits} of {SIMULATIONS} simulations"
        );
    }
}

#[test]
fn the_intervals_hold_the_truth() {
    let spread: &[f64] = &[400.0, 150.0, 0.0, -50.0, -500.0];
    let worlds = [
        ("plain", PLAIN),
        (
            "no draws",
            World {
                draw_rate: 0.0,
                ..PLAIN
            },
        ),
        (
            "mostly draws",
            World {
                draw_rate: 0.8,
                ..PLAIN
            },
        ),
        (
            "a wide field",
            World {
                ratings: spread,
                ..PLAIN
            },
        ),
        (
            "single games",
            World {
                pairs: 0,
                singles: 60,
                ..PLAIN
            },
        ),
        (
            "both",
            World {
                pairs: 20,
                singles: 20,
                ..PLAIN
            },
        ),
        (
            "first move",
            World {
                advantage: 60.0,
                singles: 20,
                ..PLAIN
            },
        ),
        (
            "opposed",
            World {
                coupling: Coupling::Opposed(0.8),
                ..PLAIN
            },
        ),
        (
            "alike",
            World {
                coupling: Coupling::Alike(0.8),
                ..PLAIN
            },
        ),
        (
            "few games of many",
            World {
                ratings: &[0.0; 8],
                pairs: 3,
                coupling: Coupling::Alike(0.8),
                ..PLAIN
            },
        ),
        ("few games", World { pairs: 8, ..PLAIN }),
    ];
    for (label, world) in worlds {
        check_coverage(label, world, 0);
        check_coverage(&format!("{label}, one anchor"), world, 1);
    }
    check_coverage(
        "two anchors",
        World {
            ratings: spread,
            ..PLAIN
        },
        2,
    );
}

#[test]
fn superiority_is_calibrated() {
    let world = World {
        ratings: &[0.0, 0.0, 300.0],
        coupling: Coupling::Opposed(0.5),
        ..PLAIN
    };
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let (mut low, mut high) = (0, 0);
    for _ in 0..SIMULATIONS {
        let list = rate(&world.round_robin(&mut rng), &RatingOptions::default()).expect("ratings");
        let place = |player: &str| {
            list.players
                .iter()
                .position(|p| p.name == player)
                .expect("there")
        };
        let los = list.superiority[place("p0")][place("p1")];
        low += u64::from(los < 0.1);
        high += u64::from(los > 0.9);
        assert!(list.superiority[place("p2")][place("p1")] > 0.99);
    }
    for hits in [low, high] {
        assert!(
            plausible(hits, SIMULATIONS, 0.1),
            "{low} {high} of {SIMULATIONS}"
        );
    }
}

/// The same games, unpaired.
fn unpaired(encounter: &Encounter) -> Encounter {
    let mut games = Encounter::new(&*encounter.player, &*encounter.opponent);
    for (first, row) in encounter.pairs.iter().enumerate() {
        for (second, &count) in row.iter().enumerate() {
            games.moving_first[first] += count;
            games.moving_second[second] += count;
        }
    }
    games
}

#[test]
fn pairs_narrow_the_intervals_where_openings_favour_a_side() {
    // (dependence, least and greatest of: width with pairs over width without, its mean)
    for (coupling, each, mean) in [
        (Coupling::Opposed(0.9), 0.3..0.95, 0.5..0.75),
        (Coupling::None, 0.7..1.4, 0.96..1.04),
        (Coupling::Alike(0.9), 1.05..1.7, 1.25..1.45),
    ] {
        let world = World { coupling, ..PLAIN };
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let mut ratios = Vec::new();
        for _ in 0..50 {
            let pairs = world.round_robin(&mut rng);
            let singles: Vec<_> = pairs.iter().map(unpaired).collect();
            let [paired, single] = [pairs, singles]
                .map(|games| rate(&games, &RatingOptions::default()).expect("ratings"));
            for player in &paired.players {
                let (a, b) = (player.elo, elo(&single, &player.name));
                assert!((a.value - b.value).abs() < 1e-6);
                let width = |e: Estimate| e.interval.upper - e.interval.lower;
                ratios.push(width(a) / width(b));
            }
        }
        assert!(
            ratios.iter().all(|ratio| each.contains(ratio)),
            "{ratios:?}"
        );
        let ratio = ratios.iter().sum::<f64>() / ratios.len() as f64;
        eprintln!("width with pairs over width without: {ratio:.3}");
        assert!(mean.contains(&ratio), "{ratio}");
    }
}

#[test]
fn the_fit_is_rejected_no_more_often_than_by_chance() {
    for (pairs, coupling) in [
        (30, Coupling::Opposed(0.7)),
        (30, Coupling::Alike(0.7)),
        (6, Coupling::None),
    ] {
        let world = World {
            ratings: &[200.0, 100.0, 0.0, 0.0, -150.0],
            pairs,
            coupling,
            ..PLAIN
        };
        let mut rng = Pcg64Mcg::seed_from_u64(8);
        let (mut rejected, mut large, mut cells) = (0, 0, 0);
        for _ in 0..SIMULATIONS {
            let list =
                rate(&world.round_robin(&mut rng), &RatingOptions::default()).expect("ratings");
            assert_eq!(list.fit.degrees, 6);
            rejected += u64::from(list.fit.p_value.expect("degrees") < 0.05);
            for cell in list.cross_table.iter().flatten().flatten() {
                cells += 1;
                large += u64::from(cell.standardised.expect("free").abs() > 1.96);
            }
        }
        eprintln!(
            "{pairs} pairs: {rejected} of {SIMULATIONS} rejected, {large} of {cells} residuals large"
        );
        assert!(
            plausible(rejected, SIMULATIONS, 0.05),
            "{rejected} of {SIMULATIONS}"
        );
        let share = large as f64 / f64::from(cells);
        assert!((0.03..0.07).contains(&share), "{share}");
    }
}
