//! The runtime that computes ONNX files: rten, of which nothing is seen outside of this file.
use std::path::Path;
use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ThreadPool};
use rten_tensor::Tensor;
use selfplay::bundle::{TensorInfo, tensors};
use selfplay::expand::{GLOBALS, PLANES};

/// The numbers of each output, rows one after the other, in the order of [`tensors::outputs`].
pub type Outputs = [Vec<f32>; 4];

/// Ranks and files of the board.
const BOARD: [usize; 2] = [10, 9];

/// A network ready to be computed.
pub struct Runtime {
    model: Model,
    inputs: [NodeId; 2],
    outputs: [NodeId; 4],
    threads: usize,
    pool: Arc<ThreadPool>,
}

impl Runtime {
    /// Loads a file, to be computed by one thread; or why it cannot be.
    pub fn load(path: &Path) -> Result<Runtime, String> {
        let model = Model::load_file(path).map_err(|error| error.to_string())?;
        let inputs = nodes(&model, tensors::inputs())?;
        let outputs = nodes(&model, tensors::outputs())?;
        Ok(Runtime {
            model,
            inputs,
            outputs,
            threads: 1,
            pool: Arc::new(ThreadPool::with_num_threads(1)),
        })
    }

    /// Computes with so many threads from now on.
    pub fn use_threads(&mut self, threads: usize) {
        let threads = threads.max(1);
        if threads != self.threads {
            self.threads = threads;
            self.pool = Arc::new(ThreadPool::with_num_threads(threads));
        }
    }

    /// The answers to `[row, plane, square]` and `[row, global]` of so many rows.
    pub fn run(&self, rows: usize, [planes, globals]: [Vec<f32>; 2]) -> Result<Outputs, String> {
        let [ranks, files] = BOARD;
        let planes = Tensor::from_data(&[rows, PLANES, ranks, files], planes);
        let globals = Tensor::from_data(&[rows, GLOBALS], globals);
        let [first, second] = self.inputs;
        let inputs = vec![(first, planes.into()), (second, globals.into())];
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let answers = self.model.run_n(inputs, self.outputs, Some(options));
        let answers = answers.map_err(|error| error.to_string())?;
        let mut outputs = Outputs::default();
        for ((answer, told), output) in answers
            .into_iter()
            .zip(tensors::outputs())
            .zip(&mut outputs)
        {
            let numbers: Tensor<f32> = answer
                .try_into()
                .map_err(|_| format!("`{}` holds no f32", told.name))?;
            *output = numbers.into_data();
            let numbers = rows * told.width();
            if output.len() != numbers {
                let found = output.len();
                return Err(format!(
                    "`{}` has {found} numbers, expected {numbers}",
                    told.name
                ));
            }
        }
        Ok(outputs)
    }
}

/// The nodes of tensors, which must be there by name.
fn nodes<const N: usize>(model: &Model, told: Vec<TensorInfo>) -> Result<[NodeId; N], String> {
    let node = |tensor: &TensorInfo| {
        let node = model.find_node(&tensor.name);
        node.ok_or_else(|| format!("it has no tensor `{}`", tensor.name))
    };
    let nodes: Vec<_> = told.iter().map(node).collect::<Result<_, _>>()?;
    nodes
        .try_into()
        .map_err(|_| format!("it should have {N} tensors"))
}
