//! The options that describe a network.

use clap::ValueEnum;

use super::Failure;
use jarmo::net::NetConfig;

/// The architecture of a network.
#[derive(clap::Args)]
pub(super) struct NetArgs {
    /// The architecture
    #[arg(long, value_name = "KIND", default_value = "mlp")]
    net: Kind,
    /// Numbers in a layer (mlp) or in a cell (conv), a multiple of 32
    #[arg(long, value_name = "N", default_value = "512")]
    width: usize,
    /// Residual blocks: one layer (mlp) or two (conv) each
    #[arg(long, value_name = "N", default_value = "1")]
    blocks: usize,
    /// Numbers in a cell that the heads of a conv net see, a multiple of 32
    #[arg(long, value_name = "N", default_value = "32")]
    head_channels: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Fully connected
    Mlp,
    /// Convolutional
    Conv,
}

impl NetArgs {
    /// The architecture, if it can be had.
    pub(super) fn config(&self) -> Result<NetConfig, Failure> {
        let (width, blocks) = (self.width, self.blocks);
        let config = match self.net {
            Kind::Mlp => NetConfig::Mlp { width, blocks },
            Kind::Conv => NetConfig::Conv {
                width,
                blocks,
                head_channels: self.head_channels,
            },
        };
        config.validate().map_err(Failure::usage)?;
        Ok(config)
    }
}
