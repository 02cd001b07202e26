//! Who may become a level: checkpoints by numbers of simulations, and the built-in players beside them.
use std::fmt::{self, Display};
use std::ops::Range;

use selfplay::opponent::Builtin;

/// Most checkpoints that are looked at.
const CHECKPOINTS: usize = 8;
/// Most numbers of simulations.
const BUDGETS: usize = 7;
/// Temperatures of the bare policy (one simulation), where the grid leaves a gap.
const TEMPERATURES: [f32; 5] = [0.5, 0.75, 1.0, 1.5, 2.0];

/// How a checkpoint plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Training step of the checkpoint.
    pub step: u64,
    /// New simulations a move.
    pub visits: u32,
    /// Temperature of the move choice; 0: the best move.
    pub temperature: f32,
}

impl Setting {
    /// Whether a better move may be passed over by chance.
    pub fn is_warm(&self) -> bool {
        self.temperature > 0.0
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.visits == 1 { "" } else { "s" };
        write!(f, "step {}, {} visit{s}", self.step, self.visits)?;
        match self.is_warm() {
            true => write!(f, ", temperature {}", self.temperature),
            false => Ok(()),
        }
    }
}

/// All players of a grading: the built-in ones, then the grid of cold settings, then the warm ones.
#[derive(Clone, Debug)]
pub struct Field {
    steps: Vec<u64>,
    visits: Vec<u32>,
}

impl Field {
    /// The built-in players, the first of which has the rating 0.
    pub const BUILTINS: [Builtin; 2] = [Builtin::Random, Builtin::Greedy];
    /// Place of the player whose rating is 0.
    pub const RANDOM: usize = 0;
    /// Place of the other built-in player.
    pub const GREEDY: usize = 1;

    /// The field of checkpoints of `steps`, ascending and at least one, of which at most 8 are taken, with 1 to
    /// `top` simulations, at least 1.
    pub fn new(steps: &[u64], top: u32) -> Field {
        let mut visits: Vec<_> = (0..u32::BITS)
            .map(|n| 1 << n)
            .take_while(|&n| n < top)
            .collect();
        visits.push(top);
        Field {
            steps: thin(steps, CHECKPOINTS, |&step| (step as f64).ln()),
            visits: thin(&visits, BUDGETS, |&visits| f64::from(visits).ln()),
        }
    }

    /// Training steps of the checkpoints.
    pub fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// Numbers of simulations.
    pub fn visits(&self) -> &[u32] {
        &self.visits
    }

    /// Number of players.
    pub fn len(&self) -> usize {
        self.warm(self.steps.len()).start
    }

    /// Whether nobody is there; never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places of the cold settings.
    pub fn cold(&self) -> Range<usize> {
        let first = Self::BUILTINS.len();
        first..first + self.steps.len() * self.visits.len()
    }

    fn grid(&self, step: usize, visits: usize) -> usize {
        self.cold().start + step * self.visits.len() + visits
    }

    /// Places of the warm settings of the `step`-th checkpoint.
    pub fn warm(&self, step: usize) -> Range<usize> {
        let first = self.cold().end + step * TEMPERATURES.len();
        first..first + TEMPERATURES.len()
    }

    /// Place of the newest checkpoint with the most simulations.
    pub fn newest(&self) -> usize {
        self.cold().end - 1
    }

    /// Place of the bare policy of the `step`-th checkpoint.
    pub fn bare(&self, step: usize) -> usize {
        self.grid(step, 0)
    }

    /// How a player plays; `None` for a built-in one.
    pub fn setting(&self, player: usize) -> Option<Setting> {
        let cold = self.cold();
        if player < cold.start {
            return None;
        }
        let (place, warm) = (player - cold.start, player.checked_sub(cold.end));
        Some(match warm {
            None => Setting {
                step: self.steps[place / self.visits.len()],
                visits: self.visits[place % self.visits.len()],
                temperature: 0.0,
            },
            Some(place) => Setting {
                step: self.steps[place / TEMPERATURES.len()],
                visits: self.visits[0],
                temperature: TEMPERATURES[place % TEMPERATURES.len()],
            },
        })
    }

    /// A player's name.
    pub fn name(&self, player: usize) -> String {
        match self.setting(player) {
            Some(setting) => setting.to_string(),
            None => Self::BUILTINS[player].to_string(),
        }
    }

    /// The first matches, which connect all cold settings and the built-in players: of each checkpoint with the next
    /// one, of each number of simulations with the next one.
    pub fn first_matches(&self) -> Vec<[usize; 2]> {
        let mut matches = vec![
            [Self::RANDOM, Self::GREEDY],
            [Self::RANDOM, self.grid(0, 0)],
        ];
        for step in 0..self.steps.len() {
            matches.push([Self::GREEDY, self.bare(step)]);
            for visits in 0..self.visits.len() {
                let here = self.grid(step, visits);
                if visits + 1 < self.visits.len() {
                    matches.push([here, self.grid(step, visits + 1)]);
                }
                if step + 1 < self.steps.len() {
                    matches.push([here, self.grid(step + 1, visits)]);
                }
            }
        }
        matches
    }
}

/// At most `most` of `values`, which ascend, spread evenly by `place`: the ends, then always the one farthest from all
/// that are taken.
fn thin<T: Copy>(values: &[T], most: usize, place: impl Fn(&T) -> f64) -> Vec<T> {
    let mut taken = vec![false; values.len()];
    let last = values.len() - 1;
    (taken[0], taken[last]) = (true, true);
    let distance = |a: usize, b: usize| (place(&values[a]) - place(&values[b])).abs();
    while taken.iter().filter(|&&taken| taken).count() < most.min(values.len()) {
        let away = |&value: &usize| {
            let others = (0..values.len()).filter(|&other| taken[other]);
            others
                .map(|other| distance(value, other))
                .fold(f64::INFINITY, f64::min)
        };
        let left = (0..values.len()).filter(|&value| !taken[value]);
        let Some(next) = left.max_by(|a, b| away(a).total_cmp(&away(b))) else {
            break;
        };
        taken[next] = true;
    }
    let kept = values.iter().zip(&taken).filter(|(_, taken)| **taken);
    kept.map(|(&value, _)| value).collect()
}
