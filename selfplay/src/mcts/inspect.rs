//! A read-only walk through a search tree, for tools and tests.
use super::tree::{Kind, Node, ROOT, Tree};
use crate::game::{Color, Wdl};

/// A node of a search tree.
#[derive(Debug)]
pub struct NodeRef<'a, M, R> {
    tree: &'a Tree<M, R>,
    node: &'a Node,
}

impl<M, R> Clone for NodeRef<'_, M, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, R> Copy for NodeRef<'_, M, R> {}

impl<'a, M: Copy, R: Copy> NodeRef<'a, M, R> {
    pub(super) fn root(tree: &'a Tree<M, R>) -> Option<Self> {
        tree.nodes
            .get(ROOT as usize)
            .map(|node| NodeRef { tree, node })
    }

    fn at(&self, child: u32) -> Option<Self> {
        self.tree.nodes.get(child as usize).map(|node| NodeRef {
            tree: self.tree,
            node,
        })
    }

    /// Simulations that came here.
    pub fn visits(&self) -> u32 {
        self.node.visits
    }

    /// The side that decides here; `None` at chance and where the game is over.
    pub fn turn(&self) -> Option<Color> {
        self.node.turn()
    }

    /// Whether chance acts here.
    pub fn is_chance(&self) -> bool {
        self.node.kind == Kind::Chance
    }

    /// Whether the value is proven.
    pub fn exact(&self) -> bool {
        self.node.exact
    }

    /// Mean or exact result, seen from `viewer`.
    pub fn wdl(&self, viewer: Color) -> Wdl {
        self.node.value.wdl(viewer)
    }

    /// Mean or exact plies to the end.
    pub fn moves_left(&self) -> f32 {
        self.node.value.moves_left
    }

    /// The moves of a decision node with their priors, and their nodes where visited.
    pub fn moves(&self) -> impl Iterator<Item = (M, f32, Option<Self>)> + use<'a, M, R> {
        let (here, decides) = (*self, self.turn().is_some());
        let edges = if decides {
            self.tree.edges(self.node)
        } else {
            &[]
        };
        edges.iter().map(move |e| (e.mv, e.prior, here.at(e.child)))
    }

    /// The outcomes of a chance node with their weights, and their nodes where visited.
    pub fn outcomes(&self) -> impl Iterator<Item = (R, u32, Option<Self>)> + use<'a, M, R> {
        let here = *self;
        let branches = if self.is_chance() {
            self.tree.branches(self.node)
        } else {
            &[]
        };
        branches
            .iter()
            .map(move |b| (b.reveal, b.weight, here.at(b.child)))
    }
}
