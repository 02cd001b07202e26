//! The levels of a run, as a bundle tells of them.
use anyhow::{anyhow, bail};
use selfplay::bundle;

use crate::levels::{Level, Levels};

/// The level of that number, of `form` where several forms have been graded.
pub fn choose<'a>(
    levels: Option<&'a Levels>,
    number: u32,
    form: Option<&str>,
) -> anyhow::Result<&'a Level> {
    let Some(levels) = levels else {
        bail!(
            "--level {number}: the run has no levels; `fanqi grade` makes them, and --step chooses a checkpoint without them"
        );
    };
    let graded: Vec<_> = levels.forms().collect();
    let form = match (form, &graded[..]) {
        (Some(form), _) => form,
        (None, [only]) => only,
        (None, _) => bail!(
            "--level {number}: there are levels of {}; choose with --form",
            graded.join(", ")
        ),
    };
    let level = levels.level(form, number);
    level.map_err(|why| anyhow!("--level {number}: {why}"))
}

/// All levels for `model.json`.
pub fn told(levels: Option<&Levels>) -> Vec<bundle::Level> {
    levels
        .into_iter()
        .flat_map(Levels::all)
        .map(bundle::Level::from)
        .collect()
}
