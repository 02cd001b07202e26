//! Training on recorded games before self-play: the rows of `[pretrain]`, checked, and the order in which they are trained.
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use model::batch::TrainBatch;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::forms::{self, Forms};
use crate::replay::RowTotals;
use crate::samples::{self, Shard, ShardHead};

mod order;
pub use order::{Block, Next, Order};

/// Rows of a [`Block`], the unit of reading. Small against what is shuffled, so that a buffer holds parts of many
/// games; large against a chunk of HDF5, so that little is unpacked in vain.
const BLOCK_ROWS: usize = 2048;

/// The `[pretrain]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PretrainConfig {
    /// Files of samples, from the current folder; empty: no pretraining.
    pub shards: Vec<String>,
    /// Times that every row is trained on, at least 1.
    pub epochs: u64,
    /// Learning rate after the warm-up.
    pub learning_rate: f64,
    /// Share of all rows over which the rate rises from 0.
    pub warmup_share: f64,
    /// Rows shuffled at a time, in memory.
    pub shuffle_rows: usize,
}

/// The rows of `[pretrain]`.
pub struct Source {
    /// Those that are trained on.
    pub order: Order,
    /// Held-out rows, spread over all held-out games; none if none is held out.
    pub validation: TrainBatch,
    /// Rows trained on and held out.
    pub totals: RowTotals,
    /// Games of either.
    pub games: u64,
}

impl Source {
    /// Reads every row of the shards once and checks it; `None` if the config names none. An error names the key, where it
    /// was set, and the file.
    pub fn open(config: &Config, forms: &Forms) -> anyhow::Result<Option<Source>> {
        if config.pretrain.shards.is_empty() {
            return Ok(None);
        }
        let origin = config.sources.of("pretrain.shards");
        let about = || format!("`pretrain.shards` ({})", origin.unwrap_or("the default"));
        Source::read(config, forms).map(Some).with_context(about)
    }

    fn read(config: &Config, forms: &Forms) -> anyhow::Result<Source> {
        let paths: Vec<_> = config.pretrain.shards.iter().map(PathBuf::from).collect();
        let (mut blocks, mut totals, mut games) = (Vec::new(), RowTotals::default(), 0);
        for (shard, path) in paths.iter().enumerate() {
            check_samples(path)?;
            let file = Shard::open(path)?;
            check_forms(file.head(), forms).with_context(|| path.display().to_string())?;
            let ids = file.game_ids()?;
            games += ids.chunk_by(|a, b| a == b).count() as u64;
            for (number, part) in ids.chunks(BLOCK_ROWS).enumerate() {
                let of_part = config.replay.totals_of(part);
                let start = number * BLOCK_ROWS;
                totals.add(of_part);
                blocks.push(Block {
                    shard,
                    rows: start..start + part.len(),
                    training: of_part.training,
                });
            }
        }
        let order = Order::new(config, paths, blocks);
        if order.rows() == 0 {
            bail!(
                "{} rows to train on, {} times (`pretrain.epochs`), do not fill one batch of `optim.batch_rows` = {}; name more shards",
                totals.training,
                config.pretrain.epochs,
                config.optim.batch_rows
            );
        }
        let validation = check_rows(config, &order, totals.held_out)?;
        Ok(Source {
            order,
            validation,
            totals,
            games,
        })
    }
}

/// What is no file of samples at all was named for the games in it.
fn check_samples(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    ensure!(
        !path.is_dir(),
        "{name}: a folder; name the files of samples in it, such as {}",
        path.join("samples/000001.h5").display()
    );
    ensure!(
        samples::is_hdf5(path)?,
        "{name}: not samples, as it is not an HDF5 file; if there are games in it, name here what \
         `fanqi records import {name} --out games.h5` makes of them"
    );
    Ok(())
}

/// Whether the run plays every form of a shard, by the same rules.
fn check_forms(head: &ShardHead, forms: &Forms) -> anyhow::Result<()> {
    let found: Vec<serde_json::Value> = serde_json::from_str(&head.ruleset).unwrap_or_default();
    for (i, name) in head.form.split(',').enumerate() {
        let Some(rules) = forms.rules().find(|rules| rules.name == name) else {
            bail!(
                "samples of the form `{name}`, which `[ruleset]` does not play (it plays `{}`)",
                forms.names()
            );
        };
        let differences = found
            .get(i)
            .map_or(String::new(), |found| forms::differences(rules, found));
        if !differences.is_empty() {
            bail!(
                "samples of the form `{name}` by other rules than `[ruleset]` has: {differences}; import the games by those \
                 (`fanqi records import --set ruleset.KEY=VALUE`), or change `[ruleset]`"
            );
        }
    }
    Ok(())
}

/// Reads all rows once, and keeps for validation every so manieth of the `held_out` ones.
fn check_rows(config: &Config, order: &Order, held_out: u64) -> anyhow::Result<TrainBatch> {
    let stride = held_out.div_ceil(config.checkpoint.validation_rows).max(1);
    let (mut validation, mut seen) = (TrainBatch::default(), 0);
    for block in order.blocks() {
        let rows = order.read(block)?;
        for i in (0..rows.len()).filter(|&i| config.replay.is_held_out(rows.game[i])) {
            if seen % stride == 0 {
                validation.push_from(&rows, i, seen, false)?;
            }
            seen += 1;
        }
    }
    Ok(validation)
}
