//! `jarmo perft`

use std::io::{Write, stdout};

use super::{Failure, GameArgs, position_of};
use jarmo_core::game::{divide, perft};
use jarmo_core::numbers::NumberRange;
use jarmo_exact::catalog::{CatalogGame, GameTask};

/// Deeper counts would take forever. The stack is large enough for this depth.
const TURNS: NumberRange<u64> = NumberRange::new(0, 100);

/// Count the action sequences that complete exactly N turns
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) game: GameArgs,
    /// Turns to look ahead
    #[arg(long, value_name = "N", value_parser = TURNS.parser::<u32>())]
    depth: u32,
    /// The position to start from [default: the start of the game]
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Print the count for each first action, then the sum
    #[arg(long)]
    divide: bool,
}

impl GameTask for &Args {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let position = position_of(&game, self.position.as_deref())?;
        let mut out = stdout().lock();
        if self.divide && self.depth > 0 {
            let mut total = 0;
            for (action, count) in divide(&game, &position, self.depth) {
                writeln!(out, "{} {count}", game.action_text(&position, action))?;
                total += count;
            }
            writeln!(out, "{total}")?;
        } else {
            writeln!(out, "{}", perft(&game, &position, self.depth))?;
        }
        Ok(())
    }
}
