//! The device that burn computes on: the CPU, or a GPU if the program supports one.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::str::FromStr;

use burn::tensor::{Device, FloatDType, Tensor};

use crate::TrainError;

/// A kind of device, as named on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA GPU with this number.
    Cuda(usize),
    /// The GPU that the driver prefers.
    Wgpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceKind::Cpu => out.write_str("cpu"),
            DeviceKind::Cuda(number) => write!(out, "cuda:{number}"),
            DeviceKind::Wgpu => out.write_str("wgpu"),
        }
    }
}

impl FromStr for DeviceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceKind, String> {
        let number = |text: &str| text.parse().ok();
        match text.split_once(':') {
            None if text == "cpu" => Some(DeviceKind::Cpu),
            None if text == "cuda" => Some(DeviceKind::Cuda(0)),
            None if text == "wgpu" => Some(DeviceKind::Wgpu),
            Some(("cuda", text)) => number(text).map(DeviceKind::Cuda),
            _ => None,
        }
        .ok_or_else(|| "expected cpu, cuda, cuda:NUMBER or wgpu".to_owned())
    }
}

/// A device that is ready for use.
#[derive(Clone, Debug)]
pub struct OpenDevice {
    kind: DeviceKind,
    pub(crate) device: Device,
    pub(crate) numbers: FloatDType, // of networks with fixed weights; learning always takes 32 bits
}

impl OpenDevice {
    /// The CPU.
    pub fn cpu() -> OpenDevice {
        OpenDevice { kind: DeviceKind::Cpu, device: Device::flex(), numbers: FloatDType::F32 }
    }

    /// Opens a device and tests it with a small computation.
    pub fn open(kind: DeviceKind) -> Result<OpenDevice, TrainError> {
        match kind {
            DeviceKind::Cpu => Ok(OpenDevice::cpu()),
            #[cfg(feature = "cuda")]
            DeviceKind::Cuda(number) => OpenDevice::try_out(kind, || Device::cuda(number)),
            #[cfg(not(feature = "cuda"))]
            DeviceKind::Cuda(_) => Err(not_built("cuda")),
            #[cfg(feature = "wgpu")]
            DeviceKind::Wgpu => {
                use burn::tensor::DeviceKind::DefaultDevice;
                OpenDevice::try_out(kind, || Device::wgpu(DefaultDevice))
            }
            #[cfg(not(feature = "wgpu"))]
            DeviceKind::Wgpu => Err(not_built("wgpu")),
        }
    }

    /// The kind of device.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// The same device, on which networks with fixed weights have 16-bit numbers, and sums 32 bits: bfloat16 if the
    /// device computes with it, otherwise float16.
    pub fn in_half_precision(self) -> Result<OpenDevice, TrainError> {
        let known =
            [FloatDType::BF16, FloatDType::F16].into_iter().find(|&numbers| self.device.supports_dtype(numbers));
        match known {
            Some(numbers) => Ok(OpenDevice { numbers, ..self }),
            None => Err(TrainError(format!("{} computes with neither bfloat16 nor float16", self.kind))),
        }
    }

    /// Runs a small computation, because only that reveals a missing driver or GPU, as a panic in the library.
    #[cfg_attr(not(any(feature = "cuda", feature = "wgpu")), expect(dead_code))]
    fn try_out(kind: DeviceKind, open: impl FnOnce() -> Device) -> Result<OpenDevice, TrainError> {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let tried = panic::catch_unwind(AssertUnwindSafe(|| {
            let device = open();
            let two = Tensor::<1>::from_floats([1.0], &device) + 1.0;
            let answer: Option<Vec<f32>> = two.into_data().try_into_vec().ok();
            (answer == Some(vec![2.0])).then_some(device)
        }));
        panic::set_hook(hook);
        let device = tried.map_err(|problem| {
            let text = problem.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| problem.downcast_ref::<&str>().copied());
            text.unwrap_or("the library failed").to_owned()
        });
        let device = device.and_then(|device| device.ok_or("it computes wrong results".to_owned()));
        device
            .map(|device| OpenDevice { kind, device, numbers: FloatDType::F32 })
            .map_err(|problem| TrainError(format!("{kind} does not work on this machine: {problem}; cpu always does")))
    }
}

#[cfg(not(all(feature = "cuda", feature = "wgpu")))]
fn not_built(feature: &str) -> TrainError {
    TrainError(format!(
        "{feature}: this program was built without it; build it with the cargo feature {feature}, or use cpu"
    ))
}
