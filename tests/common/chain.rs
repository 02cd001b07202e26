//! A bandit: Red picks one of several arms, after which there is one move at a time and no end in sight. Each
//! arm has its value and prior; everything that follows it has the same value.
use selfplay::eval::{Batch, EvalError, Evaluator};
use selfplay::game::{Color, Features, Game, Turn, Wdl};
use selfplay::record::Record;

use super::{Pick, Trail};

#[derive(Clone, Copy, Debug)]
pub struct Chain {
    arms: u8,
    /// 255 before the choice.
    arm: u8,
    plies: u8,
}

impl Chain {
    pub fn new(arms: u8) -> Self {
        Chain {
            arms,
            arm: 255,
            plies: 0,
        }
    }
}

impl Game for Chain {
    type Move = Pick;
    type Reveal = ();
    type History = Trail;

    fn turn(&self, _: &Trail) -> Turn {
        Turn::Decision(if self.plies.is_multiple_of(2) {
            Color::Red
        } else {
            Color::Black
        })
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        out.extend((0..if self.arm == 255 { self.arms } else { 1 }).map(Pick));
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(self.plies.into());
        if self.arm == 255 {
            self.arm = mv.0;
        }
        self.plies = self.plies.wrapping_add(1);
    }

    fn reveals(&self, _: &mut Vec<((), u32)>) {}

    fn reveal(&mut self, (): (), _: &mut Trail) {}
}

impl Features for Chain {
    fn record(&self, _: &Trail, out: &mut Record) {
        (out[0], out[1]) = (self.arm, self.plies % 2);
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
    /// The score that picking by the prior would bring.
    pub fn prior_value(&self) -> f32 {
        self.arms.iter().map(|(value, prior)| value * prior).sum()
    }
}

impl Evaluator for ChainEvaluator {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvalError> {
        for i in 0..batch.len() {
            let (arm, black) = (batch.records[i][0] as usize, batch.records[i][1] == 1);
            let red = self.arms.get(arm).map_or(self.root, |a| a.0);
            let wdl = Wdl {
                win: (1.0 + red) / 2.0,
                draw: 0.0,
                loss: (1.0 - red) / 2.0,
            };
            batch.wdl.push(if black { wdl.flipped() } else { wdl });
            batch.moves_left.push(10.0);
            let single = batch.legal_range(i).len() == 1;
            let priors = self.arms.iter().map(|a| a.1.ln());
            if single {
                batch.log_priors.push(0.0)
            } else {
                batch.log_priors.extend(priors)
            }
        }
        Ok(())
    }

    fn step(&self) -> u64 {
        0
    }
}
