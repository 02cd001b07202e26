//! Repetition 棋例 (RULES.md §5): what the third occurrence of a position means.
mod capture;
mod chase;
mod cycle;
mod mate;

use super::geometry::{Bits, Squares};
use super::history::{Entry, History};
use super::position::Position;
use super::ruleset::RepetitionRule;
use super::types::Square;
use crate::game::{Color, Ending, Outcome, Reason};
use cycle::Play;

/// Occurrences at which the cycle is judged.
const JUDGED_AT: usize = 3;

/// What the third occurrence of a position means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// The verdict.
    pub ending: Ending,
    /// Plies of the cycle that was judged: the last ones played.
    pub plies: usize,
    /// `[color]`.
    offences: [Option<Offence>; 2],
}

impl Repetition {
    /// What that side is guilty of, if of anything; where both are, the game is drawn.
    pub fn offence(&self, color: Color) -> Option<Reason> {
        self.offences[color as usize].map(|offence| offence.reason)
    }

    /// Where the pieces stand that an offender chased, or stood when the cycle began: one, or several in turn.
    pub fn chased_by(&self, color: Color) -> impl Iterator<Item = Square> + use<> {
        Squares(self.offences[color as usize].map_or(0, |offence| offence.chased))
    }
}

/// What a side is guilty of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offence {
    reason: Reason,
    chased: Bits,
}

/// The verdict if `position` stands for the third time.
///
/// The cycle judged is every ply since the first of the three occurrences.
pub fn judge(position: &Position, history: &History) -> Option<Repetition> {
    let plies = history.occurrences_at(position.hash()).nth(JUDGED_AT - 2)?;
    Some(judge_cycle(position, history, plies))
}

/// The verdict on the last `plies` plies, which led back to `position`.
#[cold]
fn judge_cycle(position: &Position, history: &History, plies: usize) -> Repetition {
    let reversible = history.reversible();
    let cycle = &reversible[reversible.len() - plies..];
    let offences = offences(position, cycle);
    let (outcome, reason) = match offences {
        [Some(offence), None] => (Outcome::Win(Color::Black), offence.reason),
        [None, Some(offence)] => (Outcome::Win(Color::Red), offence.reason),
        _ => (Outcome::Draw, Reason::Repetition),
    };
    Repetition {
        ending: Ending { outcome, reason },
        plies,
        offences,
    }
}

/// What each side (`[color]`) is guilty of. Perpetual check comes first: where there is one, no chase counts.
fn offences(position: &Position, cycle: &[Entry]) -> [Option<Offence>; 2] {
    let rule = position.rules().repetition;
    if rule == RepetitionRule::Draw {
        return [None; 2];
    }
    let checks = [Color::Red, Color::Black].map(|color| {
        perpetual_check(cycle, color == position.turn()).then_some(Offence {
            reason: Reason::PerpetualCheck,
            chased: 0,
        })
    });
    if checks.iter().any(Option::is_some) {
        return checks;
    }
    match rule {
        RepetitionRule::Draw => [None; 2],
        RepetitionRule::Wxf => cycle::always_chased(position, cycle).map(perpetual_chase),
        RepetitionRule::Cxa => cycle::plays(position, cycle).map(perpetual_attack),
    }
}

/// 长将: whether each of a side's plies in the cycle gave check; `first`: the side that opens the cycle.
fn perpetual_check(cycle: &[Entry], first: bool) -> bool {
    cycle
        .iter()
        .skip(usize::from(!first))
        .step_by(2)
        .all(|entry| entry.gave_check)
}

/// 长捉, of one and the same piece.
fn perpetual_chase(chased: Bits) -> Option<Offence> {
    (chased != 0).then_some(Offence {
        reason: Reason::PerpetualChase,
        chased,
    })
}

/// 长打: chases of several pieces in turn, and any mixture of checks, chases and mate threats.
fn perpetual_attack(play: Play) -> Option<Offence> {
    let offence = |reason, chased| Some(Offence { reason, chased });
    match play {
        Play { attacks: false, .. } => None,
        Play { always_chased, .. } if always_chased != 0 => perpetual_chase(always_chased),
        Play { chases: true, .. } => offence(Reason::PerpetualChase, play.chased),
        _ => offence(Reason::PerpetualAttack, play.chased),
    }
}
