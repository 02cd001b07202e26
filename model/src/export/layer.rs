//! The network's layers as plain numbers, norms folded.
use crate::layers::EPSILON;
use crate::params::{Layout, Weights};

/// A convolution or a fully connected layer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    /// Its name in the network.
    pub name: String,
    /// Outputs, inputs, and of a convolution its height and width.
    pub dims: Vec<i64>,
    /// The outputs' weights, one after the other.
    pub weight: Vec<f32>,
    /// One for each output.
    pub bias: Vec<f32>,
    /// Whether its weights are many enough to be kept in eight bits.
    pub large: bool,
    /// Whether it is kept and computed in single precision, whatever the others are.
    pub exact: bool,
}

/// The fully connected layers with many weights. What is left are the last layers of the heads, whose errors nothing evens
/// out, and the small ones that add to whole channels. All convolutions have many.
const LARGE: [&str; 1] = ["value_hidden"];
/// The last layers of the heads but the policy's, whose logits are many.
const EXACT: [&str; 3] = ["wdl", "moves_left", "belief"];

impl Layer {
    /// Weights of each output, at least 1.
    pub fn row(&self) -> usize {
        self.dims.iter().skip(1).product::<i64>().max(1) as usize
    }

    /// A fully connected layer as a convolution of single squares.
    pub fn on_squares(mut self) -> Layer {
        self.dims.extend([1, 1]);
        self
    }
}

/// Where the layers come from.
pub(super) struct Layers<'a> {
    weights: &'a Weights,
    layout: Layout,
}

impl<'a> Layers<'a> {
    pub fn of(weights: &'a Weights) -> Self {
        Layers {
            weights,
            layout: Layout::of(&weights.config),
        }
    }

    /// The convolution of that name with its norm's running statistics folded in, as for play.
    pub fn conv(&self, name: &str) -> Layer {
        let norm = |part: &str| self.weights.part(&format!("{name}.norm.{part}"));
        let (variance, mean) = (norm("running_var"), norm("running_mean"));
        let gain = variance.iter().map(|v| (v + EPSILON as f32).sqrt());
        let gain: Vec<_> = norm("weight")
            .iter()
            .zip(gain)
            .map(|(s, d)| s / d)
            .collect();
        let mut layer = self.layer(name, &format!("{name}.conv.weight"), Vec::new());
        let width = layer.row();
        for (row, gain) in layer.weight.chunks_mut(width).zip(&gain) {
            row.iter_mut().for_each(|w| *w *= gain);
        }
        let shift = mean.iter().zip(&gain).map(|(mean, gain)| mean * gain);
        let bias = norm("bias").iter().zip(shift);
        layer.bias = bias.map(|(bias, shift)| bias - shift).collect();
        layer.large = true;
        layer
    }

    /// The fully connected layer of that name.
    pub fn linear(&self, name: &str) -> Layer {
        let bias = self.weights.part(&format!("{name}.bias")).to_vec();
        self.layer(name, &format!("{name}.weight"), bias)
    }

    fn layer(&self, name: &str, weight: &str, bias: Vec<f32>) -> Layer {
        let mut specs = self.layout.specs.iter();
        let spec = specs.find(|spec| spec.name == weight);
        Layer {
            name: name.into(),
            dims: spec.map_or(Vec::new(), |spec| spec.shape.clone()),
            weight: self.weights.part(weight).to_vec(),
            bias,
            large: LARGE.contains(&name),
            exact: EXACT.contains(&name),
        }
    }
}
