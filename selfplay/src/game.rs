//! The traits between a game and everything that plays it: [`Game`] for the search, [`Features`] for
//! the network, [`Referee`] for the truth behind a player's view.
use std::fmt::{self, Debug, Display};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::belief::Beliefs;
use crate::record::{HOMES, Record, Truth};

/// A side. Red moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// 红, upper case in FEN.
    Red,
    /// 黑, lower case in FEN.
    Black,
}

impl Color {
    /// The opponent.
    pub fn other(self) -> Self {
        match self {
            Color::Red => Color::Black,
            Color::Black => Color::Red,
        }
    }

    /// `red` or `black`.
    pub fn name(self) -> &'static str {
        match self {
            Color::Red => "red",
            Color::Black => "black",
        }
    }
}

/// A game's result, absolute (not seen from any side).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// That colour won.
    Win(Color),
    /// Nobody won.
    Draw,
}

impl Outcome {
    /// `red`, `black` or `draw`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Win(color) => color.name(),
            Outcome::Draw => "draw",
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// 将死: in check without a legal move; the side to move loses.
    Checkmate,
    /// 困毙: not in check, without a legal move; the side to move loses.
    Stalemate,
    /// 自然限着: too many plies without a capture.
    NaturalLimit,
    /// No piece is left that could ever attack a king.
    DeadPosition,
    /// A position occurred for the third time and nobody's play was forbidden.
    Repetition,
    /// 长将: the loser gave perpetual check.
    PerpetualCheck,
    /// 长捉: the loser chased perpetually.
    PerpetualChase,
    /// 长打: each of the loser's moves gave check, threatened mate or chased.
    PerpetualAttack,
    /// The loser resigned.
    Resignation,
    /// The configured ply cap cut the game; scored as a draw.
    PlyCap,
    /// A game other than Xiangqi's family reached its own end.
    GameRule,
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Checkmate => "checkmate",
            Reason::Stalemate => "stalemate",
            Reason::NaturalLimit => "natural_limit",
            Reason::DeadPosition => "dead_position",
            Reason::Repetition => "repetition",
            Reason::PerpetualCheck => "perpetual_check",
            Reason::PerpetualChase => "perpetual_chase",
            Reason::PerpetualAttack => "perpetual_attack",
            Reason::Resignation => "resignation",
            Reason::PlyCap => "ply_cap",
            Reason::GameRule => "game_rule",
        })
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The result.
    pub outcome: Outcome,
    /// What brought it about.
    pub reason: Reason,
}

/// Who acts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// That side chooses one of `legal_moves`, which are not empty.
    Decision(Color),
    /// One of `reveals` happens, by weight.
    Chance,
    /// The game is over.
    Over(Ending),
}

/// Probabilities of win, draw and loss **for the side to move**; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Wdl {
    /// Probability that the side to move wins, 0..=1.
    pub win: f32,
    /// Probability of a draw, 0..=1.
    pub draw: f32,
    /// Probability that the side to move loses, 0..=1.
    pub loss: f32,
}

impl Wdl {
    /// Expected score of the side to move, `win - loss`, in -1..=1.
    pub fn q(self) -> f32 {
        self.win - self.loss
    }

    /// The same, seen from the opponent.
    pub fn flipped(self) -> Self {
        Wdl {
            win: self.loss,
            draw: self.draw,
            loss: self.win,
        }
    }

    /// A finished game seen from `viewer`: the only converter from absolute to relative.
    pub fn of(outcome: Outcome, viewer: Color) -> Self {
        match outcome {
            Outcome::Win(c) if c == viewer => Wdl {
                win: 1.0,
                draw: 0.0,
                loss: 0.0,
            },
            Outcome::Win(_) => Wdl {
                win: 0.0,
                draw: 0.0,
                loss: 1.0,
            },
            Outcome::Draw => Wdl {
                win: 0.0,
                draw: 1.0,
                loss: 0.0,
            },
        }
    }
}

/// What judging a game needs beyond its position: a stack that a search can wind back.
pub trait Past: Clone + Default + Debug + Send {
    /// The number of entries now; pass it to [`Past::rewind`] to come back here.
    fn mark(&self) -> usize;
    /// Drops every entry after `mark`.
    fn rewind(&mut self, mark: usize);
}

/// A position as one player may know it, and how it goes on. `Copy`, without history.
pub trait Game: Copy + Debug + Send + 'static {
    /// A decision.
    type Move: Copy + Eq + Debug + Display + Send;
    /// An outcome of chance.
    type Reveal: Copy + Eq + Debug + Send;
    /// The game's past.
    type History: Past;

    /// Who acts next, or how the game ended.
    fn turn(&self, history: &Self::History) -> Turn;
    /// Replaces `out` with the legal moves; empty only where the game is over.
    fn legal_moves(&self, out: &mut Vec<Self::Move>);
    /// Whether the opponent never sees the decision that comes next.
    fn is_secret(&self) -> bool {
        false
    }
    /// Of how many pieces the legal move `mv` may be: of those of a kind that are still to be placed, any one.
    fn ways(&self, _mv: Self::Move) -> u32 {
        1
    }
    /// Plays a legal move and notes it in `history`; an illegal one leaves a nonsense position.
    fn play(&mut self, mv: Self::Move, history: &mut Self::History);
    /// Replaces `out` with what chance may bring and the weight of each; used only at [`Turn::Chance`].
    fn reveals(&self, out: &mut Vec<(Self::Reveal, u32)>);
    /// Multiplies each weight of [`Game::reveals`] by what `beliefs` say of it; uniform ones change nothing.
    fn weigh(&self, _beliefs: &Beliefs, _reveals: &mut [(Self::Reveal, u32)]) {}
    /// Lets chance fall on `reveal`.
    fn reveal(&mut self, reveal: Self::Reveal, history: &mut Self::History);
}

/// A position that a network can read.
pub trait Features: Game {
    /// Writes the row the network reads, from the point of view of the side to move.
    fn record(&self, history: &Self::History, out: &mut Record);
    /// The move's place in the policy index space of [`crate::policy`], from the point of view of
    /// the side to move.
    fn policy_index(&self, mv: Self::Move) -> u16;
    /// Replaces `out` with the squares, in the record's orientation, of the pieces of which the viewer's
    /// opponent knows more than the viewer: what a belief can be about.
    fn unknown(&self, out: &mut Vec<u8>) {
        out.clear();
    }
    /// Sets `beliefs` to what the network believes of the pieces on the squares of [`Features::unknown`]:
    /// of each that it is an A, B, N, R, C, P.
    fn believe(&self, _unknown: &[u8], _believed: &[[f32; 6]], _beliefs: &mut Beliefs) {}
}

/// The truth of a game in progress, of which each player sees a [`Features`] view.
pub trait Referee: Clone + Debug + Send {
    /// What one player may know.
    type View: Features;
    /// What `viewer` may know of the position.
    fn view(&self, viewer: Color) -> Self::View;
    /// What `viewer` may know of the past.
    fn history(&self, viewer: Color) -> &<Self::View as Game>::History;
    /// Whether both players know the same, now and later, so that one search tree serves both.
    fn open_to_both(&self) -> bool {
        true
    }
    /// Whether both players see the decision that comes next; a placement in a secret arrangement is seen
    /// only by whoever makes it.
    fn is_public(&self) -> bool {
        true
    }
    /// What `viewer` does not know, in the orientation of its record.
    fn truth(&self, _viewer: Color) -> Truth {
        [0; HOMES.len()]
    }
    /// Who acts next; never [`Turn::Chance`], since the truth holds no chance.
    fn turn(&self) -> Turn;
    /// Plays a legal move; `rng` decides what chance decides. Returns what came to light: where both
    /// players know the same, to both of them, else to one of them at least.
    fn apply(
        &mut self,
        mv: <Self::View as Game>::Move,
        rng: &mut Pcg64Mcg,
    ) -> Option<<Self::View as Game>::Reveal>;
}

/// One of the legal moves, at least one, each as likely; where they are placements, each piece.
pub fn random_move<G: Game>(game: &G, legal: &[G::Move], rng: &mut impl Rng) -> G::Move {
    let ways = |&mv: &G::Move| game.ways(mv);
    *legal.choose_weighted(rng, ways).expect("a legal move")
}
