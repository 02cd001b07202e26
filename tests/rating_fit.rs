//! Ratings of many players: the laws of the scale, published and independently computed numbers, cycles, errors.
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use train::rating::davidson::outcome_probabilities;
use train::rating::{CrossCell, Encounter, Estimate, RatingError, RatingList, RatingOptions, rate};

fn name(player: usize) -> String {
    format!("p{player}")
}

fn elo(list: &RatingList, player: &str) -> Estimate {
    let found = list.players.iter().find(|p| p.name == player);
    found.expect("a player").elo
}

/// Decided games of two players in which the first scores so many of 100 pairs of one point or all.
fn won(a: &str, b: &str, won: u32) -> Encounter {
    let mut games = Encounter::new(a, b);
    games.pairs[2][2] = won;
    games.pairs[0][0] = 100 - won;
    games
}

#[test]
fn cycles_are_found() {
    let triangle = [won("a", "b", 70), won("b", "c", 70), won("c", "a", 70)];
    let square = [
        won("a", "b", 70),
        won("b", "c", 70),
        won("c", "d", 70),
        won("d", "a", 70),
    ];
    let transitive = [won("a", "b", 70), won("b", "c", 70), won("c", "a", 16)];
    let insignificant = [won("a", "b", 70), won("b", "c", 70), won("c", "a", 55)];
    // (games, players of each cycle, whether the ratings explain the results)
    let cases: [(&[Encounter], &[usize], bool); 4] = [
        (&triangle, &[3], false),
        (&square, &[4], false),
        (&transitive, &[], true),
        (&insignificant, &[], false),
    ];
    for (games, expected, explained) in cases {
        let list = rate(games, &RatingOptions::default()).expect("ratings");
        let found: Vec<_> = list
            .cycles
            .iter()
            .map(|cycle| cycle.players.len())
            .collect();
        assert_eq!(found, expected, "{:?}", list.cycles);
        for cycle in &list.cycles {
            assert!(cycle.scores.iter().all(|&score| (score - 0.7).abs() < 1e-9));
        }
        let p = list.fit.p_value.expect("a degree of freedom");
        let plain = if explained { p > 0.1 } else { p < 1e-6 };
        assert!(plain, "{p}");
    }
}

/// Connected results of a few players: each has met the next.
fn results() -> impl Strategy<Value = Vec<Encounter>> {
    let counts = || prop::array::uniform3(0_u32..6);
    let games = (
        prop::array::uniform3(counts()),
        counts(),
        counts(),
        any::<(u8, u8)>(),
    );
    (2_usize..6, prop::collection::vec(games, 5..12)).prop_map(|(players, games)| {
        let mut all = Vec::new();
        for (i, (pairs, moving_first, moving_second, (a, b))) in games.into_iter().enumerate() {
            let (a, b) = if i + 1 < players {
                (i, i + 1)
            } else {
                (usize::from(a) % players, usize::from(b) % players)
            };
            let mut games = Encounter {
                pairs,
                moving_first,
                moving_second,
                ..Encounter::new(name(a), name(b))
            };
            games.pairs[1][1] += 1;
            games.pairs[0][2] += 1;
            if a != b {
                all.push(games);
            }
        }
        all
    })
}

fn fitted(games: &[Encounter], first_mover: bool, anchors: &[(&str, f64)]) -> RatingList {
    let anchors = anchors
        .iter()
        .map(|(name, elo)| ((*name).to_owned(), *elo))
        .collect();
    rate(
        games,
        &RatingOptions {
            anchors,
            first_mover,
            ..RatingOptions::default()
        },
    )
    .expect("ratings")
}

/// Checks that two lists hold the same numbers when the second one's names and Elo are mapped.
fn check_same(
    a: &RatingList,
    b: &RatingList,
    name: impl Fn(&str) -> String,
    map: impl Fn(f64) -> f64,
) {
    for player in &a.players {
        let other = elo(b, &name(&player.name));
        let mut ends = [other.interval.lower, other.interval.upper].map(&map);
        ends.sort_by(f64::total_cmp);
        let pairs = [
            (player.elo.value, map(other.value)),
            (player.elo.interval.lower, ends[0]),
            (player.elo.interval.upper, ends[1]),
        ];
        for (x, y) in pairs {
            assert!((x - y).abs() < 1e-5, "{}: {x} {y}", player.name);
        }
    }
    for (x, y) in [
        (a.fit.chi_squared, b.fit.chi_squared),
        (a.draw_rate.value, b.draw_rate.value),
    ] {
        assert!((x - y).abs() < 1e-6 * (1.0 + x.abs()), "{x} {y}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn ratings_do_not_depend_on_the_order_of_results(games in results(), first_mover: bool, seed: u64) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut shuffled: Vec<(u32, Encounter)> = games
            .iter()
            .map(|games| (rng.random(), if rng.random() { games.reversed() } else { games.clone() }))
            .collect();
        shuffled.sort_by_key(|(key, _)| *key);
        let shuffled: Vec<_> = shuffled.into_iter().map(|(_, games)| games).collect();
        prop_assert_eq!(fitted(&games, first_mover, &[]), fitted(&shuffled, first_mover, &[]));
    }

    #[test]
    fn ratings_do_not_depend_on_names(games in results(), first_mover: bool) {
        let rename = |name: &str| name.chars().rev().chain(['x']).collect::<String>().replace('1', "z");
        let renamed: Vec<_> = games
            .iter()
            .map(|g| Encounter { player: rename(&g.player), opponent: rename(&g.opponent), ..g.clone() })
            .collect();
        check_same(&fitted(&games, first_mover, &[]), &fitted(&renamed, first_mover, &[]), rename, |elo| elo);
    }

    #[test]
    fn anchors_set_the_scale(games in results(), shift in -3000.0..3000.0, gap in -300.0..300.0) {
        let free = fitted(&games, false, &[]);
        let mean = free.players.iter().map(|p| p.elo.value).sum::<f64>();
        prop_assert!(mean.abs() < 1e-6, "{}", mean);

        let two = fitted(&games, false, &[("p0", 0.0), ("p1", gap)]);
        let moved = fitted(&games, false, &[("p0", shift), ("p1", shift + gap)]);
        check_same(&moved, &two, str::to_owned, |elo| elo + shift);
        prop_assert_eq!(elo(&moved, "p0").interval.lower, elo(&moved, "p0").value);

        // One anchor says nothing about differences.
        let one = fitted(&games, false, &[("p0", shift)]);
        for player in &one.players {
            let relative = elo(&free, &player.name).value - elo(&free, "p0").value;
            prop_assert!((player.elo.value - shift - relative).abs() < 1e-5);
        }
    }

    #[test]
    fn exchanging_wins_and_losses_negates(games in results(), first_mover: bool) {
        let mirror = |counts: [u32; 3]| [counts[2], counts[1], counts[0]];
        let exchanged: Vec<_> = games
            .iter()
            .map(|g| Encounter {
                pairs: mirror_rows(g.pairs.map(mirror)),
                moving_first: mirror(g.moving_first),
                moving_second: mirror(g.moving_second),
                ..g.clone()
            })
            .collect();
        let (a, b) = (fitted(&games, first_mover, &[]), fitted(&exchanged, first_mover, &[]));
        check_same(&a, &b, str::to_owned, |elo| -elo);
        if let (Some(a), Some(b)) = (a.first_mover, b.first_mover) {
            prop_assert!((a.value + b.value).abs() < 1e-5);
        }
    }

    #[test]
    fn both_views_of_a_result_agree(games in results(), first_mover: bool) {
        let list = fitted(&games, first_mover, &[]);
        for (i, row) in list.superiority.iter().enumerate() {
            for (j, los) in row.iter().enumerate() {
                prop_assert!((los + list.superiority[j][i] - 1.0).abs() < 1e-12);
                prop_assert!(i > j || *los >= 0.5);
                let (a, b) = (&list.cross_table[i][j], &list.cross_table[j][i]);
                prop_assert_eq!(a.is_some(), b.is_some());
                if let (Some(a), Some(b)) = (a, b) {
                    let games = a.games.iter().sum::<u64>() as f64;
                    prop_assert!((a.points + b.points - games).abs() < 1e-9);
                    prop_assert!((a.expected + b.expected - games).abs() < 1e-9);
                    prop_assert!(a.score_interval.lower <= a.score && a.score <= a.score_interval.upper);
                }
            }
        }
        for encounter in &games {
            prop_assert_eq!(&encounter.reversed().reversed(), encounter);
        }
    }

    #[test]
    fn without_a_prior_every_player_scores_what_is_expected(games in results(), first_mover: bool) {
        let options = RatingOptions { first_mover, prior_games: 0.0, ..RatingOptions::default() };
        let list = rate(&games, &options).expect("ratings");
        for row in &list.cross_table {
            let cells: Vec<&CrossCell> = row.iter().flatten().collect();
            let residual: f64 = cells.iter().map(|cell| cell.points - cell.expected).sum();
            prop_assert!(residual.abs() < 1e-6, "{}", residual);
        }
    }
}

fn mirror_rows(rows: [[u32; 3]; 3]) -> [[u32; 3]; 3] {
    [rows[2], rows[1], rows[0]]
}

#[test]
fn near_equals_score_by_elos_curve_whatever_the_draws() {
    for draw_rate in [0.0, 0.2, 0.5, 0.9] {
        for difference in [-1.0, 1.0] {
            let [loss, draw, win] = outcome_probabilities(difference, draw_rate);
            assert!((loss + draw + win - 1.0).abs() < 1e-12);
            assert!((draw - draw_rate).abs() < 1e-3);
            let curve = 1.0 / (1.0 + 10_f64.powf(-difference / 400.0));
            assert!((win + draw / 2.0 - curve).abs() < 1e-5);
        }
    }
    for (draw_rate, difference) in [(0.0, 400.0), (0.5, 400.0), (0.0, -800.0), (0.5, -800.0)] {
        let [_, draw, win] = outcome_probabilities(difference, draw_rate);
        let curve = 1.0 / (1.0 + 10_f64.powf(-difference / 400.0));
        assert!((win + draw / 2.0 - curve).abs() < 1e-12);
    }
}

/// Davidson (1970), table 2: brands of chocolate pudding compared in pairs; (i, j, i preferred, j preferred, no
/// preference).
const PUDDING: [(usize, usize, u32, u32, u32); 15] = [
    (1, 2, 19, 22, 16),
    (1, 3, 16, 19, 12),
    (2, 3, 19, 19, 10),
    (1, 4, 18, 23, 13),
    (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15),
    (1, 5, 13, 19, 18),
    (2, 5, 16, 20, 12),
    (3, 5, 16, 15, 17),
    (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12),
    (2, 6, 22, 20, 12),
    (3, 6, 13, 18, 10),
    (4, 6, 14, 19, 18),
    (5, 6, 11, 21, 12),
];

#[test]
fn davidsons_puddings() {
    let games: Vec<_> = PUDDING
        .iter()
        .map(|&(i, j, won, lost, drawn)| Encounter {
            moving_first: [lost, drawn, won],
            ..Encounter::new(name(i), name(j))
        })
        .collect();
    let options = RatingOptions {
        prior_games: 0.0,
        ..RatingOptions::default()
    };
    let list = rate(&games, &options).expect("ratings");
    // Worths and tie parameter of Davidson (1970), whose iteration stops short of the maximum, with more digits in Turner et
    // al. (2020), "Modelling rankings in R", Computational Statistics 35, section 2.1.
    let worths = [
        0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855,
    ];
    let draw = 2.0 * list.draw_rate.value / (1.0 - list.draw_rate.value);
    assert!((draw - 0.7468147).abs() < 1e-4, "{draw}");
    let strength = |i: usize| 10_f64.powf((1.0 + draw / 2.0) * elo(&list, &name(i)).value / 400.0);
    let total: f64 = (1..=6).map(strength).sum();
    for (i, worth) in worths.into_iter().enumerate() {
        let got = strength(i + 1) / total;
        assert!((got - worth).abs() < 5e-5, "{}: {got} {worth}", i + 1);
    }
    assert_eq!(list.fit.degrees, 10);
    assert!(list.fit.p_value.expect("degrees") > 0.05);
}

#[test]
fn who_won_everything_stays_finite() {
    // Two players: 50 wins and the prior's half make a score of (50 + 1/2) / 51.
    let mut games = Encounter::new("a", "b");
    games.pairs[2][2] = 25;
    let list = rate(&[games], &RatingOptions::default()).expect("ratings");
    let lead = list.players[0].elo.value - list.players[1].elo.value;
    let expected = 400.0 * (50.5_f64 / 0.5).log10();
    assert!((lead - expected).abs() < 1e-6, "{lead} {expected}");
    // The score's own interval: 92.9..100 % by 3.7 / 50.
    let lower = 2.0 * list.players[0].elo.interval.lower;
    assert!((300.0..600.0).contains(&lower), "{lower}");
    assert_eq!(list.draw_rate.value, 0.0);
    assert_eq!(
        list.cross_table[0][1].expect("a meeting").standardised,
        None
    );
    assert_eq!(list.fit.p_value, None);
}

#[test]
fn all_drawn_is_equal() {
    let mut games = Encounter::new("a", "b");
    games.pairs[1][1] = 30;
    let list = rate(&[games], &RatingOptions::default()).expect("ratings");
    assert!(list.players.iter().all(|p| p.elo.value.abs() < 1e-6));
    assert!(list.players[0].elo.interval.upper > 1.0);
    assert!((0.95..1.0).contains(&list.draw_rate.value));
}

/// Checks an error's text.
fn check_error(games: &[Encounter], options: &RatingOptions, expected: &str) {
    let error = rate(games, options).expect_err("an error");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn errors_say_what_is_wrong() {
    let plain = RatingOptions::default();
    let anchored = |anchors: &[(&str, f64)]| RatingOptions {
        anchors: anchors
            .iter()
            .map(|(name, elo)| ((*name).to_owned(), *elo))
            .collect(),
        ..RatingOptions::default()
    };
    let apart = [
        won("d", "c", 50),
        won("b", "a", 50),
        Encounter::new("e", "a"),
    ];
    check_error(&[], &plain, "there are no games to rate");
    check_error(
        &[Encounter::new("a", "b")],
        &plain,
        "there are no games to rate",
    );
    check_error(
        &[won("a", "a", 1)],
        &plain,
        "a plays against itself: two players need two names",
    );
    check_error(
        &apart,
        &plain,
        "no games connect these groups of players, so their ratings cannot be compared: [a, b], [c, d], [e]. \
         Play games between the groups, or anchor a player in each",
    );
    check_error(
        &apart[..2],
        &anchored(&[("x", 0.0)]),
        "the anchor x is not among the players: a, b, c, d",
    );
    check_error(
        &apart[..2],
        &anchored(&[("a", f64::NAN)]),
        "the anchor a has the rating NaN: expected a number of Elo within ±100000",
    );
    check_error(
        &apart[..2],
        &RatingOptions {
            prior_games: -1.0,
            ..RatingOptions::default()
        },
        "prior_games is -1: expected a finite number of games, at least 0",
    );
    let full = Encounter {
        moving_first: [u32::MAX, 0, 0],
        ..Encounter::new("a", "b")
    };
    check_error(
        &[full.clone(), full],
        &plain,
        "a and b have more than 4 294 967 295 games",
    );
    let no_prior = RatingOptions {
        prior_games: 0.0,
        ..RatingOptions::default()
    };
    let error = rate(&[won("a", "b", 100)], &no_prior).expect_err("infinite");
    assert_eq!(error, RatingError::NoMaximum);
    // An anchor in each group makes them comparable.
    let list = rate(&apart[..2], &anchored(&[("a", 0.0), ("c", 100.0)])).expect("ratings");
    assert!((elo(&list, "d").value - 100.0).abs() < 1e-6);
}

/// Four players with pairs and unpaired games.
fn mixed() -> Vec<Encounter> {
    let with = |player: &str, opponent: &str, pairs, moving_first, moving_second| Encounter {
        pairs,
        moving_first,
        moving_second,
        ..Encounter::new(player, opponent)
    };
    vec![
        with(
            "a",
            "b",
            [[3, 2, 1], [4, 10, 5], [6, 12, 9]],
            [1, 0, 3],
            [2, 2, 1],
        ),
        with("b", "c", [[1, 1, 2], [2, 8, 3], [5, 6, 7]], [0; 3], [0; 3]),
        with(
            "a",
            "c",
            [[0, 1, 0], [1, 4, 3], [4, 6, 12]],
            [2, 3, 5],
            [0, 1, 2],
        ),
        with(
            "c",
            "d",
            [[4, 3, 2], [2, 9, 3], [3, 4, 6]],
            [0; 3],
            [3, 1, 0],
        ),
        with("b", "d", [[2, 0, 1], [1, 6, 2], [2, 5, 8]], [0; 3], [0; 3]),
    ]
}

/// Checks a fit of [`mixed`] against one computed independently (the same likelihood maximised by scipy, its
/// derivatives taken numerically, the sandwich with numpy): values, and standard deviations of which an interval has
/// 1.96 to either side.
fn check_mixed(
    options: &RatingOptions,
    players: &[(&str, f64, f64)],
    first: Option<(f64, f64)>,
    draws: f64,
    spread: f64,
) {
    let list = rate(&mixed(), options).expect("ratings");
    let same = |what: &str, got: Estimate, (value, deviation): (f64, f64)| {
        let half = (got.interval.upper - got.interval.lower) / 2.0;
        assert!((got.value - value).abs() < 1e-3, "{what}: {got:?}");
        assert!(
            (half / 1.959_964 - deviation).abs() < 1e-3,
            "{what}: {got:?}"
        );
    };
    for &(player, value, deviation) in players {
        same(player, elo(&list, player), (value, deviation));
    }
    assert_eq!(list.first_mover.is_some(), first.is_some());
    if let (Some(got), Some(expected)) = (list.first_mover, first) {
        same("first move", got, expected);
    }
    assert!(
        (list.draw_rate.value - draws).abs() < 1e-6,
        "{:?}",
        list.draw_rate
    );
    assert!(
        (list.fit.dispersion - spread).abs() < 1e-6,
        "{:?}",
        list.fit
    );
}

#[test]
fn an_independent_computation_agrees() {
    let first_mover = RatingOptions {
        first_mover: true,
        ..RatingOptions::default()
    };
    check_mixed(
        &first_mover,
        &[
            ("a", 113.784_719, 18.439_546),
            ("b", 34.929_416, 15.024_512),
            ("c", -64.639_377, 15.258_196),
            ("d", -84.074_770, 21.756_044),
        ],
        Some((51.844_435, 13.492_414)),
        0.416_227_774,
        1.145_921_032,
    );
    let anchors = [("a".to_owned(), 1000.0), ("d".to_owned(), 700.0)].into();
    check_mixed(
        &RatingOptions {
            anchors,
            ..first_mover
        },
        &[
            ("b", 884.051_420, 22.546_953),
            ("c", 769.261_548, 23.752_905),
        ],
        Some((56.087_099, 14.592_053)),
        0.409_710_400,
        1.223_199_624,
    );
    check_mixed(
        &RatingOptions {
            prior_games: 0.0,
            ..RatingOptions::default()
        },
        &[
            ("a", 112.554_520, 18.017_725),
            ("b", 34.560_559, 14.782_644),
            ("c", -65.277_565, 14.970_777),
            ("d", -81.837_481, 21.335_645),
        ],
        None,
        0.409_000_249,
        1.111_146_252,
    );
}
