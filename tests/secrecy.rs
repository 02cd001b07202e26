//! Secrets are kept: whatever a player cannot know changes nothing that it sees or decides. And what it does
//! know, it sees.
mod common;
#[path = "support/hidden_games.rs"]
mod hidden_games;

use common::{config, think};
use hidden_games::{COLORS, Man, Truth, Walk, form, forms_and_variants, letter, write_board};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::HashEvaluator;
use selfplay::game::{Features, Game, Referee, Turn};
use selfplay::mcts::{RootKind, Search};
use selfplay::opponent::{Builtin, Opponent};
use selfplay::record::{RECORD_BYTES, Record};
use selfplay::rules::{Color, History, Kind, Layout, Move, Position, Ruleset, Square, View, World};

/// Every piece that has a kind, on the board or taken.
fn men(truth: &Truth) -> Vec<Man> {
    let on_board = truth.board.iter().flatten();
    let all = on_board.chain(&truth.taken).copied();
    all.filter(|man| man.kind.is_some()).collect()
}

/// The kinds by home square at the start, those that `viewer` never learned shuffled among themselves.
fn shuffled(truth: &Truth, viewer: Color, rng: &mut Pcg64Mcg) -> [Option<Kind>; 90] {
    let (men, mut kinds) = (men(truth), [None; 90]);
    for man in &men {
        kinds[man.origin.index()] = man.kind;
    }
    for color in COLORS {
        let unknown = |man: &&Man| man.color == color && !man.known[viewer as usize];
        let squares: Vec<Square> = men.iter().filter(unknown).map(|m| m.origin).collect();
        let mut shuffled: Vec<_> = squares.iter().map(|s| kinds[s.index()]).collect();
        shuffled.shuffle(rng);
        for (square, kind) in squares.into_iter().zip(shuffled) {
            kinds[square.index()] = kind;
        }
    }
    kinds
}

/// A new game with those kinds on the home squares.
fn start(walk: &Walk, kinds: &[Option<Kind>; 90]) -> World {
    let rules = walk.rules();
    if rules.layout != Layout::Dealt {
        return World::start(rules, &mut Pcg64Mcg::seed_from_u64(0));
    }
    let board = write_board(|square| {
        let kind = kinds[square.index()]?;
        let color = if square.rank() < 5 {
            Color::Red
        } else {
            Color::Black
        };
        let mark = if rules.takes_part.has(kind) { "?" } else { "" };
        Some(format!("{}{mark}", letter(color, kind)))
    });
    World::from_fen(rules, &format!("{board} w - 0 1 world")).expect("a deal")
}

/// The same move in a game of other kinds.
fn translated(mv: Move, kinds: &[Option<Kind>; 90]) -> Move {
    match (mv.placed(), kinds[mv.from().index()]) {
        (Some(_), Some(kind)) => Move::place(kind, mv.from()),
        _ => mv,
    }
}

fn record(view: &View, history: &History) -> Record {
    let mut record = [0xff; RECORD_BYTES];
    view.record(history, &mut record);
    record
}

/// All that `viewer` may see: its view, past, record and legal moves.
fn sight(world: &World, viewer: Color) -> (View, String, Record, Vec<Move>) {
    let (view, history) = (world.view(viewer), world.history(viewer));
    let mut legal = Vec::new();
    view.position().legal_moves(&mut legal);
    (view, format!("{history:?}"), record(&view, history), legal)
}

/// All that `viewer` decides: the search's choice and target, and the built-in opponents' moves.
fn decisions(world: &World, viewer: Color, seed: u64) -> String {
    let (view, history) = (world.view(viewer), world.history(viewer));
    let mut search = Search::new(config(RootKind::Gumbel));
    search.begin(view, history, seed);
    think(&mut search, &mut HashEvaluator::default(), 24, true);
    let mut opponent = Opponent::new(Builtin::AlphaBeta { depth: 1 }, seed);
    let chosen = opponent.choose(&view, history);
    format!("{:?} {chosen}", search.decision())
}

/// Replays the game with the kinds that `viewer` cannot know shuffled: it must not notice. Whether anything
/// differed in truth.
fn check_hidden(walk: &Walk, viewer: Color, seed: u64) -> bool {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let kinds = shuffled(&walk.truth, viewer, &mut rng);
    let mut original = Walk::start(walk.rules(), seed).world;
    let mut twin = start(walk, &kinds);
    let mut differs = false;
    for &mv in &walk.moves {
        assert_eq!(sight(&original, viewer), sight(&twin, viewer));
        assert_eq!(original.turn(), twin.turn());
        differs |= original.fen() != twin.fen();
        original.apply(mv, &mut rng);
        twin.apply(translated(mv, &kinds), &mut rng);
    }
    assert_eq!(original.fen(), walk.world.fen());
    assert_eq!(sight(&original, viewer), sight(&twin, viewer));
    if let Turn::Decision(_) = original.view(viewer).turn(original.history(viewer)) {
        let decided = decisions(&original, viewer, seed);
        assert_eq!(decided, decisions(&twin, viewer, seed));
    }
    differs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_a_player_cannot_know_changes_nothing(seed: u64, plies in 0..160_usize) {
        for rules in forms_and_variants() {
            let walk = Walk::after(rules, seed, plies);
            for viewer in COLORS {
                let differs = check_hidden(&walk, viewer, seed);
                assert!(rules.hides() || !differs, "{} hides nothing", rules.name);
            }
        }
    }

    #[test]
    fn known_worlds_count_the_same_by_view_and_by_truth(seed: u64, plies in 30..120_usize) {
        for rules in forms_and_variants().into_iter().filter(|rules| rules.hides()) {
            let walk = Walk::after(rules, seed, plies);
            let known = Position::from_fen(rules, &all_known(&walk.world)).expect("a position");
            prop_assert_eq!(enumerate(&walk.world, 3), known.perft(3), "{:?}", known);
        }
    }
}

/// The world's text with everything known to both.
fn all_known(world: &World) -> String {
    let text = world.fen().replace(['?', '!'], "~");
    let fields: Vec<&str> = text.split(' ').collect();
    format!("{} {} - {} {}", fields[0], fields[1], fields[3], fields[4])
}

/// Move sequences by the views of the side to move, whose reveals are the truth's.
fn enumerate(world: &World, depth: u32) -> u64 {
    let (mut rng, mut legal) = (Pcg64Mcg::seed_from_u64(0), Vec::new());
    let turn = world.position(Color::Red).turn();
    world.position(turn).legal_moves(&mut legal);
    if depth == 1 {
        return legal.len() as u64;
    }
    let below = |&mv: &Move| {
        let mut next = world.clone();
        next.apply(mv, &mut rng);
        enumerate(&next, depth - 1)
    };
    legal.iter().map(below).sum()
}

#[test]
fn hidden_truth_truly_differs() {
    for rules in Ruleset::all().iter().filter(|rules| rules.hides()) {
        let games = (0..20).map(|seed| Walk::after(rules, seed, 45));
        let differing = games
            .enumerate()
            .filter(|(seed, walk)| check_hidden(walk, Color::Black, *seed as u64));
        let differing = differing.count();
        assert!(
            differing >= 12,
            "{} of 20 games of {}",
            differing,
            rules.name
        );
    }
}

/// Positions that differ only in what is known have different records and hashes.
fn check_distinct(form_name: &str, texts: &[&str]) {
    let views: Vec<View> = texts
        .iter()
        .map(|text| View::from_fen(form(form_name), text).unwrap_or_else(|e| panic!("{text}: {e}")))
        .collect();
    for (i, one) in views.iter().enumerate() {
        for other in &views[..i] {
            let history = History::default();
            assert_ne!(
                record(one, &history),
                record(other, &history),
                "{one:?} {other:?}"
            );
            assert_ne!(
                one.position().hash(),
                other.position().hash(),
                "{one:?} {other:?}"
            );
            assert_ne!(one, other);
        }
    }
}

#[test]
fn knowledge_is_seen() {
    // Known to both, to the owner alone, to the opponent alone as it is not known to Black.
    check_distinct(
        "fanqi-9",
        &[
            "3k5/9/9/9/9/9/9/9/9/R~3K4 w - 0 1 red",
            "3k5/9/9/9/9/9/9/9/9/R!3K4 w - 0 1 red",
            "3k5/9/9/9/9/9/9/9/9/N!3K4 w - 0 1 red",
        ],
    );
    check_distinct(
        "fanqi-9",
        &[
            "3k5/9/9/9/9/9/9/9/9/R~3K4 w - 0 1 black",
            "3k5/9/9/9/9/9/9/9/9/X3K4 w R1 0 1 black",
            "3k5/9/9/9/9/9/9/9/9/X3K4 w N1 0 1 black",
            "3k5/9/9/9/9/9/9/9/9/R3K4 w - 0 1 black",
        ],
    );
    // Pieces lost unseen.
    check_distinct(
        "jieqi",
        &[
            "3k5/9/9/9/9/9/9/9/9/X3K4 w R1 0 1 red",
            "3k5/9/9/9/9/9/9/9/9/X3K4 w R1N1 0 1 red",
            "3k5/9/9/9/9/9/9/9/9/X3K4 w R2 0 1 red",
        ],
    );
}
