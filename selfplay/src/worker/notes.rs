//! The rows of a game in progress, and what is filled in when it ends.
use crate::game::{Color, Features, Game, Outcome, Referee, Wdl};
use crate::mcts::Decision;
use crate::record::{RECORD_BYTES, Rows, quantise};

use super::finished::MoveOf;

/// A game's rows so far, of self-play or of a record.
#[derive(Debug, Default)]
pub struct Notes {
    rows: Rows,
    /// Of each row.
    origins: Vec<Origin>,
}

/// How a row came about.
#[derive(Debug)]
struct Origin {
    /// The side to decide.
    decider: Color,
    /// Plies before it.
    ply: usize,
    /// By it the decider may be judged to resign: it is its own, and the game is being played.
    judged: bool,
}

/// What the rows of one decision have in common.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Id of the game.
    pub game: u64,
    /// Training step of the network that searched; 0 of a record.
    pub net_step: u64,
    /// Plies of the game before it.
    pub ply: usize,
    /// By a full search, so that its policy is trained.
    pub full: bool,
}

impl Notes {
    /// Adds the rows of a decision of self-play.
    pub(super) fn push<W: Referee>(
        &mut self,
        world: &W,
        decider: Color,
        decision: &Decision<MoveOf<W>>,
        source: &Source,
    ) {
        let moves = decision.moves.iter();
        let targets = moves.map(|info| (info.policy_index, info.target));
        self.push_rows(world, decider, targets, decision.wdl, source);
    }

    /// Adds the rows of a decision that was played in a game whose outcome is known: the move is the policy's target,
    /// the outcome the value's.
    pub fn push_played<W: Referee>(
        &mut self,
        world: &W,
        (decider, mv): (Color, MoveOf<W>),
        outcome: Outcome,
        source: &Source,
    ) {
        let (view, mut moves) = (world.view(decider), Vec::new());
        view.legal_moves(&mut moves);
        let one_hot = |&legal: &MoveOf<W>| {
            let target = if legal == mv { 1.0 } else { 0.0 };
            (view.policy_index(legal), target)
        };
        let wdl = Wdl::of(outcome, decider);
        self.push_rows(world, decider, moves.iter().map(one_hot), wdl, source);
    }

    /// Adds the row of the side to decide, and behind it, where the players know different things and both see
    /// what is decided, its opponent's of the same position: what that one knows, and what then was decided.
    fn push_rows<W: Referee>(
        &mut self,
        world: &W,
        decider: Color,
        targets: impl Iterator<Item = (u16, f32)> + Clone,
        wdl: Wdl,
        source: &Source,
    ) {
        let public = world.is_public();
        let watched = public && !world.open_to_both();
        let watcher = watched.then_some(decider.other());
        for viewer in [Some(decider), watcher].into_iter().flatten() {
            self.push_row(world, viewer, targets.clone(), wdl, source);
            self.origins.push(Origin {
                decider,
                ply: source.ply,
                judged: public && viewer == decider,
            });
        }
    }

    fn push_row<W: Referee>(
        &mut self,
        world: &W,
        viewer: Color,
        targets: impl Iterator<Item = (u16, f32)>,
        wdl: Wdl,
        source: &Source,
    ) {
        let rows = &mut self.rows;
        let mut record = [0; RECORD_BYTES];
        world
            .view(viewer)
            .record(world.history(viewer), &mut record);
        rows.records.push(record);
        for (index, target) in targets {
            rows.policy_index.push(index);
            rows.policy_prob.push(quantise(target));
        }
        rows.policy_end.push(rows.policy_index.len() as u64);
        rows.policy_weight.push(source.full.into());
        let Wdl { win, draw, loss } = wdl;
        rows.search_wdl.push([win, draw, loss]);
        rows.truth.push(world.truth(viewer));
        rows.game.push(source.game);
        rows.ply.push(saturate(source.ply));
        rows.net_step.push(source.net_step);
    }

    /// By colour, the lowest threshold under which its expected score stayed for `moves` own moves in
    /// a row; 1 in a game too short for that.
    pub(super) fn lowest(&self, moves: usize) -> [f32; 2] {
        [Color::Red, Color::Black].map(|color| {
            let all = self.origins.iter().zip(&self.rows.search_wdl);
            let scores: Vec<_> = all
                .filter(|(origin, _)| origin.judged && origin.decider == color)
                .map(|(_, wdl)| expected_score(wdl[0], wdl[1]))
                .collect();
            let highest = |run: &[f32]| run.iter().copied().fold(0.0, f32::max);
            scores.windows(moves).map(highest).fold(1.0, f32::min)
        })
    }

    /// Fills in what the rows could not know before the end of the game after `plies`.
    pub fn finish(mut self, outcome: Outcome, plies: usize) -> Rows {
        for origin in &self.origins {
            let Wdl { win, draw, .. } = Wdl::of(outcome, origin.decider);
            self.rows.outcome.push(if win == 1.0 {
                0
            } else if draw == 1.0 {
                1
            } else {
                2
            });
            self.rows.plies_left.push(saturate(plies - origin.ply));
        }
        self.rows
    }
}

/// Points that a side expects, 0..=1.
pub(super) fn expected_score(win: f32, draw: f32) -> f32 {
    win + draw / 2.0
}

fn saturate(plies: usize) -> u16 {
    plies.min(u16::MAX.into()) as u16
}
