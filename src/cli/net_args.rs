//! The options that describe a network.

use super::Failure;
use jarmo_core::net::NetConfig;

/// The size of a network.
#[derive(clap::Args)]
pub(super) struct NetArgs {
    /// Width of a layer, a multiple of 32
    #[arg(long, value_name = "N", default_value = "512", value_parser = NetConfig::WIDTH.parser::<usize>())]
    width: usize,
    /// Residual blocks, one layer each
    #[arg(long, value_name = "N", default_value = "1", value_parser = NetConfig::BLOCKS.parser::<usize>())]
    blocks: usize,
}

impl NetArgs {
    /// The size, if it is valid.
    pub(super) fn config(&self) -> Result<NetConfig, Failure> {
        let (width, blocks) = (self.width, self.blocks);
        let config = NetConfig { width, blocks };
        config.validate().map_err(Failure::usage)?;
        Ok(config)
    }
}
