//! A warm search takes no memory for a visit, whatever it searches.
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Nim, Wide, begun, config};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use selfplay::eval::{Batch, Evaluator, HashEvaluator};
use selfplay::game::{Features, Game, Referee, Turn};
use selfplay::mcts::{RootKind, Search};
use selfplay::rules::{Position, Ruleset, View, World};

/// The system's allocator, counting the calls of each thread.
struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls to the allocator in one decision of 300 visits, the evaluator included.
fn calls<G: Features>(search: &mut Search<G>, batch: &mut Batch, game: G) -> usize {
    let before = CALLS.get();
    search.begin(game, &Default::default(), 1);
    search.plan(300, true);
    while search.gather(batch) {
        HashEvaluator::default()
            .evaluate(batch)
            .expect("a stand-in does not fail");
        search.apply(batch.evaluation(0));
        batch.clear();
    }
    CALLS.get() - before
}

fn check<G: Features>(game: G) {
    let mut search = begun(config(RootKind::Gumbel), game, 1);
    let mut batch = Batch::default();
    calls(&mut search, &mut batch, game);
    // A second time round all memory is there, but for the past, which each beginning takes anew: a few
    // calls until it is as long as the longest line.
    let calls = calls(&mut search, &mut batch, game);
    assert!(calls < 8, "{calls} for 300 visits");
}

#[test]
fn a_warm_search_takes_no_memory_for_a_visit() {
    check(Wide::new(3, 400));
    check(Nim::lucky(40));
    for name in ["xiangqi", "fanqi-10", "jieqi"] {
        let rules = Ruleset::by_name(name).expect("a known form");
        check(View::new(Position::start(rules)));
    }
}

#[test]
fn nor_for_its_beliefs() {
    for name in ["fanqi-9", "jieqi"] {
        let view = closed(name);
        let mut unknown = Vec::new();
        view.unknown(&mut unknown);
        assert!(!unknown.is_empty(), "{name}");
        check(view);
    }
}

/// What the side to move sees after some random plies, of pieces some of which its opponent knows better.
fn closed(form: &str) -> View {
    let rules = Ruleset::by_name(form).expect("a known form");
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut world = World::start(rules, &mut rng);
    let (mut moves, mut unknown) = (Vec::new(), Vec::new());
    while let Turn::Decision(turn) = world.turn() {
        let view = world.view(turn);
        view.unknown(&mut unknown);
        if world.is_public() && !unknown.is_empty() {
            return view;
        }
        view.legal_moves(&mut moves);
        world.apply(moves[rng.random_range(..moves.len())], &mut rng);
    }
    panic!("the game is over already");
}
