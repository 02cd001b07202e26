//! Where a worker's batches go.
use std::collections::VecDeque;

use crate::eval::{Batch, EvalError, Evaluator};

/// A worker's way to an evaluator: whole batches, answered in the order they were sent.
pub trait EvalPort: Send {
    /// Sends a batch's inputs off.
    fn submit(&mut self, batch: Batch) -> Result<(), EvalError>;
    /// Waits for the oldest batch that is out and returns it with its outputs.
    fn receive(&mut self) -> Result<Batch, EvalError>;
    /// Training step of the network that evaluated the batch received last.
    fn step(&self) -> u64;
}

/// Evaluates on the worker's own thread, at [`EvalPort::submit`].
#[derive(Debug)]
pub struct InlinePort<E> {
    evaluator: E,
    ready: VecDeque<(Batch, u64)>,
    step: u64,
}

impl<E: Evaluator> InlinePort<E> {
    /// A port to `evaluator`.
    pub fn new(evaluator: E) -> Self {
        InlinePort {
            step: evaluator.step(),
            evaluator,
            ready: VecDeque::new(),
        }
    }

    /// The evaluator.
    pub fn evaluator(&mut self) -> &mut E {
        &mut self.evaluator
    }
}

impl<E: Evaluator> EvalPort for InlinePort<E> {
    fn submit(&mut self, mut batch: Batch) -> Result<(), EvalError> {
        self.evaluator.evaluate(&mut batch)?;
        self.ready.push_back((batch, self.evaluator.step()));
        Ok(())
    }

    fn receive(&mut self) -> Result<Batch, EvalError> {
        let nothing = || EvalError::Failed("no batch is out".into());
        let (batch, step) = self.ready.pop_front().ok_or_else(nothing)?;
        self.step = step;
        Ok(batch)
    }

    fn step(&self) -> u64 {
        self.step
    }
}
