//! An engine at a board: what it is told, and what it answers.
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError};
use play::engine::quote;
use selfplay::game::Color;
use selfplay::rules::{Move, Position, Ranks, Reveal, World};

use super::greeting::{Greeting, SIDE};
use super::process::Process;
use super::talk::{self, Best};
use super::{External, Fault, FaultKind, StartError};
use crate::arena::seat::Answer;

/// How long an engine may take to say who it is, if its `timeout` is not longer.
const START: Duration = Duration::from_secs(60);
/// Lines of one engine that are read before others are looked at.
const AT_ONCE: usize = 1000;

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing.
    Idle,
    /// It says who it is.
    Greets,
    /// It makes itself ready for a position.
    Prepares,
    /// It looks for a move.
    Thinks,
}

/// An engine at a board.
#[derive(Debug)]
pub struct Guest {
    external: Arc<External>,
    /// None before its first move, and after it has failed.
    process: Option<Process>,
    state: State,
    /// When what it is doing has taken too long.
    deadline: Instant,
    greeting: Greeting,
    ranks: Ranks,
    /// Whether it has yet to be told that this is another game.
    new_game: bool,
    color: Color,
    /// The position before the first move as this player knows it; `None`: the form's start.
    start: Option<String>,
    /// The moves since that this player has seen, with what it saw come to light.
    heard: Vec<(Move, Reveal)>,
}

/// What keeps an engine from going on.
enum Stop {
    /// It lost the game.
    Failed(Fault),
    /// It cannot play at all.
    Unfit(String),
}

impl Guest {
    /// An engine that is started when it is first asked.
    pub fn new(external: Arc<External>) -> Guest {
        Guest {
            external,
            process: None,
            state: State::Idle,
            deadline: Instant::now(),
            greeting: Greeting::default(),
            ranks: Ranks::FromZero,
            new_game: true,
            color: Color::Red,
            start: None,
            heard: Vec::new(),
        }
    }

    /// Takes up a game from `world` as `color`.
    pub fn begin(&mut self, world: &World, color: Color) {
        let (fen, rules) = (world.position(color).fen(), self.external.rules);
        let usual = fen == Position::start_for(rules, color).fen();
        self.start = (!usual).then_some(fen);
        self.heard.clear();
        self.color = color;
        self.new_game = true;
    }

    /// Sees a move, and so much of what it brought to light.
    pub fn hear(&mut self, mv: Move, light: Reveal) {
        self.heard.push((mv, light));
    }

    /// Is asked for a move in `position`, again after each [`Answer::Waits`].
    pub fn ask(&mut self, position: &Position) -> Result<Answer, StartError> {
        match self.advance(true) {
            Ok(None) => Ok(Answer::Waits),
            Ok(Some(best)) => Ok(match self.read(best, position) {
                Ok(answer) => answer,
                Err(fault) => self.fail(fault),
            }),
            Err(Stop::Failed(fault)) => Ok(self.fail(fault)),
            Err(Stop::Unfit(why)) => Err(self.unfit(why)),
        }
    }

    /// Starts the engine, asks who it is, and says its name.
    pub fn introduce(mut self) -> Result<String, StartError> {
        loop {
            match self.advance(false) {
                Ok(_) if self.process.is_some() && self.state == State::Idle => {
                    return Ok(self.greeting.name.clone());
                }
                Ok(_) => {}
                Err(Stop::Failed(fault)) => return Err(self.unfit(fault.detail)),
                Err(Stop::Unfit(why)) => return Err(self.unfit(why)),
            }
            if let Some(process) = &self.process {
                // Whether it says something or not, it is looked at again.
                let mut select = crossbeam_channel::Select::new();
                select.recv(&process.lines);
                let _ = select.ready_deadline(self.deadline);
            }
        }
    }

    /// Whether a game waits for it.
    pub fn is_waited_for(&self) -> bool {
        self.state != State::Idle
    }

    /// What it says.
    pub fn lines(&self) -> Option<&Receiver<String>> {
        self.process.as_ref().map(|process| &process.lines)
    }

    /// When it is to be looked at again, at the latest.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    fn unfit(&mut self, why: String) -> StartError {
        self.process = None;
        let engine = self.external.spec.command();
        StartError { engine, why }
    }

    /// Has lost, and is started anew for its next game.
    fn fail(&mut self, fault: Fault) -> Answer {
        self.process = None;
        self.state = State::Idle;
        Answer::Failed(fault)
    }

    /// Goes on as far as what the engine has said allows; its answer to `go`, if it has come. `wanted`: a move is
    /// wanted, not only who it is.
    fn advance(&mut self, wanted: bool) -> Result<Option<Best>, Stop> {
        if self.process.is_none() {
            let spec = &self.external.spec;
            let hello = talk::hello(spec.protocol).to_owned();
            let started = Process::start(&spec.program, &spec.args);
            self.process =
                Some(started.map_err(|e| Stop::Unfit(format!("cannot be started: {e}")))?);
            self.greeting = Greeting::default();
            self.new_game = true;
            self.enter(State::Greets, START.max(self.external.spec.timeout));
            self.say(vec![hello])?;
        } else if self.state == State::Idle && wanted {
            self.prepare()?;
        }
        for _ in 0..AT_ONCE {
            let Some(line) = self.next_line()? else {
                break;
            };
            match self.state {
                State::Greets => {
                    if self.greeted(&line)? && wanted {
                        self.prepare()?;
                    }
                }
                State::Prepares if line.trim() == "readyok" => self.go()?,
                State::Thinks => {
                    if let Some(best) = talk::best(&line) {
                        self.state = State::Idle;
                        return Ok(Some(best));
                    }
                }
                State::Idle | State::Prepares => {}
            }
        }
        match self.state != State::Idle && Instant::now() >= self.deadline {
            true => Err(self.late()),
            false => Ok(None),
        }
    }

    fn enter(&mut self, state: State, time: Duration) {
        self.state = state;
        self.deadline = Instant::now() + time;
    }

    fn say(&mut self, lines: Vec<String>) -> Result<(), Stop> {
        let said = self.process.as_mut().map(|process| process.say(&lines));
        match said {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// What it said next, if anything.
    fn next_line(&mut self) -> Result<Option<String>, Stop> {
        match self.lines().map(Receiver::try_recv) {
            Some(Ok(line)) => Ok(Some(line)),
            Some(Err(TryRecvError::Disconnected)) => Err(self.ended()),
            Some(Err(TryRecvError::Empty)) | None => Ok(None),
        }
    }

    fn ended(&mut self) -> Stop {
        let how = self.process.as_mut().and_then(Process::end);
        let how = how.unwrap_or_else(|| "it closed its output".to_owned());
        let when = match self.state {
            State::Idle | State::Prepares => "before its move",
            State::Greets => "before it said who it is",
            State::Thinks => "while it was to move",
        };
        self.stopped(FaultKind::Crash, format!("ended {when} ({how})"))
    }

    fn late(&self) -> Stop {
        let (words, spec) = (
            talk::hello_answer(self.external.spec.protocol),
            &self.external.spec,
        );
        let seconds = spec.timeout.as_secs_f64();
        let detail = match self.state {
            State::Greets => format!(
                "has not said {words} within {} s: does it speak {}?",
                START.max(spec.timeout).as_secs(),
                spec.protocol.name()
            ),
            State::Idle | State::Prepares => format!("did not get ready within {seconds} s"),
            State::Thinks => match spec.limits.move_ms {
                Some(ms) => format!("did not answer within {ms} ms and {seconds} s more"),
                None => format!("did not answer within {seconds} s"),
            },
        };
        self.stopped(FaultKind::Timeout, detail)
    }

    /// A failure in a game loses it; one before leaves nothing to play with.
    fn stopped(&self, kind: FaultKind, detail: String) -> Stop {
        match self.state {
            State::Greets => Stop::Unfit(detail),
            _ => Stop::Failed(Fault { kind, detail }),
        }
    }

    /// Hears a line of its introduction; whether that is over.
    fn greeted(&mut self, line: &str) -> Result<bool, Stop> {
        let spec = &self.external.spec;
        if !self.greeting.hear(spec.protocol, line) {
            return Ok(false);
        }
        let settings = self.greeting.settings(&self.external);
        let settings = settings.map_err(Stop::Unfit)?;
        self.ranks = spec.ranks.unwrap_or(self.greeting.ranks());
        if !settings.is_empty() {
            self.say(settings)?;
        }
        self.state = State::Idle;
        Ok(true)
    }

    /// Tells it the position and waits until it is ready to think.
    fn prepare(&mut self) -> Result<(), Stop> {
        let protocol = self.external.spec.protocol;
        let mut lines = Vec::new();
        if self.new_game {
            lines.push(talk::new_game(protocol));
            if !self.external.rules.open_to_both() {
                lines.push(talk::set_option(protocol, SIDE, self.color.name()));
            }
        }
        let start = self.start.as_ref().map(|fen| format!("fen {fen}"));
        let mut position = format!("position {}", start.as_deref().unwrap_or("startpos"));
        if !self.heard.is_empty() {
            position += " moves";
        }
        for (mv, light) in &self.heard {
            position += &format!(" {}{light}", self.ranks.write(*mv));
        }
        lines.extend([position, "isready".to_owned()]);
        // Before they are said: should it end now, the game is lost.
        self.enter(State::Prepares, self.external.spec.timeout);
        self.new_game = false;
        self.say(lines)
    }

    fn go(&mut self) -> Result<(), Stop> {
        let spec = &self.external.spec;
        let go = talk::go(spec.protocol, &spec.limits);
        let time = Duration::from_millis(spec.limits.move_ms.unwrap_or(0));
        self.enter(State::Thinks, time + self.external.spec.timeout);
        self.say(vec![go])
    }

    /// What its answer means.
    fn read(&self, best: Best, position: &Position) -> Result<Answer, Fault> {
        let fault = |kind, detail| Err(Fault { kind, detail });
        let text = match best {
            Best::Resigns => return Ok(Answer::Resigns),
            Best::Nothing => {
                let fen = position.fen();
                return fault(FaultKind::NoMove, format!("had no move in {fen}"));
            }
            Best::Move(text) => text,
        };
        let shown: String = quote(&text).chars().filter(|c| !c.is_control()).collect();
        match self.ranks.read(&text) {
            None => fault(
                FaultKind::NoMove,
                format!("answered '{shown}', which is no move"),
            ),
            Some(said) if position.is_legal(said.mv) => Ok(Answer::Move(said.mv)),
            Some(_) => {
                let fen = position.fen();
                fault(
                    FaultKind::IllegalMove,
                    format!("answered '{shown}', which is not legal in {fen}"),
                )
            }
        }
    }
}
