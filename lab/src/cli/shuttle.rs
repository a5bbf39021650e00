//! `lab shuttle`

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use super::{BoardArgs, CommandResult};
use crate::shuttle::{Change, MOST_SHUTTLE_FORCE, check_holds, shuttle_effect};
use jarmo_core::game::{Game, Player};
use jarmo_core::games::Jarmo;
use jarmo_core::numbers::NumberRange;
use jarmo_exact::tables::ShuttleBounds;
use jarmo_exact::tables::index::LEAST_FORCE;

/// Solve the smallest forces with the shuttle rule and print what it changes
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    board: BoardArgs,
    /// The largest number of archers and marks on the board; 4 takes 1.2 GiB of memory and 5 minutes of CPU time
    #[arg(long, value_name = "F", default_value_t = 3, value_parser = FORCE.parser::<u32>())]
    force: u32,
    /// Compare what each side holds, as `lab real build` has written it, with exact play in all positions with
    /// all histories
    #[arg(long, value_name = "FOLDER")]
    holds: Option<PathBuf>,
}

const FORCE: NumberRange<u64> = NumberRange::new(LEAST_FORCE as u64, MOST_SHUTTLE_FORCE as u64);

pub(super) fn run(args: &Args) -> CommandResult {
    let game = args.board.jarmo()?;
    if let Some(folder) = &args.holds {
        return compare(&game, args.force, folder);
    }
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
                0 => "bare positions".to_owned(),
                _ => format!("positions whose longest streak is {streak}"),
            };
            show(what, change)?;
        }
        show("positions with all streaks".to_owned(), &effect.all())?;
    }
    Ok(())
}

/// Compares what each side holds with exact play. Nothing that a side holds may be lost.
fn compare(game: &Jarmo, force: u32, folder: &Path) -> CommandResult {
    let holds = ShuttleBounds::open(game, folder)?;
    let missing = |&side: &Player| holds.force(side) < Some(force);
    if Player::BOTH.iter().any(missing) {
        return Err("files of both sides up to this force are needed".into());
    }
    let mut out = stdout().lock();
    let mut wrong = 0;
    for (force, sides) in (LEAST_FORCE..).zip(check_holds(game, force, &holds)) {
        for (side, checks) in Player::BOTH.into_iter().zip(sides) {
            for (what, check) in ["without a move before", "in all"].into_iter().zip(checks) {
                let side = side.name();
                writeln!(
                    out,
                    "force {force}, {side}, positions {what}: not lost {}, of these held {}; held but lost {}",
                    check.not_lost, check.held, check.wrong
                )?;
                wrong += check.wrong;
            }
        }
    }
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} positions are held but lost").into()),
    }
}
