//! What a finished search says of its root.
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::gumbel::{Completed, Halving};
use super::site::Site;
use super::{RootKind, tree::Node};
use crate::game::{Outcome, Wdl};

/// What a search says of its root, seen from the side to move.
#[derive(Clone, Debug)]
pub struct Decision<M> {
    /// The move to play where nothing is left to chance; the same as `choose(0.0)` gives.
    pub best: M,
    /// Win, draw, loss: the mean over all simulations, or the exact result.
    pub wdl: Wdl,
    /// Expected score, -1..=1, draws counting `draw_score`.
    pub q: f32,
    /// Expected plies to the end of the game.
    pub moves_left: f32,
    /// Simulations that the root has seen, those of earlier decisions included.
    pub visits: u32,
    /// Rows that the network evaluated for this decision.
    pub evaluations: u32,
    /// No value of the network is left in `wdl`: it follows from the rules, and where chance is weighted by
    /// beliefs, from those.
    pub exact: bool,
    /// The result that best play of both sides leads to, where proven and certain.
    pub proven: Option<Outcome>,
    /// Every legal move, in no set order.
    pub moves: Vec<MoveInfo<M>>,
}

/// What a search says of a move, seen from the side that plays it.
#[derive(Clone, Copy, Debug)]
pub struct MoveInfo<M> {
    /// The move.
    pub mv: M,
    /// Its place in the index space of [`crate::policy`].
    pub policy_index: u16,
    /// The network's prior, without noise, 0..=1.
    pub prior: f32,
    /// The policy target, 0..=1; all moves' sum to 1.
    pub target: f32,
    /// Simulations that began with it.
    pub visits: u32,
    /// Expected score, -1..=1; of an unvisited move what the search takes it to be worth.
    pub q: f32,
    /// `q` is proven.
    pub exact: bool,
}

/// What the root's own selection has made of a decision.
pub(super) struct Verdict<'a, M, R> {
    pub site: Site<'a, M, R>,
    pub halving: &'a Halving,
}

impl<M: Copy, R: Copy> Verdict<'_, M, R> {
    /// The policy target of every edge.
    ///
    /// Of a proven root, only moves that keep the proven result share the target; of another, only
    /// moves that are not proven to lose. Among them it is the improved policy (Gumbel) or the share
    /// of the visits (PUCT).
    pub fn target(&self) -> Vec<f32> {
        let site = self.site;
        let completed = Completed::new(site, site.edges());
        let keeps = |child: Option<&Node>| self.keeps(child);
        let weigh = |weight: &dyn Fn(f32, Option<&Node>) -> f32| -> Vec<f32> {
            let weight = |e| {
                if keeps(site.child(e)) {
                    weight(e.prior, site.child(e))
                } else {
                    0.0
                }
            };
            site.edges().iter().map(weight).collect()
        };
        let mut target = match site.config.root {
            RootKind::Gumbel => weigh(&|prior, child| prior * completed.sigma(site, child).exp()),
            RootKind::Puct => weigh(&|_, child| child.map_or(0.0, |c| c.visits as f32)),
        };
        if !target.iter().sum::<f32>().is_normal() {
            target = weigh(&|prior, _| prior);
        }
        let total: f32 = target.iter().sum();
        target.iter_mut().for_each(|t| *t /= total);
        target
    }

    /// Whether a move may be played at all.
    fn keeps(&self, child: Option<&Node>) -> bool {
        let (site, root) = (self.site, self.site.node);
        match child {
            Some(child) if root.exact => child.exact && site.q(child) == site.q(root),
            Some(child) => !site.lost(child),
            None => !root.exact,
        }
    }

    /// The move to play where nothing is left to chance: of a proven root the quickest win, the
    /// longest defence; of another the halving's winner (Gumbel) or the most visited move (PUCT).
    pub fn best(&self) -> usize {
        let site = self.site;
        if site.node.exact {
            return self.best_exact();
        }
        match site.config.root {
            RootKind::Gumbel => self.halving.winner(site),
            RootKind::Puct => {
                let target = self.target();
                let rank = |&i: &usize| {
                    let edge = &site.edges()[i];
                    (
                        target[i],
                        site.child(edge).map_or(-2.0, |c| site.q(c)),
                        edge.prior,
                    )
                };
                let moves = 0..target.len();
                let better = |a: &usize, b: &usize| {
                    let (a, b) = (rank(a), rank(b));
                    a.0.total_cmp(&b.0)
                        .then(a.1.total_cmp(&b.1))
                        .then(a.2.total_cmp(&b.2))
                };
                moves.max_by(better).unwrap_or(0)
            }
        }
    }

    fn best_exact(&self) -> usize {
        let site = self.site;
        let mut best: Option<(usize, &Node)> = None;
        for (i, edge) in site.edges().iter().enumerate() {
            let Some(child) = site.child(edge).filter(|c| self.keeps(Some(c))) else {
                continue;
            };
            let score = site.config.draw_score;
            if best.is_none_or(|(_, b)| child.value.better_than(b.value, site.turn, score)) {
                best = Some((i, child));
            }
        }
        best.map_or(0, |(i, _)| i)
    }

    /// Draws a move from the target to the power of `1 / temperature`, among those that have been
    /// visited if any has: the target gives unvisited ones a share, but nobody has looked at them.
    ///
    /// At 0, and at a proven root, it is [`Verdict::best`]. In Gumbel mode that winner of the
    /// halving is a draw already, by the noise that chose who took part; a temperature above 0 draws
    /// from the improved policy itself, which the noise has not thinned.
    pub fn choose(&self, temperature: f32, rng: &mut Pcg64Mcg) -> usize {
        if self.site.node.exact || temperature <= 0.0 {
            return self.best();
        }
        let edges = self.site.edges();
        let mut weights = self.target();
        let visited = |(e, w): (&_, &f32)| *w > 0.0 && self.site.child(e).is_some();
        if edges.iter().zip(&weights).any(visited) {
            for (edge, weight) in edges.iter().zip(&mut weights) {
                if self.site.child(edge).is_none() {
                    *weight = 0.0;
                }
            }
        }
        let top = weights.iter().copied().fold(0.0, f32::max);
        weights
            .iter_mut()
            .for_each(|w| *w = (*w / top).powf(1.0 / temperature));
        draw(&weights, rng)
    }

    pub fn decision(&self, evaluations: u32, index: impl Fn(M) -> u16) -> Decision<M> {
        let (site, root) = (self.site, self.site.node);
        let target = self.target();
        let completed = Completed::new(site, site.edges());
        let info = |(edge, target): (&super::tree::Edge<M>, f32)| {
            let child = site.child(edge);
            MoveInfo {
                mv: edge.mv,
                policy_index: index(edge.mv),
                prior: edge.prior,
                target,
                visits: child.map_or(0, |c| c.visits),
                q: completed.q(site, child),
                exact: site.exact(edge),
            }
        };
        let certain = [
            Outcome::Win(site.turn),
            Outcome::Win(site.turn.other()),
            Outcome::Draw,
        ];
        Decision {
            best: site.edges()[self.best()].mv,
            wdl: root.value.wdl(site.turn),
            q: site.q(root),
            moves_left: root.value.moves_left,
            visits: root.visits,
            evaluations,
            exact: root.exact,
            proven: certain
                .into_iter()
                .find(|&o| root.exact && root.value.is(o)),
            moves: site.edges().iter().zip(target).map(info).collect(),
        }
    }
}

/// Draws an index by weight; at least one weight is above 0.
pub(super) fn draw(weights: &[f32], rng: &mut Pcg64Mcg) -> usize {
    let mut left = rng.random::<f32>() * weights.iter().sum::<f32>();
    let mut last = 0;
    for (i, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = i;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}
