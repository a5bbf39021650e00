//! `lab shuttle`

use std::io::{Write, stdout};

use super::{BoardArgs, CommandResult};
use crate::shuttle::{Change, MOST_SHUTTLE_FORCE, shuttle_effect};
use jarmo_core::game::Game;
use jarmo_core::numbers::NumberRange;
use jarmo_exact::tables::index::LEAST_FORCE;

/// Solve the smallest forces with the shuttle rule and print what it changes
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    board: BoardArgs,
    /// The most archers and marks on the board; 4 takes 1.2 GiB of memory and 5 minutes of processor
    /// time
    #[arg(long, value_name = "F", default_value_t = 3, value_parser = FORCE.parser::<u32>())]
    force: u32,
}

const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_SHUTTLE_FORCE as u64);

pub(super) fn run(args: &Args) -> CommandResult {
    let game = args.board.jarmo()?;
    let effects = shuttle_effect(&game, args.force)?;
    let mut out = stdout().lock();
    for effect in effects {
        let mut show = |what: String, change: &Change| -> std::io::Result<()> {
            writeln!(
                out,
                "force {}: of {} {what}, {} have another result and {} another distance",
                effect.force,
                change.positions,
                change.other_result(),
                change.other_distance
            )?;
            let names = ["loss", "draw", "win"];
            for (without, row) in names.iter().zip(change.results) {
                for (with, count) in names.iter().zip(row) {
                    if with != without && count > 0 {
                        writeln!(out, "  {without} becomes {with}: {count}")?;
                    }
                }
            }
            if let Some(position) = change.example {
                writeln!(out, "  for example {}", game.position_text(&position))?;
            }
            Ok(())
        };
        for (streak, change) in effect.streaks.iter().enumerate() {
            let what = match streak {
                0 => "placements without a move before".to_owned(),
                _ => format!("positions whose longest streak is {streak}"),
            };
            show(what, change)?;
        }
        show("positions with all streaks".to_owned(), &effect.all())?;
    }
    Ok(())
}
