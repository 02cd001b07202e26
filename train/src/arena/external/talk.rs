//! What is said to engines and heard from them, in either protocol.
use play::engine::Protocol;

use crate::arena::spec::Limits;

/// An option that an engine has declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The values of one that has a list of them.
    pub values: Vec<String>,
}

/// The answer to `go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Best {
    /// A move's text.
    Move(String),
    /// None.
    Nothing,
    /// It gives up.
    Resigns,
}

/// Who are you?
pub fn hello(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Uci => "uci",
        Protocol::Ucci => "ucci",
    }
}

/// The end of the answer to that.
pub fn hello_answer(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Uci => "uciok",
        Protocol::Ucci => "ucciok",
    }
}

/// A new game begins.
pub fn new_game(protocol: Protocol) -> String {
    match protocol {
        Protocol::Uci => "ucinewgame",
        Protocol::Ucci => "setoption newgame",
    }
    .to_owned()
}

/// Sets an option; without a value, presses a button.
pub fn set_option(protocol: Protocol, name: &str, value: &str) -> String {
    let space = if value.is_empty() { "" } else { " " };
    match (protocol, value) {
        (Protocol::Uci, "") => format!("setoption name {name}"),
        (Protocol::Uci, value) => format!("setoption name {name} value {value}"),
        (Protocol::Ucci, value) => format!("setoption {name}{space}{value}"),
    }
}

/// Think.
pub fn go(protocol: Protocol, limits: &Limits) -> String {
    let mut text = "go".to_owned();
    let mut add = |word: &str, number: Option<u64>| {
        if let Some(number) = number {
            text += &format!(" {word} {number}");
        }
    };
    add("nodes", limits.nodes);
    add("depth", limits.depth);
    match protocol {
        Protocol::Uci => add("movetime", limits.move_ms),
        // UCCI knows clocks only: this is the last move of one.
        Protocol::Ucci => {
            add("time", limits.move_ms);
            add("movestogo", limits.move_ms.map(|_| 1));
        }
    }
    text
}

/// The option that a line declares.
pub fn declared(protocol: Protocol, line: &str) -> Option<Declared> {
    let mut words = line.split_whitespace();
    let mut next = |word: &str| words.next().filter(|found| *found == word);
    next("option")?;
    if protocol == Protocol::Uci {
        next("name")?;
    }
    let rest: Vec<_> = words.collect();
    let kind = rest.iter().position(|word| *word == "type")?;
    let values = rest[kind..].split(|word| *word == "var").skip(1);
    Some(Declared {
        name: rest[..kind].join(" "),
        values: values.map(|words| words.join(" ")).collect(),
    })
}

/// The answer to `go` that a line is.
pub fn best(line: &str) -> Option<Best> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "nobestmove" => Some(Best::Nothing),
        "bestmove" => Some(match words.next() {
            None | Some("(none)" | "0000" | "NULL") => Best::Nothing,
            Some("resign") => Best::Resigns,
            Some(_) if words.clone().any(|word| word == "resign") => Best::Resigns,
            Some(text) => Best::Move(text.to_owned()),
        }),
        _ => None,
    }
}
