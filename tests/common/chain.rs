//! A bandit: Red picks one of several arms, after which there is one move at a time and no end in sight. Each
//! arm has its value and prior; everything that follows it has the same value. In a lottery the arm
//! leads to chance first, and the ticket that it draws shifts the value.
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::game::{Color, Features, Game, Turn, Wdl};
use selfplay::record::Record;

use super::{Pick, Trail};

/// What each ticket of a lottery adds to the value for Red, and its weight.
pub const TICKETS: [(f32, u32); 3] = [(-0.5, 1), (0.0, 2), (0.3, 5)];
const NONE: u8 = 255;

#[derive(Clone, Copy, Debug)]
pub struct Chain {
    arms: u8,
    arm: u8,
    plies: u8,
    lottery: bool,
    ticket: u8,
}

impl Chain {
    pub fn new(arms: u8) -> Self {
        Chain {
            arms,
            arm: NONE,
            plies: 0,
            lottery: false,
            ticket: NONE,
        }
    }

    pub fn lottery(arms: u8) -> Self {
        Chain {
            lottery: true,
            ..Chain::new(arms)
        }
    }
}

impl Game for Chain {
    type Move = Pick;
    type Reveal = u8;
    type History = Trail;

    fn turn(&self, _: &Trail) -> Turn {
        if self.lottery && self.arm != NONE && self.ticket == NONE {
            return Turn::Chance;
        }
        Turn::Decision(if self.plies.is_multiple_of(2) {
            Color::Red
        } else {
            Color::Black
        })
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        out.extend((0..if self.arm == NONE { self.arms } else { 1 }).map(Pick));
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(self.plies.into());
        if self.arm == NONE {
            self.arm = mv.0;
        }
        self.plies = self.plies.wrapping_add(1);
    }

    fn reveals(&self, out: &mut Vec<(u8, u32)>) {
        out.clear();
        out.extend((0..).zip(TICKETS).map(|(i, (_, weight))| (i, weight)));
    }

    fn reveal(&mut self, reveal: u8, history: &mut Trail) {
        history.0.push(reveal.into());
        self.ticket = reveal;
    }
}

impl Features for Chain {
    fn record(&self, _: &Trail, out: &mut Record) {
        (out[0], out[1], out[2]) = (self.arm, self.plies % 2, self.ticket);
    }

    fn policy_index(&self, mv: Pick) -> u16 {
        mv.0.into()
    }
}

/// Knows a [`Chain`]: `arms` are (value for Red in -1..=1, prior), `root` Red's value before the choice.
#[derive(Clone, Debug)]
pub struct ChainEvaluator {
    pub arms: Vec<(f32, f32)>,
    pub root: f32,
}

impl ChainEvaluator {
    /// Red's value before the choice is that of picking by the prior.
    pub fn new(arms: Vec<(f32, f32)>) -> Self {
        let root = arms.iter().map(|(value, prior)| value * prior).sum();
        ChainEvaluator { arms, root }
    }
}

impl Evaluator for ChainEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        for i in 0..batch.len() {
            let [arm, black, ticket, ..] = batch.records[i];
            let red = match self.arms.get(usize::from(arm)) {
                Some((value, _)) => value + TICKETS.get(usize::from(ticket)).map_or(0.0, |t| t.0),
                None => self.root,
            };
            let wdl = Wdl {
                win: (1.0 + red) / 2.0,
                draw: 0.0,
                loss: (1.0 - red) / 2.0,
            };
            batch.wdl.push(if black == 1 { wdl.flipped() } else { wdl });
            batch.moves_left.push(10.0);
            match arm {
                NONE => batch
                    .log_priors
                    .extend(self.arms.iter().map(|arm| arm.1.ln())),
                _ => batch.log_priors.push(0.0),
            }
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}
