//! What a program says, line by line, and what it is answered.
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use selfplay::game::{Game, Turn};
use selfplay::rules::{Move, Ranks, Ruleset};

use super::budget::Budget;
use super::command::{Command, Go, PositionText};
use super::game::Told;
use super::lines::{LONGEST, Line, Lines};
use super::model::{Model, Source};
use super::options::{self, Effect, Options};
use super::protocol::{Protocol, quote};
use super::report::{Info, permille};
use super::strength::Strength;
use super::thinker::{Event, Order, Signal, Thinker};
use crate::output::describe;

/// Writes a line where the program reads; false: nobody reads any more.
pub type Say = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Where lines go, in the protocol's words.
#[derive(Clone)]
struct Voice {
    protocol: Protocol,
    say: Say,
    /// Whether somebody reads.
    heard: Arc<AtomicBool>,
}

impl Voice {
    fn line(&self, text: &str) {
        if !(self.say)(text) {
            self.heard.store(false, Relaxed);
        }
    }

    fn note(&self, text: &str) {
        self.line(&self.protocol.note(text));
    }

    fn best(&self, best: Option<(Move, Option<Move>)>, ranks: Ranks) {
        let text = best.map(|(mv, reply)| (ranks.write(mv), reply.map(|reply| ranks.write(reply))));
        let text = text
            .as_ref()
            .map(|(mv, reply)| (mv.as_str(), reply.as_deref()));
        self.line(&self.protocol.best(text));
    }

    fn event(&self, event: Event, options: &Options) {
        let (lines, progress) = match event {
            Event::Lines(lines, progress) => (lines, progress),
            Event::Note(text) => return self.note(&text),
        };
        let ranks = self.protocol.ranks(options);
        for (place, line) in lines.iter().enumerate() {
            let pv: Vec<_> = line.pv.iter().map(|&mv| ranks.write(mv)).collect();
            let seconds = progress.elapsed.as_secs_f64().max(1e-3);
            let info = Info {
                depth: progress.depth,
                seldepth: progress.seldepth,
                rank: place + 1,
                score: line.score,
                wdl: options.show_wdl.then(|| permille(line.wdl)),
                nodes: progress.nodes,
                nps: (progress.nodes as f64 / seconds) as u64,
                time_ms: progress.elapsed.as_millis() as u64,
                pv: pv.join(" "),
            };
            self.line(&self.protocol.info(&info));
        }
    }
}

/// Who thinks now.
enum Mind {
    Idle(Box<Thinker>),
    Busy(JoinHandle<Box<Thinker>>, Arc<Signal>),
}

/// A conversation.
pub struct Session {
    voice: Voice,
    source: Box<dyn Source>,
    options: Options,
    mind: Option<Mind>,
    /// The first form that the network was trained in.
    trained: Option<&'static Ruleset>,
    /// At which level it plays.
    strength: Strength,
    /// The form that is played.
    rules: &'static Ruleset,
    /// The position, unless the last one told was none.
    told: Option<Told>,
    /// Moves that the next search may not play.
    banned: Vec<String>,
}

impl Session {
    /// A conversation in `protocol`, whose answers `say` writes, with networks of `source`.
    pub fn new(
        protocol: Protocol,
        source: Box<dyn Source>,
        model: Option<Model>,
        say: Say,
    ) -> Session {
        let heard = Arc::new(AtomicBool::new(true));
        let rules = &Ruleset::XIANGQI;
        let mut session = Session {
            voice: Voice {
                protocol,
                say,
                heard,
            },
            source,
            options: Options::default(),
            mind: Some(Mind::Idle(Box::default())),
            trained: None,
            strength: Strength::default(),
            rules,
            told: None,
            banned: Vec::new(),
        };
        if let Some(model) = model {
            session.take(model);
        }
        session.choose_rules();
        session
    }

    /// Obeys line after line until `quit`, the end of `input`, or nobody reads the answers.
    pub fn run(&mut self, input: impl Read) -> io::Result<()> {
        let mut lines = Lines::of(input);
        loop {
            let next = match lines.read()? {
                Line::Text(line) => self.obey(&line),
                Line::TooLong => {
                    let text = format!("a line of more than {LONGEST} bytes is not read");
                    self.voice.note(&text);
                    ControlFlow::Continue(())
                }
                Line::End => {
                    if matches!(&self.mind, Some(Mind::Busy(search, _)) if !search.is_finished()) {
                        let text = "the input ended, so the search ends; keep it open until the move is told";
                        self.voice.note(text);
                    }
                    ControlFlow::Break(())
                }
            };
            if next.is_break() || !self.voice.heard.load(Relaxed) {
                self.rest();
                return Ok(());
            }
        }
    }

    /// Obeys one line; breaks on `quit`.
    pub fn obey(&mut self, line: &str) -> ControlFlow<()> {
        match self.voice.protocol.parse(line, &self.options) {
            Command::Hello => self.introduce(),
            Command::Ready => self.voice.line("readyok"),
            Command::NewGame => {
                self.rest().forget();
                self.told = Some(Told::start(self.rules, self.options.side));
                self.banned.clear();
            }
            Command::SetOption { name, value } => self.set(&name, value.as_deref()),
            Command::Position(text) => self.position(text),
            Command::BanMoves(moves) => self.banned = moves,
            Command::Go(go) => self.go(&go),
            Command::Stop => self.stop(),
            Command::PonderHit => {
                if let Some(Mind::Busy(_, signal)) = &self.mind {
                    signal.pondering.store(false, Relaxed);
                }
            }
            Command::Show => self.show(),
            Command::Quit => {
                self.rest();
                if let Some(bye) = self.voice.protocol.bye() {
                    self.voice.line(bye);
                }
                return ControlFlow::Break(());
            }
            Command::Nothing => {}
            Command::Unknown(why) => self.voice.note(&quote(&why)),
        }
        ControlFlow::Continue(())
    }

    fn introduce(&self) {
        let voice = &self.voice;
        voice.line(concat!("id name fanqi ", env!("CARGO_PKG_VERSION")));
        voice.line("id author the fanqi developers");
        let variant = self
            .trained
            .map_or(Ruleset::XIANGQI.name, |rules| rules.name);
        for (name, kind) in options::all(variant, self.strength.levels(self.rules.name)) {
            if voice.protocol.option(name).is_some() {
                voice.line(&voice.protocol.declare(name, &kind));
            }
        }
        voice.line(voice.protocol.ok());
    }

    /// Ends a search under way, which answers, and gives the thinker back.
    fn rest(&mut self) -> &mut Thinker {
        self.stop();
        let thinker = match self.mind.take() {
            Some(Mind::Idle(thinker)) => thinker,
            Some(Mind::Busy(handle, _)) => handle.join().unwrap_or_default(),
            None => Box::default(),
        };
        match self.mind.insert(Mind::Idle(thinker)) {
            Mind::Idle(thinker) => thinker,
            Mind::Busy(..) => unreachable!("an idle one was put there"),
        }
    }

    fn stop(&self) {
        if let Some(Mind::Busy(_, signal)) = &self.mind {
            signal.stop.store(true, Relaxed);
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        let levels = self.strength.levels(self.rules.name);
        match self.options.set(self.voice.protocol, name, value, levels) {
            Err(why) => self.voice.note(&why),
            Ok(Effect::None) => {}
            Ok(Effect::Forget) => self.rest().forget(),
            Ok(Effect::Variant) => self.choose_rules(),
            Ok(Effect::Strength) => self.choose_strength(),
            Ok(Effect::Load(path)) => match self.source.open(&path) {
                Err(error) => self.voice.note(&format!(
                    "option Model: expected {}: {}",
                    self.source.expects(),
                    describe(&error)
                )),
                Ok(model) => {
                    self.take(model);
                    self.choose_rules();
                }
            },
        }
    }

    fn take(&mut self, mut model: Model) {
        self.trained = model.forms.first().copied();
        model.notes.iter().for_each(|note| self.voice.note(note));
        self.strength = Strength::full(model.graded.take());
        self.rest().load(model);
    }

    /// Plays the form that was chosen, by the rules that the network was trained with if it was, from its start.
    fn choose_rules(&mut self) {
        let first = self.trained.unwrap_or(&Ruleset::XIANGQI);
        let chosen = self.options.variant.unwrap_or(first.name);
        let model = &self.rest().model;
        let known = model
            .as_ref()
            .map(|model| (model.rules(chosen), model.form_names()));
        if let Some((None, names)) = &known {
            let text = format!("the network was trained in {names} and has never seen {chosen}");
            self.voice.note(&text);
        }
        let trained = known.and_then(|(rules, _)| rules);
        let rules = trained
            .or_else(|| Ruleset::by_name(chosen))
            .unwrap_or(first);
        self.rules = rules;
        self.told = Some(Told::start(rules, self.options.side));
        self.banned.clear();
        self.choose_strength();
    }

    /// Plays at the level that the options ask for, where the form has levels.
    fn choose_strength(&mut self) {
        let complain = |why: &str| self.voice.note(&format!("levels: {why}"));
        let model = (self.strength).turn(&self.options, self.rules.name, &complain);
        if let Some(model) = model {
            self.rest().load(model);
        }
    }

    fn position(&mut self, text: Result<PositionText, String>) {
        self.banned.clear();
        let ranks = self.voice.protocol.ranks(&self.options);
        let read = |text: PositionText| {
            let read = || Told::read(self.rules, &text, ranks, self.options.side);
            // A bug, of which standard error tells, must not end the conversation.
            catch_unwind(AssertUnwindSafe(read))
                .unwrap_or_else(|_| Err("it could not be read".into()))
        };
        let told = text.and_then(read);
        self.told = told
            .map_err(|why| self.voice.note(&format!("position: {why}")))
            .ok();
    }

    fn go(&mut self, go: &Go) {
        let begun = Instant::now();
        let mut thinker = std::mem::take(self.rest());
        let ranks = self.voice.protocol.ranks(&self.options);
        go.complaints
            .iter()
            .for_each(|why| self.voice.note(&quote(why)));
        let Some(told) = self.told.clone() else {
            self.voice
                .note("there is no position: the last one was refused");
            self.mind = Some(Mind::Idle(Box::new(thinker)));
            return self.voice.best(None, ranks);
        };
        let only = self.allowed(&told, &go.only, ranks);
        let fallback = only.first().or(told.legal().first()).copied();
        let color = told.view.position().decider();
        let options = self.strength.options(&self.options);
        let order = Order {
            only,
            budget: Budget::new(go, &options, color, begun),
            options,
            told,
        };
        let signal = Arc::new(Signal {
            stop: AtomicBool::new(false),
            pondering: AtomicBool::new(go.ponder),
        });
        let (voice, heard) = (self.voice.clone(), Arc::clone(&signal));
        let options = self.options.clone();
        let think = move || {
            let say = |event: Event| voice.event(event, &options);
            let think = AssertUnwindSafe(|| thinker.think(order, &heard, &say));
            let best = catch_unwind(think).unwrap_or_else(|_| {
                // A bug, of which standard error tells: the program must not wait for ever all the same.
                voice.note("the search broke off; a legal move is played");
                thinker.forget();
                fallback.map(|mv| (mv, None))
            });
            voice.best(best, ranks);
            Box::new(thinker)
        };
        match thread::Builder::new().name("search".into()).spawn(think) {
            Ok(handle) => self.mind = Some(Mind::Busy(handle, signal)),
            Err(error) => {
                self.voice
                    .note(&format!("no thread for the search: {error}"));
                self.voice.best(None, ranks);
            }
        }
    }

    /// The moves that a search may look at; empty: all.
    fn allowed(&mut self, told: &Told, only: &[String], ranks: Ranks) -> Vec<Move> {
        let banned = std::mem::take(&mut self.banned);
        let legal = told.legal();
        let read = |texts: &[String]| -> Vec<Move> {
            let known = |text: &String| {
                let mv = ranks.read(text).map(|said| said.mv);
                let mv = mv.filter(|mv| legal.contains(mv));
                if mv.is_none() {
                    let text = format!("'{}' is no legal move here; ignored", quote(text));
                    self.voice.note(&text);
                }
                mv
            };
            texts.iter().filter_map(known).collect()
        };
        let (only, banned) = (read(only), read(&banned));
        if only.is_empty() && banned.is_empty() {
            return Vec::new();
        }
        let wanted = |mv: &Move| only.is_empty() || only.contains(mv);
        let allowed: Vec<_> = (legal.into_iter())
            .filter(|mv| wanted(mv) && !banned.contains(mv))
            .collect();
        if allowed.is_empty() {
            self.voice.note("every move is banned; all are looked at");
        }
        allowed
    }

    fn show(&self) {
        let Some(told) = &self.told else {
            return self.voice.note("there is no position");
        };
        let ranks = self.voice.protocol.ranks(&self.options);
        let legal: Vec<_> = told.legal().into_iter().map(|mv| ranks.write(mv)).collect();
        self.voice.note(&format!("form {}", self.rules.name));
        self.voice
            .note(&format!("fen {}", told.view.position().fen()));
        self.voice.note(&format!("legal {}", legal.join(" ")));
        if let Turn::Over(ending) = told.view.turn(&told.history) {
            let (result, reason) = (ending.outcome.name(), ending.reason);
            self.voice.note(&format!("result {result} {reason}"));
        }
    }
}
