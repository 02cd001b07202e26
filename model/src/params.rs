//! Names, shapes and order of a network's numbers, and the plain form in which they travel.
//!
//! All trained tensors of a network are views into one flat tensor, decayed ones first, and so are
//! the running statistics of the norms: an optimiser or an average is then a handful of operations.
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tch::{Device, Kind, TchError, Tensor};

use crate::config::NetConfig;
use crate::net;

/// What a tensor of the network is to the optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A trained weight, with weight decay.
    Weight,
    /// A trained norm parameter or bias, without.
    Offset,
    /// A running statistic of a norm, not trained.
    Buffer,
}

/// How a tensor starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Uniform in -bound..bound.
    Uniform(f32),
    /// All the same.
    Constant(f32),
}

/// One tensor of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Unique, like `blocks.0.first.conv.weight`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<i64>,
    /// What it is to the optimiser.
    pub role: Role,
    /// How it starts.
    pub init: Init,
}

impl Spec {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where each tensor of a network lies in the flat ones.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Tensors in the order in which the network is built.
    pub specs: Vec<Spec>,
    /// Start of each in its flat tensor: of the parameters, or of the buffers.
    pub offsets: Vec<usize>,
    /// Number of decayed parameters; they come first.
    pub decayed: usize,
    /// Number of parameters.
    pub params: usize,
    /// Number of running statistics.
    pub buffers: usize,
}

impl Layout {
    /// The layout of the network of `config`.
    pub fn of(config: &NetConfig) -> Self {
        let mut specs = Vec::new();
        net::build(config, &mut |spec| {
            specs.push(spec);
            Tensor::new()
        });
        let (mut offsets, mut at) = (vec![0; specs.len()], 0);
        let mut ends = [0; 3];
        for (role, end) in [Role::Weight, Role::Offset, Role::Buffer]
            .into_iter()
            .zip(&mut ends)
        {
            if role == Role::Buffer {
                at = 0;
            }
            for (spec, offset) in specs
                .iter()
                .zip(&mut offsets)
                .filter(|(s, _)| s.role == role)
            {
                *offset = at;
                at += spec.len();
            }
            *end = at;
        }
        Layout {
            specs,
            offsets,
            decayed: ends[0],
            params: ends[1],
            buffers: ends[2],
        }
    }

    /// The trained tensors' indices, in the order in which they lie in the flat tensor.
    pub fn trained(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.specs.len())
            .filter(|&i| self.specs[i].role != Role::Buffer)
            .collect();
        order.sort_by_key(|&i| self.offsets[i]);
        order
    }
}

/// A network's numbers as plain data, which threads can share.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The network that they fit.
    pub config: NetConfig,
    /// Training step at which they were taken.
    pub step: u64,
    /// All parameters, in the order of [`Layout`].
    pub params: Vec<f32>,
    /// All running statistics, in the order of [`Layout`].
    pub buffers: Vec<f32>,
}

impl Weights {
    /// The numbers of the tensor of that name; none if there is no such tensor.
    pub(crate) fn part(&self, name: &str) -> &[f32] {
        let (buffer, range) = self.place(name);
        let flat = if buffer { &self.buffers } else { &self.params };
        &flat[range]
    }

    /// As [`Weights::part`], to be changed.
    pub(crate) fn part_mut(&mut self, name: &str) -> &mut [f32] {
        let (buffer, range) = self.place(name);
        let flat = if buffer {
            &mut self.buffers
        } else {
            &mut self.params
        };
        &mut flat[range]
    }

    /// Whether the tensor of that name is a running statistic, and where it lies.
    fn place(&self, name: &str) -> (bool, Range<usize>) {
        let layout = Layout::of(&self.config);
        let mut all = layout.specs.iter().zip(&layout.offsets);
        let found = all.find(|(spec, _)| spec.name == name);
        found.map_or((false, 0..0), |(spec, &offset)| {
            (spec.role == Role::Buffer, offset..offset + spec.len())
        })
    }

    /// Fresh weights, decided by `seed`.
    pub fn random(config: &NetConfig, seed: u64) -> Self {
        let layout = Layout::of(config);
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let (mut params, mut buffers) = (vec![0.0; layout.params], vec![0.0; layout.buffers]);
        for (spec, &offset) in layout.specs.iter().zip(&layout.offsets) {
            let flat = if spec.role == Role::Buffer {
                &mut buffers
            } else {
                &mut params
            };
            for x in &mut flat[offset..offset + spec.len()] {
                *x = match spec.init {
                    Init::Uniform(bound) => rng.random_range(-bound..=bound),
                    Init::Constant(value) => value,
                };
            }
        }
        Weights {
            config: config.clone(),
            step: 0,
            params,
            buffers,
        }
    }

    /// The two flat tensors, on `device`.
    pub fn tensors(&self, device: Device) -> Result<(Tensor, Tensor), TchError> {
        let flat = |x: &[f32]| Tensor::f_from_slice(x)?.f_to_device(device);
        Ok((flat(&self.params)?, flat(&self.buffers)?))
    }
}

/// All elements of a flat f32 tensor.
pub fn to_vec(flat: &Tensor) -> Result<Vec<f32>, TchError> {
    let mut out = vec![0.0; flat.numel()];
    flat.f_to_kind(Kind::Float)?
        .f_copy_data(&mut out, flat.numel())?;
    Ok(out)
}
