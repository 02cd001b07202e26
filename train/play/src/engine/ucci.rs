//! UCCI, the Universal Chinese Chess Protocol 3.0 (象棋百科全书 xqbase.com, 2008).
use super::command::{Command, Go, Words};
use super::options::{self, Kind};
use super::report::{Info, Score};

/// A score that stands for a win in no moves; one move farther is 1 less.
const MATE_SCORE: i32 = 10_000;

/// Reads a line; `unit_ms`: the milliseconds of a unit of time, by the option `usemillisec`.
pub fn parse(line: &str, unit_ms: u64) -> Command {
    let mut words = Words::of(line);
    match words.next() {
        None => Command::Nothing,
        Some("ucci") => Command::Hello,
        Some("isready") => Command::Ready,
        Some("setoption") => set_option(&mut words),
        Some("position") => Command::Position(words.position()),
        Some("banmoves") => Command::BanMoves(words.until(&[])),
        Some("go") => Command::Go(Box::new(go(&mut words, unit_ms))),
        Some("stop") => Command::Stop,
        Some("ponderhit") => Command::PonderHit,
        Some("d") => Command::Show,
        Some("quit") => Command::Quit,
        Some("probe") => Command::Unknown("probe: this engine has no hash table".to_owned()),
        Some(word) => Command::Unknown(format!("unknown command '{word}'")),
    }
}

fn set_option(words: &mut Words) -> Command {
    match words.next() {
        None => Command::Unknown("setoption: expected NAME, then perhaps VALUE".to_owned()),
        Some("newgame") => Command::NewGame,
        Some(name) => {
            let value = words.until(&[]).join(" ");
            Command::SetOption {
                name: name.to_owned(),
                value: (!value.is_empty()).then_some(value),
            }
        }
    }
}

fn go(words: &mut Words, unit_ms: u64) -> Go {
    let (mut go, mut complaints) = (Go::default(), Vec::new());
    while let Some(word) = words.next() {
        if word == "depth" && words.0.next_if_eq(&"infinite").is_some() {
            go.infinite = true;
            continue;
        }
        let mut number = || words.number(word, &mut complaints);
        let mut time = || number().saturating_mul(unit_ms);
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            // An offer of a draw, which is the frontend's to judge.
            "draw" => {}
            "depth" => go.depth = Some(number()),
            "nodes" => go.nodes = Some(number()),
            // The own clock, whoever is to move.
            "time" => go.clock_ms = [Some(time()); 2],
            "increment" => go.increment_ms = [time(); 2],
            "movestogo" => go.moves_to_go = Some(number()),
            "opptime" | "oppincrement" | "oppmovestogo" => drop(number()),
            _ => complaints.push(format!("go: '{word}' is not understood; ignored")),
        }
    }
    go.complaints = complaints;
    go
}

/// UCCI's name of an option; it has no spaces.
pub fn option(name: &str) -> String {
    match name {
        "Hash" => "hashsize".to_owned(),
        name => name.replace(' ', "_"),
    }
}

/// An option, by UCCI's name, as it is declared.
pub fn declare(name: &str, kind: &Kind) -> String {
    format!("option {name} type {}", options::describe(kind))
}

/// A line of analysis; of one line of several, its rank stands before the moves.
pub fn info(info: &Info) -> String {
    let score = match info.score {
        Score::Cp(cp) => cp,
        Score::Mate(moves) => moves.signum() * (MATE_SCORE - moves.abs()),
    };
    let rank = match info.rank {
        1 => String::new(),
        rank => format!(" multipv {rank}"),
    };
    format!(
        "info time {} nodes {} depth {}{rank} score {score} pv {}",
        info.time_ms, info.nodes, info.depth, info.pv
    )
}

/// The answer to `go`; without a move: the game is over, or there is no position.
pub fn best(best: Option<(&str, Option<&str>)>) -> String {
    match best {
        None => "nobestmove".to_owned(),
        Some(_) => super::uci::best(best),
    }
}
