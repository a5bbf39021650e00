//! `jarmo bench env`

use super::bench::{RunArgs, report};
use super::{CommandResult, GameArgs, thread_pool};
use jarmo_core::numbers::{NumberRange, THREADS};
use jarmo_exact::catalog::{Catalog, CatalogGame, GameTask};
use jarmo_selfplay::bench::{EnvWork, env};

/// The features of this many games take gigabytes.
const GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 22);

/// Random legal play through the vectorised environment: mask, uniform choice, step, restart
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    game: GameArgs,
    /// Games in parallel
    #[arg(long, value_name = "N", default_value = "4096", value_parser = GAMES.parser::<usize>())]
    games: usize,
    /// Also write the features and the mask of every position
    #[arg(long)]
    observe: bool,
    /// Threads to spread the games over
    #[arg(long, value_name = "T", default_value = "1", value_parser = THREADS.parser::<usize>())]
    threads: usize,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run<C: Catalog>(games: &C, args: Args) -> CommandResult {
    let settings = args.game.settings(None);
    games.with_game(args.game.name(games), &settings, EnvTask(&args))?
}

struct EnvTask<'a>(&'a Args);

impl GameTask for EnvTask<'_> {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let args = self.0;
        let work = EnvWork {
            games: args.games,
            observe: args.observe,
            seed: args.run.seed,
            run_time: args.run.seconds,
        };
        let pool = thread_pool(Some(args.threads))?;
        report(&pool.install(|| env(game, work)), args.run.json)
    }
}
