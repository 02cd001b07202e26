//! safetensors: the trained numbers under the names of [`Layout`], norms as they were trained, without what only training needs.
use std::collections::HashMap;

use safetensors::SafeTensors;

use super::ExportError;
use crate::checkpoint::tensors::{self, Fault};
use crate::config::NetConfig;
use crate::params::{Layout, Weights};

/// Name of the header's entry that holds the [`NetConfig`] as JSON.
pub const NET: &str = "fanqi_net";
/// Name of the header's entry that holds the training step.
pub const STEP: &str = "fanqi_step";

/// A tensor's name and shape.
pub type NamedShape = (String, Vec<i64>);

/// Every tensor of the file of a network.
pub fn names(net: &NetConfig) -> Vec<NamedShape> {
    let specs = Layout::of(net).specs;
    specs.into_iter().map(|s| (s.name, s.shape)).collect()
}

/// The file of a network: f32 tensors.
pub fn file(weights: &Weights) -> Result<Vec<u8>, ExportError> {
    let layout = Layout::of(&weights.config);
    let mut all = tensors::views(&layout, "", &weights.params, false).map_err(at_fault)?;
    all.extend(tensors::views(&layout, "", &weights.buffers, true).map_err(at_fault)?);
    let net = serde_json::to_string(&weights.config).map_err(|e| unreadable(&e))?;
    let facts = [(NET, net), (STEP, weights.step.to_string())];
    let facts: HashMap<_, _> = facts.map(|(key, value)| (key.to_owned(), value)).into();
    ::safetensors::serialize(all, Some(facts)).map_err(|e| unreadable(&e))
}

/// The network in a file.
pub fn read(bytes: &[u8]) -> Result<Weights, ExportError> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| unreadable(&e))?;
    let facts = header.metadata().clone().unwrap_or_default();
    let fact = |key: &str| {
        facts.get(key).ok_or_else(|| ExportError::Format {
            what: format!("the header has no entry \"{key}\", expected the weights of a bundle"),
        })
    };
    let config: NetConfig = serde_json::from_str(fact(NET)?).map_err(|e| unreadable(&e))?;
    config.check().map_err(|e| unreadable(&e))?;
    let step = fact(STEP)?.parse::<u64>().map_err(|e| unreadable(&e))?;
    let file = SafeTensors::deserialize(bytes).map_err(|e| unreadable(&e))?;
    let layout = Layout::of(&config);
    Ok(Weights {
        params: tensors::read(&file, &layout, "", false).map_err(at_fault)?,
        buffers: tensors::read(&file, &layout, "", true).map_err(at_fault)?,
        config,
        step,
    })
}

fn at_fault((tensor, what): Fault) -> ExportError {
    ExportError::Tensor { tensor, what }
}

fn unreadable(why: &dyn std::fmt::Display) -> ExportError {
    ExportError::Format {
        what: why.to_string(),
    }
}
