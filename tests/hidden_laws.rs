//! Laws of every form over random games; a failure prints the form and the seed that reproduce it.
#[path = "support/hidden_games.rs"]
mod hidden_games;
#[path = "support/plain_rules.rs"]
mod plain_rules;

use std::collections::HashSet;

use hidden_games::{COLORS, Man, SET, Walk, forms_and_variants};
use proptest::prelude::*;
use selfplay::game::{Game, Past, Referee, Turn};
use selfplay::policy;
use selfplay::record;
use selfplay::rules::{Color, History, Kind, Move, Position, Reveal, Ruleset, Square, World};

/// Names the game when the test fails in it.
struct Named(&'static Ruleset, u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the game of seed {} of {:?}", self.1, self.0);
        }
    }
}

/// Plays a random game of each form and shows every position to `see`.
fn each_form(seed: u64, plies: usize, mut see: impl FnMut(&Walk)) {
    for rules in forms_and_variants() {
        let _named = Named(rules, seed);
        Walk::start(rules, seed).on(plies, &mut see);
    }
}

/// Whether some side has pieces left to place.
fn arranging(walk: &Walk) -> bool {
    let arranging = |&viewer: &Color| walk.position(viewer).arranging().is_some();
    COLORS.iter().any(arranging)
}

/// Lists hold each legal move once, the plain rules' ones; in play both players have the same.
fn check_moves(walk: &Walk) {
    for viewer in COLORS {
        let (position, list) = (walk.position(viewer), walk.legal(viewer));
        if viewer == Color::Red || arranging(walk) {
            let legal: HashSet<Move> = list.iter().copied().collect();
            assert_eq!(legal.len(), list.len(), "a move twice in {position:?}");
            assert_eq!(legal, plain_rules::legal_moves(position), "{position:?}");
        } else {
            assert_eq!(list, walk.legal(Color::Red), "{position:?}");
        }
        assert_eq!(position.has_legal_move(), !list.is_empty());
        assert_eq!(position.in_check(), plain_rules::in_check(position));
        assert_eq!(position.hash(), position.fresh_hash(), "{position:?}");
        for &mv in &list {
            let captures = mv.placed().is_none() && position.piece_at(mv.to()).is_some();
            assert_eq!(position.is_capture(mv), captures, "{mv} in {position:?}");
        }
    }
    if !arranging(walk) {
        let [red, black] = COLORS.map(|v| walk.world.view(v).turn(walk.world.history(v)));
        assert_eq!(red, black, "{}", walk.world.fen());
    }
}

/// The policy names every move otherwise.
fn check_policy(walk: &Walk) {
    use selfplay::game::Features;
    for viewer in COLORS {
        let view = walk.world.view(viewer);
        let mut seen = HashSet::new();
        for mv in walk.legal(viewer) {
            let index = view.policy_index(mv);
            assert!(seen.insert(index), "{mv} shares its index in {view:?}");
            let side = |square: Square| match view.position().decider() {
                Color::Red => square.index(),
                Color::Black => policy::flip_square(square.index()),
            };
            let squares = Some((side(mv.from()), side(mv.to())));
            assert_eq!(policy::squares(index), squares, "{mv} in {view:?}");
        }
    }
}

/// Each player knows of every piece what the plain truth says that it does.
fn check_knowledge(walk: &Walk) {
    for viewer in COLORS {
        let position = walk.position(viewer);
        for square in Square::all() {
            let man = walk.truth.board[square.index()];
            check_piece(position, square, man, viewer);
        }
        for color in COLORS {
            check_pool(walk, viewer, color);
        }
    }
}

fn check_piece(position: &Position, square: Square, man: Option<Man>, viewer: Color) {
    let knows = |man: Man| man.kind.filter(|_| man.known[viewer as usize]);
    let piece = position.piece_at(square);
    assert_eq!(
        piece.map(|p| (p.color, p.is_down(), p.identity())),
        man.map(|m| (m.color, m.down, knows(m))),
        "{square} in {position:?}"
    );
    let other = viewer.other() as usize;
    let secret = man.is_some_and(|m| m.known[viewer as usize] && !m.known[other]);
    assert_eq!(
        position.is_secret(square),
        secret,
        "{square} in {position:?}"
    );
}

/// Pools always add up: what is up, known or taken knowingly and the pool are the set; the pool is what the
/// unknown pieces truly are.
fn check_pool(walk: &Walk, viewer: Color, color: Color) {
    let (truth, position) = (&walk.truth, walk.position(viewer));
    let mut sum = position.pool(color);
    let taken = truth.taken.iter().filter(|man| man.color == color);
    let taken = taken.filter(|man| man.known[viewer as usize]);
    let on_board = position.pieces().filter(|(_, p)| p.color == color);
    let seen = on_board.filter_map(|(_, p)| p.identity());
    for kind in seen.chain(taken.filter_map(|man| man.kind)) {
        sum[kind.index()] += 1;
    }
    assert_eq!(sum, SET, "{color:?} as {viewer:?} knows it: {position:?}");
    assert_eq!(position.pool(color), truth.pool(viewer, color));
    let unknown = |man: &&Man| man.color == color && !man.known[viewer as usize];
    let lost = truth.taken.iter().filter(unknown);
    let on_board: Vec<Man> = truth.men(color).map(|(_, man)| man).collect();
    let unseen: Vec<_> = on_board.iter().filter(unknown).chain(lost).collect();
    assert_eq!(
        unseen.len(),
        usize::from(position.pool(color).iter().sum::<u8>())
    );
    for kind in Kind::ALL {
        let told = unseen.iter().filter(|man| man.kind == Some(kind)).count();
        let placed = unseen.iter().all(|man| man.kind.is_some());
        assert!(!placed || told == usize::from(position.pool(color)[kind.index()]));
    }
}

/// What may come to light is what the pools hold, in as many ways; the truth is among it, and is what the
/// world shows.
fn check_reveals(walk: &Walk) {
    let Some(us) = walk.decider().filter(|_| !arranging(walk)) else {
        return;
    };
    for mv in walk.legal(us) {
        for viewer in COLORS {
            let mut next = *walk.position(viewer);
            let pools = [us, us.other()].map(|color| next.pool(color));
            let truth = walk.truth.reveal(viewer, mv);
            next.play(mv);
            let mut reveals = vec![(Reveal::default(), 7)];
            next.reveals(&mut reveals);
            if truth == Reveal::default() {
                assert!(!next.awaits_reveal() && reveals.is_empty(), "{mv} {next:?}");
                continue;
            }
            assert!(next.awaits_reveal(), "{mv} {next:?}");
            check_list(truth, pools, &reveals);
        }
    }
}

fn check_list(truth: Reveal, pools: [[u8; 7]; 2], reveals: &[(Reveal, u32)]) {
    let ways = |truth: Option<Kind>, pool: [u8; 7]| -> Vec<(Option<Kind>, u32)> {
        let left = Kind::ALL.map(|kind| (Some(kind), u32::from(pool[kind.index()])));
        let unknown = left.into_iter().filter(|n| truth.is_some() && n.1 > 0);
        unknown
            .chain(truth.is_none().then_some((None, 1)))
            .collect()
    };
    let [movers, takens] = [ways(truth.mover, pools[0]), ways(truth.taken, pools[1])];
    assert_eq!(reveals.len(), movers.len() * takens.len());
    for (mover, n) in movers {
        for &(taken, m) in &takens {
            let expected = (Reveal { mover, taken }, n * m);
            assert!(reveals.contains(&expected), "{expected:?} of {reveals:?}");
        }
    }
    assert!(
        reveals.iter().any(|r| r.0 == truth),
        "{truth} of {reveals:?}"
    );
}

/// Playing by the truth's reveals leads each player where the world goes, and the world tells of it what
/// both now know.
fn check_step(walk: &Walk) {
    let Some(us) = walk.decider() else { return };
    let mv = walk.legal(us)[0];
    let (mut after, mut rng) = (walk.world.clone(), walk.rng.clone());
    let light = after.apply(mv, &mut rng);
    if mv.placed().is_some() {
        assert_eq!(
            (light, after.position(us.other())),
            (None, walk.position(us.other()))
        );
        return;
    }
    for viewer in COLORS {
        let (mut view, mut history) = (walk.world.view(viewer), walk.world.history(viewer).clone());
        view.play(mv, &mut history);
        let truth = walk.truth.reveal(viewer, mv);
        if view.turn(&history) == Turn::Chance {
            view.reveal(truth, &mut history);
        }
        assert_eq!(view, after.view(viewer));
        let noted = |history: &History| {
            let times = history.occurrences(view.position().hash());
            (history.mark(), history.last(), times)
        };
        assert_eq!(noted(&history), noted(after.history(viewer)));
    }
    check_light(walk, mv, light);
}

/// What comes to light is what one of the two did not know before and knows now.
fn check_light(walk: &Walk, mv: Move, light: Option<Reveal>) {
    let [red, black] = COLORS.map(|viewer| walk.truth.reveal(viewer, mv));
    let shown = Reveal {
        mover: red.mover.or(black.mover),
        taken: red.taken.or(black.taken),
    };
    let expected = Some(shown).filter(|shown| *shown != Reveal::default());
    assert_eq!(light, expected, "{mv} in {}", walk.world.fen());
}

/// Texts come back as what they were written from; a view is never read as a world, nor a world as a view.
fn check_texts(walk: &Walk) {
    let rules = walk.rules();
    let text = walk.world.fen();
    assert!(
        text.starts_with(&walk.truth.text(walk.position(Color::Red).turn())),
        "{text}"
    );
    let world = World::from_fen(rules, &text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(world.fen(), text);
    assert_eq!(
        Position::from_fen(rules, &text).is_err(),
        rules.hides(),
        "{text}"
    );
    for viewer in COLORS {
        let position = walk.position(viewer);
        assert_eq!(world.position(viewer), position, "{text}");
        if viewer == Color::Black && rules.open_to_both() {
            assert_eq!(position, walk.position(Color::Red), "{text}");
            continue;
        }
        let view = position.fen();
        let read = Position::from_fen(rules, &view).unwrap_or_else(|e| panic!("{view}: {e}"));
        assert_eq!(
            (read, read.hash(), read.fen()),
            (*position, position.hash(), view.clone())
        );
        assert_eq!(
            World::from_fen(rules, &view).is_err(),
            rules.hides(),
            "{view}"
        );
    }
}

/// A mirrored record, mirrored, is the record again.
fn check_records(walk: &Walk) {
    for viewer in COLORS {
        let record = walk.record(viewer);
        let mut twice = record;
        record::mirror(&mut twice);
        record::mirror(&mut twice);
        assert_eq!(twice, record);
        let position = walk.position(viewer);
        let decider = position.decider();
        let own: usize = position.pool(decider).iter().map(|&n| usize::from(n)).sum();
        let told: u8 = record[record::at::OWN_POOL..record::at::OTHER_POOL]
            .iter()
            .sum();
        assert_eq!(usize::from(told), own);
        let secrets = (0..90).filter(|&s| record::is_secret(&record, s)).count();
        assert_eq!(
            secrets,
            Square::all().filter(|&s| position.is_secret(s)).count()
        );
        assert_eq!(
            record[record::at::PLACING] < 90,
            position.next_placed().is_some()
        );
    }
}

/// A position came before as often as an equal one did.
fn check_occurrences(walk: &Walk, seen: &mut Vec<[Position; 2]>) {
    let now = COLORS.map(|viewer| *walk.position(viewer));
    for viewer in COLORS {
        let at = viewer as usize;
        let earlier = seen.iter().filter(|other| other[at] == now[at]).count();
        let history = walk.world.history(viewer);
        assert_eq!(
            history.occurrences(now[at].hash()),
            earlier,
            "{:?}",
            now[at]
        );
    }
    seen.push(now);
}

fn check_all(walk: &Walk) {
    check_moves(walk);
    check_knowledge(walk);
    check_reveals(walk);
    check_step(walk);
    check_texts(walk);
    check_records(walk);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..Default::default() })]

    #[test]
    fn moves_are_those_of_the_plain_rules(seed: u64) {
        each_form(seed, 150, check_moves);
    }

    #[test]
    fn knowledge_is_that_of_the_plain_truth(seed: u64) {
        each_form(seed, 200, check_knowledge);
    }

    #[test]
    fn reveals_are_what_the_pools_hold(seed: u64) {
        each_form(seed, 100, check_reveals);
    }

    #[test]
    fn the_world_shows_each_player_what_it_may_see(seed: u64) {
        each_form(seed, 200, check_step);
    }

    #[test]
    fn texts_come_back(seed: u64) {
        each_form(seed, 200, check_texts);
    }

    #[test]
    fn records_mirror_and_tell_the_pools(seed: u64) {
        each_form(seed, 200, check_records);
    }

    #[test]
    fn policy_indices_name_the_moves(seed: u64) {
        each_form(seed, 150, check_policy);
    }

    #[test]
    fn occurrences_are_those_of_equal_positions(seed: u64) {
        for rules in forms_and_variants() {
            let _named = Named(rules, seed);
            let (mut walk, mut seen) = (Walk::start(rules, seed), Vec::new());
            while !walk.world.is_public() {
                walk.on(1, |_| {});
            }
            walk.on(150, |walk| check_occurrences(walk, &mut seen));
        }
    }

    #[test]
    fn is_legal_says_whether_a_move_is_in_the_list(seed: u64) {
        for (i, rules) in forms_and_variants().into_iter().enumerate() {
            let _named = Named(rules, seed);
            let walk = Walk::after(rules, seed, (seed as usize + 13 * i) % 120);
            COLORS.iter().for_each(|&viewer| check_is_legal(&walk, viewer));
        }
    }
}

/// All moves there are: between any squares, laid down or not, and placements of any kind.
fn check_is_legal(walk: &Walk, viewer: Color) {
    let legal: HashSet<Move> = walk.legal(viewer).into_iter().collect();
    let position = walk.position(viewer);
    let check = |mv: Move| {
        for mv in [mv, mv.turning_down()] {
            assert_eq!(
                position.is_legal(mv),
                legal.contains(&mv),
                "{mv} in {position:?}"
            );
        }
    };
    for from in Square::all() {
        Square::all().for_each(|to| check(Move::new(from, to)));
        Kind::ALL
            .iter()
            .for_each(|&kind| check(Move::place(kind, from)));
    }
    let illegal = Move::new(position.king(viewer), position.king(viewer));
    let mut tried = *position;
    assert_eq!(tried.try_play(illegal).unwrap_err().mv, illegal);
    assert_eq!(tried, *position);
}

/// Plies of the longest of them: later ones mostly shuffle face-up pieces.
const LONG: usize = 150;
/// Games per form of the long tests.
const MANY: u64 = 100_000;

/// All laws over many games of a form.
fn check_many_games(form: &str) {
    let rules = Ruleset::by_name(form).expect("a form");
    for seed in 0..MANY {
        let _named = Named(rules, seed);
        Walk::start(rules, seed).on(LONG, check_all);
    }
}

macro_rules! many_games {
    ($($name:ident: $form:literal,)*) => {
        mod many_games_keep_all_laws {
            $(
                #[test]
                #[ignore = "up to ten minutes of a core; run with --release"]
                fn $name() {
                    super::check_many_games($form);
                }
            )*
        }
    };
}

many_games! {
    xiangqi: "xiangqi",
    jieqi: "jieqi",
    fanqi_1: "fanqi-1",
    fanqi_2: "fanqi-2",
    fanqi_3: "fanqi-3",
    fanqi_4: "fanqi-4",
    fanqi_5: "fanqi-5",
    fanqi_6: "fanqi-6",
    fanqi_7: "fanqi-7",
    fanqi_8: "fanqi-8",
    fanqi_9: "fanqi-9",
    fanqi_10: "fanqi-10",
}
