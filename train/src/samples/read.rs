//! Shards read back: whole, in part, or what they say of themselves.
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hdf5::types::VarLenUnicode;
use hdf5::{Dataset, File, H5Type, Selection};
use selfplay::record::{HOMES, RECORD_BYTES, Rows};

use super::{
    Column, FORMAT, GAME, NET_STEP, OUTCOME, PLIES_LEFT, PLY, POLICY_END, POLICY_INDEX,
    POLICY_PROB, POLICY_WEIGHT, RECORDS, SEARCH_WDL, ShardHead, TRUTH, VERSION, check_rows,
    first_line,
};
use crate::atomic::FileError;

/// The first bytes of an HDF5 file without a user block.
const HDF5_SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Reads and checks a shard. `form`: the form it must be of, or any.
pub fn read(path: &Path, form: Option<&str>) -> Result<(ShardHead, Rows), FileError> {
    let shard = Shard::of(path, form)?;
    let rows = shard.reader().rows(None)?;
    Ok((shard.head, rows))
}

/// A shard that is read in parts, for what may be larger than memory.
pub struct Shard {
    path: PathBuf,
    file: File,
    head: ShardHead,
}

impl Shard {
    /// Opens a shard of any form.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Shard::of(path, None)
    }

    /// Opens a shard of that form, or of any.
    fn of(path: &Path, form: Option<&str>) -> Result<Self, FileError> {
        let (file, head) = open(path, form)?;
        let path = path.to_path_buf();
        Ok(Shard { path, file, head })
    }

    /// What it says of itself.
    pub fn head(&self) -> &ShardHead {
        &self.head
    }

    /// The game id of each row.
    pub fn game_ids(&self) -> Result<Vec<u64>, FileError> {
        self.reader().column(&GAME, 1, None)
    }

    /// Reads and checks the rows `part`, not empty, of `0..game_ids().len()`.
    pub fn read(&self, part: Range<usize>) -> Result<Rows, FileError> {
        self.reader().rows(Some(part))
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            path: &self.path,
            file: &self.file,
        }
    }
}

/// Reads only what a shard says of itself.
pub fn read_head(path: &Path) -> Result<ShardHead, FileError> {
    Shard::open(path).map(|shard| shard.head)
}

/// The rows, of `N` numbers each, that a column holds one after the other.
fn rows_of<T: Copy, const N: usize>(values: &[T]) -> Vec<[T; N]> {
    values.as_chunks::<N>().0.to_vec()
}

/// Reads only the game id of each row.
pub fn read_game_ids(path: &Path, form: Option<&str>) -> Result<Vec<u64>, FileError> {
    Shard::of(path, form)?.game_ids()
}

/// Whether a file begins as one of HDF5 does.
pub fn is_hdf5(path: &Path) -> Result<bool, FileError> {
    let file = std::fs::File::open(path).map_err(|e| FileError::io(path, "opening", e))?;
    let mut magic = Vec::new();
    file.take(HDF5_SIGNATURE.len() as u64)
        .read_to_end(&mut magic)
        .map_err(|e| FileError::io(path, "reading", e))?;
    Ok(magic == HDF5_SIGNATURE)
}

/// Opens a shard and checks its root attributes.
fn open(path: &Path, form: Option<&str>) -> Result<(File, ShardHead), FileError> {
    let bad = |e: String| unusable(path, e);
    // The library's own message for a missing or forbidden file is long and says little.
    if !is_hdf5(path)? {
        return Err(bad("cannot be read as samples: not an HDF5 file".into()));
    }
    let file = File::open(path).map_err(|e| {
        bad(format!(
            "cannot be read as samples: damaged or cut short ({})",
            first_line(&e)
        ))
    })?;
    let text = |name: &str| -> Option<String> {
        Some(
            file.attr(name)
                .ok()?
                .read_scalar::<VarLenUnicode>()
                .ok()?
                .as_str()
                .to_string(),
        )
    };
    if text("format").as_deref() != Some(FORMAT) {
        return Err(bad(format!(
            "an HDF5 file, but not of samples: its attribute `format` is not `{FORMAT}`"
        )));
    }
    let version = file.attr("version").and_then(|a| a.read_scalar::<u32>());
    match version {
        Ok(VERSION) => {}
        Ok(found) => {
            let what_to_do = if found < VERSION {
                "make new samples with this build, or read it with the build that wrote it"
            } else {
                "read it with a newer build"
            };
            return Err(FileError::content(
                path,
                format!(
                    "samples of format version {found}, this build reads {VERSION}: {what_to_do}"
                ),
            ));
        }
        Err(e) => {
            return Err(bad(format!(
                "the attribute `version` cannot be read ({})",
                first_line(&e)
            )));
        }
    }
    let missing = |name: &str| bad(format!("the attribute `{name}` is missing"));
    let head = ShardHead {
        run: text("run").ok_or_else(|| missing("run"))?,
        form: text("form").ok_or_else(|| missing("form"))?,
        ruleset: text("ruleset").ok_or_else(|| missing("ruleset"))?,
    };
    if let Some(expected) = form.filter(|&f| f != head.form) {
        return Err(bad(format!(
            "samples of the form `{}`, expected `{expected}`",
            head.form
        )));
    }
    Ok((file, head))
}

struct Reader<'a> {
    path: &'a Path,
    file: &'a File,
}

impl Reader<'_> {
    /// The rows `part`, or all, checked.
    fn rows(&self, part: Option<Range<usize>>) -> Result<Rows, FileError> {
        let (mut policy_end, entries) = self.policy_ends(part.clone())?;
        if let Some(entries) = &entries {
            policy_end
                .iter_mut()
                .for_each(|end| *end -= entries.start as u64);
        }
        let records = self.column::<u8>(&RECORDS, RECORD_BYTES, part.clone())?;
        let wdl = self.column::<f32>(&SEARCH_WDL, 3, part.clone())?;
        let truth = self.column::<u8>(&TRUTH, HOMES.len(), part.clone())?;
        let rows = Rows {
            records: rows_of(&records),
            policy_end,
            policy_index: self.column(&POLICY_INDEX, 1, entries.clone())?,
            policy_prob: self.column(&POLICY_PROB, 1, entries)?,
            policy_weight: self.column(&POLICY_WEIGHT, 1, part.clone())?,
            search_wdl: rows_of(&wdl),
            outcome: self.column(&OUTCOME, 1, part.clone())?,
            plies_left: self.column(&PLIES_LEFT, 1, part.clone())?,
            truth: rows_of(&truth),
            game: self.column(&GAME, 1, part.clone())?,
            ply: self.column(&PLY, 1, part.clone())?,
            net_step: self.column(&NET_STEP, 1, part)?,
        };
        check_rows(&rows).map_err(|e| unusable(self.path, e))?;
        Ok(rows)
    }

    /// Where the policy entries of each row of `part` end, and the entries of them all; `None` of all rows.
    fn policy_ends(
        &self,
        part: Option<Range<usize>>,
    ) -> Result<(Vec<u64>, Option<Range<usize>>), FileError> {
        let Some(part) = part else {
            return Ok((self.column(&POLICY_END, 1, None)?, None));
        };
        // The entries of the first row begin where those of the row before it end.
        let before = part.start.saturating_sub(1);
        let mut ends: Vec<u64> = self.column(&POLICY_END, 1, Some(before..part.end))?;
        let start = if part.start == 0 { 0 } else { ends.remove(0) };
        let end = ends.last().copied().unwrap_or(start);
        if ends.iter().any(|row| !(start..=end).contains(row)) {
            let what = format!("`policy_end` of rows {part:?} leads back");
            return Err(unusable(self.path, what));
        }
        Ok((ends, Some(start as usize..end as usize)))
    }

    /// The lines `part` of a column of `width` numbers a line, or all.
    fn column<T: H5Type>(
        &self,
        column: &Column,
        width: usize,
        part: Option<Range<usize>>,
    ) -> Result<Vec<T>, FileError> {
        let name = column.0;
        let bad = |e: String| unusable(self.path, format!("dataset `{name}`: {e}"));
        let dataset: Dataset = self.file.dataset(name).map_err(|e| bad(first_line(&e)))?;
        let shape = dataset.shape();
        let fits = if width == 1 {
            shape.len() == 1
        } else {
            shape.len() == 2 && shape[1] == width
        };
        if !fits {
            return Err(bad(format!(
                "shape {shape:?} instead of {}",
                if width == 1 {
                    "[n]".into()
                } else {
                    format!("[n, {width}]")
                }
            )));
        }
        let reader = dataset.as_reader().no_convert();
        let values = match part {
            None => reader.read_raw(),
            Some(part) if part.end > shape[0] => {
                return Err(bad(format!("{} lines, {} are needed", shape[0], part.end)));
            }
            Some(part) => {
                let lines: Selection = match width {
                    1 => part.into(),
                    _ => (part, 0..width).into(),
                };
                let array = reader.read_slice::<T, _, ndarray::IxDyn>(lines);
                array.map(|array| array.into_raw_vec_and_offset().0)
            }
        };
        values.map_err(|e| bad(first_line(&e)))
    }
}

/// A shard of which nothing can be read, and what to do.
fn unusable(path: &Path, what: String) -> FileError {
    let message =
        format!("{what}; put a good copy of it back, or take it away to go on without its rows");
    FileError::content(path, message)
}
