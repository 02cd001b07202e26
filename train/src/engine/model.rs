//! The network that an engine plays with.
use std::path::Path;

use model::evaluator::NetEvaluator;
use model::slot::WeightSlot;
use selfplay::eval::Evaluator;
use selfplay::mcts::SearchConfig;
use selfplay::rules::Ruleset;

use super::strength::Graded;
use crate::forms::Forms;
use crate::network::Network;

/// A network ready to play, with what its checkpoint says of it.
pub struct Model {
    /// Asked for every position.
    pub evaluator: Box<dyn Evaluator>,
    /// Settings of the search.
    pub search: SearchConfig,
    /// Temperature of a placement of a secret arrangement.
    pub arrangement_temperature: f32,
    /// The forms that it was trained in, with the run's own rules; at least one.
    pub forms: Forms,
    /// The levels of its run, if it was graded; or why they cannot be used.
    pub graded: Result<Option<Graded>, String>,
}

impl Model {
    /// Loads a checkpoint: the file `path`, or of the run directory `path` that of training step `step`, the
    /// newest if missing. The settings are those that the checkpoint carries. Takes no lock and writes nothing.
    pub fn load(path: &Path, step: Option<u64>) -> anyhow::Result<Model> {
        let mut model = Model::of(Network::load(path, step, &[])?)?;
        model.graded = Graded::of(path, step);
        Ok(model)
    }

    /// A network ready to play, whose run's levels are unknown.
    pub(super) fn of(network: Network) -> anyhow::Result<Model> {
        let slot = WeightSlot::new(network.weights);
        Ok(Model {
            evaluator: Box::new(NetEvaluator::new(slot, network.placement)?),
            arrangement_temperature: network.config.arena.arrangement_temperature,
            search: network.config.search,
            forms: network.forms,
            graded: Ok(None),
        })
    }

    /// The rules of the form of that name, as it was trained, if it was.
    pub fn rules(&self, name: &str) -> Option<&'static Ruleset> {
        self.forms.rules().find(|rules| rules.name == name)
    }
}
