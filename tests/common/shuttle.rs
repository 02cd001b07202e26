//! A token on a row of squares 0..=4 moved by either side one step left or right. Red wins by moving it to
//! 4, Black by moving it to 0; the third occurrence of a square with the same side to move is a draw. Its
//! value depends on the past.
use selfplay::game::{Color, Ending, Features, Game, Outcome, Reason, Turn};
use selfplay::record::Record;

use super::{Pick, Trail};

#[derive(Clone, Copy, Debug)]
pub struct Shuttle {
    pub square: u8,
    pub turn: Color,
}

impl Shuttle {
    fn key(&self) -> u64 {
        u64::from(self.square) * 2 + self.turn as u64
    }
}

impl Game for Shuttle {
    type Move = Pick;
    type Reveal = ();
    type History = Trail;

    fn turn(&self, history: &Trail) -> Turn {
        let over = |outcome, reason| Turn::Over(Ending { outcome, reason });
        match (self.square, self.turn) {
            (4, Color::Black) => over(Outcome::Win(Color::Red), Reason::GameRule),
            (0, Color::Red) => over(Outcome::Win(Color::Black), Reason::GameRule),
            _ if history.0.iter().filter(|&&k| k == self.key()).count() >= 2 => {
                over(Outcome::Draw, Reason::Repetition)
            }
            _ => Turn::Decision(self.turn),
        }
    }

    fn legal_moves(&self, out: &mut Vec<Pick>) {
        out.clear();
        out.extend(
            (0..=4u8)
                .filter(|to| to.abs_diff(self.square) == 1)
                .map(Pick),
        );
    }

    fn play(&mut self, mv: Pick, history: &mut Trail) {
        history.0.push(self.key());
        self.square = mv.0;
        self.turn = self.turn.other();
    }

    fn reveals(&self, _: &mut Vec<((), u32)>) {}

    fn reveal(&mut self, (): (), _: &mut Trail) {}
}

impl Features for Shuttle {
    fn record(&self, history: &Trail, out: &mut Record) {
        out[0] = self.square;
        out[1] = history.0.iter().filter(|&&k| k == self.key()).count() as u8;
    }

    fn policy_index(&self, mv: Pick) -> u16 {
        mv.0.into()
    }
}
