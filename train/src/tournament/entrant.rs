//! The players of a tournament, made of what the command line says of them.
use std::collections::BTreeMap;

use anyhow::{Context, anyhow, ensure};
use model::device::Placement;
use selfplay::opponent::Builtin;
use selfplay::rules::Ruleset;
use tch::Device;

use crate::arena::spec::{EngineSpec, NetworkSpec, PlayerSpec, Who};
use crate::arena::{Arrangement, External, Player};
use crate::network::Network;
use crate::pipeline::load::Look;
use crate::pipeline::strength::searched;

/// A player of a tournament.
pub struct Entrant {
    /// Its name.
    pub name: String,
    /// How it plays.
    pub player: Player,
    /// Where its network computes, if it has one.
    pub device: Option<Device>,
    /// What makes it the same player when the tournament goes on.
    pub facts: BTreeMap<&'static str, String>,
}

/// A player whose network is loaded, if it has one, but that knows no form yet.
pub enum Candidate {
    /// A built-in opponent.
    Builtin(String, Builtin),
    /// An engine.
    Engine(String, EngineSpec),
    /// A network.
    Network(String, Box<NetworkSpec>, Box<Network>),
}

impl Candidate {
    /// Loads what `spec` names; each `table.key=value` of `sets` is laid over the config that a network carries. A level
    /// is one of `form`, else of the run's first form.
    pub fn load(
        spec: PlayerSpec,
        sets: &[String],
        form: Option<&str>,
    ) -> anyhow::Result<Candidate> {
        let name = spec.name;
        match spec.who {
            Who::Builtin(builtin) => Ok(Candidate::Builtin(name, builtin)),
            Who::Engine(engine) => Ok(Candidate::Engine(name, engine)),
            Who::Network(net) => {
                let network = load(&net, sets, form);
                let mut network = network.with_context(|| format!("player `{name}`"))?;
                let (config, arena) = (&mut network.config.search, &mut network.config.arena);
                config.root = net.root.unwrap_or(config.root);
                arena.visits = net.visits.unwrap_or(arena.visits);
                arena.temperature = net.temperature.unwrap_or(arena.temperature);
                Ok(Candidate::Network(name, Box::new(net), Box::new(network)))
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Candidate::Builtin(name, _)
            | Candidate::Engine(name, _)
            | Candidate::Network(name, ..) => name,
        }
    }

    /// Its network.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Candidate::Network(_, _, network) => Some(network),
            _ => None,
        }
    }

    /// The player in a form. An engine is started once, to see whether it plays the form.
    pub fn enter(self, rules: &'static Ruleset) -> anyhow::Result<Entrant> {
        match self {
            Candidate::Builtin(name, builtin) => Ok(Entrant {
                name,
                player: Player::Builtin(builtin),
                device: None,
                facts: BTreeMap::from([("built-in", builtin.to_string())]),
            }),
            Candidate::Engine(name, spec) => {
                let command = Who::Engine(spec.clone()).to_string();
                let external = External { spec, rules };
                let calls_itself =
                    (external.check()).with_context(|| format!("player `{name}`"))?;
                Ok(Entrant {
                    name,
                    player: Player::External(external.into()),
                    device: None,
                    facts: BTreeMap::from([("engine", command), ("engine's name", calls_itself)]),
                })
            }
            Candidate::Network(name, spec, network) => {
                if let Some(level) = &network.level {
                    ensure!(
                        level.form == rules.name,
                        "player `{name}`: its level {} was measured in {}, not in {}; choose with --form",
                        level.level,
                        level.form,
                        rules.name
                    );
                }
                Ok(enter_network(name, &spec, *network))
            }
        }
    }
}

fn load(net: &NetworkSpec, sets: &[String], form: Option<&str>) -> anyhow::Result<Network> {
    let path = &net.path;
    ensure!(
        path.exists(),
        "{}: there is no such run or checkpoint; other players are random, greedy, alphabeta:D and engine:PROGRAM",
        path.display()
    );
    let Some(number) = net.level else {
        return Network::load(path, net.step, sets);
    };
    let levels = Network::levels(path)?.with_context(|| {
        let run = path.display();
        format!("{run}: this run has no levels; `fanqi grade {run}` makes them")
    })?;
    let first = Look::of(path)?.forms.rules().next().map(|rules| rules.name);
    let form = form.or(first).unwrap_or_default();
    let level = levels
        .level(form, number)
        .map_err(|why| anyhow!("{}: {why}", path.display()))?;
    Network::load_level(path, level, sets)
}

fn enter_network(name: String, spec: &NetworkSpec, network: Network) -> Entrant {
    let Network {
        weights,
        about,
        config,
        placement,
        ..
    } = network;
    let Placement { device, .. } = placement;
    let mut player = searched(&config, placement, weights);
    let mut facts = BTreeMap::from([
        ("run", about.origin.run),
        ("step", about.step.to_string()),
        ("checkpoint", format!("{:08x}", about.crc32c)),
        (
            "search",
            serde_json::to_string(&config.search).unwrap_or_default(),
        ),
    ]);
    if let Player::Searched(searched) = &mut player {
        let arrangement: Arrangement = spec.arrangement.unwrap_or(searched.arrangement);
        searched.arrangement = arrangement;
        facts.insert("visits", searched.visits.to_string());
        facts.insert("temperature", searched.temperature.to_string());
        facts.insert("arrangement", arrangement.to_string());
    }
    Entrant {
        name,
        player,
        device: Some(device),
        facts,
    }
}

impl Entrant {
    /// Whether it is an engine's process.
    pub fn is_engine(&self) -> bool {
        matches!(self.player, Player::External(_))
    }
}
