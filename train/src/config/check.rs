//! What a range cannot say: of one key alone, and of keys together.
use std::fmt::Display;

use selfplay::rules::Position;

use super::Config;
use crate::forms::{self, Forms};
use crate::ladder::ANCHOR;

/// Longest openings that are counted; there are more than [`ArenaConfig::games`] of longer ones.
///
/// [`ArenaConfig::games`]: crate::arena::ArenaConfig::games
const COUNTED_PLIES: u16 = 3;

/// What is wrong with `key`, whatever the other keys are.
pub(super) fn alone(config: &Config, key: &str) -> Result<(), String> {
    match key {
        "ruleset.base" => forms::by_name(&config.ruleset.base).map(drop),
        "ruleset.forms" => Forms::of(&config.ruleset).map(drop),
        "arena.opponents" => each_once(&config.arena.opponents),
        "ladder.opponents" if !config.ladder.opponents.contains(&ANCHOR) => Err(format!(
            "`{ANCHOR}` must be among them: its Elo is 0, and all others are measured against it"
        )),
        "ladder.opponents" => each_once(&config.ladder.opponents),
        "pretrain.shards" => each_once(&config.pretrain.shards),
        "arena.games" => even(config.arena.games),
        "ladder.games" => even(config.ladder.games),
        _ => Ok(()),
    }
}

/// Refuses an odd number of games.
fn even(games: u32) -> Result<(), String> {
    match games.is_multiple_of(2) {
        true => Ok(()),
        false => Err("must be even: every opening is played twice".to_owned()),
    }
}

/// Refuses a list that names something twice.
fn each_once<T: Display + PartialEq>(all: &[T]) -> Result<(), String> {
    match (1..all.len()).find(|&i| all[..i].contains(&all[i])) {
        Some(i) => Err(format!("`{}` is named twice; once is enough", all[i])),
        None => Ok(()),
    }
}

/// Keys that contradict each other.
pub(super) struct Conflict {
    /// The keys.
    pub keys: Vec<&'static str>,
    /// What must hold between them.
    pub law: String,
}

/// The first contradiction between keys.
pub(super) fn together(config: &Config) -> Result<(), Conflict> {
    let (selfplay, replay) = (&config.selfplay, &config.replay);
    let (optim, arena) = (&config.optim, &config.arena);
    let burst = replay.burst_rows;
    let capped = |cap: u16, opening: u16| cap > 0 && cap <= opening;
    let laws: [(bool, &[&'static str], &str); 8] = [
        (
            selfplay.fast_visits <= selfplay.visits,
            &["selfplay.fast_visits", "selfplay.visits"],
            "a fast search may not have more visits than a full one",
        ),
        (
            !capped(selfplay.ply_cap, selfplay.opening_plies),
            &["selfplay.ply_cap", "selfplay.opening_plies"],
            "a game must not be cut within its opening, or it gives no row",
        ),
        (
            replay.min_rows <= replay.max_rows,
            &["replay.min_rows", "replay.max_rows"],
            "the window may not start larger than it can become",
        ),
        (
            burst == 0 || burst as f64 >= replay.ratio * config.samples.shard_rows as f64,
            &["replay.burst_rows", "replay.ratio", "samples.shard_rows"],
            "the first must be 0 or at least the product of the others, the training that one shard allows",
        ),
        (
            burst == 0 || burst >= optim.batch_rows.into(),
            &["replay.burst_rows", "optim.batch_rows"],
            "the first must be 0 or at least the second, or no batch could ever be trained",
        ),
        (
            optim.decay_rows == 0 || optim.decay_rows > optim.warmup_rows,
            &["optim.decay_rows", "optim.warmup_rows"],
            "the decay must be 0 or end after the warm-up",
        ),
        (
            optim.policy_weight + optim.value_weight > 0.0,
            &["optim.policy_weight", "optim.value_weight"],
            "one of them must be above 0, or nothing that plays is trained",
        ),
        (
            !capped(arena.ply_cap, arena.opening_plies),
            &["arena.ply_cap", "arena.opening_plies"],
            "a game must not be cut within its opening, or every game is a draw",
        ),
    ];
    match laws.into_iter().find(|(holds, ..)| !holds) {
        Some((_, keys, law)) => Err(Conflict {
            keys: keys.to_vec(),
            law: law.to_owned(),
        }),
        None => enough_openings(config),
    }
}

/// Deterministic players repeat a game from the same opening, which would narrow the interval falsely; with at
/// least two openings for each pair of games, draws do not run out of new ones.
fn enough_openings(config: &Config) -> Result<(), Conflict> {
    let plies = config.arena.opening_plies;
    let Ok(forms) = Forms::of(&config.ruleset) else {
        return Ok(());
    };
    let counted = forms.rules().filter(|_| plies <= COUNTED_PLIES);
    let openings = counted.map(|rules| Position::start(rules).perft(plies.into()));
    let Some(openings) = openings.min() else {
        return Ok(());
    };
    let ladder = match config.ladder.every_checkpoints {
        0 => 0,
        _ => config.ladder.games,
    };
    let games = [
        ("arena.games", config.arena.games),
        ("ladder.games", ladder),
    ];
    match games.into_iter().find(|&(_, n)| u64::from(n) > openings) {
        Some((key, _)) => Err(Conflict {
            keys: vec![key, "arena.opening_plies"],
            law: format!(
                "so few plies make {openings} openings, and games would repeat; take at most as many games, or more plies"
            ),
        }),
        None => Ok(()),
    }
}
