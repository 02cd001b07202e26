//! Writes the network that an export in fewer bits computes as a checkpoint, to be played against its own by `fanqi arena`:
//! `cargo run --release -p model --example rounded -- CHECKPOINT f16|int8 OUT`
#[path = "../../tests/model_rows/mod.rs"]
mod model_rows;

use std::error::Error;
use std::path::Path;

use model::checkpoint;
use model::export::rounded;
use model::learner::Learner;
use model_rows::{OPTIM, placement};
use selfplay::bundle::Precision;
use tch::Kind;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [source, precision, out] = &words[..] else {
        return Err("expected CHECKPOINT f16|int8 OUT".into());
    };
    let precision = match precision.as_str() {
        "f16" => Precision::F16,
        "int8" => Precision::Int8,
        other => return Err(format!("{other}: expected f16 or int8").into()),
    };
    let (weights, about) = checkpoint::load_play(Path::new(source))?;
    let weights = rounded(&weights, precision);
    let learner = Learner::from_weights(&weights, &OPTIM, &placement(Kind::Float))?;
    learner.save(Path::new(out), &about.origin)?;
    Ok(())
}
