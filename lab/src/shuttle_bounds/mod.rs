//! Finds which placements a side holds in jarmo as it is played, force by force, from exact tables: the files that
//! `jarmo_exact::tables::shuttle_bounds` reads. `docs/lab/real_rules.md` has the method.

mod back;
mod map;
mod solve;
mod unfinished;

use std::path::Path;
use std::time::Instant;

use self::solve::Solver;
use self::unfinished::Unfinished;
use jarmo_core::game::{Player, Verdict};
use jarmo_core::games::Jarmo;
use jarmo_exact::ExactError;
use jarmo_exact::tables::index::{JarmoLayer, LEAST_FORCE};
use jarmo_exact::tables::lines::Lines;
use jarmo_exact::tables::shuttle_bounds::draw_proof::{DrawProof, MOST_MOVES};
use jarmo_exact::tables::shuttle_bounds::layer::{BoundLayer, finished_path};
use jarmo_exact::tables::{ShuttleBounds, TableProgress, Tables, code, lock, owner};

/// Finds what a side holds, up to a force, in `folder`. Finished forces there are kept, an unfinished one is continued.
pub fn build(
    game: &Jarmo,
    tables: &Tables,
    folder: &Path,
    bound: Player,
    force: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<(), ExactError> {
    let lines = Lines::of(game.board())?;
    if lines.most_actions as usize > MOST_MOVES {
        return Err(ExactError::new(format!(
            "a player can have {} actions on this board, more than the {MOST_MOVES} that are supported",
            lines.most_actions
        )));
    }
    let exists = |force| finished_path(folder, bound, force).exists();
    let lacks = |&force: &u32| !exists(force) && tables.bytes(force).is_none();
    if let Some(force) = (LEAST_FORCE..=force).find(lacks) {
        return Err(ExactError::new(format!(
            "force {force}: a table with distances is needed; build it first (packed results have none)"
        )));
    }
    let owner = owner(game);
    let _lock = lock(folder)?;
    let mut lower = Vec::new();
    for force in LEAST_FORCE..=force {
        let kept = exists(force);
        if !kept {
            let began = Instant::now();
            let layer = JarmoLayer::new(force);
            let (mut file, existed) = Unfinished::open(folder, owner, bound, &layer)?;
            if existed {
                tell(TableProgress::Resumed(force));
            }
            let solver = Solver {
                lines: &lines,
                bound,
                lower: &lower,
                layer: &layer,
                table: tables.bytes(force).expect("all forces have tables or files"),
            };
            solver.solve(&mut file, tell);
            file.finish(&finished_path(folder, bound, force))?;
            let (placements, took) = (layer.size / 2, began.elapsed().as_secs_f64());
            tell(TableProgress::Done(force, format!("{placements} bare positions in {took:.1} s")));
        }
        lower.push(BoundLayer::open(folder, owner, bound, force)?);
        if kept {
            tell(TableProgress::Kept(force));
        }
    }
    Ok(())
}

/// Placements with a bound side to move, by the result of the table and by how far the side holds them: not, if
/// its last move was another or its streak short enough, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawProofCounts {
    /// Drawn by the table.
    pub drawn: [u64; 3],
    /// Won by the table.
    pub won: [u64; 3],
    /// Of the drawn ones held unless there is a streak: by the streak that is too long, 1 to 4.
    pub streaks: [u64; 4],
}

/// Counts the placements of a force with a side to move; `None` without a file or table of it.
pub fn counts(holds: &ShuttleBounds, tables: &Tables, bound: Player, force: u32) -> Option<DrawProofCounts> {
    let held = holds.layer(bound, force)?;
    let table = tables.bytes(force)?;
    let mut counts = DrawProofCounts::default();
    for block in &held.layer.blocks {
        if block.material.mover != bound {
            continue;
        }
        let codes = &held.codes()[block.start_of_side..][..block.size()];
        for (&byte, &code) in table[block.start..][..block.size()].iter().zip(codes) {
            let proven = code::proven(byte);
            let hold = DrawProof::of(code);
            let column = match hold {
                DrawProof::No => 0,
                DrawProof::Unless { .. } => 1,
                DrawProof::Yes => 2,
            };
            match proven.verdict {
                _ if proven.is_over() => {}
                Verdict::Draw => {
                    counts.drawn[column] += 1;
                    if let DrawProof::Unless { streak, .. } = hold {
                        counts.streaks[usize::from(streak) - 1] += 1;
                    }
                }
                Verdict::Win => counts.won[column] += 1,
                Verdict::Loss => {}
            }
        }
    }
    Some(counts)
}
