//! Writing a player as text.
use std::fmt::{self, Display};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use play::engine::Protocol;
use selfplay::mcts::RootKind;
use selfplay::rules::Ranks;

use super::{EngineSpec, Limits, NetworkSpec, OPTION, PlayerSpec, USUAL_TIMEOUT, Who};
use crate::arena::Arrangement;

/// What is written as `%XX` in front of the keys.
const IN_WHO: &AsciiSet = &CONTROLS.add(b'%').add(b'?');
/// In an argument of an engine.
const IN_ARGUMENT: &AsciiSet = &IN_WHO.add(b' ');
/// In a value.
const IN_VALUE: &AsciiSet = &CONTROLS.add(b'%').add(b'&');
/// In a key.
const IN_KEY: &AsciiSet = &IN_VALUE.add(b'=');

impl EngineSpec {
    /// The program and its arguments, as they are written.
    pub fn command(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        let words: Vec<_> = words
            .map(|word| utf8_percent_encode(word, IN_ARGUMENT).to_string())
            .collect();
        words.join(" ")
    }
}

/// The player as a text that is read as the same player.
impl Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.who.to_string();
        f.write_str(&who)?;
        if who == self.name {
            return Ok(());
        }
        let sign = if who.contains('?') { '&' } else { '?' };
        write!(
            f,
            "{sign}name={}",
            utf8_percent_encode(&self.name, IN_VALUE)
        )
    }
}

impl Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = match self {
            Who::Builtin(builtin) => return write!(f, "{builtin}"),
            Who::Network(net) => {
                let path = net.path.to_string_lossy();
                write!(f, "{}", utf8_percent_encode(&path, IN_WHO))?;
                net.keys()
            }
            Who::Engine(engine) => {
                write!(f, "engine:{}", engine.command())?;
                engine.keys()
            }
        };
        let mut sign = '?';
        for (key, value) in &keys {
            let (key, value) = (
                utf8_percent_encode(key, IN_KEY),
                utf8_percent_encode(value, IN_VALUE),
            );
            write!(f, "{sign}{key}={value}")?;
            sign = '&';
        }
        Ok(())
    }
}

type Keys = Vec<(String, String)>;

/// A key, if it has a value.
fn key(name: &str, value: Option<impl Display>) -> Option<(String, String)> {
    Some((name.to_owned(), value?.to_string()))
}

impl NetworkSpec {
    fn keys(&self) -> Keys {
        let keys = [
            key("step", self.step),
            key("level", self.level),
            key("visits", self.visits),
            key("temperature", self.temperature),
            key("arrangement", self.arrangement),
            key("root", self.root.map(root_name)),
        ];
        keys.into_iter().flatten().collect()
    }
}

impl EngineSpec {
    fn keys(&self) -> Keys {
        let Limits {
            nodes,
            depth,
            move_ms,
        } = self.limits;
        let timeout = Some(self.timeout.as_secs_f64()).filter(|_| self.timeout != USUAL_TIMEOUT);
        let keys = [
            key("nodes", nodes),
            key("depth", depth),
            key("movetime", move_ms),
            key("timeout", timeout),
            key("protocol", protocol_name(self.protocol)),
            key("ranks", self.ranks.map(ranks_name)),
        ];
        let option = |(name, value): &(String, String)| (format!("{OPTION}{name}"), value.clone());
        let options = self.options.iter().map(option);
        keys.into_iter().flatten().chain(options).collect()
    }
}

/// `None` for the one that is meant if nothing is said.
fn protocol_name(protocol: Protocol) -> Option<&'static str> {
    match protocol {
        Protocol::Uci => None,
        Protocol::Ucci => Some("ucci"),
    }
}

impl Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrangement::Searched { temperature } => write!(f, "{temperature}"),
            Arrangement::Random => f.write_str("random"),
        }
    }
}

fn root_name(root: RootKind) -> &'static str {
    match root {
        RootKind::Gumbel => "gumbel",
        RootKind::Puct => "puct",
    }
}

fn ranks_name(ranks: Ranks) -> &'static str {
    match ranks {
        Ranks::FromZero => "0-9",
        Ranks::FromOne => "1-10",
    }
}
