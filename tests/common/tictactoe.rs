//! Three in a row on nine squares: a draw under best play.
use selfplay::game::{Color, Ending, Features, Game, Outcome, Reason, Turn};
use selfplay::record::Record;

use super::{Pick, Trail};

const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

#[derive(Clone, Copy, Debug, Default)]
pub struct TicTacToe {
    /// Squares of Red and Black, a bit each.
    own: [u16; 2],
}

impl TicTacToe {
    /// Square by square: `X` Red, `O` Black, anything else empty.
    pub fn parse(text: &str) -> Self {
        let side = |stone| {
            let bits = text.chars().enumerate().filter(|&(_, c)| c == stone);
            bits.map(|(square, _)| 1 << square).sum()
        };
        TicTacToe {
            own: [side('X'), side('O')],
        }
    }

    fn mover(&self) -> Color {
        let even = self.own[0].count_ones() == self.own[1].count_ones();
        if even { Color::Red } else { Color::Black }
    }
}

impl Game for TicTacToe {
    type Move = Pick;
    type Reveal = ();
    type History = Trail;

    fn turn(&self, _: &Trail) -> Turn {
        let has_line = |own: u16| LINES.iter().any(|line| own & line == *line);
        let outcome = match self.own.map(has_line) {
            [true, _] => Outcome::Win(Color::Red),
            [_, true] => Outcome::Win(Color::Black),
            _ if self.own[0] | self.own[1] == 0o777 => Outcome::Draw,
            _ => return Turn::Decision(self.mover()),
        };
        Turn::Over(Ending {
            outcome,
            reason: Reason::GameRule,
        })
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        let taken = self.own[0] | self.own[1];
        out.extend((0..9).filter(|square| taken >> square & 1 == 0).map(Pick));
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(mv.0.into());
        self.own[self.mover() as usize] |= 1 << mv.0;
    }

    fn reveals(&self, _: &mut Vec<((), u32)>) {}

    fn reveal(&mut self, (): (), _: &mut Trail) {}
}

impl Features for TicTacToe {
    fn record(&self, _: &Trail, out: &mut Record) {
        let mover = self.mover();
        for (at, side) in [mover, mover.other()].into_iter().enumerate() {
            for (square, byte) in out[..9].iter_mut().enumerate() {
                *byte |= ((self.own[side as usize] >> square & 1) as u8) << at;
            }
        }
    }

    fn policy_index(&self, mv: Pick) -> u16 {
        mv.0.into()
    }
}
