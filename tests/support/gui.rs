//! A program that talks to the real engine.
#![allow(dead_code)]
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// An engine's process, as a program sees it.
pub struct Gui {
    pub child: Child,
    pub lines: Receiver<String>,
    pub words: &'static [&'static str],
}

impl Gui {
    pub fn new(command: &mut Command, words: &'static [&'static str]) -> Gui {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.spawn().expect("fanqi starts");
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            let lines = out.lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Gui {
            child,
            lines,
            words,
        }
    }

    pub fn uci(command: &mut Command) -> Gui {
        Gui::new(
            command,
            &["id", "option", "uciok", "readyok", "info", "bestmove"],
        )
    }

    pub fn send(&mut self, lines: &[&str]) {
        let mut input = self.child.stdin.as_ref().expect("piped");
        for line in lines {
            writeln!(input, "{line}").expect("it reads");
        }
    }

    /// The lines up to the one that starts with `word`, all of them words of the protocol.
    pub fn until(&mut self, word: &str) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("no {word} after {all:?}"));
            let first = line.split(' ').next().unwrap_or_default().to_owned();
            assert!(self.words.contains(&first.as_str()), "{line:?}");
            all.push(line);
            if first == word {
                return all;
            }
        }
    }

    /// The move that is answered.
    pub fn best(&mut self, lines: &[&str]) -> String {
        self.send(lines);
        let said = self.until("bestmove");
        let last = said.last().expect("an answer");
        last.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    /// Ends in order after its last line, and at most answers a search and says that it ended.
    pub fn ended(&mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("ends").success());
        let rest: Vec<_> = self.lines.iter().collect();
        assert!(
            rest.iter()
                .all(|line| line.starts_with("bestmove")
                    || line.starts_with("info string the input")),
            "{rest:?}"
        );
    }
}

impl Drop for Gui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Some line starts with each of `starts`.
pub fn check_starts(lines: &[String], starts: &[&str]) {
    for start in starts {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{start}: {lines:?}"
        );
    }
}
