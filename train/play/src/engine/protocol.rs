//! The two protocols behind one face.
use selfplay::rules::Ranks;

use super::command::Command;
use super::options::{Kind, Options};
use super::report::Info;
use super::{ucci, uci};

/// Longest stretch of another's text that is repeated in an answer.
const QUOTED: usize = 200;
/// Longest remark, in characters.
const LONGEST_NOTE: usize = 1000;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// UCI.
    Uci,
    /// UCCI.
    Ucci,
}

impl Protocol {
    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Uci => "UCI",
            Protocol::Ucci => "UCCI",
        }
    }

    /// The protocol of a program whose first line this is: UCCI if that is `ucci`, else UCI.
    pub fn greeted(line: &[u8]) -> Protocol {
        match line.trim_ascii() {
            b"ucci" => Protocol::Ucci,
            _ => Protocol::Uci,
        }
    }

    /// Reads a line.
    pub(super) fn parse(self, line: &str, options: &Options) -> Command {
        match self {
            Protocol::Uci => uci::parse(line),
            Protocol::Ucci => ucci::parse(line, if options.millisec { 1 } else { 1000 }),
        }
    }

    /// The words that end the answer to [`Command::Hello`].
    pub(super) fn ok(self) -> &'static str {
        match self {
            Protocol::Uci => "uciok",
            Protocol::Ucci => "ucciok",
        }
    }

    /// An option as it is declared.
    pub(super) fn declare(self, name: &str, kind: &Kind) -> String {
        match self {
            Protocol::Uci => uci::declare(name, kind),
            Protocol::Ucci => ucci::declare(&ucci::option(name), kind),
        }
    }

    /// Words for people, on one line whatever they quote.
    pub(super) fn note(self, text: &str) -> String {
        let plain = |c: char| if c.is_control() { '?' } else { c };
        let text: String = text.chars().map(plain).take(LONGEST_NOTE).collect();
        match self {
            Protocol::Uci => format!("info string {text}"),
            Protocol::Ucci => format!("info message {text}"),
        }
    }

    /// A line of analysis.
    pub(super) fn info(self, info: &Info) -> String {
        match self {
            Protocol::Uci => uci::info(info),
            Protocol::Ucci => ucci::info(info),
        }
    }

    /// The answer to `go`: a move and the reply to think about, or none.
    pub(super) fn best(self, best: Option<(&str, Option<&str>)>) -> String {
        match self {
            Protocol::Uci => uci::best(best),
            Protocol::Ucci => ucci::best(best),
        }
    }

    /// The last line.
    pub(super) fn bye(self) -> Option<&'static str> {
        (self == Protocol::Ucci).then_some("bye")
    }

    /// How it counts ranks.
    pub(super) fn ranks(self, options: &Options) -> Ranks {
        match self {
            Protocol::Uci => options.ranks,
            Protocol::Ucci => Ranks::FromZero,
        }
    }

    /// Its name of an option, if it has it.
    pub(super) fn option(self, name: &str) -> Option<String> {
        match (self, name) {
            (Protocol::Ucci, "UCI_ShowWDL" | "UCI_Ranks") | (Protocol::Uci, "usemillisec") => None,
            (Protocol::Uci, name) => Some(name.to_owned()),
            (Protocol::Ucci, name) => Some(ucci::option(name)),
        }
    }
}

/// Another's text, cut to what can be quoted.
pub fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
