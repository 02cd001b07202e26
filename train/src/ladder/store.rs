//! The folder in which a run's ladder is kept.
//!
//! ```text
//! ladder.json   what stands on it, and how its players search
//! FORM.pgn      every finished game of a form
//! FORM.json     its rating list, made of these games
//! ```
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use selfplay::rules::Ruleset;
use serde::{Deserialize, Serialize};

use super::list::Outcome;
use super::schedule::{Meeting, Player, Rung, players};
use crate::arena::PlayedGame;
use crate::atomic::{self, FileError};
use crate::forms::Forms;
use crate::tournament::file::{self, GamesFile, OpenedGames};
use crate::tournament::pgn;
use crate::tournament::store::{self, Settings};

const ROSTER: &str = "ladder.json";
const VERSION: u32 = 1;
const NEW_LADDER: &str =
    "put the run's own back, or take the folder away: a new ladder begins then";

/// `ladder.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Roster {
    version: u32,
    /// Name of the run.
    run: String,
    settings: Settings,
    /// Ascending by training step.
    rungs: Vec<Rung>,
}

/// The games of a form.
struct Course {
    rules: &'static Ruleset,
    /// Missing as long as no checkpoint plays the form.
    file: Option<GamesFile>,
    outcomes: HashMap<[Player; 2], Vec<Outcome>>,
}

/// A ladder's folder, whose run this process has locked.
pub struct Store {
    folder: PathBuf,
    roster: Roster,
    courses: Vec<Course>,
}

impl Store {
    /// Opens `folder`, or begins a new ladder, for a run that has come to training step `last`: what is beyond it is dropped. A ladder whose players
    /// searched otherwise is put aside. Returns a line for people for each thing dropped, too.
    pub fn open(
        folder: &Path,
        run: &str,
        settings: &Settings,
        forms: &Forms,
        last: u64,
    ) -> anyhow::Result<(Store, Vec<String>)> {
        let mut said = Vec::new();
        let known = known(folder, run, settings, &mut said)?;
        let mut store = Store {
            folder: folder.to_path_buf(),
            roster: known.unwrap_or_else(|| Roster {
                version: VERSION,
                run: run.to_owned(),
                settings: settings.clone(),
                rungs: Vec::new(),
            }),
            courses: Vec::new(),
        };
        if let Some(line) = store.drop_beyond(last, forms)? {
            said.push(line);
        }
        for rules in forms.rules() {
            let (course, dropped) = store.course(rules)?;
            store.courses.push(course);
            if dropped > 0 {
                said.push(format!(
                    "ladder/{}.pgn: dropped a half game at its end ({dropped} bytes)",
                    rules.name
                ));
            }
        }
        Ok((store, said))
    }

    /// Drops the checkpoints beyond training step `last`, with their games; says so.
    fn drop_beyond(&mut self, last: u64, forms: &Forms) -> anyhow::Result<Option<String>> {
        let all = self.roster.rungs.clone();
        self.roster.rungs.retain(|rung| rung.step <= last);
        let lost = all.len() - self.roster.rungs.len();
        if lost == 0 {
            return Ok(None);
        }
        for rules in forms.rules() {
            let path = self.games_path(rules.name);
            let names = names(&all, rules.name);
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let left: BTreeSet<_> = self::names(&self.roster.rungs, rules.name)
                .into_iter()
                .collect();
            let games = file::read(&path, rules, &names, usize::MAX).with_context(unusable)?;
            let texts: Vec<_> = (games.iter())
                .map(|kept| (kept.players.map(|player| names[player]), &kept.game))
                .filter(|(players, _)| players.iter().all(|&name| left.contains(name)))
                .map(|(players, game)| pgn::text(rules, players, game))
                .collect::<Result<_, _>>()?;
            if texts.len() < games.len() {
                atomic::write(&path, |out| out.write_all(texts.concat().as_bytes()))?;
            }
        }
        self.write()?;
        Ok(Some(format!(
            "dropped from the ladder: what stood beyond step {last} ({lost} of {} checkpoints), with its games",
            all.len()
        )))
    }

    /// The games of a form, and bytes of a half one that were cut off.
    fn course(&self, rules: &'static Ruleset) -> anyhow::Result<(Course, usize)> {
        let mut course = Course {
            rules,
            file: None,
            outcomes: HashMap::new(),
        };
        let players = players(&self.roster.rungs, rules.name);
        if players.is_empty() {
            return Ok((course, 0));
        }
        let names = names(&self.roster.rungs, rules.name);
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let path = self.games_path(rules.name);
        let OpenedGames {
            file,
            games,
            dropped,
        } = GamesFile::open(&path, rules, &names, usize::MAX).with_context(unusable)?;
        for kept in games {
            let both = kept.players.map(|place| players[place]);
            let outcomes = course.outcomes.entry(both).or_default();
            outcomes.push(Outcome::of(&kept.game));
        }
        course.file = Some(file);
        Ok((course, dropped))
    }

    /// What stands on the ladder, ascending by training step.
    pub fn rungs(&self) -> &[Rung] {
        &self.roster.rungs
    }

    /// Adds a checkpoint of a later step than all others.
    pub fn add(&mut self, rung: Rung) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)
            .map_err(|e| FileError::io(&self.folder, "creating the folder", e))?;
        let place = self.place(&rung.form)?;
        self.roster.rungs.push(rung);
        if let Err(error) = self.write() {
            self.roster.rungs.pop();
            return Err(error.into());
        }
        if self.courses[place].file.is_none() {
            (self.courses[place], _) = self.course(self.courses[place].rules)?;
        }
        Ok(())
    }

    /// Takes a match of a checkpoint off the ladder; what is played of it stays.
    pub fn remove(&mut self, meeting: &Meeting) -> Result<(), FileError> {
        let own = Player::Step(meeting.rung);
        let other = meeting.players.into_iter().find(|&player| player != own);
        for rung in &mut self.roster.rungs {
            if rung.step == meeting.rung {
                rung.dropped.extend(other);
            }
        }
        self.write()
    }

    /// Keeps a game of a match.
    pub fn keep(&self, form: &str, meeting: &Meeting, game: &PlayedGame) -> anyhow::Result<()> {
        let course = &self.courses[self.place(form)?];
        let file = course.file.as_ref();
        let file = file.with_context(|| format!("no checkpoint plays {form} on the ladder"))?;
        let [first, second] = meeting.players.map(|player| player.to_string());
        Ok(file.append(course.rules, [&first, &second], game)?)
    }

    /// Counts kept games of a match.
    pub fn count(
        &mut self,
        form: &str,
        meeting: &Meeting,
        games: Vec<Outcome>,
    ) -> anyhow::Result<()> {
        let place = self.place(form)?;
        let outcomes = self.courses[place].outcomes.entry(meeting.players);
        outcomes.or_default().extend(games);
        Ok(())
    }

    /// What two players' games in a form brought, seen from the first of a [`Meeting`].
    pub fn outcomes(&self, form: &str, players: [Player; 2]) -> &[Outcome] {
        let course = self.courses.iter().find(|course| course.rules.name == form);
        let found = course.and_then(|course| course.outcomes.get(&players));
        found.map_or(&[], Vec::as_slice)
    }

    /// All matches of a form that have games, in any order.
    pub fn matches(&self, form: &str) -> impl Iterator<Item = ([Player; 2], &[Outcome])> {
        let course = (self.courses.iter()).filter(move |course| course.rules.name == form);
        let all = course.flat_map(|course| &course.outcomes);
        all.map(|(&players, outcomes)| (players, outcomes.as_slice()))
    }

    fn place(&self, form: &str) -> anyhow::Result<usize> {
        let found = self.courses.iter().position(|c| c.rules.name == form);
        found.with_context(|| format!("{form} is no form of the run"))
    }

    fn games_path(&self, form: &str) -> PathBuf {
        self.folder.join(format!("{form}.pgn"))
    }

    fn write(&self) -> Result<(), FileError> {
        atomic::write(&self.folder.join(ROSTER), |out| {
            serde_json::to_writer_pretty(&mut *out, &self.roster)?;
            out.write_all(b"\n")
        })
    }
}

/// Where the rating list of a form is, in the ladder's folder.
pub fn list_path(folder: &Path, form: &str) -> PathBuf {
    folder.join(format!("{form}.json"))
}

fn unusable() -> String {
    format!("the ladder's games cannot be used ({NEW_LADDER})")
}

fn names(rungs: &[Rung], form: &str) -> Vec<String> {
    let players = players(rungs, form);
    players.iter().map(ToString::to_string).collect()
}

/// The roster in `folder`, if its ladder is the run's and goes on; `said` gets a line for each thing dropped or put aside.
fn known(
    folder: &Path,
    run: &str,
    settings: &Settings,
    said: &mut Vec<String>,
) -> anyhow::Result<Option<Roster>> {
    if folder.is_dir() {
        let ours = |name: &str| name.ends_with(".json") || name.ends_with(".pgn");
        for name in atomic::remove_temps(folder, ours)? {
            said.push(format!("dropped ladder/{name}: unfinished file"));
        }
    }
    let Some(roster) = read(folder)? else {
        return Ok(None);
    };
    ensure!(
        roster.run == run,
        "{}: the ladder of another run ({}, this one is {run}); {NEW_LADDER}",
        folder.display(),
        roster.run
    );
    if roster.settings == *settings {
        return Ok(Some(roster));
    }
    let aside = set_aside(folder)?;
    said.push(format!(
        "the ladder's players search otherwise now ({}), so a new ladder begins; the old one is {}",
        changes(&roster.settings, settings),
        aside.display()
    ));
    Ok(None)
}

/// The roster in `folder`; `None` without a ladder.
fn read(folder: &Path) -> anyhow::Result<Option<Roster>> {
    let path = folder.join(ROSTER);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let is_empty = !folder.is_dir() || atomic::names(folder)?.is_empty();
            ensure!(
                is_empty,
                "{}: {ROSTER} is missing in this folder; {NEW_LADDER}",
                folder.display()
            );
            return Ok(None);
        }
        Err(e) => return Err(FileError::io(&path, "reading", e).into()),
    };
    let bad = |why: String| FileError::content(&path, format!("{why}; {NEW_LADDER}"));
    let roster: Roster =
        serde_json::from_slice(&text).map_err(|e| bad(format!("not a ladder's roster: {e}")))?;
    if roster.version != VERSION {
        let version = roster.version;
        return Err(bad(format!(
            "roster of version {version}, this build reads {VERSION}"
        ))
        .into());
    }
    if !roster.rungs.is_sorted_by(|a, b| a.step < b.step) {
        return Err(bad("rungs: expected ascending steps".to_owned()).into());
    }
    Ok(Some(roster))
}

/// Renames the folder of a ladder that is over; its new name.
fn set_aside(folder: &Path) -> Result<PathBuf, FileError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut free = (1u32..).map(|n| folder.with_file_name(format!("{name}-{n}")));
    let aside = free.find(|path| !path.exists()).unwrap_or_default();
    fs::rename(folder, &aside).map_err(|e| FileError::io(folder, "renaming the folder", e))?;
    Ok(aside)
}

/// What differs, for people.
fn changes(old: &Settings, new: &Settings) -> String {
    let show = |value: Option<&String>| value.map_or("none".to_owned(), Clone::clone);
    let all: Vec<_> = store::changes(old, new)
        .map(|(key, [old, new])| format!("{key}: {} -> {}", show(old), show(new)))
        .collect();
    all.join(", ")
}
