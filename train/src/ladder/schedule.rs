//! Who meets whom on the ladder: functions of what stands on it, and of nothing else.
//!
//! A checkpoint gets its opponents as it comes onto the ladder, and keeps them whatever the config says later.
use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Display};
use std::str::FromStr;

use selfplay::opponent::Builtin;
use serde::{Deserialize, Serialize};

use super::LadderConfig;

/// A player of the ladder; its text is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Player {
    /// The run's checkpoint of a training step: `step 1000`.
    Step(u64),
    /// A built-in opponent: `greedy`.
    Builtin(Builtin),
}

/// What the name of a checkpoint starts with.
const STEP: &str = "step ";

impl Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Player::Step(step) => write!(f, "{STEP}{step}"),
            Player::Builtin(builtin) => write!(f, "{builtin}"),
        }
    }
}

impl TryFrom<String> for Player {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Player> for String {
    fn from(player: Player) -> String {
        player.to_string()
    }
}

impl Player {
    /// The training step of a checkpoint.
    pub fn step(self) -> Option<u64> {
        match self {
            Player::Step(step) => Some(step),
            Player::Builtin(_) => None,
        }
    }
}

impl FromStr for Player {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(STEP) {
            Some(step) => step.parse().map(Player::Step).map_err(|e| e.to_string()),
            None => text
                .parse()
                .map(Player::Builtin)
                .map_err(|e| format!("{e}")),
        }
    }
}

/// A checkpoint on the ladder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Its training step.
    pub step: u64,
    /// Name of the form in which it plays.
    pub form: String,
    /// The built-in opponents that it meets.
    pub opponents: Vec<Builtin>,
    /// Training steps of the earlier checkpoints that it meets.
    pub rivals: Vec<u64>,
    /// Games of each meeting, even.
    pub games: u32,
    /// Of those above, whom it meets no more: a checkpoint was gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Player>,
}

/// A match of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The two: the earlier of two checkpoints first, a checkpoint before a built-in opponent.
    pub players: [Player; 2],
    /// Training step of the checkpoint whose place on the ladder it is to show.
    pub rung: u64,
    /// Its games, even.
    pub games: u32,
}

/// Of `earlier` checkpoints, those that the next one meets, by their places, at most `count`, the latest first: the last,
/// the latest before it at an even place, the latest before that at a multiple of 4, and so on. So few have to be
/// kept ([`wanted`]), and a chain of few meetings joins any two.
pub fn rivals(earlier: usize, count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut below = earlier;
    for level in 0..count {
        let Some(last) = below.checked_sub(1) else {
            break;
        };
        below = last & !((1 << level) - 1);
        found.push(below);
    }
    found
}

/// Of the places below `earlier`, those that [`rivals`] may still name as more checkpoints come: at most two a level.
pub fn wanted(earlier: usize, count: usize) -> BTreeSet<usize> {
    // Level `l` takes at most 2^l places, so none is named from further on.
    let reach = 1usize << count;
    (earlier..earlier + reach)
        .flat_map(|next| rivals(next, count))
        .filter(|&place| place < earlier)
        .collect()
}

/// The checkpoints of a form, in their order.
pub fn of_form<'a>(rungs: &'a [Rung], form: &'a str) -> impl Iterator<Item = &'a Rung> {
    rungs.iter().filter(move |rung| rung.form == form)
}

/// All matches of a form, in the order in which they are played: those of one checkpoint after those of the
/// checkpoints before it. Built-in opponents meet each other as they come.
pub fn meetings(rungs: &[Rung], form: &str) -> Vec<Meeting> {
    let (mut all, mut met) = (Vec::new(), Vec::new());
    for rung in of_form(rungs, form) {
        let mut add = |players| {
            all.push(Meeting {
                players,
                rung: rung.step,
                games: rung.games,
            })
        };
        for &new in &rung.opponents {
            if !met.contains(&new) {
                for &old in &met {
                    add(in_order([old, new]));
                }
                met.push(new);
            }
        }
        let own = Player::Step(rung.step);
        let stays = |player: &Player| !rung.dropped.contains(player);
        let opponents = rung.opponents.iter().map(|&o| Player::Builtin(o));
        for opponent in opponents.filter(stays) {
            add([own, opponent]);
        }
        let rivals = rung.rivals.iter().map(|&step| Player::Step(step));
        for rival in rivals.filter(stays) {
            add([rival, own]);
        }
    }
    all
}

/// Two built-in opponents by name.
fn in_order(mut both: [Builtin; 2]) -> [Player; 2] {
    both.sort_by_key(ToString::to_string);
    both.map(Player::Builtin)
}

/// All players of a form, in the order in which two of them stand in a [`Meeting`].
pub fn players(rungs: &[Rung], form: &str) -> Vec<Player> {
    let steps = of_form(rungs, form).map(|rung| Player::Step(rung.step));
    let met: HashSet<_> = of_form(rungs, form)
        .flat_map(|rung| rung.opponents.iter().copied())
        .collect();
    let mut met: Vec<_> = met.into_iter().collect();
    met.sort_by_key(ToString::to_string);
    steps.chain(met.into_iter().map(Player::Builtin)).collect()
}

/// The next checkpoint on the ladder, that of `step`; `forms` take turns. `is_there` tells whether the checkpoint of a training step can
/// play, `is_beaten` whether a built-in opponent has nothing more to say in a form. A checkpoint that has no
/// rival meets all opponents, so that games always join it with [`ANCHOR`].
///
/// [`ANCHOR`]: super::ANCHOR
pub fn next_rung(
    rungs: &[Rung],
    step: u64,
    forms: &[&str],
    config: &LadderConfig,
    is_there: &dyn Fn(u64) -> bool,
    is_beaten: &dyn Fn(&str, Builtin) -> bool,
) -> Rung {
    let form = forms[rungs.len() % forms.len()];
    let before: Vec<_> = of_form(rungs, form).map(|rung| rung.step).collect();
    let rivals: Vec<_> = rivals(before.len(), config.rivals)
        .into_iter()
        .map(|place| before[place])
        .filter(|&step| is_there(step))
        .collect();
    let opponents = config.opponents.iter().copied();
    Rung {
        step,
        form: form.to_owned(),
        opponents: opponents
            .filter(|&opponent| rivals.is_empty() || !is_beaten(form, opponent))
            .collect(),
        rivals,
        games: config.games,
        dropped: Vec::new(),
    }
}

/// Training steps of the checkpoints that are still to play: in matches that are not over by `is_over`, and as rivals of those to come.
pub fn still_needed(
    rungs: &[Rung],
    rivals: usize,
    is_over: &dyn Fn(&str, &Meeting) -> bool,
) -> BTreeSet<u64> {
    let forms: BTreeSet<_> = rungs.iter().map(|rung| rung.form.as_str()).collect();
    let mut needed = BTreeSet::new();
    for form in forms {
        let steps: Vec<_> = of_form(rungs, form).map(|rung| rung.step).collect();
        needed.extend(wanted(steps.len(), rivals).into_iter().map(|i| steps[i]));
        let open = meetings(rungs, form);
        let open = open.iter().filter(|meeting| !is_over(form, meeting));
        needed.extend(open.flat_map(|m| m.players).filter_map(Player::step));
    }
    needed
}

/// Numbers of the games of a match that `played` has not: of pair `n` they are `2 n` and `2 n + 1`.
pub fn missing(meeting: &Meeting, played: &HashSet<usize>) -> Vec<usize> {
    (0..meeting.games as usize)
        .filter(|game| !played.contains(game))
        .collect()
}
