//! `jarmo bench env`

use super::bench::{RunArgs, report};
use super::{CommandResult, GameArgs, thread_pool};
use jarmo_core::numbers::{NumberRange, THREADS};
use jarmo_exact::catalog::{CatalogGame, GameTask};
use jarmo_selfplay::bench::{EnvWork, env};

/// The features of this many games take gigabytes.
const GAMES: NumberRange<u64> = NumberRange::new(1, 1 << 22);

/// Random legal play through the vectorised environment: mask, uniform choice, step, restart
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub game: GameArgs,
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

impl GameTask for &Args {
    type Output = CommandResult;

    fn run<G: CatalogGame>(self, game: G) -> CommandResult {
        let work =
            EnvWork { games: self.games, observe: self.observe, seed: self.run.seed, run_time: self.run.seconds };
        let pool = thread_pool(Some(self.threads))?;
        report(&pool.install(|| env(game, work)), self.run.json)
    }
}
