//! UCI, the Universal Chess Interface (Meyer-Kahlen 2006), as engines of Xiangqi speak it.
use super::command::{Command, Go, Words};
use super::options::{self, Kind};
use super::report::{Info, Score};

/// The words that end a list of moves in `go`.
const GO: [&str; 12] = [
    "infinite",
    "ponder",
    "searchmoves",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "movetime",
    "mate",
];

/// Reads a line.
pub fn parse(line: &str) -> Command {
    let mut words = Words::of(line);
    match words.next() {
        None => Command::Nothing,
        Some("uci") => Command::Hello,
        Some("isready") => Command::Ready,
        Some("ucinewgame") => Command::NewGame,
        Some("setoption") => set_option(&mut words),
        Some("position") => Command::Position(words.position()),
        Some("go") => Command::Go(Box::new(go(&mut words))),
        Some("stop") => Command::Stop,
        Some("ponderhit") => Command::PonderHit,
        Some("d") => Command::Show,
        Some("quit") => Command::Quit,
        Some(word) => Command::Unknown(format!("unknown command '{word}'")),
    }
}

fn set_option(words: &mut Words) -> Command {
    if words.next() != Some("name") {
        let why = "setoption: expected name NAME, then perhaps value VALUE";
        return Command::Unknown(why.to_owned());
    }
    let name = words.until(&["value"]).join(" ");
    let value = words.next().map(|_| words.until(&[]).join(" "));
    Command::SetOption { name, value }
}

fn go(words: &mut Words) -> Go {
    let (mut go, mut complaints) = (Go::default(), Vec::new());
    while let Some(word) = words.next() {
        let mut number = || words.number(word, &mut complaints);
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "wtime" => go.clock_ms[0] = Some(number()),
            "btime" => go.clock_ms[1] = Some(number()),
            "winc" => go.increment_ms[0] = number(),
            "binc" => go.increment_ms[1] = number(),
            "movestogo" => go.moves_to_go = Some(number()),
            "depth" => go.depth = Some(number()),
            "nodes" => go.nodes = Some(number()),
            "movetime" => go.move_ms = Some(number()),
            "mate" => {
                number();
                let why = "go mate: a tree search looks for no mate of a length; without another limit it goes on until stop";
                complaints.push(why.to_owned());
            }
            "searchmoves" => go.only = words.until(&GO),
            _ => complaints.push(format!("go: '{word}' is not understood; ignored")),
        }
    }
    go.complaints = complaints;
    go
}

/// An option as it is declared.
pub fn declare(name: &str, kind: &Kind) -> String {
    format!("option name {name} type {}", options::describe(kind))
}

/// A line of analysis.
pub fn info(info: &Info) -> String {
    let score = match info.score {
        Score::Cp(cp) => format!("cp {cp}"),
        Score::Mate(moves) => format!("mate {moves}"),
    };
    let wdl = match info.wdl {
        Some([win, draw, loss]) => format!(" wdl {win} {draw} {loss}"),
        None => String::new(),
    };
    format!(
        "info depth {} seldepth {} multipv {} score {score}{wdl} nodes {} nps {} time {} pv {}",
        info.depth, info.seldepth, info.rank, info.nodes, info.nps, info.time_ms, info.pv
    )
}

/// The answer to `go`; without a move: the game is over, or there is no position.
pub fn best(best: Option<(&str, Option<&str>)>) -> String {
    match best {
        None => "bestmove (none)".to_owned(),
        Some((mv, None)) => format!("bestmove {mv}"),
        Some((mv, Some(ponder))) => format!("bestmove {mv} ponder {ponder}"),
    }
}
