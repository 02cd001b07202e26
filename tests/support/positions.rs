//! Positions of random games, as a network is asked for them.
#![allow(dead_code)]
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use selfplay::game::{Features, Game, Referee, Turn, random_move};
use selfplay::record::{RECORD_BYTES, Record};
use selfplay::rules::{Ruleset, View, World};

/// A position that the side to decide knows.
pub struct Asked {
    /// What it knows.
    pub view: View,
    pub record: Record,
    /// Policy indices of the legal moves.
    pub legal: Vec<u16>,
    /// Squares of the pieces that a belief can be about.
    pub unknown: Vec<u8>,
}

/// Positions of a form, arrangements among them, from as many games as it takes.
pub fn positions(rules: &'static Ruleset, count: usize, seed: u64) -> Vec<Asked> {
    let (mut all, mut rng) = (Vec::new(), Pcg64Mcg::seed_from_u64(seed));
    let mut moves = Vec::new();
    while all.len() < count {
        let mut world = World::start(rules, &mut rng);
        for _ in 0..160 {
            if all.len() == count || !matches!(world.turn(), Turn::Decision(_)) {
                break;
            }
            let decider = world.decider();
            let view = world.view(decider);
            let (mut record, mut unknown) = ([0; RECORD_BYTES], Vec::new());
            view.record(world.history(decider), &mut record);
            view.legal_moves(&mut moves);
            view.unknown(&mut unknown);
            let legal = moves.iter().map(|&mv| view.policy_index(mv)).collect();
            all.push(Asked {
                view,
                record,
                legal,
                unknown,
            });
            world.apply(random_move(&view, &moves, &mut rng), &mut rng);
        }
    }
    all
}
