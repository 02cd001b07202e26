//! PUCT: mean value plus an exploration bonus (Silver et al. 2017), with an exploration constant that
//! grows with the logarithm of the visits (Silver et al. 2018) and an unvisited move valued at
//! its parent's mean minus a reduction (first-play urgency).
use rand::RngExt;
use rand_distr::Gamma;
use rand_pcg::Pcg64Mcg;

use super::SearchConfig;
use super::site::Site;
use super::tree::{Edge, Node};

/// What the choice among a node's moves depends on besides the move itself.
struct Balance {
    /// Value of an unvisited move.
    first_play: f32,
    /// Factor of `prior / (1 + visits)`.
    bonus: f32,
}

impl Balance {
    /// `edges`: at least those that have been visited.
    fn new<M: Copy, R: Copy>(site: Site<M, R>, edges: &[Edge<M>]) -> Self {
        let (mut visits, mut mass) = (0, 0.0);
        for edge in edges {
            if let Some(child) = site.child(edge) {
                visits += child.visits;
                mass += edge.prior;
            }
        }
        let (n, config) = (visits as f32, site.config);
        let c = config.c_puct + ((n + config.c_puct_base + 1.0) / config.c_puct_base).ln();
        Balance {
            first_play: site.q(site.node) - config.fpu_reduction * mass.sqrt(),
            bonus: c * n.max(1.0).sqrt(),
        }
    }

    /// The score of a move; a proven loss comes last.
    fn score<M: Copy, R: Copy>(&self, site: Site<M, R>, child: Option<&Node>, prior: f32) -> f32 {
        match child {
            None => self.first_play + self.bonus * prior,
            Some(child) if site.lost(child) => f32::NEG_INFINITY,
            Some(child) => site.q(child) + self.bonus * prior / (1 + child.visits) as f32,
        }
    }
}

/// The edge to follow from an inner node: one of the visited ones or the first unvisited one.
pub(super) fn inner<M: Copy, R: Copy>(site: Site<M, R>) -> usize {
    let tried = site.node.tried as usize;
    let edges = site.edges();
    let balance = Balance::new(site, &edges[..tried]);
    let open = &edges[..edges.len().min(tried + 1)];
    highest(
        open.iter()
            .map(|e| balance.score(site, site.child(e), e.prior)),
    )
}

/// The edge to follow from the root, whose priors are `priors`.
pub(super) fn root<M: Copy, R: Copy>(site: Site<M, R>, priors: &[f32]) -> usize {
    let edges = site.edges();
    let balance = Balance::new(site, edges);
    highest(
        edges
            .iter()
            .zip(priors)
            .map(|(e, &prior)| balance.score(site, site.child(e), prior)),
    )
}

fn highest(scores: impl Iterator<Item = f32>) -> usize {
    let (mut best, mut most) = (0, f32::NEG_INFINITY);
    for (i, score) in scores.enumerate() {
        if score > most {
            (best, most) = (i, score);
        }
    }
    best
}

/// Mixes Dirichlet noise into `priors`, which sum to 1 before and after.
pub(super) fn add_noise(priors: &mut [f32], config: &SearchConfig, rng: &mut Pcg64Mcg) {
    let alpha = config.dirichlet_total / priors.len() as f32;
    let Ok(gamma) = Gamma::new(alpha, 1.0f32) else {
        return;
    };
    let noise: Vec<f32> = priors.iter().map(|_| rng.sample(gamma)).collect();
    let total: f32 = noise.iter().sum();
    if !total.is_normal() {
        return;
    }
    for (prior, noise) in priors.iter_mut().zip(noise) {
        *prior += config.dirichlet_share * (noise / total - *prior);
    }
}
