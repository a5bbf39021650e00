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
}

impl DeviceArgs {
    pub(super) fn open(&self) -> Result<OpenDevice, Failure> {
        OpenDevice::open(self.kind).map_err(|error| Failure::new(format!("--device {error}")))
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
