//! Take one to three from a pile; who takes the last one wins. Without luck, a pile is lost for the
//! side to move exactly if 4 divides it.
use selfplay::game::{Color, Ending, Features, Game, Outcome, Reason, Turn};
use selfplay::record::Record;

use super::{Pick, Trail};

#[derive(Clone, Copy, Debug)]
pub struct Nim {
    pub pile: u8,
    pub turn: Color,
    /// After each move, chance takes one more one time in three, for the same side.
    pub luck: bool,
    fate_pending: bool,
}

impl Nim {
    pub fn new(pile: u8) -> Self {
        Nim {
            pile,
            turn: Color::Red,
            luck: false,
            fate_pending: false,
        }
    }

    pub fn lucky(pile: u8) -> Self {
        Nim {
            luck: true,
            ..Nim::new(pile)
        }
    }
}

impl Game for Nim {
    type Move = Pick;
    type Reveal = u8;
    type History = Trail;

    fn turn(&self, _: &Trail) -> Turn {
        if self.pile == 0 {
            let outcome = Outcome::Win(self.turn.other());
            Turn::Over(Ending {
                outcome,
                reason: Reason::GameRule,
            })
        } else if self.fate_pending {
            Turn::Chance
        } else {
            Turn::Decision(self.turn)
        }
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        out.extend((1..=self.pile.min(3)).map(Pick));
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(self.pile.into());
        self.pile -= mv.0;
        self.turn = self.turn.other();
        self.fate_pending = self.luck;
    }

    fn reveals(&self, out: &mut Vec<(u8, u32)>) {
        out.clear();
        out.extend([(0, 2), (1, 1)]);
    }

    fn reveal(&mut self, reveal: u8, history: &mut Trail) {
        history.0.push(reveal.into());
        self.pile -= reveal;
        self.fate_pending = false;
    }
}

impl Features for Nim {
    fn record(&self, _: &Trail, out: &mut Record) {
        (out[0], out[1]) = (self.pile, self.luck.into());
    }

    fn policy_index(&self, mv: Pick) -> u16 {
        mv.0.into()
    }
}
