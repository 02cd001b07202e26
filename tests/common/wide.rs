//! About as many moves as Xiangqi has, arbitrary positions, an end by chance of the hash or at a set length.
use selfplay::eval::mix;
use selfplay::game::{Color, Ending, Features, Game, Outcome, Reason, Turn};
use selfplay::record::Record;

use super::{Pick, Trail};

#[derive(Clone, Copy, Debug)]
pub struct Wide {
    state: u64,
    plies: u16,
    longest: u16,
}

impl Wide {
    pub fn new(seed: u64, longest: u16) -> Self {
        Wide {
            state: mix(seed),
            plies: 0,
            longest,
        }
    }
}

impl Game for Wide {
    type Move = Pick;
    type Reveal = ();
    type History = Trail;

    fn turn(&self, _: &Trail) -> Turn {
        let turn = if self.plies.is_multiple_of(2) {
            Color::Red
        } else {
            Color::Black
        };
        let ends = self.state.is_multiple_of(61) && self.plies > 8;
        let outcome = match self.state >> 32 & 3 {
            _ if self.plies < self.longest && !ends => return Turn::Decision(turn),
            0 => Outcome::Draw,
            1 => Outcome::Win(turn),
            _ => Outcome::Win(turn.other()),
        };
        Turn::Over(Ending {
            outcome,
            reason: Reason::GameRule,
        })
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        out.extend((0..32 + (self.state >> 8 & 15) as u8).map(Pick));
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(self.state);
        self.state = mix(self.state ^ u64::from(mv.0));
        self.plies += 1;
    }

    fn reveals(&self, _: &mut Vec<((), u32)>) {}

    fn reveal(&mut self, (): (), _: &mut Trail) {}
}

impl Features for Wide {
    fn record(&self, _: &Trail, out: &mut Record) {
        out[..8].copy_from_slice(&self.state.to_le_bytes());
    }

    fn policy_index(&self, mv: Pick) -> u16 {
        mv.0.into()
    }
}
