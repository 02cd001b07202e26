//! One evaluator for many workers: a thread that owns it and merges what is waiting into one batch.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::eval::{Batch, EvalError, Evaluator};
use crate::worker::EvalPort;

type Answer = Result<(Batch, u64), EvalError>;

/// A batch on its way to the server.
#[derive(Debug)]
pub struct Job {
    batch: Batch,
    reply: Sender<Answer>,
}

/// What a server has done, readable while it runs.
#[derive(Debug, Default)]
pub struct Counters {
    batches: AtomicU64,
    rows: AtomicU64,
}

impl Counters {
    /// Batches evaluated, after merging.
    pub fn batches(&self) -> u64 {
        self.batches.load(Relaxed)
    }

    /// Rows evaluated.
    pub fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }
}

/// A worker's port to a [`serve`] loop.
#[derive(Debug)]
pub struct ChannelPort {
    jobs: Sender<Job>,
    /// One a batch that is out, so that the end of the server's thread is noticed at each.
    answers: VecDeque<Receiver<Answer>>,
    step: u64,
}

impl ChannelPort {
    /// A port that sends to `jobs`, the other end of which a [`serve`] loop holds.
    pub fn new(jobs: Sender<Job>) -> Self {
        ChannelPort {
            jobs,
            answers: VecDeque::new(),
            step: 0,
        }
    }
}

fn gone() -> EvalError {
    EvalError::Failed("its thread has ended".into())
}

impl EvalPort for ChannelPort {
    fn submit(&mut self, batch: Batch) -> Result<(), EvalError> {
        let (reply, answer) = bounded(1);
        self.jobs.send(Job { batch, reply }).map_err(|_| gone())?;
        self.answers.push_back(answer);
        Ok(())
    }

    fn receive(&mut self) -> Result<Batch, EvalError> {
        let nothing = || EvalError::Failed("no batch is out".into());
        let answer = self.answers.pop_front().ok_or_else(nothing)?;
        let (batch, step) = answer.recv().map_err(|_| gone())??;
        self.step = step;
        Ok(batch)
    }

    fn step(&self) -> u64 {
        self.step
    }
}

/// Evaluates what comes in over `jobs` until every port is gone.
///
/// Whatever waits is merged up to `max_rows` rows; a single batch is never split, and goes alone if it is
/// larger. An error is answered to every port that had rows in the batch.
pub fn serve<E: Evaluator + ?Sized>(
    evaluator: &mut E,
    jobs: &Receiver<Job>,
    max_rows: usize,
    counters: &Counters,
) {
    let mut merged = Batch::default();
    let mut waiting = Vec::new();
    let mut held = None;
    while let Some(first) = held.take().or_else(|| jobs.recv().ok()) {
        let mut rows = first.batch.len();
        waiting.push(first);
        while let Ok(job) = jobs.try_recv() {
            if rows + job.batch.len() > max_rows {
                held = Some(job);
                break;
            }
            rows += job.batch.len();
            waiting.push(job);
        }
        answer(evaluator, &mut waiting, &mut merged);
        counters.batches.fetch_add(1, Relaxed);
        counters.rows.fetch_add(rows as u64, Relaxed);
    }
}

/// Evaluates `jobs` as one batch and empties it. A port that has gone meanwhile misses nothing.
fn answer<E: Evaluator + ?Sized>(evaluator: &mut E, jobs: &mut Vec<Job>, merged: &mut Batch) {
    if jobs.len() == 1 {
        let Job { mut batch, reply } = jobs.remove(0);
        let result = evaluator.evaluate(&mut batch);
        let _ = reply.send(result.map(|()| (batch, evaluator.step())));
        return;
    }
    merged.clear();
    jobs.iter().for_each(|job| merged.append_inputs(&job.batch));
    let result = evaluator.evaluate(merged);
    let mut row = 0;
    for Job { mut batch, reply } in jobs.drain(..) {
        let rows = batch.len();
        let answer = result.clone().map(|()| {
            batch.take_outputs(merged, row);
            (batch, evaluator.step())
        });
        let _ = reply.send(answer);
        row += rows;
    }
}
