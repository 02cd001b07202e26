//! Calibration of the resignation threshold on the games that were played out.
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// One side of a game that was played out in spite of resignation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The lowest threshold that would have made this side resign, 0..=1.
    pub lowest: f32,
    /// Whether it did lose in the end.
    pub lost: bool,
}

/// The recent played-out games and the threshold they allow.
///
/// As in AlphaGo Zero (Silver et al. 2017, self-play), the threshold is kept where the share of wrong
/// resignations (the side did not lose in the end) is at most a given one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    sides: VecDeque<Side>,
}

impl Calibration {
    /// Notes both sides of a played-out game, and forgets all but the last `memory` games.
    pub fn note(&mut self, sides: [Side; 2], memory: usize) {
        self.sides.extend(sides);
        while self.sides.len() > 2 * memory {
            self.sides.pop_front();
        }
    }

    /// The largest threshold up to `wanted` at which at most `wrong_max` of the resignations would have been wrong.
    pub fn threshold(&self, wanted: f32, wrong_max: f32) -> f32 {
        let mut under: Vec<_> = self
            .sides
            .iter()
            .filter(|s| s.lowest < wanted)
            .copied()
            .collect();
        under.sort_by(|a, b| a.lowest.total_cmp(&b.lowest));
        let mut wrong = 0;
        let mut best = if under.is_empty() {
            wanted
        } else {
            under[0].lowest
        };
        for (i, side) in under.iter().enumerate() {
            wrong += usize::from(!side.lost);
            if wrong as f32 <= wrong_max * (i + 1) as f32 {
                best = under.get(i + 1).map_or(wanted, |next| next.lowest);
            }
        }
        best
    }

    /// (resignations, wrong ones) that `threshold` would have made among the remembered games.
    pub fn wrong(&self, threshold: f32) -> (usize, usize) {
        let resigned = self.sides.iter().filter(|s| s.lowest < threshold);
        (
            resigned.clone().count(),
            resigned.filter(|s| !s.lost).count(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(sides: &[(f32, bool)]) -> Calibration {
        let mut c = Calibration::default();
        for pair in sides.chunks(2) {
            let side = |i: usize| {
                let (lowest, lost) = pair.get(i).copied().unwrap_or((1.0, true));
                Side { lowest, lost }
            };
            c.note([side(0), side(1)], 1000);
        }
        c
    }

    #[test]
    fn the_threshold_is_the_largest_with_few_wrong_resignations() {
        let check = |sides: &[(f32, bool)], wrong_max: f32, expected: f32| {
            assert_eq!(
                calibration(sides).threshold(0.1, wrong_max),
                expected,
                "{sides:?} {wrong_max}"
            );
        };
        check(&[], 0.05, 0.1);
        check(&[(0.01, true), (0.02, true)], 0.0, 0.1);
        check(&[(0.01, true), (0.05, false)], 0.0, 0.05);
        check(&[(0.01, false), (0.05, true)], 0.0, 0.01);
        check(&[(0.01, false), (0.05, true)], 0.5, 0.1);
        check(&[(0.01, true), (0.5, false)], 0.0, 0.1);
    }

    #[test]
    fn the_chosen_threshold_is_never_wrong_too_often() {
        let sides: Vec<_> = (0..200)
            .map(|i| ((i * 37 % 200) as f32 / 1000.0, i * i % 7 > 1))
            .collect();
        let c = calibration(&sides);
        for wrong_max in [0.0, 0.05, 0.2, 0.5] {
            let (resigned, wrong) = c.wrong(c.threshold(0.2, wrong_max));
            assert!(
                wrong as f32 <= wrong_max * resigned as f32,
                "{wrong} of {resigned} at {wrong_max}"
            );
        }
    }
}
