//! A decision node with what a choice among its moves depends on.
use super::SearchConfig;
use super::tree::{Edge, Node, Tree};
use crate::game::{Color, Outcome};

pub(super) struct Site<'a, M, R> {
    pub tree: &'a Tree<M, R>,
    pub node: &'a Node,
    pub turn: Color,
    pub config: &'a SearchConfig,
}

impl<M, R> Clone for Site<'_, M, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, R> Copy for Site<'_, M, R> {}

impl<'a, M: Copy, R: Copy> Site<'a, M, R> {
    pub fn edges(&self) -> &'a [Edge<M>] {
        self.tree.edges(self.node)
    }

    /// The edges that have a child and those that have none; not for the root.
    pub fn split(&self) -> (&'a [Edge<M>], &'a [Edge<M>]) {
        self.edges().split_at(self.node.tried as usize)
    }

    pub fn child(&self, edge: &Edge<M>) -> Option<&'a Node> {
        self.tree.child(edge)
    }

    /// Expected score of a node for the side that decides here, -1..=1.
    pub fn q(&self, node: &Node) -> f32 {
        node.value.q(self.turn, self.config.draw_score)
    }

    /// The same, as the network alone saw this node.
    pub fn raw_q(&self) -> f32 {
        self.node.raw.q(self.turn, self.config.draw_score)
    }

    /// Whether a child is proven to be lost for the side that decides here.
    pub fn lost(&self, child: &Node) -> bool {
        child.exact && child.value.is(Outcome::Win(self.turn.other()))
    }

    /// Whether the move's value is proven.
    pub fn exact(&self, edge: &Edge<M>) -> bool {
        self.child(edge).is_some_and(|c| c.exact)
    }
}
