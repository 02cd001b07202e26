//! Settings of the network and of its training; `configs/default.toml` says what each is for.
use serde::{Deserialize, Serialize};

/// The `[net]` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetConfig {
    /// Channels of the tower.
    pub channels: u32,
    /// Residual blocks.
    pub blocks: u32,
    /// Every n-th block mixes in global pooling; 0: none.
    pub pool_every: u32,
    /// Channels of the policy head's hidden layer.
    pub policy_channels: u32,
    /// Channels of the value head's 1x1 convolution.
    pub value_channels: u32,
    /// Width of the value head's hidden layer.
    pub value_hidden: u32,
}

impl NetConfig {
    /// Checks that every size makes a network; the error names the key and its range.
    pub fn check(&self) -> Result<(), String> {
        let keys = [
            ("channels", self.channels, 1, 1024),
            ("blocks", self.blocks, 0, 256),
            ("pool_every", self.pool_every, 0, 256),
            ("policy_channels", self.policy_channels, 1, 1024),
            ("value_channels", self.value_channels, 1, 1024),
            ("value_hidden", self.value_hidden, 1, 8192),
        ];
        match keys
            .iter()
            .find(|(_, value, low, high)| value < low || value > high)
        {
            Some((key, value, low, high)) => {
                Err(format!("{key} = {value}: expected {low}..={high}"))
            }
            None => Ok(()),
        }
    }
}

/// Which update rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimKind {
    /// AdamW (Loshchilov and Hutter 2019).
    Adamw,
    /// Nesterov momentum with decoupled weight decay.
    Sgd,
}

/// The `[optim]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimConfig {
    /// Update rule.
    pub kind: OptimKind,
    /// Rows of one training step.
    pub batch_rows: u32,
    /// Learning rate after the warm-up.
    pub learning_rate: f64,
    /// Rows trained over which the rate rises linearly from 0.
    pub warmup_rows: u64,
    /// Rows trained at which the cosine decay ends; 0: no decay.
    pub decay_rows: u64,
    /// The rate at the end of the decay, as a share of `learning_rate`, 0..=1.
    pub final_rate_share: f64,
    /// Decoupled weight decay of weights (not of norms or biases).
    pub weight_decay: f64,
    /// AdamW: decay of the first moment; SGD: momentum.
    pub beta1: f64,
    /// AdamW: decay of the second moment.
    pub beta2: f64,
    /// Largest norm of the whole gradient; longer ones are scaled down.
    pub clip_norm: f64,
    /// Decay of the weight average that plays, a step.
    pub ema_decay: f64,
    /// Weight of the policy loss.
    pub policy_weight: f64,
    /// Weight of the WDL loss.
    pub value_weight: f64,
    /// Weight of the moves-left loss.
    pub moves_left_weight: f64,
    /// Weight of the belief loss.
    pub belief_weight: f64,
    /// Share of the search's WDL in the value target; the rest is the game's result, 0..=1.
    pub search_value_share: f64,
}

/// Where and how precisely to compute: `[device]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: String,
    /// Of self-play and matches: `auto`, `f32`, `bf16` or `f16`.
    pub inference_precision: String,
    /// Of training: `auto`, `f32` or `bf16`.
    pub training_precision: String,
}
