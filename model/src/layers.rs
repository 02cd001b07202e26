//! The layers of the network. Weights are kept in f32 and cast to the kind of what they meet, so a
//! bf16 input trains in bf16 with f32 master weights.
use tch::{Kind, TchError, Tensor};

use crate::expand::BOARD;
use crate::params::{Init, Role, Spec};

/// Added to a variance before its root (Ioffe and Szegedy 2015, and torch's value).
pub(crate) const EPSILON: f64 = 1e-5;
/// Share of a batch's statistics in the running ones (torch's value).
const MOMENTUM: f64 = 0.1;

/// Where a layer gets its tensors from.
pub(crate) type Source<'a> = dyn FnMut(Spec) -> Tensor + 'a;

pub(crate) fn get(
    source: &mut Source,
    name: String,
    shape: &[i64],
    role: Role,
    init: Init,
) -> Tensor {
    source(Spec {
        name,
        shape: shape.to_vec(),
        role,
        init,
    })
}

/// He et al. 2015: keeps the variance through a rectified layer of `fan_in` inputs.
fn he(fan_in: i64) -> Init {
    Init::Uniform((6.0 / fan_in as f32).sqrt())
}

/// Small weights, for a layer whose outputs should start near 0.
fn small(fan_in: i64) -> Init {
    Init::Uniform(0.1 * (3.0 / fan_in as f32).sqrt())
}

/// A convolution of the tower: with a norm while training, with the norm folded in for play.
pub(crate) trait ConvLayer {
    /// `[rows, in, 10, 9]` to `[rows, out, 10, 9]`.
    fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor, TchError>;
}

/// A convolution with bias, or a folded one.
#[derive(Debug)]
pub(crate) struct Conv {
    pub(crate) weight: Tensor,
    pub(crate) bias: Tensor,
}

fn convolve(x: &Tensor, weight: &Tensor, bias: Option<Tensor>) -> Result<Tensor, TchError> {
    let weight = weight.f_to_kind(x.kind())?;
    let pad = weight.size()[2] / 2;
    x.f_conv2d(&weight, bias, [1, 1], [pad, pad], [1, 1], 1)
}

impl ConvLayer for Conv {
    fn forward(&self, x: &Tensor, _train: bool) -> Result<Tensor, TchError> {
        convolve(x, &self.weight, Some(self.bias.f_to_kind(x.kind())?))
    }
}

/// A convolution without bias, then batch norm.
#[derive(Debug)]
pub(crate) struct ConvNorm {
    weight: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
}

impl ConvNorm {
    /// `size` x `size`; the norm's scale starts at `scale`.
    pub(crate) fn new(
        source: &mut Source,
        name: &str,
        channels: (i64, i64),
        size: i64,
        scale: f32,
    ) -> Self {
        let (inputs, outputs) = channels;
        let mut norm = |part: &str, role, value| {
            get(
                source,
                format!("{name}.norm.{part}"),
                &[outputs],
                role,
                Init::Constant(value),
            )
        };
        let (scale, bias) = (
            norm("weight", Role::Offset, scale),
            norm("bias", Role::Offset, 0.0),
        );
        let (mean, variance) = (
            norm("running_mean", Role::Buffer, 0.0),
            norm("running_var", Role::Buffer, 1.0),
        );
        let (shape, init) = ([outputs, inputs, size, size], he(inputs * size * size));
        let weight = get(
            source,
            format!("{name}.conv.weight"),
            &shape,
            Role::Weight,
            init,
        );
        ConvNorm {
            weight,
            scale,
            bias,
            mean,
            variance,
        }
    }

    /// The same function with the norm's running statistics folded into weight and bias.
    pub(crate) fn fold(&self) -> Result<Conv, TchError> {
        let gain = self
            .scale
            .f_div(&self.variance.f_add_scalar(EPSILON)?.f_sqrt()?)?;
        Ok(Conv {
            weight: self.weight.f_mul(&gain.f_view([-1, 1, 1, 1])?)?,
            bias: self.bias.f_sub(&self.mean.f_mul(&gain)?)?,
        })
    }
}

impl ConvLayer for ConvNorm {
    fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor, TchError> {
        let y = convolve(x, &self.weight, None)?;
        let (scale, bias) = (Some(&self.scale), Some(&self.bias));
        y.f_batch_norm(
            scale,
            bias,
            Some(&self.mean),
            Some(&self.variance),
            train,
            MOMENTUM,
            EPSILON,
            true,
        )
    }
}

/// A fully connected layer.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Tensor,
    pub(crate) bias: Tensor,
}

impl Linear {
    fn with(source: &mut Source, name: &str, inputs: i64, outputs: i64, init: Init) -> Self {
        Linear {
            weight: get(
                source,
                format!("{name}.weight"),
                &[outputs, inputs],
                Role::Weight,
                init,
            ),
            bias: get(
                source,
                format!("{name}.bias"),
                &[outputs],
                Role::Offset,
                Init::Constant(0.0),
            ),
        }
    }

    /// A layer before a rectifier.
    pub(crate) fn hidden(source: &mut Source, name: &str, inputs: i64, outputs: i64) -> Self {
        Linear::with(source, name, inputs, outputs, he(inputs))
    }

    /// A layer that starts near 0.
    pub(crate) fn output(source: &mut Source, name: &str, inputs: i64, outputs: i64) -> Self {
        Linear::with(source, name, inputs, outputs, small(inputs))
    }

    /// `[rows, in]` to `[rows, out]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let kind = x.kind();
        x.f_linear(
            &self.weight.f_to_kind(kind)?,
            Some(&self.bias.f_to_kind(kind)?),
        )
    }
}

/// `[rows, channels, 10, 9]` to twice `[rows, channels]`: the mean and the largest value of each channel.
/// torch's `amax` does the same as its `max_pool2d` here, four times as slowly.
pub(crate) fn pool(x: &Tensor) -> Result<[Tensor; 2], TchError> {
    let mean = x.f_mean_dim([2i64, 3].as_slice(), false, None::<Kind>)?;
    let max = x
        .f_max_pool2d(BOARD, BOARD, [0, 0], [1, 1], false)?
        .f_flatten(1, 3)?;
    Ok([mean, max])
}
