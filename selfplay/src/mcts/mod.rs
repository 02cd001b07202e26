//! Monte-Carlo tree search of one position at a time, in two halves: [`Search::gather`] picks a leaf,
//! [`Search::apply`] takes its evaluation. No thread, clock or network is in here.
//!
//! One leaf a round, so no virtual loss: a batch is filled by many games, and each game's search is
//! the sequential one, whatever it shares a batch with. No transpositions either: what a position is
//! worth depends on the repetitions behind it, so a node stands for a line of moves.
//!
//! Beliefs about unknown pieces are asked for once, with the root's own row, and weight every chance node made
//! below it; while the tree is kept they stay, as the pools at that root stay what they are relative to.
//!
//! All statistics are probabilities of Red's win and of a draw, and plies left; a score appears
//! only where a side compares its moves.
mod config;
mod decision;
mod gumbel;
mod inspect;
mod puct;
mod simulate;
mod site;
mod tree;
mod value;

pub use config::{RootKind, SearchConfig};
pub use decision::{Decision, MoveInfo};
pub use inspect::NodeRef;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::belief::Beliefs;
use crate::game::{Features, Game};
use decision::{Verdict, draw};
use gumbel::Halving;
use site::Site;
use tree::{Kind, NONE, Tree};

/// The search tree of one game and the plan of the decision under way.
///
/// A decision is [`plan`](Self::plan), then [`gather`](Self::gather) and [`apply`](Self::apply) in
/// turn until `gather` is false, then [`decision`](Self::decision) or [`choose`](Self::choose), then
/// [`advance`](Self::advance).
#[derive(Debug)]
pub struct Search<G: Features> {
    config: SearchConfig,
    game: Option<G>,
    history: G::History,
    rng: Pcg64Mcg,
    tree: Tree<G::Move, G::Reveal>,
    plan: Plan,
    /// The only moves of the root, unless there is none.
    only: Vec<G::Move>,
    /// What the network believed at the root that it was asked about last.
    beliefs: Beliefs,
    /// Whether it was asked about anything.
    informed: bool,
    /// Whether the root's priors are anchored already.
    anchored: bool,
    halving: Halving,
    /// PUCT: the root's priors with this decision's noise.
    priors: Vec<f32>,
    /// Nodes of the simulation under way, the root first; empty when none is.
    path: Vec<u32>,
    scratch: Scratch<G>,
}

#[derive(Debug, Default)]
struct Plan {
    /// Simulations left, the root's own evaluation included.
    left: u32,
    explore: bool,
    /// Rows gathered for this decision.
    evaluations: u32,
}

#[derive(Debug)]
struct Scratch<G: Game> {
    moves: Vec<G::Move>,
    reveals: Vec<(G::Reveal, u32)>,
    weights: Vec<f32>,
    /// Squares of the last root's row whose pieces were asked for.
    unknown: Vec<u8>,
}

impl<G: Features> Search<G> {
    /// A search without a position; [`begin`](Self::begin) gives it one.
    pub fn new(config: SearchConfig) -> Self {
        Search {
            config,
            game: None,
            history: G::History::default(),
            rng: Pcg64Mcg::seed_from_u64(0),
            tree: Tree::new(),
            plan: Plan::default(),
            only: Vec::new(),
            beliefs: Beliefs::default(),
            informed: false,
            anchored: false,
            halving: Halving::default(),
            priors: Vec::new(),
            path: Vec::new(),
            scratch: Scratch {
                moves: Vec::new(),
                reveals: Vec::new(),
                weights: Vec::new(),
                unknown: Vec::new(),
            },
        }
    }

    /// Drops the tree and takes up `root`, at which a side decides, with its past.
    pub fn begin(&mut self, root: G, history: &G::History, seed: u64) {
        self.begin_among(root, history, seed, &[]);
    }

    /// As [`begin`](Self::begin), but at the root the moves of `only` alone are looked at; if none of them is
    /// legal, all are. Proofs are about these moves, too.
    pub fn begin_among(&mut self, root: G, history: &G::History, seed: u64, only: &[G::Move]) {
        self.history.clone_from(history);
        self.rng = Pcg64Mcg::seed_from_u64(seed);
        self.game = Some(root);
        self.only.clear();
        self.only.extend_from_slice(only);
        self.informed = false;
        self.replant();
    }

    /// Starts the tree anew at the present position.
    fn replant(&mut self) {
        self.anchored = false;
        self.tree.clear();
        self.path.clear();
        if let Some(game) = self.game {
            self.add(&game);
        }
        self.only.clear();
    }

    /// Starts a decision of at most `visits` simulations, at least 1; the evaluation of a root that has
    /// none yet is one of them. A simulation costs at most one row. Without `explore` the root has no
    /// Gumbel or Dirichlet noise.
    pub fn plan(&mut self, visits: u32, explore: bool) {
        debug_assert!(
            self.path.is_empty(),
            "a gathered row waits for its evaluation"
        );
        self.plan = Plan {
            left: visits.max(1),
            explore,
            evaluations: 0,
        };
        if self.root_visits() > 0 {
            self.prepare_root();
        }
    }

    fn root_visits(&self) -> u32 {
        self.tree.nodes.first().map_or(0, |root| root.visits)
    }

    /// Draws the priors of a secret decision at the root towards those of a random one: the magnet of magnetic
    /// mirror descent (Sokota et al. 2023). A policy improved from nothing but itself grows certain, and what is
    /// certain is no secret; improved from a fixed mixture it stays one, and prefers what is worth more.
    fn anchor_root(&mut self) {
        let anchor = self.config.secret_anchor;
        let secret = self.game.filter(G::is_secret).filter(|_| anchor > 0.0);
        let (Some(game), Some(root)) = (secret, self.tree.nodes.first().copied()) else {
            return;
        };
        if std::mem::replace(&mut self.anchored, true) {
            return;
        }
        let edges = &mut self.tree.edges[root.range()];
        for edge in edges.iter_mut() {
            edge.prior = edge.prior.powf(1.0 - anchor) * (game.ways(edge.mv) as f32).powf(anchor);
        }
        let total: f32 = edges.iter().map(|edge| edge.prior).sum();
        edges.iter_mut().for_each(|edge| edge.prior /= total);
    }

    /// Draws the root's noise, once it has priors.
    fn prepare_root(&mut self) {
        self.anchor_root();
        let mut rng = self.rng.clone();
        let mut halving = std::mem::take(&mut self.halving);
        let mut priors = std::mem::take(&mut self.priors);
        if let Some(site) = self.root_site() {
            let noise = self.plan.explore.then_some(&mut rng);
            match self.config.root {
                RootKind::Gumbel => halving.start(site, self.plan.left, noise),
                RootKind::Puct => {
                    priors.clear();
                    priors.extend(site.edges().iter().map(|e| e.prior));
                    if let Some(rng) = noise {
                        puct::add_noise(&mut priors, &self.config, rng);
                    }
                }
            }
        }
        (self.rng, self.halving, self.priors) = (rng, halving, priors);
    }

    fn root_site(&self) -> Option<Site<'_, G::Move, G::Reveal>> {
        let node = self.tree.nodes.first()?;
        Some(Site {
            tree: &self.tree,
            node,
            turn: node.turn()?,
            config: &self.config,
        })
    }

    /// Its settings.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// The position at the root.
    pub fn position(&self) -> Option<&G> {
        self.game.as_ref()
    }

    /// Whether the game at the root is over, so that there is nothing to decide.
    pub fn is_over(&self) -> bool {
        self.tree
            .nodes
            .first()
            .is_none_or(|root| root.kind == Kind::Over)
    }

    /// The root's past.
    pub fn history(&self) -> &G::History {
        &self.history
    }

    /// The root of the tree, to look around from.
    pub fn root(&self) -> Option<NodeRef<'_, G::Move, G::Reveal>> {
        NodeRef::root(&self.tree)
    }

    /// Plies from the root to the row that was gathered last and waits for its evaluation; chance's turns count.
    pub fn depth(&self) -> usize {
        self.path.len().saturating_sub(1)
    }

    /// Memory that the tree fills, in bytes. Growing by doubling, it may have reserved twice as much.
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    fn verdict(&self) -> Verdict<'_, G::Move, G::Reveal> {
        let site = self.root_site().expect("the game at the root is not over");
        Verdict {
            site,
            halving: &self.halving,
        }
    }

    /// What the search has found. The root must be evaluated.
    pub fn decision(&self) -> Decision<G::Move> {
        let verdict = self.verdict();
        verdict.decision(self.plan.evaluations, |mv| match &self.game {
            Some(game) => game.policy_index(mv),
            None => 0,
        })
    }

    /// The move to play: at temperature 0 the best one, above it a draw from the policy target to the
    /// power of `1 / temperature`; a proven result is always kept. The root must be evaluated.
    pub fn choose(&mut self, temperature: f32) -> G::Move {
        let mut rng = self.rng.clone();
        let verdict = self.verdict();
        let mv = verdict.site.edges()[verdict.choose(temperature, &mut rng)].mv;
        self.rng = rng;
        mv
    }

    /// A move drawn from the network's prior. The root must be evaluated.
    pub fn sample_prior(&mut self) -> G::Move {
        let mut rng = self.rng.clone();
        let edges = self.verdict().site.edges();
        let priors: Vec<f32> = edges.iter().map(|e| e.prior).collect();
        let mv = edges[draw(&priors, &mut rng)].mv;
        self.rng = rng;
        mv
    }

    /// Plays a legal move at the root and keeps what is known of the position after it. Where that
    /// leaves the turn to chance, [`reveal`](Self::reveal) must follow.
    pub fn advance(&mut self, mv: G::Move) {
        let Some(game) = &mut self.game else { return };
        game.play(mv, &mut self.history);
        let root = self.tree.nodes.first().filter(|root| root.turn().is_some());
        let edge = root.and_then(|r| self.tree.edges(r).iter().find(|e| e.mv == mv));
        self.descend(edge.map_or(NONE, |e| e.child));
    }

    /// Lets chance fall on `reveal` at the root and keeps what is known of the position after it.
    pub fn reveal(&mut self, reveal: G::Reveal) {
        let Some(game) = &mut self.game else { return };
        game.reveal(reveal, &mut self.history);
        let root = self
            .tree
            .nodes
            .first()
            .filter(|root| root.kind == Kind::Chance);
        let branch = root.and_then(|r| self.tree.branches(r).iter().find(|b| b.reveal == reveal));
        self.descend(branch.map_or(NONE, |b| b.child));
    }

    fn descend(&mut self, child: u32) {
        debug_assert!(
            self.path.is_empty(),
            "a gathered row waits for its evaluation"
        );
        if child == NONE {
            self.replant();
        } else {
            self.anchored = false;
            self.tree.reroot(child);
        }
    }
}
