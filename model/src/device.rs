//! Where and how precisely to compute.
use tch::{Cuda, Device, Kind};

use crate::config::DeviceConfig;

/// A checked [`DeviceConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where.
    pub device: Device,
    /// Kind of self-play and matches: f32, bf16 or f16.
    pub inference: Kind,
    /// Kind of training: f32 or bf16 (over f32 master weights).
    pub training: Kind,
}

/// What is wrong with a [`DeviceConfig`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No such device name.
    #[error("device = \"{0}\": expected auto, cpu, cuda or cuda:N")]
    Device(String),
    /// No GPU can be used.
    #[error(
        "device = \"{0}\": this build or machine has no usable CUDA device; expected auto or cpu"
    )]
    NoCuda(String),
    /// No such GPU.
    #[error("device = \"{name}\": the machine has CUDA devices 0..{count}")]
    Index {
        /// As configured.
        name: String,
        /// Number of devices.
        count: i64,
    },
    /// No such precision.
    #[error("{key} = \"{value}\": expected {expected}")]
    Precision {
        /// Name of the key.
        key: &'static str,
        /// As configured.
        value: String,
        /// What can stand there.
        expected: &'static str,
    },
}

impl Placement {
    /// Decides what `auto` stands for on this machine and checks the rest.
    pub fn resolve(config: &DeviceConfig) -> Result<Self, DeviceError> {
        let device = device(&config.device)?;
        let cuda = device.is_cuda();
        let bf16 = cuda || cpu_has_bf16();
        let auto = if bf16 { Kind::BFloat16 } else { Kind::Float };
        let inference = match (config.inference_precision.as_str(), cuda) {
            ("auto", true) => Kind::Half,
            ("auto", false) => auto,
            ("f32", _) => Kind::Float,
            ("bf16", _) => Kind::BFloat16,
            ("f16", true) => Kind::Half,
            (other, _) => {
                let expected = if cuda {
                    "auto, f32, bf16 or f16"
                } else {
                    "auto, f32 or bf16 (f16 needs CUDA)"
                };
                return Err(DeviceError::Precision {
                    key: "inference_precision",
                    value: other.into(),
                    expected,
                });
            }
        };
        let training = match config.training_precision.as_str() {
            "auto" => auto,
            "f32" => Kind::Float,
            "bf16" => Kind::BFloat16,
            other => {
                let (key, expected) = ("training_precision", "auto, f32 or bf16");
                return Err(DeviceError::Precision {
                    key,
                    value: other.into(),
                    expected,
                });
            }
        };
        Ok(Placement {
            device,
            inference,
            training,
        })
    }

    /// Such as `cuda:0, inference f16, training bf16`.
    pub fn describe(&self) -> String {
        let device = match self.device {
            Device::Cuda(n) => format!("cuda:{n}"),
            _ => "cpu".into(),
        };
        format!(
            "{device}, inference {}, training {}",
            kind_name(self.inference),
            kind_name(self.training)
        )
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::BFloat16 => "bf16",
        Kind::Half => "f16",
        _ => "f32",
    }
}

fn device(name: &str) -> Result<Device, DeviceError> {
    let index = match name {
        "cpu" => return Ok(Device::Cpu),
        "auto" if !Cuda::is_available() => return Ok(Device::Cpu),
        "auto" | "cuda" => 0,
        _ => {
            let index = name
                .strip_prefix("cuda:")
                .and_then(|n| n.parse::<usize>().ok());
            index.ok_or_else(|| DeviceError::Device(name.into()))?
        }
    };
    if !Cuda::is_available() {
        return Err(DeviceError::NoCuda(name.into()));
    }
    let count = Cuda::device_count();
    if index as i64 >= count {
        return Err(DeviceError::Index {
            name: name.into(),
            count,
        });
    }
    Ok(Device::Cuda(index))
}

/// Whether the CPU multiplies bf16 itself; elsewhere it would be emulated, slower than f32.
fn cpu_has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Makes torch compute with the calling thread alone. One thread a core, each with its own network,
/// beats one network on all cores; call this first in every thread that evaluates or trains on a CPU.
pub fn single_threaded() {
    compute_threads(1);
}

/// Lets the calling thread compute with so many threads of torch's, at least 1.
pub fn compute_threads(threads: usize) {
    tch::set_num_threads(i32::try_from(threads.max(1)).unwrap_or(i32::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(device: &str, inference: &str, training: &str) -> Result<Placement, DeviceError> {
        let [device, inference_precision, training_precision] =
            [device, inference, training].map(String::from);
        Placement::resolve(&DeviceConfig {
            device,
            inference_precision,
            training_precision,
        })
    }

    #[test]
    fn names_are_taken_or_refused_with_what_is_valid() {
        let placed = resolve("cpu", "f32", "bf16").unwrap();
        let expected = Placement {
            device: Device::Cpu,
            inference: Kind::Float,
            training: Kind::BFloat16,
        };
        assert_eq!(placed, expected);
        assert_eq!(placed.describe(), "cpu, inference f32, training bf16");
        assert!(resolve("auto", "auto", "auto").is_ok());
        let check = |(device, inference, training), parts: [&str; 2]| {
            let message = resolve(device, inference, training)
                .unwrap_err()
                .to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        };
        check(
            ("gpu", "auto", "auto"),
            ["\"gpu\"", "auto, cpu, cuda or cuda:N"],
        );
        check(
            ("cuda:x", "auto", "auto"),
            ["\"cuda:x\"", "auto, cpu, cuda or cuda:N"],
        );
        check(
            ("cpu", "f64", "auto"),
            ["inference_precision = \"f64\"", "auto, f32 or bf16"],
        );
        check(
            ("cpu", "f16", "auto"),
            ["inference_precision = \"f16\"", "f16 needs CUDA"],
        );
        check(
            ("cpu", "auto", "f16"),
            ["training_precision = \"f16\"", "auto, f32 or bf16"],
        );
        check(("cuda:99", "auto", "auto"), ["\"cuda:99\"", "CUDA device"]);
    }
}
