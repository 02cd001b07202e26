//! Who scored what against whom, from files of games.
//!
//! Of a game its players, its result and its form are read, not its moves: one without any, a forfeit, counts. Games that `fanqi arena` has kept tell in
//! their tags which two share an opening; games from elsewhere count one by one.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use selfplay::game::{Color, Outcome};

use super::RecordedGame;
use super::games::Games;
use crate::atomic::FileError;
use crate::rating::{Encounter, GameScore};
use crate::tournament::pgn;

/// The form of a game that names none.
const USUAL_FORM: &str = "xiangqi";

/// The results of any number of files.
#[derive(Debug, Default)]
pub struct Results {
    encounters: BTreeMap<[String; 2], Encounter>,
    /// Games that have no partner yet, by file, players and number of the pair.
    halves: HashMap<(usize, [String; 2], String), Half>,
    files: usize,
    /// Games counted.
    pub games: usize,
    /// Games left out, and why.
    pub left_out: Vec<LeftOut>,
    /// Forms of all games with a result and two players, also of those that were not asked for.
    pub forms: BTreeSet<String>,
}

/// A game of a pair whose other game is missing, as the player whose name comes first sees it.
#[derive(Debug)]
struct Half {
    moves_first: bool,
    score: GameScore,
}

/// A game, or a text behind one, that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its file.
    pub path: PathBuf,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line on which it starts, from 1.
    pub line: usize,
    /// What it lacks.
    pub why: String,
}

impl Results {
    /// Adds the games of a file, of one form only if one is given.
    pub fn read(&mut self, path: &Path, form: Option<&str>) -> Result<(), FileError> {
        let mut games = Games::open(path)?;
        while let Some(game) = games.next_game()? {
            let text = |line| format!("the text behind its result (line {line})");
            let behind = game.behind.map(text);
            for why in self.add(&game, form).err().into_iter().chain(behind) {
                self.left_out.push(LeftOut {
                    path: path.to_owned(),
                    number: game.number,
                    line: game.line,
                    why,
                });
            }
        }
        self.files += 1;
        Ok(())
    }

    /// All encounters; games whose partner is missing count one by one.
    pub fn encounters(mut self) -> Vec<Encounter> {
        for ((_, names, _), half) in self.halves.drain() {
            encounter(&mut self.encounters, names).add_game(half.moves_first, half.score);
        }
        self.encounters.into_values().collect()
    }

    fn add(&mut self, game: &RecordedGame, form: Option<&str>) -> Result<(), String> {
        let player = |name: &str| match game.tag(name).map(str::trim) {
            None | Some("" | "?") => Err(format!("no player in the tag {name}")),
            Some(player) => Ok(player.to_owned()),
        };
        let (red, black) = (player("Red")?, player("Black")?);
        if red == black {
            return Err(format!("{red} plays against itself"));
        }
        let outcome = match (game.outcome, &game.fault) {
            (Some(outcome), _) => outcome,
            (None, Some(fault)) => return Err(fault.clone()),
            (None, None) => return Err("no result".to_owned()),
        };
        let played = game.tag("Variant").unwrap_or(USUAL_FORM);
        self.forms.insert(played.to_owned());
        if form.is_some_and(|form| form != played) {
            return Ok(());
        }
        let moves_first = red < black;
        let score = match (outcome, moves_first) {
            (Outcome::Draw, _) => GameScore::Draw,
            (Outcome::Win(Color::Red), true) | (Outcome::Win(Color::Black), false) => {
                GameScore::Win
            }
            _ => GameScore::Loss,
        };
        let names = if moves_first {
            [red, black]
        } else {
            [black, red]
        };
        self.count(names, pair(game), Half { moves_first, score });
        self.games += 1;
        Ok(())
    }

    fn count(&mut self, names: [String; 2], pair: Option<&str>, half: Half) {
        let Some(pair) = pair else {
            encounter(&mut self.encounters, names).add_game(half.moves_first, half.score);
            return;
        };
        let key = (self.files, names.clone(), pair.to_owned());
        match self.halves.remove(&key) {
            Some(other) if other.moves_first != half.moves_first => {
                let games = encounter(&mut self.encounters, names);
                match half.moves_first {
                    true => games.add_pair(half.score, other.score),
                    false => games.add_pair(other.score, half.score),
                }
            }
            Some(other) => {
                encounter(&mut self.encounters, names).add_game(other.moves_first, other.score);
                self.halves.insert(key, half);
            }
            None => drop(self.halves.insert(key, half)),
        }
    }
}

fn encounter(all: &mut BTreeMap<[String; 2], Encounter>, names: [String; 2]) -> &mut Encounter {
    let none = Encounter::new(&names[0], &names[1]);
    all.entry(names).or_insert(none)
}

/// The number of the pair that a game of `fanqi arena` belongs to.
fn pair(game: &RecordedGame) -> Option<&str> {
    let ours = game.tag("Event") == Some(pgn::EVENT);
    let round = game.tag("Round").filter(|_| ours)?;
    Some(round.split_once('.')?.0)
}
