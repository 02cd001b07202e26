//! Gumbel AlphaZero (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"): moves
//! drawn without replacement, sequential halving among them, and a policy improved by completed Q.
//!
//! `Q` is taken in 0..=1 as `(q + 1) / 2`; an unvisited move counts as `v_mix` (their appendix D);
//! `sigma(Q) = (c_visit + max_b N(b)) * c_scale * Q` (their equation 8).
use rand::RngExt;
use rand_distr::Open01;
use rand_pcg::Pcg64Mcg;

use super::site::Site;
use super::tree::{Edge, Node};

/// A node's completed Q: what its visited moves returned and what the others are taken to be worth.
pub(super) struct Completed {
    /// Factor from q in -1..=1 to sigma.
    scale: f32,
    /// v_mix, -1..=1.
    mix: f32,
    /// The greatest completed q, -1..=1.
    top: f32,
    /// Prior mass of the visited moves.
    mass: f32,
    /// Visits of all moves.
    visits: u32,
}

impl Completed {
    /// `edges`: at least those that have been visited.
    pub fn new<M: Copy, R: Copy>(site: Site<M, R>, edges: &[Edge<M>]) -> Self {
        let (mut visits, mut most) = (0, 0);
        let (mut mass, mut weighted, mut top) = (0.0, 0.0, f32::NEG_INFINITY);
        for edge in edges {
            let Some(child) = site.child(edge) else {
                continue;
            };
            let q = site.q(child);
            visits += child.visits;
            most = most.max(child.visits);
            mass += edge.prior;
            weighted += edge.prior * q;
            top = top.max(q);
        }
        let (n, raw) = (visits as f32, site.raw_q());
        let mix = if visits == 0 {
            raw
        } else {
            (raw + n * weighted / mass) / (1.0 + n)
        };
        let scale = 0.5 * site.config.c_scale * (site.config.c_visit + most as f32);
        Completed {
            scale,
            mix,
            top: top.max(mix),
            mass,
            visits,
        }
    }

    /// The completed q of a move, -1..=1.
    pub fn q<M: Copy, R: Copy>(&self, site: Site<M, R>, child: Option<&Node>) -> f32 {
        child.map_or(self.mix, |c| site.q(c))
    }

    /// sigma of a move's completed Q, less that of the greatest one: at most 0.
    pub fn sigma<M: Copy, R: Copy>(&self, site: Site<M, R>, child: Option<&Node>) -> f32 {
        self.scale * (self.q(site, child) - self.top)
    }
}

/// The edge to follow from an inner node (their equation 14): one of the visited ones or the first
/// unvisited one, whichever's improved policy is furthest above its share of the visits.
pub(super) fn inner<M: Copy, R: Copy>(site: Site<M, R>, weights: &mut Vec<f32>) -> usize {
    let (tried, untried) = site.split();
    if tried.is_empty() {
        return 0;
    }
    let completed = Completed::new(site, tried);
    weights.clear();
    weights.extend(
        tried
            .iter()
            .map(|e| e.prior * completed.sigma(site, site.child(e)).exp()),
    );
    let unvisited = completed.sigma(site, None).exp();
    let rest = if untried.is_empty() {
        0.0
    } else {
        (1.0 - completed.mass).max(0.0) * unvisited
    };
    let total = weights.iter().sum::<f32>() + rest;
    let share = 1.0 / (1 + completed.visits) as f32;
    let (mut best, mut highest) = match untried.first() {
        Some(edge) => (tried.len(), edge.prior * unvisited / total),
        None => (0, f32::NEG_INFINITY),
    };
    for (i, (edge, weight)) in tried.iter().zip(weights.iter()).enumerate() {
        let Some(child) = site.child(edge) else {
            continue;
        };
        let score = weight / total - child.visits as f32 * share;
        if score > highest && !site.lost(child) {
            (best, highest) = (i, score);
        }
    }
    best
}

/// Sequential halving at the root: the moves still considered and whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Halving {
    /// Gumbel noise plus log prior of every edge.
    base: Vec<f32>,
    /// Edges still considered.
    live: Vec<usize>,
    /// Simulations of this decision.
    budget: u32,
    /// Halvings, were there enough simulations: log2 of the moves considered, rounded up.
    phases: u32,
    /// Place in `live` of the next simulation's move.
    cursor: usize,
    /// Rounds through `live` left until it is halved.
    sweeps: u32,
}

impl Halving {
    /// Draws the noise, if any, and the moves to consider. What earlier visits taught counts from
    /// the start; the schedule is about the `budget` new simulations only.
    pub fn start<M: Copy, R: Copy>(
        &mut self,
        site: Site<M, R>,
        budget: u32,
        noise: Option<&mut Pcg64Mcg>,
    ) {
        let moves = site.edges().len();
        self.base.clear();
        self.base.extend(site.edges().iter().map(|e| e.prior.ln()));
        if let Some(rng) = noise {
            self.base
                .iter_mut()
                .for_each(|b| *b -= (-rng.sample::<f32, _>(Open01).ln()).ln());
        }
        self.budget = budget;
        self.live.clear();
        self.live.extend(0..moves);
        self.rank(site);
        self.live
            .truncate(site.config.considered.min(budget).max(1) as usize);
        self.phases = usize::BITS - (self.live.len().max(1) - 1).leading_zeros();
        self.cursor = 0;
        self.sweeps = self.sweeps_of_phase();
    }

    fn sweeps_of_phase(&self) -> u32 {
        (self.budget / (self.phases.max(1) * self.live.len().max(1) as u32)).max(1)
    }

    /// Orders the live moves: noise plus log prior plus sigma, proven losses last.
    fn rank<M: Copy, R: Copy>(&mut self, site: Site<M, R>) {
        let completed = Completed::new(site, site.edges());
        let base = &self.base;
        let score = |edge| score(site, &completed, base, edge);
        self.live
            .sort_unstable_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    }

    /// The edge of the next simulation. A move whose value is exact has nothing more to teach and is
    /// passed over; when that leaves none, the best move outside takes part.
    pub fn next<M: Copy, R: Copy>(&mut self, site: Site<M, R>) -> usize {
        let exact = |&i: &usize| site.exact(&site.edges()[i]);
        loop {
            if self.live.iter().all(exact) && !self.widen(site) {
                return 0;
            }
            if self.cursor == self.live.len() {
                self.end_sweep(site);
                continue;
            }
            self.cursor += 1;
            let edge = self.live[self.cursor - 1];
            if !exact(&edge) {
                return edge;
            }
        }
    }

    fn end_sweep<M: Copy, R: Copy>(&mut self, site: Site<M, R>) {
        self.cursor = 0;
        self.sweeps -= 1;
        if self.sweeps == 0 {
            self.rank(site);
            self.live.truncate((self.live.len() / 2).max(2));
            self.sweeps = self.sweeps_of_phase();
        }
    }

    /// Adds the best move that is not exact and goes on with it; false if there is none.
    fn widen<M: Copy, R: Copy>(&mut self, site: Site<M, R>) -> bool {
        let edges = site.edges();
        let completed = Completed::new(site, edges);
        let open = (0..edges.len()).filter(|&i| !site.exact(&edges[i]));
        let Some(best) = best_of(site, &completed, &self.base, open) else {
            return false;
        };
        self.cursor = self.live.len();
        self.live.push(best);
        true
    }

    /// The move that the halving has settled on: the best of those still considered.
    pub fn winner<M: Copy, R: Copy>(&self, site: Site<M, R>) -> usize {
        let completed = Completed::new(site, site.edges());
        best_of(site, &completed, &self.base, self.live.iter().copied()).unwrap_or(0)
    }
}

/// Noise plus log prior plus sigma; a proven loss comes last.
fn score<M: Copy, R: Copy>(
    site: Site<M, R>,
    completed: &Completed,
    base: &[f32],
    edge: usize,
) -> f32 {
    let child = site.child(&site.edges()[edge]);
    if child.is_some_and(|c| site.lost(c)) {
        return f32::NEG_INFINITY;
    }
    base[edge] + completed.sigma(site, child)
}

fn best_of<M: Copy, R: Copy>(
    site: Site<M, R>,
    completed: &Completed,
    base: &[f32],
    edges: impl Iterator<Item = usize>,
) -> Option<usize> {
    let score = |&edge: &usize| score(site, completed, base, edge);
    edges.max_by(|a, b| score(a).total_cmp(&score(b)))
}
