//! `jarmo bench net`

use super::bench::{RunArgs, report};
use super::{CommandResult, Failure, GameArgs};
use jarmo_core::net::{KernelKind, NetSettings};
use jarmo_core::numbers::BATCH;
use jarmo_exact::catalog::{CatalogGame, GameTask};
use jarmo_selfplay::bench::{NetWork, net};

/// Networks on one core: positions per second with each kernel
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub game: GameArgs,
    /// Width of a layer, a multiple of 32
    #[arg(long, value_name = "N", default_value = "512", value_parser = NetSettings::WIDTH.parser::<usize>())]
    width: usize,
    /// Residual blocks, one layer each
    #[arg(long, value_name = "N", default_value = "1", value_parser = NetSettings::BLOCKS.parser::<usize>())]
    blocks: usize,
    /// Measure only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<KernelKind>,
    /// Positions per batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = BATCH.parser::<usize>())]
    batch: usize,
    #[command(flatten)]
    run: RunArgs,
}

impl GameTask for &Args {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let kernels = self.kernel.map_or(KernelKind::ALL.to_vec(), |kernel| vec![kernel]);
        let (width, blocks) = (self.width, self.blocks);
        let net_settings = NetSettings { width, blocks };
        net_settings.validate().map_err(Failure::usage)?;
        let work = NetWork { net: net_settings, batch: self.batch, seed: self.run.seed, run_time: self.run.seconds };
        report(&net(&game, &kernels, work), self.run.json)
    }
}
