//! What `model.json` says of a network.
use std::collections::BTreeMap;
use std::path::Path;

use model::checkpoint::About;
use model::params::Layout;
use selfplay::bundle::{
    FORMAT, FileInfo, FormRules, Manifest, NetworkInfo, PROGRAM, PlayInfo, PolicyTable,
    TrainingInfo, tensors,
};
use selfplay::expand::table;
use serde::Serialize;
use serde_json::Value;
use toml::Table;

use super::{Order, Source, levels};
use crate::config::Config;
use crate::network::Network;

/// The checkpoint's sum as levels and matches write it.
pub(super) fn crc32c(about: &About) -> String {
    format!("{:08x}", about.crc32c)
}

/// The manifest of a bundle of `files`.
pub(super) fn manifest(order: &Order, source: &Source, files: Vec<FileInfo>) -> Manifest {
    let network = &source.network;
    Manifest {
        format: FORMAT,
        program: program(),
        licence: order.licence.clone(),
        forms: network.forms.rules().map(FormRules::of).collect(),
        inputs: tensors::inputs(),
        planes: table::planes(),
        globals: table::globals(),
        policy: PolicyTable::own(),
        outputs: tensors::outputs(),
        network: size(&network.about),
        training: training(source),
        play: play(&network.config),
        level: source.level.as_ref().map(|level| level.level),
        levels: levels::told(source.levels.as_ref()),
        files,
    }
}

/// What is kept within an ONNX file, in case it is parted from its folder.
pub(super) fn facts(order: &Order, network: &Network) -> Vec<(&'static str, String)> {
    let about = &network.about;
    vec![
        ("forms", network.forms.names()),
        ("run", about.origin.run.clone()),
        ("step", about.step.to_string()),
        ("crc32c", crc32c(about)),
        ("licence", order.licence.clone().unwrap_or_default()),
    ]
}

fn program() -> String {
    format!("{PROGRAM} {}", env!("CARGO_PKG_VERSION"))
}

/// A table's keys.
fn fields(table: &impl Serialize) -> BTreeMap<String, Value> {
    match serde_json::to_value(table) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

fn play(config: &Config) -> PlayInfo {
    PlayInfo {
        search: fields(&config.search),
        arrangement_temperature: config.arena.arrangement_temperature,
    }
}

fn size(about: &About) -> NetworkInfo {
    let settings = fields(&about.net);
    let number = |(key, value): (String, Value)| Some((key, value.as_u64()?));
    NetworkInfo {
        settings: settings.into_iter().filter_map(number).collect(),
        parameters: Layout::of(&about.net).params as u64,
    }
}

fn training(source: &Source) -> TrainingInfo {
    let (about, forms) = (&source.network.about, &source.network.forms);
    let state = source.state.as_ref();
    TrainingInfo {
        run: about.origin.run.clone(),
        step: about.step,
        rows: about.rows,
        crc32c: crc32c(about),
        games: state.map(|state| state.selfplay.games),
        seconds: state.map(|state| state.elapsed_seconds),
        shares: forms.shares().collect(),
        config: told(&about.origin.config),
    }
}

/// A config for strangers: of imported samples the files' names alone, not the folders of whoever trained.
fn told(config: &str) -> String {
    let Ok(mut table) = config.parse::<Table>() else {
        return String::new();
    };
    let shards = table.get_mut("pretrain").and_then(|t| t.get_mut("shards"));
    for shard in shards.and_then(|s| s.as_array_mut()).into_iter().flatten() {
        let name = shard.as_str().and_then(|path| Path::new(path).file_name());
        *shard = name
            .map_or(String::new(), |name| name.to_string_lossy().into_owned())
            .into();
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_bundle_names_no_folder_of_whoever_trained() {
        let config = "[pretrain]\nshards = [\"/a/b/games.h5\", \"more.h5\"]\nepochs = 2\n";
        assert_eq!(
            told(config),
            "[pretrain]\nepochs = 2\nshards = [\"games.h5\", \"more.h5\"]\n"
        );
    }
}
