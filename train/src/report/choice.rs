//! Which of the kept games the page replays: a page of bounded size cannot hold all of a long run's.
use std::collections::{BTreeMap, HashSet};

use selfplay::game::{Ending, Outcome};

/// Plies of all chosen games together: about 2 MB of the page.
const PLIES_MAX: u64 = 40_000;
/// Newest games of each ending that are wanted.
const EACH_ENDING: usize = 4;

/// What the choice goes by, a game.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Place of its form in the run.
    pub form: usize,
    /// How it ended.
    pub ending: Ending,
    /// Its length.
    pub plies: u32,
}

struct Choice<'a> {
    games: &'a [Summary],
    limit: usize,
    plies: u64,
    chosen: HashSet<usize>,
}

impl Choice<'_> {
    /// Takes a game, unless there is no room for it.
    fn take(&mut self, game: usize) {
        let plies = u64::from(self.games[game].plies);
        let room = self.chosen.len() < self.limit && self.plies + plies <= PLIES_MAX;
        if room && self.chosen.insert(game) {
            self.plies += plies;
        }
    }

    /// Takes from `order` until `share` more are taken, as far as they can be.
    fn take_some(&mut self, order: impl Iterator<Item = usize>, share: usize) {
        let until = self.chosen.len() + share;
        for game in order {
            if self.chosen.len() >= until.min(self.limit) {
                break;
            }
            self.take(game);
        }
    }
}

/// At most `limit` of `games`, which are in the order in which they were finished: a newest of each form, reason and
/// result, then some more of those, the longest, the first, and the newest. Their places, ascending.
pub fn choose(games: &[Summary], limit: usize) -> Vec<usize> {
    let mut choice = Choice {
        games,
        limit,
        plies: 0,
        chosen: HashSet::new(),
    };
    let newest = || (0..games.len()).rev();
    let mut endings: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for game in newest() {
        let Summary { form, ending, .. } = games[game];
        let of_that_kind = endings.entry((form, key(ending))).or_default();
        if of_that_kind.len() < EACH_ENDING {
            of_that_kind.push(game);
        }
    }
    for round in 0..EACH_ENDING {
        let of_round = endings.values().filter_map(|games| games.get(round));
        let share = if round == 0 { limit } else { limit / 8 };
        choice.take_some(of_round.copied(), share);
    }
    let mut longest: Vec<_> = newest().collect();
    longest.sort_by_key(|&game| std::cmp::Reverse(games[game].plies));
    choice.take_some(longest.into_iter(), limit / 8);
    choice.take_some(0..games.len(), limit / 8);
    choice.take_some(newest(), limit);
    let mut chosen: Vec<_> = choice.chosen.into_iter().collect();
    chosen.sort_unstable();
    chosen
}

/// Tells endings apart, in an order of its own.
fn key(ending: Ending) -> (String, u8) {
    let Ending { outcome, reason } = ending;
    let outcome = match outcome {
        Outcome::Draw => 2,
        Outcome::Win(color) => color as u8,
    };
    (reason.to_string(), outcome)
}
