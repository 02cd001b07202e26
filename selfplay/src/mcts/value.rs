//! What a node is worth.
use crate::game::{Color, Outcome, Wdl};

/// An expected result, seen from Red.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Value {
    /// Probability that Red wins.
    pub win: f32,
    /// Probability of a draw.
    pub draw: f32,
    /// Expected plies to the end.
    pub moves_left: f32,
}

impl Value {
    pub fn new(wdl: Wdl, viewer: Color, moves_left: f32) -> Self {
        let red = if viewer == Color::Red {
            wdl
        } else {
            wdl.flipped()
        };
        Value {
            win: red.win,
            draw: red.draw,
            moves_left,
        }
    }

    pub fn of(outcome: Outcome) -> Self {
        Value::new(Wdl::of(outcome, Color::Red), Color::Red, 0.0)
    }

    pub fn wdl(self, viewer: Color) -> Wdl {
        let red = Wdl {
            win: self.win,
            draw: self.draw,
            loss: (1.0 - self.win - self.draw).max(0.0),
        };
        if viewer == Color::Red {
            red
        } else {
            red.flipped()
        }
    }

    /// Expected score of `viewer`, -1..=1, a draw counting `draw_score` to either side.
    pub fn q(self, viewer: Color, draw_score: f32) -> f32 {
        let red = 2.0 * self.win + self.draw - 1.0;
        draw_score * self.draw + if viewer == Color::Red { red } else { -red }
    }

    /// Whether the result is certain and this one. Exact for values that were never averaged.
    pub fn is(self, outcome: Outcome) -> bool {
        let certain = Value::of(outcome);
        (self.win, self.draw) == (certain.win, certain.draw)
    }

    pub fn later(self, plies: f32) -> Self {
        Value {
            moves_left: self.moves_left + plies,
            ..self
        }
    }

    pub fn add(&mut self, other: Value, weight: f32) {
        self.win += weight * other.win;
        self.draw += weight * other.draw;
        self.moves_left += weight * other.moves_left;
    }

    pub fn divided(self, by: f32) -> Self {
        Value {
            win: self.win / by,
            draw: self.draw / by,
            moves_left: self.moves_left / by,
        }
    }

    /// Whether `turn` prefers this to `other`, both exact: by score, then a win soon and anything
    /// else late.
    pub fn better_than(self, other: Value, turn: Color, draw_score: f32) -> bool {
        let (q, r) = (self.q(turn, draw_score), other.q(turn, draw_score));
        if q != r {
            return q > r;
        }
        if q > 0.0 {
            self.moves_left < other.moves_left
        } else {
            self.moves_left > other.moves_left
        }
    }

    /// Moves a mean of `n - 1` samples on to the `n`-th, `sample`.
    pub fn average(&mut self, sample: Value, n: u32) {
        let rate = 1.0 / n as f32;
        self.win += rate * (sample.win - self.win);
        self.draw += rate * (sample.draw - self.draw);
        self.moves_left += rate * (sample.moves_left - self.moves_left);
    }
}
