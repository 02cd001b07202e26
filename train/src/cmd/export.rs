//! `fanqi export`: a network for other programs.
use std::path::PathBuf;

use play::output::print;
use selfplay::bundle::{FileKind, Precision};

use crate::export::{self, Order};

/// Write a network for other programs: a folder with the model, model.json (what it reads and answers), worked examples and a
/// README for the author of the program.
///
/// The run is only read: it may be trained meanwhile.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run directory or checkpoint.
    source: PathBuf,
    /// Level of the run (`fanqi grade`) whose network alone is written.
    #[arg(long)]
    level: Option<u32>,
    /// Form in which that level was measured, where another network plays it in each.
    #[arg(long, requires = "level")]
    form: Option<String>,
    /// Training step of the run's checkpoint; the newest if missing. Without it and --level a bundle of a graded run also holds the
    /// networks of all its levels.
    #[arg(long, conflicts_with = "level")]
    step: Option<u64>,
    /// Format of the model; several with commas.
    #[arg(
        long = "format",
        value_enum,
        value_delimiter = ',',
        default_value = "onnx"
    )]
    formats: Vec<Format>,
    /// Precision of the ONNX model; several with commas. f16 computes in half precision, int8 keeps the weights of the large layers
    /// in eight bits; input and output are f32 anyhow.
    #[arg(
        long = "precision",
        value_enum,
        value_delimiter = ',',
        default_value = "f32"
    )]
    precisions: Vec<PrecisionArg>,
    /// Licence of the network, as the bundle is to state it, for example CC-BY-4.0.
    #[arg(long)]
    licence: Option<String>,
    /// Folder to write. An earlier bundle is replaced; any other folder is left alone.
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Onnx,
    Torchscript,
    Safetensors,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PrecisionArg {
    F32,
    F16,
    Int8,
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<()> {
    let mut formats: Vec<_> = args.formats.iter().map(Format::kind).collect();
    let mut precisions: Vec<_> = args
        .precisions
        .iter()
        .map(PrecisionArg::precision)
        .collect();
    formats.sort();
    formats.dedup();
    precisions.sort();
    precisions.dedup();
    let order = Order {
        source: args.source,
        step: args.step,
        level: args.level,
        form: args.form,
        formats,
        precisions,
        licence: args.licence,
        out: args.out,
    };
    let bundle = export::write(&order).map_err(super::broken_if_full)?;
    let manifest = bundle.manifest();
    for file in &manifest.files {
        let path = order.out.join(&file.name);
        print(format_args!("{:>12} bytes  {}", file.bytes, path.display()))?;
    }
    let forms: Vec<_> = manifest
        .forms
        .iter()
        .map(|form| form.name.as_str())
        .collect();
    print(format_args!(
        "{}: {}, step {}; {} explains it",
        order.out.display(),
        forms.join(", "),
        manifest.training.step,
        order.out.join(export::README).display()
    ))?;
    Ok(())
}

impl Format {
    fn kind(&self) -> FileKind {
        match self {
            Format::Onnx => FileKind::Onnx,
            Format::Torchscript => FileKind::Torchscript,
            Format::Safetensors => FileKind::Safetensors,
        }
    }
}

impl PrecisionArg {
    fn precision(&self) -> Precision {
        match self {
            PrecisionArg::F32 => Precision::F32,
            PrecisionArg::F16 => Precision::F16,
            PrecisionArg::Int8 => Precision::Int8,
        }
    }
}
