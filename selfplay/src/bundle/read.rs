//! Reading a bundle: nothing of it is used before all of it was checked.
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    BundleError, FORMAT, FileInfo, FileKind, Level, MANIFEST, Manifest, PROGRAM, PolicyTable,
    Precision, TensorInfo, tensors,
};
use crate::expand::table::{self, Feature};
use crate::mcts::SearchConfig;
use crate::rules::Ruleset;

/// Longer than any manifest of ours, bytes.
const LONGEST: u64 = 1 << 24;

/// A folder whose manifest was checked: it is of this program's format and encoding. So was every file that was read, or is by
/// [`Bundle::check`].
#[derive(Clone, Debug)]
pub struct Bundle {
    folder: PathBuf,
    manifest: Manifest,
    forms: Vec<&'static Ruleset>,
}

impl Bundle {
    /// Reads and checks the bundle in `folder`, all its files with it.
    pub fn open(folder: &Path) -> Result<Bundle, BundleError> {
        let bundle = Bundle::read(folder, &manifest_text(folder)?)?;
        for file in &bundle.manifest.files {
            check_file(&folder.join(&file.name), file)?;
        }
        Ok(bundle)
    }

    /// Checks `text`, the manifest of `folder`, alone; nothing is opened. Of the files [`Bundle::check`] must be asked.
    pub fn read(folder: &Path, text: &[u8]) -> Result<Bundle, BundleError> {
        let (format, value) = manifest_of(folder, text)?;
        if format != u64::from(FORMAT) {
            return Err(BundleError::Version {
                folder: folder.into(),
                found: format,
            });
        }
        let broken = |why: String| BundleError::Broken {
            folder: folder.into(),
            why,
        };
        let manifest: Manifest =
            serde_json::from_value(value).map_err(|e| broken(e.to_string()))?;
        check_encoding(folder, &manifest)?;
        let forms = forms(folder, &manifest)?;
        check_names(&manifest).map_err(broken)?;
        Ok(Bundle {
            folder: folder.into(),
            manifest,
            forms,
        })
    }

    /// Whether `bytes` are those of the file `name` as it was exported.
    pub fn check(&self, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let path = self.folder.join(name);
        let mut files = self.manifest.files.iter();
        let file = files.find(|file| file.name == name);
        let file = file.ok_or_else(|| self.broken(format!("`files` does not name {name}")))?;
        check_length(&path, bytes.len() as u64, file)?;
        check_sum(&path, format!("{:x}", Sha256::digest(bytes)), file)
    }

    fn broken(&self, why: String) -> BundleError {
        BundleError::Broken {
            folder: self.folder.clone(),
            why,
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What `model.json` says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The forms that the network was trained in, with its own rules; at least one.
    pub fn forms(&self) -> &[&'static Ruleset] {
        &self.forms
    }

    /// The settings of the search that it is meant to be asked by.
    pub fn search(&self) -> Result<SearchConfig, BundleError> {
        let search = self.manifest.play.search.clone().into_iter().collect();
        let search = serde_json::from_value(Value::Object(search));
        search.map_err(|error| self.broken(format!("play.search: {error}")))
    }

    /// The network that plays a level, or the bundle's own: in full precision if that is there, else in the one that the
    /// manifest names first.
    pub fn network<'a>(&'a self, level: Option<&'a Level>, kind: FileKind) -> Option<&'a FileInfo> {
        let crc32c = level.map_or(&self.manifest.training.crc32c, |level| &level.crc32c);
        let files = || self.manifest.networks(crc32c).filter(|f| f.kind == kind);
        let full = files().find(|f| f.precision == Some(Precision::F32));
        full.or_else(|| files().next())
    }

    /// The file of a kind; of a network that of [`Manifest::training`], in several precisions the one asked for.
    pub fn file(&self, kind: FileKind, precision: Option<Precision>) -> Option<PathBuf> {
        let files = self.manifest.files.iter();
        self.choose(files.filter(|f| f.checkpoint.is_none()), kind, precision)
    }

    /// The network that plays a level of the bundle, in the format and the precision asked for.
    pub fn level_file(
        &self,
        level: &Level,
        kind: FileKind,
        precision: Option<Precision>,
    ) -> Option<PathBuf> {
        self.choose(self.manifest.networks(&level.crc32c), kind, precision)
    }

    fn choose<'a>(
        &self,
        mut files: impl Iterator<Item = &'a FileInfo>,
        kind: FileKind,
        precision: Option<Precision>,
    ) -> Option<PathBuf> {
        let fits =
            |f: &&FileInfo| f.kind == kind && (precision.is_none() || f.precision == precision);
        files.find(fits).map(|f| self.folder.join(&f.name))
    }
}

fn foreign(folder: &Path, why: String) -> BundleError {
    BundleError::Foreign {
        folder: folder.into(),
        why,
    }
}

/// The text of the manifest in `folder`.
fn manifest_text(folder: &Path) -> Result<Vec<u8>, BundleError> {
    let path = folder.join(MANIFEST);
    let file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            foreign(folder, format!("it has no {MANIFEST}"))
        }
        _ => io_error(&path, source),
    })?;
    let mut text = Vec::new();
    file.take(LONGEST)
        .read_to_end(&mut text)
        .map_err(|source| io_error(&path, source))?;
    Ok(text)
}

/// The version and the content of the manifest of `folder`.
fn manifest_of(folder: &Path, text: &[u8]) -> Result<(u64, Value), BundleError> {
    let value: Value = serde_json::from_slice(text)
        .map_err(|e| foreign(folder, format!("its {MANIFEST} is no whole JSON: {e}")))?;
    let ours = value["program"]
        .as_str()
        .is_some_and(|p| p.starts_with(PROGRAM));
    match value["format"].as_u64().filter(|_| ours) {
        Some(format) => Ok((format, value)),
        None => Err(foreign(
            folder,
            format!("its {MANIFEST} has no `program` of {PROGRAM}'s or no `format`"),
        )),
    }
}

fn io_error(path: &Path, source: io::Error) -> BundleError {
    BundleError::Io {
        path: path.into(),
        source,
    }
}

/// Whether the network reads and answers as this program does; how the tables put it in words may differ.
fn check_encoding(folder: &Path, manifest: &Manifest) -> Result<(), BundleError> {
    let features = |a: &[Feature], b: &[Feature]| {
        let key = |f: &Feature| (f.index, f.name.clone());
        a.iter().map(key).eq(b.iter().map(key))
    };
    let shapes = |a: &[TensorInfo], b: &[TensorInfo]| {
        let key = |t: &TensorInfo| (t.name.clone(), t.element.clone(), t.shape.clone());
        a.iter().map(key).eq(b.iter().map(key))
    };
    let moves = PolicyTable::own();
    let fields = [
        ("planes", features(&manifest.planes, &table::planes())),
        ("globals", features(&manifest.globals, &table::globals())),
        ("policy", manifest.policy.planes == moves.planes),
        ("inputs", shapes(&manifest.inputs, &tensors::inputs())),
        ("outputs", shapes(&manifest.outputs, &tensors::outputs())),
    ];
    match fields.into_iter().find(|(_, same)| !same) {
        Some((field, _)) => Err(BundleError::Encoding {
            folder: folder.into(),
            field,
            program: manifest.program.clone(),
        }),
        None => Ok(()),
    }
}

fn forms(folder: &Path, manifest: &Manifest) -> Result<Vec<&'static Ruleset>, BundleError> {
    let error = |form: &str, why: String| BundleError::Form {
        folder: folder.into(),
        form: form.into(),
        why,
    };
    if manifest.forms.is_empty() {
        return Err(BundleError::Broken {
            folder: folder.into(),
            why: "`forms` is empty, expected one form at least".into(),
        });
    }
    let mut known: Vec<&'static Ruleset> = Vec::new();
    for form in &manifest.forms {
        let rules = form.rules().map_err(|why| error(&form.name, why))?;
        if known.iter().any(|other| other.name == rules.name) {
            return Err(error(&form.name, "it stands there twice".into()));
        }
        known.push(rules);
    }
    Ok(known)
}

/// Whether every file's name is its own, and that of a file in the folder itself.
fn check_names(manifest: &Manifest) -> Result<(), String> {
    for (i, FileInfo { name, .. }) in manifest.files.iter().enumerate() {
        if manifest.files[..i].iter().any(|other| other.name == *name) {
            return Err(format!("`files` names {name} twice"));
        }
        if !is_plain(name) || name == MANIFEST {
            return Err(format!(
                "`files` has the name {name:?}, expected that of a file in this folder"
            ));
        }
    }
    Ok(())
}

/// Whether `name` is that of a file in the folder itself.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let one = matches!(parts.next(), Some(std::path::Component::Normal(_)));
    one && parts.next().is_none() && !name.contains(['/', '\\'])
}

fn check_file(path: &Path, expected: &FileInfo) -> Result<(), BundleError> {
    let bytes = match fs::metadata(path) {
        Ok(about) => about.len(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(BundleError::Missing { path: path.into() });
        }
        Err(source) => return Err(io_error(path, source)),
    };
    check_length(path, bytes, expected)?;
    let found = sha256(path).map_err(|source| io_error(path, source))?;
    check_sum(path, found, expected)
}

fn check_length(path: &Path, bytes: u64, expected: &FileInfo) -> Result<(), BundleError> {
    if bytes == expected.bytes {
        return Ok(());
    }
    let [found, expected] = [bytes, expected.bytes].map(|n| format!("{n} bytes"));
    Err(BundleError::Changed {
        path: path.into(),
        what: "its length",
        found,
        expected,
    })
}

fn check_sum(path: &Path, found: String, expected: &FileInfo) -> Result<(), BundleError> {
    if found == expected.sha256 {
        return Ok(());
    }
    Err(BundleError::Changed {
        path: path.into(),
        what: "its SHA-256",
        found,
        expected: expected.sha256.clone(),
    })
}

/// SHA-256 of a file, in lower-case hexadecimal.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(format!("{:x}", hasher.finalize()))
}

/// Whether a bundle may be written to `folder`: nothing is there, or nothing but a bundle of this or an earlier version.
pub fn may_replace(folder: &Path) -> Result<(), BundleError> {
    let in_the_way = |why: String| BundleError::InTheWay {
        folder: folder.into(),
        why,
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(in_the_way("it is a file".into()));
        }
        Err(source) => return Err(io_error(folder, source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry
            .map_err(|source| io_error(folder, source))?
            .file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    if names.is_empty() {
        return Ok(());
    }
    let manifest = manifest_text(folder).and_then(|text| manifest_of(folder, &text));
    let (format, value) = match manifest {
        Ok(manifest) => manifest,
        Err(BundleError::Foreign { why, .. }) => return Err(in_the_way(why)),
        Err(other) => return Err(other),
    };
    if format > u64::from(FORMAT) {
        return Err(in_the_way(format!("it has the newer format {format}")));
    }
    let listed = |name: &String| {
        let mut files = value["files"].as_array().into_iter().flatten();
        files.any(|file| file["name"] == **name)
    };
    match names
        .iter()
        .find(|name| **name != MANIFEST && !listed(name))
    {
        Some(name) => Err(in_the_way(format!("it also holds {name}"))),
        None => Ok(()),
    }
}
