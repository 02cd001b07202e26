//! A bundle played without libtorch answers and moves as the run that it was exported from.
mod binary;
#[path = "support/positions.rs"]
mod positions;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use binary::{fanqi, ok, train};
use play::bundle::{self, Bundles};
use play::engine::{Model, Protocol, Session};
use positions::{Asked, positions};
use selfplay::eval::Batch;
use selfplay::game::Game;
use selfplay::rules::Ruleset;

/// Largest difference of a probability.
const NEAR: f32 = 1e-4;
/// Rows of a batch.
const ROWS: usize = 50;

/// The run that `FANQI_RUN` names, or one of seconds that knows every form.
fn run(folder: &Path) -> PathBuf {
    if let Some(run) = std::env::var_os("FANQI_RUN") {
        return run.into();
    }
    let run = folder.join("run");
    let forms: Vec<_> = Ruleset::all().iter().map(|rules| rules.name).collect();
    let forms = format!("ruleset.forms={forms:?}");
    let few = [
        "arena.opponents=[]",
        "arena.first_checkpoint=false",
        "net.blocks=2",
    ];
    ok(&mut train(&run, &[&few[..], &[&forms]].concat()));
    run
}

/// The network of a run, and that of its bundle.
fn both(folder: &Path) -> [Model; 2] {
    let (run, out) = (run(folder), folder.join("bundle"));
    let mut export = fanqi(["export", "--format", "onnx"]);
    ok(export.arg(&run).arg("--out").arg(&out));
    [
        train::engine::load(&run, None).expect("a run"),
        bundle::load(&out).expect("a bundle"),
    ]
}

/// The likeliest move of a row.
fn best(batch: &Batch, row: usize) -> usize {
    let priors = batch.evaluation(row).log_priors.iter().enumerate();
    let best = priors.max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(place, _)| place)
}

/// Largest difference of a probability and positions with another best move, of `count` positions of each form.
fn differences(models: &mut [Model; 2], count: usize) -> (f32, usize) {
    let (mut worst, mut other) = (0.0_f32, 0);
    for rules in Ruleset::all() {
        let asked = positions(rules, count, 11);
        for asked in asked.chunks(ROWS) {
            let batches = [0, 1].map(|i| {
                let mut batch = Batch::default();
                for Asked {
                    record,
                    legal,
                    unknown,
                    ..
                } in asked
                {
                    batch.push(*record, legal.iter().copied(), unknown);
                }
                models[i].evaluator.evaluate(&mut batch).expect("answers");
                batch
            });
            let numbers = |batch: &Batch| -> Vec<f32> {
                let priors = batch.log_priors.iter().map(|x| x.exp());
                let wdl = batch
                    .wdl
                    .iter()
                    .flat_map(|wdl| [wdl.win, wdl.draw, wdl.loss]);
                let beliefs = batch.beliefs.iter().flatten().copied();
                priors.chain(wdl).chain(beliefs).collect()
            };
            let [first, second] = [0, 1].map(|i| numbers(&batches[i]));
            assert_eq!(first.len(), second.len());
            let far = first.iter().zip(&second).map(|(a, b)| (a - b).abs());
            worst = far.fold(worst, f32::max);
            let differs = |row: &usize| best(&batches[0], *row) != best(&batches[1], *row);
            other += (0..asked.len()).filter(differs).count();
        }
    }
    (worst, other)
}

/// A session, and what it answers.
struct Player(Session, Receiver<String>);

impl Player {
    fn new(model: Model) -> Player {
        let (sender, answers) = channel();
        let sender = Mutex::new(sender);
        let say = Arc::new(move |line: &str| {
            let best = line.strip_prefix("bestmove ");
            let sender = sender.lock().expect("not poisoned");
            best.is_none_or(|best| sender.send(best.to_owned()).is_ok())
        });
        Player(
            Session::new(Protocol::Uci, Box::new(Bundles), Some(model), say),
            answers,
        )
    }

    fn best(&mut self, lines: &[String]) -> String {
        for line in lines {
            let _ = self.0.obey(line);
        }
        self.1.recv().expect("an answer")
    }
}

/// How often two engines play the same move after as many simulations, of `count` positions of each form that are no
/// secret arrangements, whose placements are drawn.
fn same_moves(models: [Model; 2], count: usize, nodes: u32) -> [usize; 2] {
    let (mut players, mut same, mut all) = (models.map(Player::new), 0, 0);
    for rules in Ruleset::all() {
        let open = |asked: &&Asked| !asked.view.is_secret();
        let asked = positions(rules, 80 * count, 12);
        for asked in asked.iter().filter(open).step_by(37).take(count) {
            let lines = [
                format!("setoption name UCI_Variant value {}", rules.name),
                "ucinewgame".to_owned(),
                format!("position fen {}", asked.view.position().fen()),
                format!("go nodes {nodes}"),
            ];
            let [first, second] = [0, 1].map(|i| players[i].best(&lines));
            same += usize::from(first == second);
            all += 1;
            if first != second {
                eprintln!("{}: {first}, {second}", lines[2]);
            }
        }
    }
    [same, all]
}

#[test]
fn a_bundle_answers_and_moves_as_its_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut models = both(folder.path());
    let (worst, other) = differences(&mut models, 20);
    assert!(
        worst <= NEAR && other == 0,
        "{worst} apart, {other} other moves"
    );
    let [same, all] = same_moves(models, 2, 40);
    assert_eq!(same, all);
}

/// `cargo test -p train --test same_answers -- --ignored --nocapture`; `FANQI_RUN` names a run of every form.
#[test]
#[ignore = "thousands of positions"]
fn a_bundle_answers_and_moves_as_its_run_on_thousands_of_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut models = both(folder.path());
    let (worst, other) = differences(&mut models, 1000);
    eprintln!("12,000 positions: largest difference {worst:e}, {other} other best moves");
    let [same, all] = same_moves(models, 17, 200);
    eprintln!("200 simulations: {same} of {all} moves are the same");
    assert!(worst <= NEAR && other <= 12 && all >= 200);
    assert_eq!(same, all);
}
