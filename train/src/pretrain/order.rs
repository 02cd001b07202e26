//! In which order rows are trained on, from files that may be larger than memory.
use std::ops::Range;
use std::path::PathBuf;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use selfplay::eval::mix;
use selfplay::record::Rows;

use super::PretrainConfig;
use crate::atomic::FileError;
use crate::config::Config;
use crate::replay::ReplayConfig;
use crate::samples::Shard;

/// Rows of a shard that are read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of the shard.
    pub shard: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// How many of them are trained on.
    pub training: u64,
}

/// A row to train on.
pub struct Next<'a> {
    /// The buffer that it is in.
    pub rows: &'a Rows,
    /// Its place there.
    pub row: usize,
    /// Whether it is to be mirrored.
    pub mirror: bool,
    /// Rows handed out before it, over all epochs.
    pub number: u64,
}

/// All training rows, in every epoch once, in an order that follows from the seed alone.
///
/// An epoch takes the blocks of all shards in random order, as many at a time as fill the buffer, and the rows of a
/// buffer in random order. So [`Order::seek`] finds any place without reading what comes before.
pub struct Order {
    config: PretrainConfig,
    replay: ReplayConfig,
    seed: u64,
    batch_rows: u64,
    paths: Vec<PathBuf>,
    blocks: Vec<Block>,
    /// Training rows of an epoch.
    epoch_rows: u64,
    epoch: u64,
    /// The blocks that the epoch has yet to read, the next one last.
    left: Vec<usize>,
    buffer: Rows,
    /// The rows of the buffer yet to be trained on, the next one last.
    picks: Vec<u32>,
    /// Rows handed out before the next one, over all epochs.
    done: u64,
}

impl Order {
    /// The order of `blocks`, some row of which is trained on, of the shards `paths`, at its beginning.
    pub fn new(config: &Config, paths: Vec<PathBuf>, blocks: Vec<Block>) -> Self {
        let mut order = Order {
            config: config.pretrain.clone(),
            replay: config.replay.clone(),
            seed: config.run.seed,
            batch_rows: config.optim.batch_rows.into(),
            paths,
            epoch_rows: blocks.iter().map(|block| block.training).sum(),
            blocks,
            epoch: 0,
            left: Vec::new(),
            buffer: Rows::default(),
            picks: Vec::new(),
            done: 0,
        };
        order.start_epoch(0);
        order
    }

    /// Rows that are trained on in all epochs, whole batches.
    pub fn rows(&self) -> u64 {
        let all = self.epoch_rows.saturating_mul(self.config.epochs);
        all / self.batch_rows * self.batch_rows
    }

    /// Epochs before the next row, the running one in part.
    pub fn epochs_done(&self) -> f64 {
        self.done as f64 / self.epoch_rows.max(1) as f64
    }

    /// All blocks, as they lie in the shards.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The rows of a block, checked.
    pub fn read(&self, block: &Block) -> Result<Rows, FileError> {
        Shard::open(&self.paths[block.shard])?.read(block.rows.clone())
    }

    /// Goes to where `rows` rows, fewer than [`Order::rows`], have been handed out.
    pub fn seek(&mut self, rows: u64) -> Result<(), FileError> {
        self.start_epoch(rows / self.epoch_rows);
        let mut rest = rows % self.epoch_rows;
        loop {
            let group = self.next_group();
            let training = group.iter().map(|&i| self.blocks[i].training).sum();
            if rest < training {
                self.fill_buffer(&group)?;
                break;
            }
            rest -= training;
        }
        self.picks.truncate(self.picks.len() - rest as usize);
        self.done = rows;
        Ok(())
    }

    /// The next row and whether it is to be mirrored, epoch after epoch without end.
    pub fn next_row(&mut self) -> Result<Next<'_>, FileError> {
        while self.picks.is_empty() {
            if self.left.is_empty() {
                self.start_epoch(self.epoch + 1);
            }
            let group = self.next_group();
            self.fill_buffer(&group)?;
        }
        let number = self.done;
        self.done += 1;
        Ok(Next {
            row: self.picks.pop().unwrap_or_default() as usize,
            rows: &self.buffer,
            mirror: self.replay.mirror && mix(mix(self.seed) ^ number) & 1 == 1,
            number,
        })
    }

    fn start_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.picks.clear();
        self.left.clear();
        self.left.extend(0..self.blocks.len());
        let mut generator = self.generator(0);
        self.left.shuffle(&mut generator);
    }

    /// The generator of what happens in this epoch while `left` blocks are left; 0: of their order.
    fn generator(&self, left: usize) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(mix(mix(mix(self.seed) ^ self.epoch) ^ left as u64))
    }

    /// Takes the blocks that fill the buffer next, at least one while any is left.
    fn next_group(&mut self) -> Vec<usize> {
        let (mut group, mut rows) = (Vec::new(), 0);
        while let Some(&next) = self.left.last() {
            rows += self.blocks[next].rows.len();
            if rows > self.config.shuffle_rows && !group.is_empty() {
                break;
            }
            group.push(next);
            self.left.pop();
        }
        group
    }

    /// Reads the blocks `group`, just taken, and shuffles their training rows.
    fn fill_buffer(&mut self, group: &[usize]) -> Result<(), FileError> {
        self.buffer.clear();
        for &block in group {
            let rows = self.read(&self.blocks[block])?;
            self.buffer.append(&rows);
        }
        let games = self.buffer.game.iter().enumerate();
        let training = games.filter(|&(_, &game)| !self.replay.is_held_out(game));
        self.picks.clear();
        self.picks.extend(training.map(|(row, _)| row as u32));
        let mut generator = self.generator(1 + self.left.len());
        self.picks.shuffle(&mut generator);
        Ok(())
    }
}
