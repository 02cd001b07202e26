//! How strong a network is: its matches against the built-in opponents and the run's first checkpoint.
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::device::{Placement, single_threaded};
use model::evaluator::NetEvaluator;
use model::params::Weights;
use model::slot::WeightSlot;
use selfplay::eval::{EvalError, Evaluator};
use selfplay::rules::{Ruleset, World};
use tch::Device;

use super::selfplay::match_threads;
use crate::arena::{self, Arrangement, EvaluatorFactory, Player, Searched, Watch};
use crate::config::Config;
use crate::forms::Forms;
use crate::strength::{StrengthRow, StrengthTable};

/// Name of the network itself, with its pieces arranged at random.
const RANDOM_ARRANGEMENT: &str = "random arrangement";

/// Plays the matches of `[arena]` for `weights`; `first` is the run's first checkpoint, if it
/// is to be an opponent.
/// Ends early, with the matches finished so far, once `stop` is set.
pub fn measure(
    config: &Config,
    forms: &Forms,
    placement: Placement,
    weights: Weights,
    first: Option<Weights>,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> anyhow::Result<StrengthTable> {
    let net = searched(config, placement, weights);
    let mut opponents: Vec<_> = (config.arena.opponents.iter())
        .map(|&builtin| (builtin.to_string(), Player::Builtin(builtin)))
        .collect();
    if config.arena.random_arrangement && forms.rules().any(Ruleset::arranged) {
        let mut player = net.clone();
        if let Player::Searched(searched) = &mut player {
            searched.arrangement = Arrangement::Random;
        }
        opponents.push((RANDOM_ARRANGEMENT.to_owned(), player));
    }
    if let Some(weights) = first {
        let name = format!("first checkpoint (step {})", weights.step);
        opponents.push((name, searched(config, placement, weights)));
    }
    let threads = match_threads(config, [placement.device]);
    let match_config = config.arena.match_config(threads);
    let mut table = StrengthTable::default();
    let matches = forms
        .rules()
        .flat_map(|rules| opponents.iter().map(move |opponent| (rules, opponent)));
    for (rules, (name, opponent)) in matches {
        if name == RANDOM_ARRANGEMENT && !rules.arranged() {
            continue;
        }
        let watch = Watch {
            stop,
            finished: &|_| ControlFlow::Continue(()),
        };
        let start = |rng: &mut _| World::start(rules, rng);
        let result = arena::play_match(
            &start,
            [&net, opponent],
            &match_config,
            config.run.seed,
            &watch,
        )?;
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let row = StrengthRow::new(rules.name, name, &result);
        let (score, interval) = (100.0 * row.rating.score, &row.rating.score_interval);
        say(&format!(
            "{} against {name}: {score:.1} % of {} games ({interval})",
            rules.name, row.rating.games
        ));
        table.rows.push(row);
    }
    Ok(table)
}

/// The network as the run's own search plays it.
pub fn searched(config: &Config, placement: Placement, weights: Weights) -> Player {
    let slot = WeightSlot::new(weights);
    let evaluators: EvaluatorFactory =
        Arc::new(move || -> Result<Box<dyn Evaluator>, EvalError> {
            if placement.device == Device::Cpu {
                single_threaded();
            }
            Ok(Box::new(NetEvaluator::new(slot.clone(), placement)?))
        });
    Player::Searched(Searched {
        evaluators,
        search: config.search.clone(),
        visits: config.match_visits(),
        temperature: config.arena.temperature,
        arrangement: Arrangement::Searched {
            temperature: config.arena.arrangement_temperature,
        },
    })
}

/// The table of the network of a training step, with its heading.
pub fn text(config: &Config, step: u64, table: &StrengthTable) -> String {
    let visits = config.match_visits();
    format!("\nStrength at step {step}, {visits} visits a move\n\n{table}")
}
