//! What a search says of its best lines.
use selfplay::game::{Color, Wdl};
use selfplay::mcts::{NodeRef, Search};
use selfplay::rules::{Move, Reveal, View};

/// Longest line that is shown, in plies.
const LONGEST: usize = 30;
/// Largest score of an unproven position, in hundredths of a pawn.
const CP_MAX: f32 = 2000.0;

/// What a line is worth for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn; see [`centipawns`].
    Cp(i32),
    /// Proven: moves to the win; below 0: to the loss. The end need not be a mate: a perpetual check loses, too.
    Mate(i32),
}

/// One line of analysis.
#[derive(Clone, Debug)]
pub struct Info {
    /// Mean depth of the tree's leaves, plus 1; never falls within a search.
    pub depth: u64,
    /// Depth of the deepest leaf.
    pub seldepth: u64,
    /// Place among the lines, from 1.
    pub rank: usize,
    /// What it is worth.
    pub score: Score,
    /// Win, draw, loss in thousandths, if asked for.
    pub wdl: Option<[u32; 3]>,
    /// New simulations.
    pub nodes: u64,
    /// New simulations a second.
    pub nps: u64,
    /// Milliseconds since `go`.
    pub time_ms: u64,
    /// The moves.
    pub pv: String,
}

/// A move and what is likely to follow, up to where chance decides.
#[derive(Clone, Debug)]
pub struct Line {
    /// The moves; at least one.
    pub pv: Vec<Move>,
    /// For the side to move.
    pub wdl: Wdl,
    /// For the side to move.
    pub score: Score,
}

/// The score in hundredths of a pawn of an expected score `q` in -1..=1: 400 log10(s / (1 - s)) with s = (q + 1) / 2,
/// which is the difference in Elo at which a player scores s, within ±2000.
pub fn centipawns(q: f32) -> i32 {
    let s = (0.5 * (q + 1.0)).clamp(1e-6, 1.0 - 1e-6);
    (400.0 * (s / (1.0 - s)).log10())
        .clamp(-CP_MAX, CP_MAX)
        .round() as i32
}

/// Win, draw, loss in thousandths; they sum to 1000.
pub fn permille(wdl: Wdl) -> [u32; 3] {
    let win = (1000.0 * wdl.win).round().clamp(0.0, 1000.0) as u32;
    let loss = (1000.0 * wdl.loss).round().clamp(0.0, 1000.0) as u32;
    let loss = loss.min(1000 - win);
    [win, 1000 - win - loss, loss]
}

type Node<'a> = NodeRef<'a, Move, Reveal>;

/// The best `count` lines of different moves; fewer where fewer moves were tried. The first one starts with the
/// move that is played. The root must be evaluated.
pub fn lines(search: &Search<View>, count: usize) -> Vec<Line> {
    let Some((root, turn)) = search.root().and_then(|root| Some((root, root.turn()?))) else {
        return Vec::new();
    };
    let best = search.decision().best;
    let mut moves: Vec<_> = root.moves().collect();
    moves.sort_by_key(|&(mv, _, child)| {
        std::cmp::Reverse((mv == best, child.map_or(0, |child| child.visits())))
    });
    moves.truncate(count.max(1));
    moves.retain(|&(mv, _, child)| mv == best || child.is_some());
    let line = |(mv, _, child): (Move, f32, Option<Node>)| match child {
        Some(child) => line(mv, child, turn),
        None => Line {
            pv: vec![mv],
            wdl: root.wdl(turn),
            score: Score::Cp(centipawns(root.wdl(turn).q())),
        },
    };
    moves.into_iter().map(line).collect()
}

/// The line of `mv`, which leads to `child`, for `turn`.
fn line(mv: Move, child: Node, turn: Color) -> Line {
    let (wdl, mut pv, mut at) = (child.wdl(turn), vec![mv], child);
    let score = match (child.exact(), (child.moves_left() + 1.0) / 2.0) {
        (true, moves) if wdl.win == 1.0 => Score::Mate((moves.ceil() as i32).max(1)),
        (true, moves) if wdl.loss == 1.0 => Score::Mate(-(moves.floor() as i32).max(1)),
        _ => Score::Cp(centipawns(wdl.q())),
    };
    while let Some((mv, next)) = likeliest(at).filter(|_| pv.len() < LONGEST) {
        pv.push(mv);
        at = next;
    }
    Line { pv, wdl, score }
}

/// The move that was tried most; of a proven node one that keeps the result.
fn likeliest(node: Node<'_>) -> Option<(Move, Node<'_>)> {
    let turn = node.turn()?;
    let keeps = |child: &Node| child.exact() && child.wdl(turn) == node.wdl(turn);
    (node.moves())
        .filter_map(|(mv, _, child)| Some((mv, child?)))
        .max_by_key(|(_, child)| (node.exact() && keeps(child), child.visits()))
}
