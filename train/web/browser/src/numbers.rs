//! The numbers that a network reads and answers of one row, side by side in one piece of memory.
use selfplay::bundle::rows::{read_outputs, write_inputs};
use selfplay::bundle::{TensorInfo, tensors};
use selfplay::eval::Batch;
use selfplay::expand::{GLOBALS, PLANES};
use selfplay::policy::{INDICES, SQUARES};
use serde::Serialize;

/// Numbers of each input, then of each output, in the order of [`tensors`].
const LENGTHS: [usize; 6] = [PLANES * SQUARES, GLOBALS, INDICES, 3, 1, 6 * SQUARES];
/// How many of them are inputs.
const INPUTS: usize = 2;

/// Where a tensor of one row stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Whether the network reads it; else it answers it.
    pub input: bool,
    /// Its shape; one row.
    pub shape: Vec<u64>,
    /// Index of its first number.
    pub start: usize,
    /// Index behind its last one.
    pub end: usize,
}

/// The numbers of one row.
#[derive(Debug)]
pub struct Numbers(Vec<f32>);

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers(vec![0.0; LENGTHS.iter().sum()])
    }
}

impl Numbers {
    /// All of them.
    pub fn all(&mut self) -> &mut [f32] {
        &mut self.0
    }

    /// Where each tensor stands.
    pub fn places() -> Vec<Place> {
        let (inputs, outputs) = (tensors::inputs(), tensors::outputs());
        let mut start = 0;
        let place = |(i, tensor): (usize, TensorInfo)| {
            let shape = tensor.row();
            let place = Place {
                name: tensor.name,
                input: i < INPUTS,
                shape,
                start,
                end: start + LENGTHS[i],
            };
            start = place.end;
            place
        };
        inputs
            .into_iter()
            .chain(outputs)
            .enumerate()
            .map(place)
            .collect()
    }

    fn parts(&mut self) -> [&mut [f32]; 6] {
        let mut rest = &mut self.0[..];
        LENGTHS.map(|length| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(length);
            rest = behind;
            part
        })
    }

    /// Writes what the network reads of the one row of `batch`.
    pub fn write(&mut self, batch: &Batch) {
        let [planes, globals, ..] = self.parts();
        write_inputs(&batch.records, planes, globals);
    }

    /// Takes the network's answers to it.
    pub fn read(&mut self, batch: &mut Batch) {
        let [_, _, outputs @ ..] = self.parts();
        batch.clear_outputs();
        read_outputs(outputs.map(|part| &*part), batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_tensors() {
        let told = tensors::inputs().into_iter().chain(tensors::outputs());
        let places = Numbers::places();
        assert_eq!(places.len(), LENGTHS.len());
        for (place, tensor) in places.iter().zip(told) {
            assert_eq!(place.end - place.start, tensor.width(), "{}", place.name);
            assert_eq!(place.shape.iter().product::<u64>(), tensor.width() as u64);
        }
        assert!(places.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
