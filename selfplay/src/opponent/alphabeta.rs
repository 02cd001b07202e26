//! Fixed-depth alpha-beta search (Knuth and Moore 1975, fail-soft) over material.
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;

use crate::game::{Color, Game, Past, Turn, Wdl};

use super::Material;

/// Value in centipawns of a game won at the root; each ply further away costs 1.
pub const MATE: i32 = 1_000_000;
/// Above every value.
const BOUND: i32 = 2 * MATE;

/// A search's memory, kept from move to move: it allocates only while growing.
#[derive(Debug)]
pub struct AlphaBeta<G: Material> {
    history: G::History,
    plies: Vec<Ply<G>>,
}

/// What one ply of the line under search needs.
#[derive(Debug)]
struct Ply<G: Game> {
    moves: Vec<G::Move>,
    /// The moves with their gain, best gain first.
    ordered: Vec<(i32, G::Move)>,
    reveals: Vec<(G::Reveal, u32)>,
}

/// A position under search.
#[derive(Clone, Copy)]
struct Node<G> {
    game: G,
    /// Whose view the value is: the side to move, or to move after chance.
    side: Color,
    /// Material balance of `side`, in centipawns.
    balance: i32,
    /// Plies from the root.
    ply: u8,
    /// Plies still to search.
    depth: u8,
}

impl<G: Material> Default for AlphaBeta<G> {
    fn default() -> Self {
        AlphaBeta {
            history: G::History::default(),
            plies: Vec::new(),
        }
    }
}

impl<G: Material> AlphaBeta<G> {
    /// A move of the greatest value after `depth` plies, at least 1, each as likely as
    /// [`random_move`](crate::game::random_move) has it, and that value: material balance of the side to move in
    /// centipawns, or `±(MATE - plies)` where the game is decided. `None` where the game is over.
    pub fn choose(
        &mut self,
        game: &G,
        history: &G::History,
        depth: u8,
        rng: &mut Pcg64Mcg,
    ) -> Option<(G::Move, i32)> {
        let Turn::Decision(side) = game.turn(history) else {
            return None;
        };
        self.history.clone_from(history);
        self.plies
            .resize_with(self.plies.len().max(depth as usize + 1), Ply::default);
        let root = Node {
            game: *game,
            side,
            balance: game.balance(side),
            ply: 0,
            depth,
        };
        let mut moves = self.ordered_moves(&root);

        let mut value = -BOUND;
        for &(gain, mv) in &moves {
            value = value.max(self.after(&root, gain, mv, value, BOUND));
        }
        let chosen = self.draw_among_equals(&root, &mut moves, value, rng);
        self.plies[0].ordered = moves;
        Some((chosen?, value))
    }

    /// The first move in a random order that attains the root's `value`; uses `moves` up.
    ///
    /// Finding the value first and drawing afterwards leaves most equal moves a bound: to tell them all from worse
    /// ones would take nearly every reply to each of them.
    fn draw_among_equals(
        &mut self,
        root: &Node<G>,
        moves: &mut Vec<(i32, G::Move)>,
        value: i32,
        rng: &mut Pcg64Mcg,
    ) -> Option<G::Move> {
        while let Ok(&(gain, mv)) = moves.choose_weighted(rng, |&(_, mv)| root.game.ways(mv)) {
            moves.retain(|&(_, other)| other != mv);
            if self.after(root, gain, mv, value - 1, value) >= value {
                return Some(mv);
            }
        }
        None
    }

    /// Value of `node`, where it is that turn, for its side; a bound on it outside of `alpha..beta`.
    fn value(&mut self, node: &Node<G>, turn: Turn, alpha: i32, beta: i32) -> i32 {
        match turn {
            Turn::Over(ending) => {
                Wdl::of(ending.outcome, node.side).q() as i32 * (MATE - i32::from(node.ply))
            }
            Turn::Chance => self.expected(node),
            Turn::Decision(_) if node.depth == 0 => node.balance,
            Turn::Decision(_) => {
                let mut value = -BOUND;
                let ordered = self.ordered_moves(node);
                for &(gain, mv) in &ordered {
                    value = value.max(self.after(node, gain, mv, alpha.max(value), beta));
                    if value >= beta {
                        break;
                    }
                }
                self.plies[node.ply as usize].ordered = ordered;
                value
            }
        }
    }

    /// Value for `node`'s side of the position after `mv`, which gains `gain`. The same side decides again while it
    /// arranges its pieces.
    fn after(&mut self, node: &Node<G>, gain: i32, mv: G::Move, alpha: i32, beta: i32) -> i32 {
        let mark = self.history.mark();
        let mut child = Node {
            balance: node.balance + gain,
            ply: node.ply + 1,
            depth: node.depth - 1,
            ..*node
        };
        child.game.play(mv, &mut self.history);
        let turn = child.game.turn(&self.history);
        let value = if turn == Turn::Decision(node.side) {
            self.value(&child, turn, alpha, beta)
        } else {
            (child.side, child.balance) = (node.side.other(), -child.balance);
            -self.value(&child, turn, -beta, -alpha)
        };
        self.history.rewind(mark);
        value
    }

    /// Mean value over what chance may bring, by weight, rounded towards 0.
    fn expected(&mut self, node: &Node<G>) -> i32 {
        let mut reveals = std::mem::take(&mut self.plies[node.ply as usize].reveals);
        node.game.reveals(&mut reveals);
        let (mut sum, mut total) = (0, 0);
        for &(reveal, weight) in &reveals {
            let mark = self.history.mark();
            let mut child = *node;
            child.game.reveal(reveal, &mut self.history);
            child.balance = child.game.balance(node.side);
            let turn = child.game.turn(&self.history);
            sum += i64::from(weight) * i64::from(self.value(&child, turn, -BOUND, BOUND));
            total += i64::from(weight);
            self.history.rewind(mark);
        }
        self.plies[node.ply as usize].reveals = reveals;
        (sum / total.max(1)) as i32
    }

    /// The legal moves with their gains, best gain first; the buffer belongs back into `plies`.
    fn ordered_moves(&mut self, node: &Node<G>) -> Vec<(i32, G::Move)> {
        let ply = &mut self.plies[node.ply as usize];
        node.game.legal_moves(&mut ply.moves);
        let mut ordered = std::mem::take(&mut ply.ordered);
        ordered.clear();
        ordered.extend(ply.moves.iter().map(|&mv| (node.game.gain(mv), mv)));
        ordered.sort_unstable_by_key(|&(gain, _)| -gain);
        ordered
    }
}

impl<G: Game> Default for Ply<G> {
    fn default() -> Self {
        Ply {
            moves: Vec::new(),
            ordered: Vec::new(),
            reveals: Vec::new(),
        }
    }
}
