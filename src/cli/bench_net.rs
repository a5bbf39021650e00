//! `jarmo bench net`

use super::bench::{RunArgs, report};
use super::net_args::NetArgs;
use super::{CommandResult, Failure, GameArgs};
use jarmo_core::net::KernelKind;
use jarmo_core::numbers::BATCH;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_selfplay::bench::{NetWork, net};

/// Networks on one core: positions per second with each kernel that the processor supports
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    net: NetArgs,
    /// Measure only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<KernelKind>,
    /// Positions per batch
    #[arg(long, value_name = "N", default_value = "256", value_parser = BATCH.parser::<usize>())]
    batch: usize,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> CommandResult {
    let settings = args.game.settings(None);
    games.with_game(args.game.name(games), &settings, NetTask(&args))?
}

struct NetTask<'a>(&'a Args);

impl GameTask for NetTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let args = self.0;
        let available = KernelKind::available();
        let kernels = match args.kernel {
            None => available,
            Some(kernel) if available.contains(&kernel) => vec![kernel],
            Some(kernel) => {
                let names: Vec<_> = available.iter().map(|kind| kind.name()).collect();
                return Err(Failure::usage(format!(
                    "--kernel {kernel}: this processor supports only {}",
                    names.join(", ")
                )));
            }
        };
        let work = NetWork {
            net: args.net.config()?,
            batch: args.batch,
            seed: args.run.seed,
            run_time: args.run.seconds,
        };
        report(&net(&game, &kernels, work), args.run.json)
    }
}
