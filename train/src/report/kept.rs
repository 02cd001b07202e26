//! The games that a run has kept: all of them counted, some of them to be replayed.
use std::collections::BTreeMap;
use std::path::Path;

use super::choice::{self, Summary};
use super::replay::{self, Replay};
use super::tally::Tally;
use crate::games::{self, GameText};
use crate::pipeline::load::Look;

/// What the kept games tell.
#[derive(Debug, Default)]
pub struct Kept {
    /// All games.
    pub all: Tally,
    /// The games of each form of the run, in its order.
    pub forms: Vec<(&'static str, Tally)>,
    /// The games to be looked at, newest first.
    pub replays: Vec<Replay>,
    /// What is missing or damaged.
    pub faults: Vec<String>,
}

/// Where a game is kept: number of its file among those read, and its place in that.
type Place = (usize, usize);

/// Reads the committed games of a run; `limit` of them are to be replayed, at most.
pub fn read(look: &Look, limit: usize) -> anyhow::Result<Kept> {
    let files = look.files.kept_games(&look.state)?;
    let mut kept = Kept {
        forms: look
            .forms
            .rules()
            .map(|r| (r.name, Tally::default()))
            .collect(),
        ..Kept::default()
    };
    let missing = look.state.selfplay.commits - files.len() as u64;
    if missing > 0 {
        let all = look.state.selfplay.commits;
        kept.faults.push(format!(
            "games: {missing} of {all} files are missing; their games are not counted here"
        ));
    }
    let (mut places, mut summaries) = (Vec::new(), Vec::new());
    for (file, (_, path)) in files.iter().enumerate() {
        for (at, game) in sound(path, look, &mut kept.faults) {
            places.push((file, at));
            summaries.push(kept.count(&game));
        }
    }
    let mut chosen: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for game in choice::choose(&summaries, limit) {
        let (file, at): Place = places[game];
        chosen.entry(file).or_default().push(at);
    }
    // What is wrong with these files has been said.
    let mut said = Vec::new();
    for (file, wanted) in chosen.iter().rev() {
        let games = sound(&files[*file].1, look, &mut said);
        for (_, game) in games.iter().rev().filter(|(at, _)| wanted.contains(at)) {
            kept.replay(game, look);
        }
    }
    Ok(kept)
}

/// The usable games of a file, with their places in it.
fn sound(path: &Path, look: &Look, faults: &mut Vec<String>) -> Vec<(usize, GameText)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let games = match games::read(path) {
        Ok(games) => games,
        Err(why) => {
            faults.push(format!("games/{name} cannot be read: {}", why.cause()));
            return Vec::new();
        }
    };
    let is_ours = |game: &GameText| {
        game.run == look.state.run && look.forms.rules().any(|rules| rules.name == game.form)
    };
    let foreign = games.iter().filter(|game| !is_ours(game)).count();
    if foreign > 0 {
        faults.push(format!(
            "games/{name}: {foreign} games are of another run or form"
        ));
    }
    (games.into_iter().enumerate())
        .filter(|(_, game)| is_ours(game))
        .collect()
}

impl Kept {
    /// Counts a game.
    fn count(&mut self, game: &GameText) -> Summary {
        let found = self.forms.iter().position(|(name, _)| *name == game.form);
        let form = found.unwrap_or_default();
        self.all.add(game);
        if let Some((_, tally)) = self.forms.get_mut(form) {
            tally.add(game);
        }
        Summary {
            form,
            ending: game.ending,
            plies: game.moves.len() as u32,
        }
    }

    /// Adds a game to those to be looked at, or says why it cannot be.
    fn replay(&mut self, game: &GameText, look: &Look) {
        let Some(rules) = look.forms.rules().find(|rules| rules.name == game.form) else {
            return;
        };
        match replay::replay(game, rules) {
            Ok(replay) => {
                if let Some(why) = &replay.fault {
                    self.faults.push(format!("game {}: {why}", game.id));
                }
                self.replays.push(replay);
            }
            Err(why) => {
                let id = game.id;
                self.faults
                    .push(format!("game {id} cannot be replayed: {why:#}"));
            }
        }
    }
}
