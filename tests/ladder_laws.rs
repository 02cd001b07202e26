//! The ladder: who meets whom, what is kept for it, and how results become a list.
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use selfplay::opponent::Builtin;
use train::config::Config;
use train::ladder::list::{LadderList, Outcome};
use train::ladder::schedule::{
    Meeting, Player, Rung, meetings, missing, next_rung, of_form, players, rivals, still_needed,
    wanted,
};
use train::ladder::throttle::rest_after;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const BUILTINS: [Builtin; 3] = [
    Builtin::Random,
    Builtin::Greedy,
    Builtin::AlphaBeta { depth: 2 },
];

/// A ladder of so many checkpoints, every one there; an opponent is beaten from the place that `beaten` has for it.
fn ladder(count: usize, rivals: usize, forms: &[&str], beaten: [usize; 3]) -> Vec<Rung> {
    let mut config = Config::load(None, &[]).expect("defaults").ladder;
    config.rivals = rivals;
    let mut rungs: Vec<Rung> = Vec::new();
    for place in 0..count {
        let is_beaten = |_: &str, builtin| {
            let which = BUILTINS.iter().position(|&b| b == builtin);
            which.is_some_and(|which| place >= beaten[which])
        };
        let step = 100 * place as u64;
        let rung = next_rung(&rungs, step, forms, &config, &|_| true, &is_beaten);
        rungs.push(rung);
    }
    rungs
}

fn ladders() -> impl Strategy<Value = Vec<Rung>> {
    let beaten = prop::array::uniform3(0..30usize);
    (0..40usize, 0..5usize, 1..4usize, beaten).prop_map(|(count, rivals, forms, beaten)| {
        ladder(
            count,
            rivals,
            &["xiangqi", "jieqi", "fanqi-2"][..forms],
            beaten,
        )
    })
}

/// All matches of all forms, by form.
fn all_meetings(rungs: &[Rung]) -> Vec<(String, Meeting)> {
    let forms: BTreeSet<_> = rungs.iter().map(|rung| rung.form.clone()).collect();
    let of = |form: String| {
        let all = meetings(rungs, &form);
        all.into_iter().map(move |meeting| (form.clone(), meeting))
    };
    forms.into_iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn rivals_are_earlier_ones_each_once_the_last_among_them(earlier in 0..5000usize, count in 0..9usize) {
        let found = rivals(earlier, count);
        prop_assert!(found.len() <= count && found.iter().all(|&place| place < earlier));
        prop_assert!(found.windows(2).all(|two| two[0] > two[1]), "the latest first, each once");
        prop_assert_eq!(found.first().copied(), earlier.checked_sub(1).filter(|_| count > 0));
        prop_assert!(found.len() == count.min(earlier) || found.last() == Some(&0));
    }

    #[test]
    fn what_is_kept_is_what_can_still_be_asked_for(earlier in 0..600usize, count in 0..9usize) {
        let kept = wanted(earlier, count);
        prop_assert!(kept.len() <= 2 * count, "{kept:?}");
        for next in earlier..earlier + 1200 {
            let asked = rivals(next, count).into_iter().filter(|&place| place < earlier);
            for place in asked {
                prop_assert!(kept.contains(&place), "{place} by {next}");
            }
        }
    }

    #[test]
    fn each_checkpoint_meets_whom_it_should_and_nobody_twice(rungs in ladders()) {
        let all = all_meetings(&rungs);
        let mut seen = HashSet::new();
        for (form, meeting) in &all {
            let mut pair = meeting.players.map(|player| player.to_string());
            pair.sort();
            prop_assert!(seen.insert((form, pair)), "{meeting:?} twice");
            let order = players(&rungs, form);
            let place = meeting.players.map(|player| order.iter().position(|&p| p == player));
            prop_assert!(place[0].is_some() && place[0] < place[1], "{meeting:?} in {order:?}");
        }
        for rung in &rungs {
            let own = Player::Step(rung.step);
            let of_rung = all.iter().filter(|(_, m)| m.rung == rung.step && m.players.contains(&own));
            let others: HashSet<_> = of_rung
                .flat_map(|(_, m)| m.players)
                .filter(|&player| player != own)
                .collect();
            let builtins = rung.opponents.iter().map(|&b| Player::Builtin(b));
            let expected: HashSet<_> = builtins.chain(rung.rivals.iter().map(|&s| Player::Step(s))).collect();
            prop_assert_eq!(&others, &expected);
            prop_assert!(!others.is_empty());
            let is_first = of_form(&rungs, &rung.form).next() == Some(rung);
            prop_assert!(!is_first || rung.opponents.len() == 3, "the first meets all");
        }
    }

    #[test]
    fn a_longer_ladder_begins_with_the_shorter_ones_matches(rungs in ladders(), cut in 0..40usize) {
        let shorter = &rungs[..cut.min(rungs.len())];
        for form in ["xiangqi", "jieqi", "fanqi-2"] {
            let (long, short) = (meetings(&rungs, form), meetings(shorter, form));
            prop_assert_eq!(&long[..short.len()], &short[..]);
        }
    }

    #[test]
    fn whatever_is_played_the_rest_is_played_once(rungs in ladders(), kept in prop::collection::hash_set(0..20usize, 0..20)) {
        for (_, meeting) in all_meetings(&rungs) {
            let rest = missing(&meeting, &kept);
            let both: Vec<_> = rest.iter().chain(&kept).copied().collect();
            prop_assert_eq!(both.len(), 20);
            prop_assert_eq!(both.into_iter().collect::<HashSet<_>>(), (0..20).collect());
        }
    }

    #[test]
    fn no_checkpoint_goes_that_is_to_play(rungs in ladders(), over in 0..200usize) {
        let all = all_meetings(&rungs);
        let open: Vec<_> = all.iter().skip(over).collect();
        let is_over = |form: &str, meeting: &Meeting| {
            !open.iter().any(|(f, m)| f == form && m == meeting)
        };
        let needed = still_needed(&rungs, 3, &is_over);
        let open_steps = open.iter().flat_map(|(_, m)| m.players).filter_map(Player::step);
        prop_assert!(open_steps.into_iter().all(|step| needed.contains(&step)));
        if let Some(last) = rungs.last() {
            prop_assert!(needed.contains(&last.step), "the next one's rival");
        }
        let names: BTreeSet<_> = rungs.iter().map(|rung| &rung.form).collect();
        prop_assert!(open.is_empty() || !needed.is_empty());
        prop_assert!(!open.is_empty() || needed.len() <= 6 * names.len());
    }

    #[test]
    fn rests_leave_the_share_that_was_asked_for(busy in 1u64..10_000, share in 0.01f64..=1.0) {
        let busy = Duration::from_micros(1000 * busy);
        let whole = busy + rest_after(busy, share);
        let found = busy.as_secs_f64() / whole.as_secs_f64();
        prop_assert!((found - share).abs() < 1e-3 * share, "{found} for {share}");
    }
}

#[test]
fn players_are_called_what_they_are() {
    let check = |player: Player, name: &str| {
        assert_eq!(player.to_string(), name);
        assert_eq!(name.parse(), Ok(player));
    };
    check(Player::Step(1200), "step 1200");
    check(Player::Builtin(Builtin::Random), "random");
    check(Player::Builtin(BUILTINS[2]), "alphabeta:2");
    for name in ["step", "step -1", "step x", "", "nobody"] {
        assert!(name.parse::<Player>().is_err(), "{name}");
    }
}

#[test]
fn a_beaten_opponent_is_passed_over_unless_nobody_else_is_there() {
    let rungs = ladder(6, 2, &["xiangqi"], [0, 3, 30]);
    assert_eq!(rungs[0].opponents, BUILTINS, "there is no rival yet");
    assert_eq!(rungs[1].opponents, BUILTINS[1..]);
    assert_eq!(rungs[5].opponents, BUILTINS[2..]);
    let without = ladder(6, 0, &["xiangqi"], [0; 3]);
    assert!(without.iter().all(|rung| rung.opponents == BUILTINS));
    let config = Config::load(None, &[]).expect("defaults").ladder;
    let gone = next_rung(&rungs, 900, &["xiangqi"], &config, &|_| false, &|_, _| true);
    assert!(gone.rivals.is_empty() && gone.opponents == BUILTINS);
}

#[test]
fn forms_take_turns() {
    let rungs = ladder(5, 2, &["xiangqi", "jieqi"], [30; 3]);
    let forms: Vec<_> = rungs.iter().map(|rung| rung.form.as_str()).collect();
    assert_eq!(forms, ["xiangqi", "jieqi", "xiangqi", "jieqi", "xiangqi"]);
    assert_eq!(rungs[4].rivals, [200, 0]);
    assert_eq!(rungs[3].rivals, [100]);
}

/// Half points of a match's games by number.
fn outcomes(halves: &[u8]) -> Vec<Outcome> {
    let outcome = |(number, &halves): (usize, &u8)| Outcome { number, halves };
    halves.iter().enumerate().map(outcome).collect()
}

#[test]
fn a_list_has_random_at_zero_and_counts_whole_pairs() {
    let random = Player::Builtin(Builtin::Random);
    // Of the last match one game is missing in a pair.
    let matches = [
        ([Player::Step(0), random], outcomes(&[2, 1, 2, 0])),
        (
            [Player::Step(0), Player::Step(9)],
            outcomes(&[0, 0, 1, 0, 2]),
        ),
    ];
    let given = || matches.iter().map(|(both, all)| (*both, all.as_slice()));
    let list = LadderList::rate("xiangqi", given()).expect("rated");
    let names: Vec<_> = list.players.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["step 9", "step 0", "random"]);
    let anchor = &list.players[2];
    assert_eq!(
        (anchor.elo, anchor.interval.lower, anchor.interval.upper),
        (0.0, 0.0, 0.0)
    );
    let nine = list.standing(9).expect("rated");
    assert_eq!((nine.games, nine.step), ([0, 1, 3], Some(9)));
    assert!(nine.interval.lower < nine.elo && nine.elo < nine.interval.upper);
    assert_eq!(list.meetings.len(), 2);
    let backwards = LadderList::rate("xiangqi", given().collect::<Vec<_>>().into_iter().rev());
    assert_eq!(backwards.expect("rated"), list, "whatever the order");
    assert!(LadderList::rate("xiangqi", [].into_iter()).is_err());
}

#[test]
fn settings_that_make_no_ladder_are_refused() {
    let check = |set: &str, words: &[&str]| {
        let error = Config::load(None, &[set.to_owned()])
            .expect_err(set)
            .to_string();
        for word in words.iter().chain(&["--set", "ladder."]) {
            assert!(error.contains(word), "no {word:?} in {error}");
        }
    };
    check(
        "ladder.opponents=[\"greedy\"]",
        &["`random` must be among them"],
    );
    check("ladder.opponents=[\"random\",\"random\"]", &["named twice"]);
    check("ladder.games=7", &["even"]);
    check("ladder.games=0", &["2..="]);
    check("ladder.share=0", &["0.01..=1"]);
    check("ladder.rivals=9", &["0..=8"]);
    let few = ["ladder.games=46", "arena.opening_plies=1", "arena.games=44"].map(str::to_owned);
    let error = Config::load(None, &few)
        .expect_err("too few openings")
        .to_string();
    assert!(
        error.contains("`ladder.games` = 46") && error.contains("44 openings"),
        "{error}"
    );
    let off = [&few[..], &["ladder.every_checkpoints=0".to_owned()]].concat();
    Config::load(None, &off).expect("there is no ladder");
}
