//! Repetition 棋例 (RULES.md §5): what the third occurrence of a position means.
use super::history::{Entry, History};
use super::position::Position;
use super::ruleset::RepetitionRule;
use crate::game::{Color, Ending, Outcome, Reason};

/// Occurrences at which the cycle is judged.
const JUDGED_AT: usize = 3;

/// The verdict if `position` stands for the third time.
///
/// The cycle judged is every ply since the first of the three occurrences.
pub(super) fn judge(position: &Position, history: &History) -> Option<Ending> {
    let plies = history.occurrences_at(position.hash()).nth(JUDGED_AT - 2)?;
    let reversible = history.reversible();
    let cycle = &reversible[reversible.len() - plies..];
    let offence = match position.rules().repetition {
        RepetitionRule::Draw => None,
        RepetitionRule::PerpetualCheck => one_sided(position.turn(), |color| {
            perpetual_check(cycle, color == position.turn())
        })
        .map(|offender| (offender, Reason::PerpetualCheck)),
    };
    Some(match offence {
        Some((offender, reason)) => Ending {
            outcome: Outcome::Win(offender.other()),
            reason,
        },
        None => Ending {
            outcome: Outcome::Draw,
            reason: Reason::Repetition,
        },
    })
}

/// The side that alone is guilty.
fn one_sided(turn: Color, guilty: impl Fn(Color) -> bool) -> Option<Color> {
    match (guilty(turn), guilty(turn.other())) {
        (true, false) => Some(turn),
        (false, true) => Some(turn.other()),
        _ => None,
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
