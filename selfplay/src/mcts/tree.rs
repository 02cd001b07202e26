//! The search tree: nodes, edges and chance's outcomes in three arenas addressed by `u32`.
//!
//! A node's edges lie side by side, visited ones first in the order of their first visit, then the
//! best of the unvisited ones; the rest is unordered. Only the root's edges keep the order they had
//! when it became the root, since its selection looks at all of them anyway.
//!
//! There is no position in a node: a simulation replays the moves from the root, because the history
//! that judges repetitions has to be replayed in any case and a play costs less than loading a
//! position of several cache lines.
use super::value::Value;
use crate::game::{Color, Outcome};

/// No child yet.
pub(super) const NONE: u32 = u32::MAX;
/// Where the root lies.
pub(super) const ROOT: u32 = 0;

/// Marks a link that lies in the branches.
const BRANCH: u32 = 1 << 31;

/// What happens at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// That side chooses an edge. Without a visit, the node waits for the network.
    Decision(Color),
    /// One of the outcomes happens.
    Chance,
    /// The game is over.
    Over,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// `value` is no estimate: it follows from ended games alone.
    pub exact: bool,
    /// Edges at the front that have a child; not kept up for the root.
    pub tried: u16,
    /// Edges, or outcomes of a chance node.
    pub count: u16,
    /// Place of the first of them.
    pub first: u32,
    /// Simulations that came here: 1 for the network's evaluation and 1 for each that went on.
    pub visits: u32,
    /// Mean over the visits, or the exact value.
    pub value: Value,
    /// The network's own value, seen from Red.
    pub raw: Value,
}

impl Node {
    /// The side that decides here.
    pub fn turn(&self) -> Option<Color> {
        match self.kind {
            Kind::Decision(turn) => Some(turn),
            Kind::Chance | Kind::Over => None,
        }
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}

/// A move of a decision node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge<M> {
    pub mv: M,
    pub prior: f32,
    pub child: u32,
}

/// An outcome of a chance node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch<R> {
    pub reveal: R,
    pub weight: u32,
    pub child: u32,
}

#[derive(Debug)]
pub(super) struct Tree<M, R> {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge<M>>,
    pub branches: Vec<Branch<R>>,
    /// Of each node during [`Tree::reroot`]: where its new parent's link lies.
    links: Vec<u32>,
}

impl<M: Copy, R: Copy> Tree<M, R> {
    pub fn new() -> Self {
        Tree {
            nodes: Vec::new(),
            edges: Vec::new(),
            branches: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Drops everything and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.branches.clear();
    }

    /// Memory in use.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.edges) + size_of_val(&*self.branches)
    }

    fn add(&mut self, kind: Kind, first: usize, count: usize) -> u32 {
        let id = self.nodes.len() as u32;
        self.nodes.push(Node {
            kind,
            exact: false,
            tried: 0,
            count: count as u16,
            first: first as u32,
            visits: 0,
            value: Value::default(),
            raw: Value::default(),
        });
        id
    }

    pub fn add_over(&mut self, outcome: Outcome) -> u32 {
        let id = self.add(Kind::Over, 0, 0);
        let node = &mut self.nodes[id as usize];
        node.exact = true;
        node.value = Value::of(outcome);
        id
    }

    pub fn add_decision(&mut self, turn: Color, moves: &[M]) -> u32 {
        let first = self.edges.len();
        self.edges.extend(moves.iter().map(|&mv| Edge {
            mv,
            prior: 0.0,
            child: NONE,
        }));
        self.add(Kind::Decision(turn), first, moves.len())
    }

    pub fn add_chance(&mut self, reveals: &[(R, u32)]) -> u32 {
        let first = self.branches.len();
        let branch = |&(reveal, weight)| Branch {
            reveal,
            weight,
            child: NONE,
        };
        self.branches.extend(reveals.iter().map(branch));
        self.add(Kind::Chance, first, reveals.len())
    }

    pub fn edges(&self, node: &Node) -> &[Edge<M>] {
        &self.edges[node.range()]
    }

    pub fn branches(&self, node: &Node) -> &[Branch<R>] {
        &self.branches[node.range()]
    }

    /// The child at the end of an edge, if it has been visited.
    pub fn child(&self, edge: &Edge<M>) -> Option<&Node> {
        (edge.child != NONE).then(|| &self.nodes[edge.child as usize])
    }

    /// Stores a leaf's priors, in the order of its edges.
    pub fn set_priors(&mut self, node: u32, log_priors: &[f32]) {
        let node = self.nodes[node as usize];
        let edges = &mut self.edges[node.range()];
        debug_assert_eq!(edges.len(), log_priors.len());
        for (edge, log_prior) in edges.iter_mut().zip(log_priors) {
            edge.prior = log_prior.exp().max(f32::MIN_POSITIVE);
        }
    }

    /// Brings the likeliest of the unvisited edges to the front of them.
    pub fn bring_best(&mut self, node: u32) {
        let node = self.nodes[node as usize];
        let untried = &mut self.edges[node.range()][node.tried as usize..];
        let mut best = 0;
        for i in 1..untried.len() {
            if untried[i].prior > untried[best].prior {
                best = i;
            }
        }
        if best > 0 {
            untried.swap(0, best);
        }
    }

    /// Links the first unvisited edge of an inner node to its new child.
    pub fn open(&mut self, node: u32, child: u32) {
        let n = &mut self.nodes[node as usize];
        self.edges[(n.first + n.tried as u32) as usize].child = child;
        n.tried += 1;
        self.bring_best(node);
    }

    /// Backs `value`, seen at the last node of `path`, up to the first one, and settles what has
    /// become exact on the way. `settled`: the last node was not exact before this visit.
    pub fn back_up(&mut self, path: &[u32], mut value: Value, mut settled: bool, draw_score: f32) {
        for (depth, &id) in path.iter().rev().enumerate() {
            let inner = depth > 0;
            if inner && matches!(self.nodes[id as usize].kind, Kind::Decision(_)) {
                value = value.later(1.0);
            }
            if inner && settled {
                match self.solve(id, path[path.len() - depth], draw_score) {
                    Some(exact) => {
                        let node = &mut self.nodes[id as usize];
                        (node.exact, node.value) = (true, exact);
                        value = exact;
                    }
                    None => settled = false,
                }
            }
            let node = &mut self.nodes[id as usize];
            node.visits += 1;
            if !node.exact {
                node.value.average(value, node.visits);
            }
        }
    }

    /// The exact value of a node whose child `news` has just become exact, if it has one now: a won
    /// move decides at once, anything else needs every child exact.
    fn solve(&self, id: u32, news: u32, draw_score: f32) -> Option<Value> {
        let node = &self.nodes[id as usize];
        match node.kind {
            Kind::Over => None,
            Kind::Chance => self.expectation(node),
            Kind::Decision(turn) => {
                let news = &self.nodes[news as usize];
                if news.value.is(Outcome::Win(turn)) {
                    return Some(news.value.later(1.0));
                }
                self.best_exact(node, turn, draw_score)
                    .map(|v| v.later(1.0))
            }
        }
    }

    fn expectation(&self, node: &Node) -> Option<Value> {
        let (mut sum, mut total) = (Value::default(), 0.0);
        for branch in self.branches(node) {
            let child = self.nodes.get(branch.child as usize).filter(|c| c.exact)?;
            sum.add(child.value, branch.weight as f32);
            total += branch.weight as f32;
        }
        // Dividing last keeps a certain result exactly 1.
        Some(sum.divided(total))
    }

    fn best_exact(&self, node: &Node, turn: Color, draw_score: f32) -> Option<Value> {
        let mut best: Option<Value> = None;
        for edge in self.edges(node) {
            let value = self.child(edge).filter(|c| c.exact)?.value;
            if best.is_none_or(|b| value.better_than(b, turn, draw_score)) {
                best = Some(value);
            }
        }
        best
    }

    /// Makes `root` the root and drops whatever does not hang below it.
    ///
    /// Children are made after their parents and edges lie in the order of their nodes, so one pass
    /// slides what stays to the front. That needs no second arena, which copying would, and leaves no
    /// holes of odd sizes, which free lists would.
    pub fn reroot(&mut self, root: u32) {
        self.links.clear();
        self.links.resize(self.nodes.len(), NONE);
        let (mut nodes, mut edges, mut branches) = (0u32, 0usize, 0usize);
        for old in root as usize..self.nodes.len() {
            let link = self.links[old];
            let mut node = self.nodes[old];
            if old != root as usize {
                if link == NONE {
                    continue;
                }
                self.relink(link, nodes);
            }
            let range = node.range();
            if node.kind == Kind::Chance {
                self.branches.copy_within(range.clone(), branches);
                for at in branches..branches + range.len() {
                    self.claim(self.branches[at].child, at as u32 | BRANCH);
                }
                node.first = branches as u32;
                branches += range.len();
            } else if !range.is_empty() {
                self.edges.copy_within(range.clone(), edges);
                for at in edges..edges + range.len() {
                    self.claim(self.edges[at].child, at as u32);
                }
                node.first = edges as u32;
                edges += range.len();
            }
            self.nodes[nodes as usize] = node;
            nodes += 1;
        }
        self.nodes.truncate(nodes as usize);
        self.edges.truncate(edges);
        self.branches.truncate(branches);
    }

    fn claim(&mut self, child: u32, link: u32) {
        if child != NONE {
            self.links[child as usize] = link;
        }
    }

    fn relink(&mut self, link: u32, child: u32) {
        if link & BRANCH != 0 {
            self.branches[(link & !BRANCH) as usize].child = child;
        } else {
            self.edges[link as usize].child = child;
        }
    }
}
