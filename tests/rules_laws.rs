//! Laws of the rules over random games; each failure prints the seed that reproduces it.
use std::collections::HashSet;

use proptest::prelude::*;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Features, Game, Past, Turn};
use selfplay::policy;
use selfplay::record::{self, RECORD_BYTES, Record, at, flag};
use selfplay::rules::{
    Color, History, Kind, Move, Position, RepetitionRule, Ruleset, Square, View, judge,
};

#[path = "support/plain_rules.rs"]
mod plain_rules;

fn rules() -> &'static Ruleset {
    Ruleset::by_name("xiangqi").unwrap()
}

/// Where the random games start: positions with many pins, screens and checks beside the usual one.
const STARTS: [&str; 6] = [
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "1rbaka2R/5r3/6n2/2p1p1p2/4P1bP1/PpC3Bc1/1nPR2P2/2N2AN2/1c2K1p2/2BAC4 w - - 7 40",
    "C1nNk4/9/9/9/9/9/n1pp5/B3C4/9/3A1K3 w - - 0 30",
    "CnN1k1b2/c3a4/4ba3/9/2nr5/9/9/4C4/4A4/4KA3 b - - 3 50",
    "4ka3/4a4/9/9/4N4/p8/9/4C3c/7n1/2BK5 w - - 100 90",
    "3k1r3/4P4/4b4/R3p3p/2C3n2/4C4/c3P3P/N1n1B1c2/3pA4/2r1KAB1R w - - 11 33",
];

/// A game in progress with its past.
#[derive(Clone)]
struct Line {
    view: View,
    history: History,
}

impl Line {
    fn new(fen: &str) -> Line {
        let position = Position::from_fen(rules(), fen).unwrap();
        Line {
            view: View::new(position),
            history: History::default(),
        }
    }

    fn play(&mut self, mv: Move) {
        self.view.play(mv, &mut self.history);
    }

    fn record(&self) -> Record {
        let mut record = [0xff; RECORD_BYTES];
        self.view.record(&self.history, &mut record);
        record
    }

    fn legal(&self) -> Vec<Move> {
        let mut moves = vec!["a0a1".parse().unwrap()];
        self.view.legal_moves(&mut moves);
        moves
    }

    /// Plays up to `plies` random moves and shows each position on the way to `see`. Captures are
    /// rare enough and returns likely enough that positions repeat.
    fn walk(&mut self, rng: &mut Pcg64Mcg, plies: usize, mut see: impl FnMut(&Line)) {
        for _ in 0..plies {
            see(self);
            let moves = self.legal();
            let Some(&any) = moves.choose(rng) else {
                return;
            };
            let back = self
                .history
                .last()
                .map(|last| Move::new(last.to(), last.from()));
            let own_back = back.filter(|mv| moves.contains(mv));
            self.play(own_back.filter(|_| rng.random_bool(0.5)).unwrap_or(any));
        }
    }
}

fn seeded(seed: u64) -> (Line, Pcg64Mcg) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    (Line::new(STARTS.choose(&mut rng).unwrap()), rng)
}

fn every_pair() -> impl Iterator<Item = Move> {
    Square::all().flat_map(|from| Square::all().map(move |to| Move::new(from, to)))
}

/// The position's FEN with the colours exchanged and the board turned round by its ranks.
fn colors_exchanged(position: &Position) -> String {
    let fen = position.fen();
    let mut fields = fen.split(' ');
    let board = fields.next().unwrap();
    let flip = |c: char| {
        if c.is_ascii_lowercase() {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        }
    };
    let ranks: Vec<String> = board
        .split('/')
        .rev()
        .map(|rank| rank.chars().map(flip).collect())
        .collect();
    let side = if fields.next() == Some("w") { "b" } else { "w" };
    format!(
        "{} {side} {}",
        ranks.join("/"),
        fields.collect::<Vec<_>>().join(" ")
    )
}

/// The position's FEN with left and right exchanged.
fn mirrored(position: &Position) -> String {
    let fen = position.fen();
    let (board, rest) = fen.split_once(' ').unwrap();
    let ranks: Vec<String> = board
        .split('/')
        .map(|rank| rank.chars().rev().collect())
        .collect();
    format!("{} {rest}", ranks.join("/"))
}

fn map_move(mv: Move, square: impl Fn(usize) -> usize) -> Move {
    let at = |s: Square| Square::from_index(square(s.index())).unwrap();
    Move::new(at(mv.from()), at(mv.to()))
}

/// The policy index's squares turned back to the board's.
fn squares_of_index(position: &Position, index: u16) -> (usize, usize) {
    let (from, to) = policy::squares(index).unwrap();
    match position.turn() {
        Color::Red => (from, to),
        Color::Black => (policy::flip_square(from), policy::flip_square(to)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn legal_moves_are_those_of_the_plain_rules(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 60, |line| {
            let position = line.view.position();
            let list = line.legal();
            let legal: HashSet<Move> = list.iter().copied().collect();
            assert_eq!(legal.len(), list.len(), "a move twice in {position:?}");
            assert_eq!(legal, plain_rules::legal_moves(position), "{position:?}");
            assert_eq!(position.has_legal_move(), !list.is_empty(), "{position:?}");
            assert_eq!(position.in_check(), plain_rules::in_check(position), "{position:?}");
            let captures = |mv: &Move| position.piece_at(mv.to()).is_some();
            assert!(list.iter().all(|mv| position.is_capture(*mv) == captures(mv)));
        });
    }

    #[test]
    fn is_legal_says_whether_a_move_is_in_the_list(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 8, |line| {
            let legal: HashSet<Move> = line.legal().into_iter().collect();
            let mut position = *line.view.position();
            for mv in every_pair() {
                assert_eq!(position.is_legal(mv), legal.contains(&mv), "{mv} in {position:?}");
            }
            for mv in every_pair().filter(|mv| !legal.contains(mv)).step_by(101) {
                assert_eq!(position.try_play(mv).unwrap_err().mv, mv);
                assert_eq!(position, *line.view.position());
            }
        });
    }

    #[test]
    fn hash_is_the_fresh_hash_and_fen_comes_back(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 120, |line| {
            let position = line.view.position();
            let read = Position::from_fen(rules(), &position.fen()).unwrap();
            assert_eq!(position.hash(), position.fresh_hash());
            assert_eq!((read, read.hash(), read.fen()), (*position, position.hash(), position.fen()));
        });
    }

    #[test]
    fn exchanging_the_colours_changes_nothing_that_a_player_sees(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        let mut other = Line::new(&colors_exchanged(line.view.position()));
        let mut played = 0;
        line.walk(&mut rng, 60, |line| {
            if let Some(last) = line.history.last().filter(|_| line.history.mark() > played) {
                other.play(map_move(last, policy::flip_square));
                played += 1;
            }
            let index = |line: &Line| line.legal().into_iter().map(|mv| line.view.policy_index(mv)).collect::<HashSet<_>>();
            assert_eq!(line.record(), other.record(), "{:?}", line.view);
            assert_eq!(index(line), index(&other), "{:?}", line.view);
            let outcome = |line: &Line| judge(line.view.position(), &line.history).map(|e| e.reason);
            assert_eq!(outcome(line), outcome(&other));
        });
    }

    #[test]
    fn the_mirrored_record_is_the_mirrored_positions_record(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        let mut other = Line::new(&mirrored(line.view.position()));
        let mut played = 0;
        line.walk(&mut rng, 60, |line| {
            if let Some(last) = line.history.last().filter(|_| line.history.mark() > played) {
                other.play(map_move(last, policy::mirror_square));
                played += 1;
            }
            let mut record = line.record();
            record::mirror(&mut record);
            assert_eq!(record, other.record(), "{:?}", line.view);
            let turned = line.legal().into_iter().map(|mv| policy::mirror(line.view.policy_index(mv)));
            let others = other.legal().into_iter().map(|mv| other.view.policy_index(mv));
            assert_eq!(turned.collect::<HashSet<_>>(), others.collect(), "{:?}", line.view);
        });
    }

    #[test]
    fn policy_indices_name_the_moves(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 60, |line| {
            let (moves, mut seen) = (line.legal(), HashSet::new());
            for mv in moves {
                let index = line.view.policy_index(mv);
                assert!(seen.insert(index), "{mv} shares its index in {:?}", line.view);
                let squares = squares_of_index(line.view.position(), index);
                assert_eq!(squares, (mv.from().index(), mv.to().index()), "{:?}", line.view);
            }
        });
    }

    #[test]
    fn records_tell_the_position(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 60, |line| {
            let (record, position) = (line.record(), line.view.position());
            let mine = |code: u8| (1..=7).contains(&code);
            let own = position.pieces().filter(|(_, piece)| piece.color == position.turn());
            assert_eq!(record[..90].iter().filter(|&&c| mine(c)).count(), own.count());
            let king = record[..90].iter().position(|&c| c == Kind::King.index() as u8 + 1).unwrap();
            assert!(king < 27, "the viewer's king stands on its first three ranks");
            assert_eq!(record[at::NO_CAPTURE] as u16, position.no_capture().min(255));
            assert_eq!(record[at::NO_CAPTURE_LIMIT], 120);
            assert_eq!(record[at::IN_CHECK] == 1, position.in_check());
            assert_eq!(record[at::REPETITIONS] as usize, line.history.occurrences(position.hash()).min(2));
            assert!(record[at::OWN_POOL..at::NO_CAPTURE].iter().all(|&unseen| unseen == 0));
            assert!(record[at::SECRETS..at::PLACING].iter().all(|&secret| secret == 0));
            assert_eq!((record[at::PLACING], record[at::FLAGS]), (255, flag::VIEWER_DECIDES));
            assert_eq!(record[at::TAKES_PART..], [0, 0, 0, RepetitionRule::Wxf as u8]);
        });
    }

    #[test]
    fn rewinding_forgets_what_came_after(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        let plies = rng.random_range(0..40);
        line.walk(&mut rng, plies, |_| {});
        let (before, mark) = (line.clone(), line.history.mark());
        line.walk(&mut rng, 40, |_| {});
        line.history.rewind(mark);
        line.view = before.view;
        assert_eq!(format!("{:?}", line.history), format!("{:?}", before.history));
        assert_eq!(line.record(), before.record());
        assert_eq!(line.view.turn(&line.history), before.view.turn(&before.history));
    }

    #[test]
    fn occurrences_are_those_of_equal_positions(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        let mut seen: Vec<Position> = Vec::new();
        line.walk(&mut rng, 80, |line| {
            let position = *line.view.position();
            let earlier = seen.iter().filter(|&&other| other == position).count();
            assert_eq!(line.history.occurrences(position.hash()), earlier, "{position:?}");
            seen.push(position);
        });
    }

    #[test]
    fn a_turn_is_a_decision_while_moves_are_left(seed: u64) {
        let (mut line, mut rng) = seeded(seed);
        line.walk(&mut rng, 80, |line| {
            let turn = line.view.turn(&line.history);
            match turn {
                Turn::Decision(color) => {
                    assert_eq!(color, line.view.position().turn());
                    assert!(!line.legal().is_empty());
                }
                Turn::Over(ending) => assert_eq!(judge(line.view.position(), &line.history), Some(ending)),
                Turn::Chance => panic!("nothing is hidden in {:?}", line.view),
            }
        });
    }
}
