//! The option `--device`.

use super::Failure;
use jarmo_core::net::{FrozenNet, KernelKind, Weights};
use jarmo_exact::agent::Networks;
use jarmo_learn::device::playing;
use jarmo_learn::train::{DeviceKind, OpenDevice};

#[derive(clap::Args)]
pub(super) struct DeviceArgs {
    /// The device for networks: cpu, cuda, cuda:NUMBER or wgpu
    #[arg(id = "device", long, value_name = "DEVICE", default_value = "cpu")]
    pub(super) kind: DeviceKind,
    /// Evaluate networks with 16-bit numbers on a GPU; learning keeps 32 bits
    #[arg(long, requires = "device")]
    pub(super) half: bool,
}

impl DeviceArgs {
    pub(super) fn open(&self) -> Result<OpenDevice, Failure> {
        if self.half && self.kind == DeviceKind::Cpu {
            return Err(Failure::usage("--half is for a GPU: name it with --device"));
        }
        let device = OpenDevice::open(self.kind);
        let device = device.and_then(|device| if self.half { device.in_half_precision() } else { Ok(device) });
        device.map_err(|error| Failure::new(format!("--device {error}")))
    }

    /// A network with these weights, and the name of the device or kernel that computes it.
    pub(super) fn net(&self, weights: &Weights) -> Result<(String, FrozenNet), Failure> {
        let net = playing(weights, &self.open()?, KernelKind::best());
        let name = match self.kind {
            DeviceKind::Cpu => net.kernel().to_string(),
            other => other.to_string(),
        };
        Ok((name, net))
    }

    /// The networks of agents, which compute on the device.
    pub(super) fn networks(&self) -> Result<Networks, Failure> {
        if self.kind == DeviceKind::Cpu {
            return Ok(Networks::new());
        }
        let device = self.open()?;
        Ok(Networks::on_device(move |weights| playing(weights, &device, KernelKind::best())))
    }
}
