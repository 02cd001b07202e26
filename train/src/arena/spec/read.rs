//! Reading a player's text.
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use play::engine::Protocol;
use selfplay::mcts::RootKind;
use selfplay::opponent::Builtin;
use selfplay::rules::Ranks;

use super::{EngineSpec, Limits, NetworkSpec, OPTION, PlayerSpec, SpecError, USUAL_TIMEOUT, Who};
use crate::arena::Arrangement;

/// Longest name, in characters.
const LONGEST_NAME: usize = 200;
/// Of a network's visits.
const VISITS: RangeInclusive<u32> = 1..=100_000;
/// Of a level's number.
const LEVEL: RangeInclusive<u32> = 1..=1000;
/// Of any temperature.
const TEMPERATURE: RangeInclusive<f32> = 0.0..=10.0;
/// Seconds for an engine's answer.
const TIMEOUT: RangeInclusive<f64> = 0.01..=86_400.0;
/// Of a network, beside `name` and `level`.
const NETWORK_KEYS: [&str; 5] = ["step", "visits", "temperature", "arrangement", "root"];
/// Of an engine, beside `name`.
const KEYS: [&str; 8] = [
    "nodes",
    "depth",
    "movetime",
    "timeout",
    "protocol",
    "ranks",
    "skill",
    "option.NAME",
];
/// The option that the key `skill` sets.
const SKILL: &str = "Skill Level";

/// The keys of a text, each of which is taken once.
struct Keys(Vec<(String, String)>);

impl Keys {
    fn of(text: &str) -> Result<Keys, String> {
        let mut keys: Vec<(String, String)> = Vec::new();
        for part in text.split('&') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}`: expected KEY=VALUE"))?;
            let key = decode(key)?;
            if keys.iter().any(|(known, _)| *known == key) {
                return Err(format!("`{key}` is given twice"));
            }
            keys.push((key, decode(value)?));
        }
        Ok(Keys(keys))
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(known, _)| known == key)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(at).1)
    }

    /// The value of `key` as `read` reads it.
    fn read<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        match read(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("`{key}={text}`: expected {expected}")),
        }
    }

    /// A number within a range.
    fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        key: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, String> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let within = |text: &str| {
            text.parse::<T>()
                .ok()
                .filter(|number| range.contains(number))
        };
        self.read(key, &expected, within)
    }

    /// Refuses what is left; `known`: the keys of such a player beside `name`.
    fn end(self, known: &[&str]) -> Result<(), String> {
        match self.0.first() {
            Some((key, _)) => {
                let known = [known, &["name"]].concat().join(", ");
                Err(format!("there is no key `{key}` here; known: {known}"))
            }
            None => Ok(()),
        }
    }
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| format!("`{text}`: its %XX are no UTF-8"))?;
    match decoded.contains('\0') {
        true => Err(format!("`{text}`: a byte 0 cannot be in it")),
        false => Ok(decoded.into_owned()),
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        parse(text).map_err(|why| SpecError {
            player: text.to_owned(),
            why,
        })
    }
}

fn parse(text: &str) -> Result<PlayerSpec, String> {
    let (who, mut keys) = match text.split_once('?') {
        Some((who, keys)) => (who, Keys::of(keys)?),
        None => (text, Keys(Vec::new())),
    };
    let name = keys.text("name");
    let who = if let Some(command) = who.strip_prefix("engine:") {
        Who::Engine(engine(command, keys)?)
    } else if is_builtin(who) {
        let builtin = who.parse::<Builtin>().map_err(|e| e.to_string())?;
        keys.end(&[])?;
        Who::Builtin(builtin)
    } else {
        Who::Network(network(who, keys)?)
    };
    let name = name.unwrap_or_else(|| text.to_owned());
    let plain = |c: char| !c.is_control() && c != '"';
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(plain) {
        return Err(format!(
            "a player's name is plain text without quotation marks, of at most {LONGEST_NAME} characters; give it one with name=…"
        ));
    }
    Ok(PlayerSpec { name, who })
}

fn is_builtin(who: &str) -> bool {
    let kind = who.split(':').next().unwrap_or_default();
    ["random", "greedy", "alphabeta"].contains(&kind)
}

/// The path, written so that it is read as one.
fn path(text: &str) -> Result<PathBuf, String> {
    let path = decode(text)?;
    let misread = is_builtin(&path) || path.starts_with("engine:");
    Ok(match misread {
        true => PathBuf::from(format!("./{path}")),
        false => PathBuf::from(path),
    })
}

fn network(who: &str, mut keys: Keys) -> Result<NetworkSpec, String> {
    if who.is_empty() {
        return Err(
            "expected random, greedy, alphabeta:D, engine:PROGRAM, or a run directory or checkpoint"
                .to_owned(),
        );
    }
    let arrangement = |text: &str| match text {
        "random" => Some(Arrangement::Random),
        _ => {
            let temperature = text
                .parse::<f32>()
                .ok()
                .filter(|t| TEMPERATURE.contains(t))?;
            Some(Arrangement::Searched { temperature })
        }
    };
    let root = |text: &str| match text {
        "gumbel" => Some(RootKind::Gumbel),
        "puct" => Some(RootKind::Puct),
        _ => None,
    };
    let other = NETWORK_KEYS.into_iter().find(|key| keys.has(key));
    let spec = NetworkSpec {
        path: path(who)?,
        step: keys.number("step", 0..=u64::MAX)?,
        level: keys.number("level", LEVEL)?,
        visits: keys.number("visits", VISITS)?,
        temperature: keys.number("temperature", TEMPERATURE)?,
        arrangement: keys.read(
            "arrangement",
            "random, or a temperature from 0 to 10",
            arrangement,
        )?,
        root: keys.read("root", "gumbel or puct", root)?,
    };
    keys.end(&[&NETWORK_KEYS[..], &["level"]].concat())?;
    if let (Some(level), Some(other)) = (spec.level, other) {
        return Err(format!(
            "`level={level}` says how the network plays, `{other}` too; leave one of them out"
        ));
    }
    Ok(spec)
}

fn engine(command: &str, mut keys: Keys) -> Result<EngineSpec, String> {
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    let program = decode(words.next().ok_or("expected engine:PROGRAM")?)?;
    let args = words.map(decode).collect::<Result<_, _>>()?;
    let protocol = |text: &str| match text {
        "uci" => Some(Protocol::Uci),
        "ucci" => Some(Protocol::Ucci),
        _ => None,
    };
    let ranks = |text: &str| match text {
        "0-9" => Some(Ranks::FromZero),
        "1-10" => Some(Ranks::FromOne),
        _ => None,
    };
    let mut spec = EngineSpec {
        program,
        args,
        protocol: keys
            .read("protocol", "uci or ucci", protocol)?
            .unwrap_or(Protocol::Uci),
        ranks: keys.read("ranks", "0-9 or 1-10", ranks)?,
        limits: Limits {
            nodes: keys.number("nodes", 1..=u64::MAX)?,
            depth: keys.number("depth", 1..=1000)?,
            move_ms: keys.number("movetime", 1..=86_400_000)?,
        },
        timeout: (keys.number("timeout", TIMEOUT)?).map_or(USUAL_TIMEOUT, Duration::from_secs_f64),
        options: Vec::new(),
    };
    spec.options = options(&mut keys)?;
    keys.end(&KEYS)?;
    if spec.limits == Limits::default() {
        return Err(
            "nothing ends its search; give nodes=, depth= or movetime= (milliseconds)".to_owned(),
        );
    }
    Ok(spec)
}

/// The engine's own options.
fn options(keys: &mut Keys) -> Result<Vec<(String, String)>, String> {
    let is_option = |key: &str| key == "skill" || key.starts_with(OPTION);
    let (options, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut keys.0)
        .into_iter()
        .partition(|(key, _)| is_option(key));
    keys.0 = rest;
    let named = |(key, value): (String, String)| {
        let name = key.strip_prefix(OPTION).unwrap_or(SKILL).trim().to_owned();
        if name.is_empty() || [&name, &value].iter().any(|t| t.contains(char::is_control)) {
            return Err(format!("`{key}`: expected option.NAME=VALUE, on one line"));
        }
        Ok((name, value))
    };
    options.into_iter().map(named).collect()
}
