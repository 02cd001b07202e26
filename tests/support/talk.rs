//! An engine's session in this process, with a stand-in for the network.
#![allow(dead_code)]
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use play::bundle::Bundles;
use play::engine::{Model, Protocol, Session};
use selfplay::eval::HashEvaluator;
use selfplay::mcts::{RootKind, SearchConfig};
use selfplay::rules::Ruleset;

/// A session and what it has said.
pub struct Talk {
    pub session: Session,
    said: Arc<Mutex<Vec<String>>>,
    seen: usize,
}

/// A stand-in that knows every form.
pub fn model() -> Model {
    Model {
        evaluator: Box::new(HashEvaluator::default()),
        search: SearchConfig {
            root: RootKind::Gumbel,
            considered: 16,
            c_visit: 50.0,
            c_scale: 1.0,
            c_puct: 1.5,
            c_puct_base: 19652.0,
            fpu_reduction: 0.2,
            dirichlet_total: 10.0,
            dirichlet_share: 0.25,
            draw_score: 0.0,
            belief: true,
            secret_anchor: 1.0,
        },
        arrangement_temperature: 1.0,
        forms: Ruleset::all().to_vec(),
        graded: None,
        notes: Vec::new(),
    }
}

impl Talk {
    /// A session with the stand-in, or with no network.
    pub fn new(protocol: Protocol, model: Option<Model>) -> Talk {
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let say = Arc::new(move |line: &str| {
            heard.lock().expect("not poisoned").push(line.to_owned());
            true
        });
        Talk {
            session: Session::new(protocol, Box::new(Bundles), model, say),
            said,
            seen: 0,
        }
    }

    /// What has been said since the last call.
    pub fn said(&mut self) -> Vec<String> {
        let said = self.said.lock().expect("not poisoned");
        let new = said[self.seen..].to_vec();
        self.seen = said.len();
        new
    }

    /// Says lines that are answered at once; the answers.
    pub fn tell(&mut self, lines: &[&str]) -> Vec<String> {
        for line in lines {
            let _ = self.session.obey(line);
        }
        self.said()
    }

    /// Says `go` and waits for the answer: every line up to it.
    pub fn go(&mut self, go: &str) -> Vec<String> {
        let (mut lines, begun) = (self.tell(&[go]), Instant::now());
        while !lines.last().is_some_and(|line| line.contains("bestmove")) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{go}: {lines:?}");
            std::thread::sleep(Duration::from_millis(1));
            lines.extend(self.said());
        }
        lines
    }

    /// The same, and the move alone.
    pub fn best(&mut self, go: &str) -> String {
        let lines = self.go(go);
        let last = lines.last().expect("an answer");
        last.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

/// The notes among the lines.
pub fn notes(lines: &[String]) -> Vec<&String> {
    let note = |line: &&String| line.starts_with("info string") || line.starts_with("info message");
    lines.iter().filter(note).collect()
}

/// Whether a line is one that `protocol` has.
pub fn is_protocol(protocol: Protocol, line: &str) -> bool {
    let words: &[&str] = match protocol {
        Protocol::Uci => &["id", "option", "uciok", "readyok", "bestmove", "info"],
        Protocol::Ucci => &[
            "id",
            "option",
            "ucciok",
            "readyok",
            "bestmove",
            "nobestmove",
            "info",
            "bye",
        ],
    };
    words.contains(&line.split(' ').next().unwrap_or_default())
        && !line.contains(['\n', '\r', '\0'])
}
