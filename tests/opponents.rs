//! Built-in opponents: alpha-beta is minimax, choices are even and reproducible, names parse.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Color, Ending, Game, Outcome, Past, Reason, Referee, Turn};
use selfplay::opponent::{Builtin, Material, Opponent};
use selfplay::rules::{History, Move, Position, Ruleset, View, World};

#[path = "support/minimax.rs"]
mod minimax;

use minimax::{check_minimax, choose};

/// A random game tree: everything about a position follows from a number.
#[derive(Clone, Copy, Debug)]
struct Tree {
    state: u64,
    side: Color,
    balance: i32,
    chance: bool,
}

/// The path's length, to see that the search winds it back.
#[derive(Clone, Debug, Default, PartialEq)]
struct Path(Vec<u64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Branch(u8);

impl Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Past for Path {
    fn mark(&self) -> usize {
        self.0.len()
    }

    fn rewind(&mut self, mark: usize) {
        self.0.truncate(mark);
    }
}

/// A well-mixed number (splitmix64).
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Tree {
    fn new(seed: u64) -> Self {
        // A root that is a decision.
        let state = (0..)
            .map(|i| mix(seed + (i << 32)))
            .find(|s| s % 8 > 1)
            .unwrap_or(2);
        Tree {
            state,
            side: Color::Red,
            balance: 0,
            chance: false,
        }
    }
}

impl Game for Tree {
    type Move = Branch;
    type Reveal = u8;
    type History = Path;

    fn turn(&self, _: &Path) -> Turn {
        let over = |outcome| {
            Turn::Over(Ending {
                outcome,
                reason: Reason::GameRule,
            })
        };
        match self.state % 16 {
            _ if self.chance => Turn::Chance,
            0 => over(Outcome::Win(self.side.other())),
            8 => over(Outcome::Draw),
            1 if self.state.is_multiple_of(3) => over(Outcome::Win(self.side)),
            _ => Turn::Decision(self.side),
        }
    }

    fn legal_moves(&self, out: &mut Vec<Branch>) {
        out.clear();
        out.extend((0..1 + (self.state >> 8) as u8 % 5).map(Branch));
    }

    fn play(&mut self, mv: Branch, history: &mut Path) {
        history.0.push(self.state);
        let gain = self.gain(mv);
        self.balance += if self.side == Color::Red { gain } else { -gain };
        self.state = mix(self.state ^ (u64::from(mv.0) << 40));
        self.side = self.side.other();
        self.chance = self.state >> 16 & 7 == 0;
    }

    fn reveals(&self, out: &mut Vec<(u8, u32)>) {
        out.clear();
        out.extend((0..2 + (self.state >> 24) as u8 % 3).map(|i| (i, 1 + u32::from(i))));
    }

    fn reveal(&mut self, reveal: u8, history: &mut Path) {
        history.0.push(self.state);
        self.state = mix(self.state ^ (u64::from(reveal) << 48));
        self.balance += 100 * i32::from(reveal);
        self.chance = false;
    }
}

impl Material for Tree {
    fn balance(&self, side: Color) -> i32 {
        if side == Color::Red {
            self.balance
        } else {
            -self.balance
        }
    }

    fn gain(&self, mv: Branch) -> i32 {
        100 * (mix(self.state + u64::from(mv.0)) % 4) as i32
    }
}

/// So many cases, and no file of failures: a failing case is printed whole.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn alphabeta_is_minimax_on_random_trees(seed in any::<u32>(), depth in 1..=6_u8) {
        check_minimax(&Tree::new(seed.into()), &Path::default(), depth);
    }
}

/// The game after up to `plies` random moves.
fn random_game(seed: u64, plies: usize) -> World {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::start(xiangqi(), &mut rng);
    let mut legal = Vec::new();
    for _ in 0..plies {
        let Turn::Decision(side) = world.turn() else {
            break;
        };
        world.view(side).legal_moves(&mut legal);
        world.apply(legal[rng.random_range(..legal.len())], &mut rng);
    }
    world
}

fn xiangqi() -> &'static Ruleset {
    Ruleset::by_name("xiangqi").expect("Xiangqi is built in")
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn alphabeta_is_minimax_on_the_board(seed: u64, plies in 0..160_usize) {
        let world = random_game(seed, plies);
        let (view, history) = (world.view(Color::Red), world.history(Color::Red));
        for depth in 1..=3 {
            check_minimax(&view, history, depth);
        }
    }

    #[test]
    fn gains_add_up_to_the_balance(seed: u64, plies in 0..200_usize) {
        let mut world = random_game(seed, 0);
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let (mut balance, mut legal) = (0, Vec::new());
        for _ in 0..plies {
            let Turn::Decision(side) = world.turn() else { break };
            let view = world.view(side);
            prop_assert_eq!(view.balance(side), balance);
            prop_assert_eq!(view.balance(side.other()), -balance);
            view.legal_moves(&mut legal);
            let mv = legal[rng.random_range(..legal.len())];
            balance = -(balance + view.gain(mv));
            world.apply(mv, &mut rng);
        }
    }
}

/// Checks the value and all moves that may be chosen in a position without a past.
fn check_best(fen: &str, depth: u8, value: i32, moves: &[&str]) {
    let view = View::new(Position::from_fen(xiangqi(), fen).expect(fen));
    let expected: BTreeSet<(Move, i32)> = moves
        .iter()
        .map(|m| (m.parse().expect("a move"), value))
        .collect();
    let got: BTreeSet<_> = (0..50)
        .map(|seed| choose(&view, &History::default(), depth, seed).expect(fen))
        .collect();
    assert_eq!(got, expected, "depth {depth} of {fen}");
}

#[test]
fn best_moves() {
    for (fen, depth, value, moves) in [
        // Two captures: the rook is worth more than the horse.
        (
            "5k3/9/9/9/r3R3n/9/9/9/9/3K5 w - - 0 1",
            1,
            500,
            &["e5a5"][..],
        ),
        // A pawn that crosses the river gains a pawn.
        ("3k5/9/9/9/9/P8/9/9/9/4K4 w - - 0 1", 1, 200, &["a4a5"]),
        // Mate before the capture of a rook; the kings' open file bars an escape.
        (
            "r2k5/R8/9/9/9/9/9/9/8R/4K4 w - - 0 1",
            1,
            999_999,
            &["i1d1", "i1i9"],
        ),
    ] {
        check_best(fen, depth, value, moves);
    }
}

/// Points in halves, of `games` games, that `first` makes against `second`; colours alternate.
fn halves(first: Builtin, second: Builtin, games: u64) -> u32 {
    (0..games)
        .map(|game| {
            let mut world = random_game(game / 2, 2);
            let mut rng = Pcg64Mcg::seed_from_u64(0);
            let color = if game % 2 == 0 {
                Color::Red
            } else {
                Color::Black
            };
            let mut players = [Opponent::new(first, game), Opponent::new(second, game)];
            loop {
                match world.turn() {
                    Turn::Decision(side) => {
                        let player = &mut players[usize::from(side != color)];
                        let mv = player.choose(&world.view(side), world.history(side));
                        world.apply(mv, &mut rng);
                    }
                    Turn::Over(Ending {
                        outcome: Outcome::Draw,
                        ..
                    }) => break 1,
                    Turn::Over(Ending { outcome, .. }) => {
                        break 2 * u32::from(outcome == Outcome::Win(color));
                    }
                    Turn::Chance => unreachable!("nothing is hidden"),
                }
            }
        })
        .sum()
}

#[test]
fn deeper_play_is_stronger() {
    let alphabeta = |depth| Builtin::AlphaBeta { depth };
    for (first, second, games, least) in [
        (Builtin::Greedy, Builtin::Random, 20, 30),
        (alphabeta(2), Builtin::Greedy, 12, 18),
        (alphabeta(2), Builtin::Random, 6, 11),
    ] {
        let points = halves(first, second, games);
        eprintln!(
            "{first} against {second}: {points} half points of {}",
            2 * games
        );
        assert!(
            points >= least,
            "{first} against {second}: {points} half points of {}",
            2 * games
        );
    }
}

#[test]
fn equally_good_moves_are_equally_likely_and_follow_from_the_seed() {
    // At the start a cannon takes a horse. Two plies deep it is lost for it; any other move loses a horse.
    let (view, history) = (View::new(Position::start(xiangqi())), History::default());
    for (builtin, ways, games) in [
        (Builtin::Random, 44, 4400),
        (Builtin::Greedy, 2, 200),
        (Builtin::AlphaBeta { depth: 2 }, 2, 100),
    ] {
        let mut counts = BTreeMap::<Move, f64>::new();
        for seed in 0..games {
            let mv = Opponent::new(builtin, seed).choose(&view, &history);
            *counts.entry(mv).or_default() += 1.0;
            assert_eq!(mv, Opponent::new(builtin, seed).choose(&view, &history));
        }
        assert_eq!(counts.len(), ways, "{builtin}: {counts:?}");
        let mean = games as f64 / ways as f64;
        // Five standard deviations.
        assert!(
            counts
                .values()
                .all(|c| (c - mean).abs() < 5.0 * mean.sqrt()),
            "{builtin}: {counts:?}"
        );
    }
}

#[test]
fn names_round_trip() {
    let depths = (1..=20).map(|depth| Builtin::AlphaBeta { depth });
    for builtin in depths.chain([Builtin::Random, Builtin::Greedy]) {
        assert_eq!(builtin.to_string().parse(), Ok(builtin));
        let json = serde_json::to_string(&builtin).expect("a string");
        assert_eq!(json, format!("\"{builtin}\""));
        assert_eq!(
            serde_json::from_str::<Builtin>(&json).expect("a name"),
            builtin
        );
    }
}

/// Checks that `name` is refused with a message that holds `part`.
fn check_refused(name: &str, part: &str) {
    let message = name.parse::<Builtin>().expect_err(name).to_string();
    assert!(
        message.contains(part) && message.contains(&format!("`{name}`")),
        "{name}: {message}"
    );
}

#[test]
fn wrong_names_are_refused() {
    for (name, part) in [
        ("alphabeta:0", "from 1 to 20"),
        ("alphabeta:x", "from 1 to 20"),
        ("alphabeta:-1", "from 1 to 20"),
        ("alphabeta:21", "from 1 to 20"),
        ("alphabeta:999", "from 1 to 20"),
        ("alphabeta:", "from 1 to 20"),
        ("alphabeta", "from 1 to 20"),
        ("alphabeta:2:3", "from 1 to 20"),
        ("rnadom", "did you mean `random`?"),
        ("greedy:2", "did you mean `greedy`?"),
        ("Greedy", "did you mean `greedy`?"),
        ("alpha-beta:3", "did you mean `alphabeta:2`?"),
        ("", "did you mean"),
    ] {
        check_refused(name, part);
    }
}
