//! Training rows on disk: HDF5 shards, one dataset a column of [`Rows`], gzip-compressed, readable by
//! any HDF5 library (`scripts/inspect_samples.py` uses h5py).
//!
//! A shard is built in memory and appears under its name only when it is whole, because HDF5 files
//! cut short are unreadable, and because a full disk then is a plain system error. The HDF5 library
//! has one global lock: use one writer thread.
use std::path::Path;

use hdf5::types::VarLenUnicode;
use hdf5::{File, H5Type, Location};
use ndarray::ArrayView;
use selfplay::record::{HOMES, RECORD_BYTES, Rows};
use serde::{Deserialize, Serialize};

use crate::atomic::{self, FileError};

mod check;
mod read;
pub use check::check_rows;
pub use read::{Shard, is_hdf5, read, read_game_ids, read_head};

/// Value of the root attribute `format`.
pub const FORMAT: &str = "fanqi-samples";
/// Value of the root attribute `version`; it changes when a column or its meaning does.
pub const VERSION: u32 = 3;

/// The `[samples]` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplesConfig {
    /// Rows at which a shard is written; whole games, so a shard has a few more. At least 1.
    pub shard_rows: usize,
    /// Rows of one HDF5 chunk, the unit of compression and of reading; at least 1.
    pub chunk_rows: usize,
    /// gzip level, 0..=9; 0 stores without compression.
    pub gzip_level: u8,
}

/// What a shard says of itself besides its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardHead {
    /// Name of the run that made it.
    pub run: String,
    /// Name of the form, as `--form` takes it.
    pub form: String,
    /// The form's rules, for people.
    pub ruleset: String,
}

/// A column of the file: name, unit, viewpoint.
struct Column(&'static str, &'static str, &'static str);

const SIDE: &str = "side to move";
const ABSOLUTE: &str = "none";
const RECORDS: Column = Column(
    "records",
    "bytes, see the root attribute record_layout",
    SIDE,
);
const POLICY_END: Column = Column(
    "policy_end",
    "entries of policy_index, exclusive end of the row's run",
    ABSOLUTE,
);
const POLICY_INDEX: Column = Column(
    "policy_index",
    "policy index, see the root attribute policy_layout",
    SIDE,
);
const POLICY_PROB: Column = Column("policy_prob", "probability in 1/65535", SIDE);
const POLICY_WEIGHT: Column = Column(
    "policy_weight",
    "1: policy is trained, 0: it is not",
    ABSOLUTE,
);
const SEARCH_WDL: Column = Column("search_wdl", "probability of win, draw, loss", SIDE);
const OUTCOME: Column = Column("outcome", "0 win, 1 draw, 2 loss", SIDE);
const PLIES_LEFT: Column = Column("plies_left", "plies to the end of the game", ABSOLUTE);
const TRUTH: Column = Column(
    "truth",
    "kind of each unknown piece, see the root attribute truth_layout",
    SIDE,
);
const GAME: Column = Column("game", "game id", ABSOLUTE);
const PLY: Column = Column("ply", "plies since the start of the game", ABSOLUTE);
const NET_STEP: Column = Column(
    "net_step",
    "training step of the network that searched the row",
    ABSOLUTE,
);

const RECORD_LAYOUT: &str = "\
128 bytes, seen from the side to decide, whose pieces start at rank 0 (Black's board has its ranks exchanged).
0..90: square file + 9 * rank; 0 empty, else what the piece plays as, 1..=7 K A B N R C P; +8 if the opponent's;
if face down +128 and +16 times what it is, 1..=7, 0 if the viewer does not know.
90..97, 97..104: own and opponent's pieces of each kind that the viewer has not seen.
104: plies since the last capture that count towards the limit, saturating at 255. 105: plies without a capture that end the game, 0: no limit.
106: earlier occurrences of the position, 0..=2. 107, 108: squares the last move left and reached, 255: none.
109: 1 if in check. 110..122: one bit a square, a face-down piece that only its owner, the viewer, knows.
122: square of the next placement in an arrangement, 255: none.
123: bit 0 the viewer is to decide or both know the same, 1 pieces may be laid down, 2 fakes roam.
124, 125: kinds that take part, kinds that roam, a bit each. 126: bits 0..2 layout (open, at home, dealt, arranged),
2..4 who sees a taken unknown piece (both, captor, nobody). 127: third occurrence (0 draws, 1 WXF, 2 CXA).";
const TRUTH_LAYOUT: &str = "\
32 bytes, the pieces that the viewer does not know: 2..=7 A B N R C P, 0 no such piece, on the squares
0..=8, 19, 25, 27, 29, 31, 33, 35 of record_layout, then on the same with ranks exchanged: 81..=89, 64, 70, 54, 56, 58, 60, 62.";
const POLICY_LAYOUT: &str = "\
index = plane * 90 + from, squares as in record_layout.
Planes 0..=7: 1..=8 files right; 8..=15: 1..=8 files left; 16..=24: 1..=9 ranks forward; 25..=33: 1..=9 ranks back;
34..=41: (file, rank) (1,2) (2,1) (2,-1) (1,-2) (-1,-2) (-2,-1) (-2,1) (-1,2); 42..=45: (1,1) (1,-1) (-1,-1) (-1,1);
46..=49: (2,2) (2,-2) (-2,-2) (-2,2); 50..=99: as 0..=49, the piece laid face down where it lands;
100..=106: no move, a piece K A B N R C P is placed on `from`.";

/// Writes `rows`, which must be valid by [`check_rows`] and not empty, as a shard that appears whole.
pub fn write(
    path: &Path,
    rows: &Rows,
    head: &ShardHead,
    config: &SamplesConfig,
) -> Result<(), FileError> {
    let shard = encode(path, rows, head, config)?;
    atomic::write(path, |out| std::io::Write::write_all(out, &shard))
}

/// The bytes of the shard that [`write`] writes; `path` is for errors.
pub fn encode(
    path: &Path,
    rows: &Rows,
    head: &ShardHead,
    config: &SamplesConfig,
) -> Result<Vec<u8>, FileError> {
    check_rows(rows).map_err(|e| FileError::content(path, format!("rows not written: {e}")))?;
    // The lock is held throughout: files in memory are told apart by a name, of which there is one.
    hdf5::sync::sync(|| image(rows, head, config)).map_err(|e| {
        FileError::content(
            path,
            format!("HDF5 cannot build the shard: {}", first_line(&e)),
        )
    })
}

/// The bytes of a shard.
fn image(rows: &Rows, head: &ShardHead, config: &SamplesConfig) -> hdf5::Result<Vec<u8>> {
    // The core driver keeps the file in memory, grows it by this many bytes, and writes nothing. The
    // default format is the oldest: H5Fget_file_image spoils a checksum of the newer ones.
    let growth = 1 << 20;
    let file = File::with_options()
        .with_fapl(|p| p.core_options(growth, false))
        .create("shard")?;
    text(&file, "format", FORMAT)?;
    file.new_attr::<u32>()
        .create("version")?
        .write_scalar(&VERSION)?;
    text(&file, "run", &head.run)?;
    text(&file, "form", &head.form)?;
    text(&file, "ruleset", &head.ruleset)?;
    text(&file, "record_layout", RECORD_LAYOUT)?;
    text(&file, "policy_layout", POLICY_LAYOUT)?;
    text(&file, "truth_layout", TRUTH_LAYOUT)?;
    file.new_attr::<u64>()
        .create("rows")?
        .write_scalar(&(rows.len() as u64))?;
    let records: &[u8] = rows.records.as_flattened();
    let wdl: &[f32] = rows.search_wdl.as_flattened();
    let truth: &[u8] = rows.truth.as_flattened();
    let w = Writer {
        file: &file,
        config,
        rows: rows.len(),
    };
    w.column(&RECORDS, records, RECORD_BYTES)?;
    w.column(&POLICY_END, &rows.policy_end, 1)?;
    w.column(&POLICY_INDEX, &rows.policy_index, 1)?;
    w.column(&POLICY_PROB, &rows.policy_prob, 1)?;
    w.column(&POLICY_WEIGHT, &rows.policy_weight, 1)?;
    w.column(&SEARCH_WDL, wdl, 3)?;
    w.column(&OUTCOME, &rows.outcome, 1)?;
    w.column(&PLIES_LEFT, &rows.plies_left, 1)?;
    w.column(&TRUTH, truth, HOMES.len())?;
    w.column(&GAME, &rows.game, 1)?;
    w.column(&PLY, &rows.ply, 1)?;
    w.column(&NET_STEP, &rows.net_step, 1)?;
    file.flush()?;
    file_image(&file)
}

struct Writer<'a> {
    file: &'a File,
    config: &'a SamplesConfig,
    rows: usize,
}

impl Writer<'_> {
    /// Writes a column of `width` numbers a line; a chunk holds about `chunk_rows` rows' share of it.
    fn column<T: H5Type>(&self, column: &Column, values: &[T], width: usize) -> hdf5::Result<()> {
        let lines = values.len() / width;
        let chunk = (self.config.chunk_rows * lines.div_ceil(self.rows)).clamp(1, lines);
        let mut builder = self.file.new_dataset::<T>().shuffle();
        if self.config.gzip_level > 0 {
            builder = builder.deflate(self.config.gzip_level);
        }
        // A checksum a chunk, and no time stamps: the same rows give the same bytes.
        let builder = builder.fletcher32().obj_track_times(false);
        let Column(name, units, viewpoint) = *column;
        let dataset = if width == 1 {
            builder.chunk(chunk).shape(lines).create(name)?
        } else {
            builder
                .chunk((chunk, width))
                .shape((lines, width))
                .create(name)?
        };
        dataset.write_raw(ArrayView::from(values))?;
        text(&dataset, "units", units)?;
        text(&dataset, "viewpoint", viewpoint)
    }
}

fn text(to: &Location, name: &str, value: &str) -> hdf5::Result<()> {
    // A NUL cannot be stored; no text of ours has one.
    let value: VarLenUnicode = value
        .replace('\0', "")
        .parse()
        .map_err(|e| hdf5::Error::from(format!("{e}")))?;
    to.new_attr::<VarLenUnicode>()
        .create(name)?
        .write_scalar(&value)
}

fn file_image(file: &File) -> hdf5::Result<Vec<u8>> {
    use hdf5_sys::h5f::H5Fget_file_image;
    let id = file.id();
    hdf5::sync::sync(|| {
        // SAFETY: `id` is open as long as `file` is borrowed; a null buffer asks for the size only.
        let size = unsafe { H5Fget_file_image(id, std::ptr::null_mut(), 0) };
        let size = usize::try_from(size).map_err(|_| hdf5::Error::from("no file image"))?;
        let mut bytes = vec![0u8; size];
        // SAFETY: `bytes` has the `size` bytes that the library is told of.
        let got = unsafe { H5Fget_file_image(id, bytes.as_mut_ptr().cast(), size) };
        if got == size as isize {
            Ok(bytes)
        } else {
            Err("no file image".into())
        }
    })
}

fn first_line(e: &hdf5::Error) -> String {
    e.to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(200)
        .collect()
}
