//! The two halves of a simulation: down to a leaf, and the evaluation back up.
use rand::RngExt;

use super::tree::{Branch, NONE, ROOT};
use super::value::Value;
use super::{RootKind, Search, gumbel, puct, site::Site};
use crate::eval::{Batch, Evaluation};
use crate::game::{Color, Features, Past, Turn};
use crate::record::RECORD_BYTES;

impl<G: Features> Search<G> {
    /// Whether the decision needs no further simulation: the plan is used up, the root is proven, or
    /// an evaluated root leaves no choice.
    fn ready(&self) -> bool {
        let Some(root) = self.tree.nodes.first() else {
            return true;
        };
        let forced = root.visits > 0 && root.count <= 1;
        self.plan.left == 0 || root.exact || forced || root.turn().is_none()
    }

    /// Simulates until a leaf needs the network and adds it to `batch` as one row (true), or until
    /// the decision is ready (false).
    pub fn gather(&mut self, batch: &mut Batch) -> bool {
        debug_assert!(
            self.path.is_empty(),
            "a gathered row waits for its evaluation"
        );
        let Some(game) = self.game else { return false };
        while !self.ready() {
            self.plan.left -= 1;
            let mark = self.history.mark();
            let needs_network = self.simulate(game, batch);
            self.history.rewind(mark);
            if needs_network {
                self.plan.evaluations += 1;
                return true;
            }
        }
        false
    }

    /// One simulation; true if it ended at a leaf that is now a row of `batch`.
    fn simulate(&mut self, mut game: G, batch: &mut Batch) -> bool {
        let (mut at, mut settled) = (ROOT, false);
        loop {
            self.path.push(at);
            let node = self.tree.nodes[at as usize];
            if node.exact {
                let draw_score = self.config.draw_score;
                self.tree
                    .back_up(&self.path, node.value, settled, draw_score);
                self.path.clear();
                return false;
            }
            let before = self.tree.nodes.len();
            at = match node.turn() {
                Some(_) if node.visits == 0 => {
                    self.push_row(&game, at, batch);
                    return true;
                }
                Some(turn) => self.follow_move(&mut game, at, turn),
                None => self.follow_chance(&mut game, at),
            };
            settled = self.tree.nodes.len() > before;
        }
    }

    fn push_row(&mut self, game: &G, node: u32, batch: &mut Batch) {
        let mut record = [0; RECORD_BYTES];
        game.record(&self.history, &mut record);
        let mut unknown: &[u8] = &[];
        if node == ROOT && self.config.belief {
            game.unknown(&mut self.scratch.unknown);
            unknown = &self.scratch.unknown;
        }
        let edges = self.tree.edges(&self.tree.nodes[node as usize]);
        let legal = edges.iter().map(|e| game.policy_index(e.mv));
        batch.push(record, legal, unknown);
    }

    /// Selects and plays a move; returns the node it leads to, made if need be.
    fn follow_move(&mut self, game: &mut G, at: u32, turn: Color) -> u32 {
        let node = &self.tree.nodes[at as usize];
        let site = Site {
            tree: &self.tree,
            node,
            turn,
            config: &self.config,
        };
        let choice = match (at, self.config.root) {
            (ROOT, RootKind::Gumbel) => self.halving.next(site),
            (ROOT, RootKind::Puct) => puct::root(site, &self.priors),
            (_, RootKind::Gumbel) => gumbel::inner(site, &mut self.scratch.weights),
            (_, RootKind::Puct) => puct::inner(site),
        };
        let place = node.first as usize + choice;
        let edge = self.tree.edges[place];
        game.play(edge.mv, &mut self.history);
        if edge.child != NONE {
            return edge.child;
        }
        let child = self.add(game);
        if at == ROOT {
            self.tree.edges[place].child = child;
        } else {
            self.tree.open(at, child);
        }
        child
    }

    /// Lets chance fall on an outcome, by weight; returns the node it leads to, made if need be.
    fn follow_chance(&mut self, game: &mut G, at: u32) -> u32 {
        let node = &self.tree.nodes[at as usize];
        let branches = self.tree.branches(node);
        let total: u32 = branches.iter().map(|b| b.weight).sum();
        let skipped = fall(branches, self.rng.random_range(0..total.max(1)));
        let place = node.first as usize + skipped;
        let branch = self.tree.branches[place];
        game.reveal(branch.reveal, &mut self.history);
        if branch.child != NONE {
            return branch.child;
        }
        let child = self.add(game);
        self.tree.branches[place].child = child;
        child
    }

    /// Answers the last gathered row.
    pub fn apply(&mut self, evaluation: Evaluation<'_>) {
        let Some(&leaf) = self.path.last() else {
            return;
        };
        let node = &self.tree.nodes[leaf as usize];
        let Some(turn) = node.turn() else { return };
        let value = Value::new(evaluation.wdl, turn, evaluation.moves_left);
        self.tree.nodes[leaf as usize].raw = value;
        self.tree.set_priors(leaf, evaluation.log_priors);
        self.tree.bring_best(leaf);
        self.tree
            .back_up(&self.path, value, false, self.config.draw_score);
        self.path.clear();
        if leaf == ROOT {
            self.believe(evaluation.beliefs);
            self.prepare_root();
        }
    }

    /// Takes up what the network believes of the root's unknown pieces.
    fn believe(&mut self, believed: &[[f32; 6]]) {
        self.informed = !believed.is_empty();
        if let Some(game) = self.game.filter(|_| self.informed) {
            game.believe(&self.scratch.unknown, believed, &mut self.beliefs);
        }
    }

    /// Adds a node for `game`, whose past is `history`.
    pub(super) fn add(&mut self, game: &G) -> u32 {
        match game.turn(&self.history) {
            Turn::Over(ending) => self.tree.add_over(ending.outcome),
            Turn::Chance => {
                game.reveals(&mut self.scratch.reveals);
                if self.informed {
                    game.weigh(&self.beliefs, &mut self.scratch.reveals);
                }
                self.tree.add_chance(&self.scratch.reveals)
            }
            Turn::Decision(color) => {
                let moves = &mut self.scratch.moves;
                game.legal_moves(moves);
                if !self.only.is_empty() && moves.iter().any(|mv| self.only.contains(mv)) {
                    moves.retain(|mv| self.only.contains(mv));
                }
                self.tree.add_decision(color, &self.scratch.moves)
            }
        }
    }
}

/// The branch that `ticket`, below the sum of the weights, falls on.
fn fall<R>(branches: &[Branch<R>], mut ticket: u32) -> usize {
    for (i, branch) in branches.iter().enumerate() {
        if ticket < branch.weight {
            return i;
        }
        ticket -= branch.weight;
    }
    0
}
