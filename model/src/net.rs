//! The network: a residual tower whose every n-th block mixes in global pooling (as in KataGo,
//! Wu 2019), the first layer adding what holds for the whole board (the same), and its four heads.
use tch::{Device, Kind, TchError, Tensor};

use selfplay::policy;

use crate::config::NetConfig;
use crate::expand::{GLOBALS, Input, PLANES};
use crate::layers::{ConvLayer, ConvNorm, Linear, Source, pool};
use crate::params::{Layout, Role, Weights};

/// Plies that 1 in the moves-left head's own unit stands for.
pub const PLIES_UNIT: f64 = 100.0;
/// Kinds that may lie face down: A B N R C P.
pub const HIDDEN_KINDS: usize = 6;
/// One in this many channels of a pooling block is pooled.
const POOLED_SHARE: i64 = 4;

/// What the network says, all from the side to move.
pub struct Output {
    /// `[rows, 90, policy_channels]` in the kind of the computation: the policy head's hidden layer by square, from
    /// which logits are read.
    pub policy_hidden: Tensor,
    /// `[rows, 3]` f32: logits of win, draw, loss.
    pub wdl: Tensor,
    /// `[rows]` f32: plies to the end of the game in units of [`PLIES_UNIT`], at least 0.
    pub moves_left: Tensor,
    /// `[rows, 90, channels]` in the kind of the computation: the tower's output by square, from which the
    /// belief head reads.
    pub features: Tensor,
}

/// A residual block: two 3x3 convolutions, and maybe a bias drawn from the whole board.
pub(crate) struct Block<C> {
    pub(crate) first: C,
    pub(crate) pooled: Option<Linear>,
    pub(crate) second: C,
}

/// The function of the network over one kind of convolution.
pub(crate) struct Tower<C> {
    pub(crate) stem: C,
    pub(crate) globals: Linear,
    pub(crate) blocks: Vec<Block<C>>,
    pub(crate) policy_hidden: C,
    pub(crate) policy: Linear,
    pub(crate) value: C,
    pub(crate) value_hidden: Linear,
    pub(crate) wdl: Linear,
    pub(crate) moves_left: Linear,
    pub(crate) belief: Linear,
}

/// Builds the network of `config` from the tensors of `source`.
pub(crate) fn build(config: &NetConfig, source: &mut Source) -> Tower<ConvNorm> {
    let c = config.channels as i64;
    let (p, v, h) = (
        config.policy_channels as i64,
        config.value_channels as i64,
        config.value_hidden as i64,
    );
    let stem = ConvNorm::new(source, "stem", (PLANES as i64, c), 3, 1.0);
    let globals = Linear::output(source, "stem.globals", GLOBALS as i64, c);
    let blocks = (0..config.blocks).map(|i| {
        let name = format!("blocks.{i}");
        let pooled = config.pool_every > 0 && (i + 1) % config.pool_every == 0;
        Block {
            first: ConvNorm::new(source, &format!("{name}.first"), (c, c), 3, 1.0),
            pooled: pooled.then(|| {
                Linear::output(source, &format!("{name}.pooled"), 2 * pooled_channels(c), c)
            }),
            // a block starts as the identity (Goyal et al. 2017, section 5.1)
            second: ConvNorm::new(source, &format!("{name}.second"), (c, c), 3, 0.0),
        }
    });
    let blocks = blocks.collect();
    Tower {
        stem,
        globals,
        blocks,
        policy_hidden: ConvNorm::new(source, "policy_hidden", (c, p), 1, 1.0),
        policy: Linear::output(source, "policy", p, policy::PLANES as i64),
        value: ConvNorm::new(source, "value", (c, v), 1, 1.0),
        value_hidden: Linear::hidden(source, "value_hidden", (policy::SQUARES as i64 + 2) * v, h),
        wdl: Linear::output(source, "wdl", h, 3),
        moves_left: Linear::output(source, "moves_left", h, 1),
        belief: Linear::output(source, "belief", c, HIDDEN_KINDS as i64),
    }
}

fn pooled_channels(channels: i64) -> i64 {
    (channels / POOLED_SHARE).max(1)
}

/// Adds `bias`, `[rows, channels]`, to `y`, `[rows, channels, 10, 9]`, on every square.
fn add_everywhere(mut y: Tensor, bias: &Tensor) -> Result<Tensor, TchError> {
    y.f_add_(&bias.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
}

/// `[rows, channels, 10, 9]` to `[rows, 90, channels]`.
fn by_square(x: &Tensor) -> Result<Tensor, TchError> {
    x.f_permute([0, 2, 3, 1])?.f_flatten(1, 2)
}

impl<C: ConvLayer> Block<C> {
    fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor, TchError> {
        let mut y = self.first.forward(x, train)?;
        if let Some(linear) = &self.pooled {
            let part = y.f_narrow(1, 0, linear.weight.size()[1] / 2)?.f_relu()?;
            y = add_everywhere(y, &linear.forward(&Tensor::f_cat(&pool(&part)?, 1)?)?)?;
        }
        let mut y = self.second.forward(&y.f_relu_()?, train)?;
        y.f_add_(x)?.f_relu_()
    }
}

impl<C: ConvLayer> Tower<C> {
    /// `train`: norms use and record the batch's statistics.
    pub(crate) fn forward(&self, input: &Input, train: bool) -> Result<Output, TchError> {
        let x = self.stem.forward(&input.planes, train)?;
        let mut x = add_everywhere(x, &self.globals.forward(&input.globals)?)?.f_relu_()?;
        for block in &self.blocks {
            x = block.forward(&x, train)?;
        }
        let policy_hidden = self.policy_hidden.forward(&x, train)?.f_relu_()?;
        let value = self.value.forward(&x, train)?.f_relu_()?;
        let [mean, max] = pool(&value)?;
        let squares = by_square(&value)?.f_flatten(1, 2)?;
        let hidden = self
            .value_hidden
            .forward(&Tensor::f_cat(&[squares, mean, max], 1)?)?
            .f_relu_()?;
        let hidden = hidden.f_to_kind(Kind::Float)?;
        Ok(Output {
            policy_hidden: by_square(&policy_hidden)?,
            wdl: self.wdl.forward(&hidden)?,
            moves_left: self
                .moves_left
                .forward(&hidden)?
                .f_squeeze_dim(1)?
                .f_softplus()?,
            features: by_square(&x)?,
        })
    }

    /// `[rows, 90, policy::PLANES]` in the kind of the computation: logits by square left and plane of
    /// [`selfplay::policy`]; index `i` of that module lies at `[i % 90][i / 90]`.
    pub(crate) fn policy(&self, output: &Output) -> Result<Tensor, TchError> {
        self.policy.forward(&output.policy_hidden)
    }

    /// The belief head: `[squares, HIDDEN_KINDS]` f32, logits of what an unknown piece is, A B N R C P, on
    /// `squares`, `90 * row + square`, of `features`.
    ///
    /// Few rows ask, about few squares, so it is not computed on the others. It reads the tower itself, not the
    /// policy's hidden layer: that one is narrower, and what it keeps is moves.
    pub(crate) fn belief(&self, features: &Tensor, squares: &Tensor) -> Result<Tensor, TchError> {
        let features = features.f_flatten(0, 1)?.f_index_select(0, squares)?;
        self.beliefs(&features)
    }

    /// The belief head of any `features`, `[.., channels]`: `[.., HIDDEN_KINDS]` f32 logits.
    pub(crate) fn beliefs(&self, features: &Tensor) -> Result<Tensor, TchError> {
        self.belief.forward(&features.f_to_kind(Kind::Float)?)
    }
}

/// The trainable form.
pub struct Net {
    /// Its size.
    pub config: NetConfig,
    /// Where its tensors lie.
    pub layout: Layout,
    /// Flat parameters; the network reads views of them.
    pub params: Tensor,
    /// Flat running statistics; the network reads and updates views of them.
    pub buffers: Tensor,
    /// The parameters' views in the order of the flat tensor, each a leaf of the graph.
    pub leaves: Vec<Tensor>,
    tower: Tower<ConvNorm>,
}

impl Net {
    /// The network with these weights.
    pub fn new(weights: &Weights, device: Device) -> Result<Self, TchError> {
        let layout = Layout::of(&weights.config);
        let (params, buffers) = weights.tensors(device)?;
        let mut views = Vec::with_capacity(layout.specs.len());
        for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
            let flat = if spec.role == Role::Buffer {
                &buffers
            } else {
                &params
            };
            let view = flat
                .f_narrow(0, offset as i64, spec.len() as i64)?
                .f_view(spec.shape.as_slice())?;
            views.push(
                view.f_detach()?
                    .f_set_requires_grad(spec.role != Role::Buffer)?,
            );
        }
        let leaves = layout
            .trained()
            .into_iter()
            .map(|i| views[i].shallow_clone())
            .collect();
        let mut next = views.into_iter();
        let tower = build(&weights.config, &mut |_| {
            next.next().expect("one view for each spec")
        });
        Ok(Net {
            config: weights.config.clone(),
            layout,
            params,
            buffers,
            leaves,
            tower,
        })
    }

    /// Computes in the kind of `input`; `train`: norms use and record the batch's statistics.
    pub fn forward(&self, input: &Input, train: bool) -> Result<Output, TchError> {
        self.tower.forward(input, train)
    }

    /// `[rows, 90, policy::PLANES]` in the kind of the computation: logits by square left and plane of
    /// [`selfplay::policy`]; index `i` of that module lies at `[i % 90][i / 90]`.
    pub fn policy(&self, output: &Output) -> Result<Tensor, TchError> {
        self.tower.policy(output)
    }

    /// Logits of what the unknown pieces on `squares`, `[squares]` i64 of `90 * row + square`, are:
    /// `[squares, HIDDEN_KINDS]` f32, A B N R C P.
    pub fn belief(&self, features: &Tensor, squares: &Tensor) -> Result<Tensor, TchError> {
        self.tower.belief(features, squares)
    }

    pub(crate) fn tower(&self) -> &Tower<ConvNorm> {
        &self.tower
    }

    /// Its numbers as plain data, labelled with `step`.
    pub fn weights(&self, step: u64) -> Result<Weights, TchError> {
        let (params, buffers) = (
            crate::params::to_vec(&self.params)?,
            crate::params::to_vec(&self.buffers)?,
        );
        Ok(Weights {
            config: self.config.clone(),
            step,
            params,
            buffers,
        })
    }
}
