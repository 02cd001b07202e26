//! What `state.json` holds.
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::SystemTime;

use selfplay::game::{Color, Outcome};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::atomic::FileError;
use crate::games::GameText;
use crate::pipeline::Calibration;
use crate::replay::{ReplayBucket, RowTotals};

/// Version of `state.json`.
pub const STATE_VERSION: u32 = 2;

/// What a run has committed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// [`STATE_VERSION`].
    pub version: u32,
    /// Names the run apart from all others; its samples, games and checkpoints carry it.
    pub run: String,
    /// Name of the form.
    pub form: String,
    /// Seed of the run.
    pub seed: u64,
    /// Seconds that the run has worked, over all its processes.
    pub elapsed_seconds: f64,
    /// A process works on the run, or was killed while it did.
    pub working: bool,
    /// Self-play, as of the last commit of games.
    pub selfplay: SelfplayState,
    /// Training, as of the last checkpoint.
    pub training: TrainingState,
    /// What played-out games say of resigning.
    pub calibration: Calibration,
}

/// Self-play, as of the last commit of games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfplayState {
    /// Shards, and files of games: numbers 1..=this are committed.
    pub commits: u64,
    /// Id that the next game to be started gets; above those of all committed games.
    pub next_game_id: u64,
    /// Finished games.
    pub games: u64,
    /// Games that Red won.
    pub red_wins: u64,
    /// Games that Black won.
    pub black_wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Plies of all games.
    pub plies: u64,
    /// Games played out although one side would have resigned.
    pub resignations_played_out: u64,
    /// Those among them that this side did not lose.
    pub resignations_wrong: u64,
    /// Rows in the shards.
    pub rows: RowTotals,
}

impl SelfplayState {
    /// Counts a finished game.
    pub fn add_game(&mut self, game: &GameText) {
        self.games += 1;
        self.plies += game.moves.len() as u64;
        match game.ending.outcome {
            Outcome::Win(Color::Red) => self.red_wins += 1,
            Outcome::Win(Color::Black) => self.black_wins += 1,
            Outcome::Draw => self.draws += 1,
        }
        if let Some((side, _)) = game.would_resign {
            self.resignations_played_out += 1;
            self.resignations_wrong += u64::from(game.ending.outcome != Outcome::Win(side.other()));
        }
    }
}

/// Training, as of the last checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingState {
    /// Training step of the last checkpoint; a file of that number exists unless it is 0.
    pub step: u64,
    /// Rows trained up to it.
    pub rows_trained: u64,
    /// Checkpoints written, the first one not counted.
    pub checkpoints: u64,
    /// Rows that may be trained.
    pub bucket: ReplayBucket,
}

impl State {
    /// A run that has done nothing, with a name drawn at random.
    pub fn new(form: &str, seed: u64) -> Self {
        State {
            version: STATE_VERSION,
            run: format!("{:016x}", RandomState::new().hash_one(SystemTime::now())),
            form: form.to_string(),
            seed,
            elapsed_seconds: 0.0,
            working: false,
            selfplay: SelfplayState::default(),
            training: TrainingState::default(),
            calibration: Calibration::default(),
        }
    }
}

/// The largest count that a state may hold: far above any run, far below what could overflow.
const COUNT_MAX: u64 = 1 << 53;
/// Seconds in a thousand years.
const SECONDS_MAX: f64 = 3.2e10;

/// Reads `state.json`; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<State>, FileError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(FileError::io(path, "reading", e)),
    };
    parse(&text)
        .map(Some)
        .map_err(|e| FileError::content(path, e))
}

/// The state in `text`, or which field of it is wrong and what to do.
fn parse(text: &[u8]) -> Result<State, String> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let bad = |e: String| {
        format!(
            "not a run's state: {e}; put a good copy of it back, or start a new run with --run DIR"
        )
    };
    let Version { version } = from_json(text).map_err(bad)?;
    if version != STATE_VERSION {
        return Err(format!(
            "state of version {version}, this build reads {STATE_VERSION}: go on with the build that wrote it, or start a new run with --run DIR"
        ));
    }
    let state: State = from_json(text).map_err(bad)?;
    state.check().map_err(bad)?;
    Ok(state)
}

/// Reads JSON; the error starts with the field's path.
fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|e| e.to_string())?;
    json.end().map_err(|e| e.to_string())?;
    Ok(value)
}

impl State {
    /// What the types alone do not say; the error names the field.
    fn check(&self) -> Result<(), String> {
        let SelfplayState { games, .. } = self.selfplay;
        let value = serde_json::to_value(self).map_err(|e| e.to_string())?;
        for table in ["selfplay", "training"] {
            check_counts(table, &value[table])?;
        }
        if !(0.0..=SECONDS_MAX).contains(&self.elapsed_seconds) {
            return Err(format!(
                "elapsed_seconds: {}, expected 0..={SECONDS_MAX}",
                self.elapsed_seconds
            ));
        }
        let ended = self.selfplay.red_wins + self.selfplay.black_wins + self.selfplay.draws;
        if ended != games {
            return Err(format!(
                "selfplay.games: {games}, expected {ended}, the sum of wins and draws"
            ));
        }
        Ok(())
    }
}

/// Whether every number in `value` is a count that leaves room to count on.
fn check_counts(name: &str, value: &Value) -> Result<(), String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .try_for_each(|(key, value)| check_counts(&format!("{name}.{key}"), value)),
        Value::Number(n) if n.as_u64().is_none_or(|n| n > COUNT_MAX) => {
            Err(format!("{name}: {n}, expected 0..={COUNT_MAX}"))
        }
        _ => Ok(()),
    }
}
