//! `jarmo perft`

use std::io::{Write, stdout};

use super::block::Progress;
use super::{Failure, GameArgs, position_of};
use jarmo_core::numbers::NumberRange;
use jarmo_facade::Games;

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

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let game = args.game.open(games, Some(0))?; // no limit
    let position = position_of(game.as_ref(), args.position.as_deref())?;
    let mut out = stdout().lock();
    if args.depth == 0 {
        return Ok(writeln!(out, "1")?);
    }
    let (all, progress) = (game.view(&position).moves.len(), Progress::new());
    let (mut counted, mut sum, mut written) = (0, 0, Ok(()));
    game.divide(&position, args.depth, &mut |action, count| {
        counted += 1;
        sum += count;
        if !args.divide {
            progress.show(f64::from(counted) / all as f64, || format!("{counted} of {all} first actions"));
        } else if written.is_ok() {
            written = writeln!(out, "{} {count}", game.describe(&position, action).text);
        }
    });
    written?;
    progress.clear();
    Ok(writeln!(out, "{sum}")?)
}
