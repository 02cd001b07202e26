//! Weights in fewer bits.
use half::f16;
use selfplay::bundle::Precision;

use super::layer::{Layer, Layers};
use crate::layers::EPSILON;
use crate::params::{Layout, Weights};

/// The largest magnitude of an eight-bit weight: -128 has no opposite, and is not used.
const LARGEST: f32 = 127.0;

/// Weights in eight bits: a weight is its number times its output's scale.
pub(super) struct Int8 {
    /// As long as the layer's.
    pub weight: Vec<i8>,
    /// One for each output, above 0.
    pub scale: Vec<f32>,
}

impl Int8 {
    /// The nearest weights, the largest of each output being exact.
    pub fn of(layer: &Layer) -> Int8 {
        let rows = layer.weight.chunks(layer.row());
        let scale: Vec<_> = (rows.clone())
            .map(|row| row.iter().fold(0.0, |most: f32, w| most.max(w.abs())))
            .map(|most| if most > 0.0 { most / LARGEST } else { 1.0 })
            .collect();
        let whole = |w: f32, scale: f32| (w / scale).round().clamp(-LARGEST, LARGEST) as i8;
        let numbers = rows.zip(&scale);
        let weight = numbers.flat_map(|(row, &scale)| row.iter().map(move |&w| whole(w, scale)));
        Int8 {
            weight: weight.collect(),
            scale,
        }
    }

    /// The weights that they stand for.
    fn exact(&self, layer: &Layer) -> Vec<f32> {
        let rows = self.weight.chunks(layer.row()).zip(&self.scale);
        rows.flat_map(|(row, &scale)| row.iter().map(move |&w| f32::from(w) * scale))
            .collect()
    }
}

/// The network that is computed from the weights of another in a precision, every norm folded; in half precision what
/// computing in it costs comes on top.
pub fn rounded(weights: &Weights, precision: Precision) -> Weights {
    let (layers, mut out) = (Layers::of(weights), weights.clone());
    let round = |layer: &Layer| match precision {
        Precision::F32 => layer.weight.clone(),
        Precision::F16 => layer.weight.iter().map(to_half).collect(),
        Precision::Int8 => Int8::of(layer).exact(layer),
    };
    let bias = |layer: &Layer| match precision {
        Precision::F16 => layer.bias.iter().map(to_half).collect(),
        _ => layer.bias.clone(),
    };
    for spec in &Layout::of(&weights.config).specs {
        if let Some(name) = spec.name.strip_suffix(".conv.weight") {
            let layer = layers.conv(name);
            let mut set = |part: &str, numbers: &[f32]| {
                out.part_mut(&format!("{name}.{part}"))
                    .copy_from_slice(numbers);
            };
            let ones = vec![1.0_f32; layer.bias.len()];
            set("conv.weight", &round(&layer));
            set("norm.bias", &bias(&layer));
            set(
                "norm.weight",
                &ones
                    .iter()
                    .map(|x| (x + EPSILON as f32).sqrt())
                    .collect::<Vec<_>>(),
            );
            set("norm.running_mean", &vec![0.0; ones.len()]);
            set("norm.running_var", &ones);
        } else if let Some(name) = linear(&spec.name) {
            let layer = layers.linear(name);
            let rounds = match precision {
                Precision::F32 => false,
                Precision::F16 => !layer.exact,
                Precision::Int8 => layer.large,
            };
            if rounds {
                out.part_mut(&spec.name).copy_from_slice(&round(&layer));
                out.part_mut(&format!("{name}.bias"))
                    .copy_from_slice(&bias(&layer));
            }
        }
    }
    out
}

/// The layer of a fully connected weight's name.
fn linear(weight: &str) -> Option<&str> {
    weight
        .strip_suffix(".weight")
        .filter(|name| !name.ends_with(".norm"))
}

fn to_half(x: &f32) -> f32 {
    f16::from_f32(*x).to_f32()
}
