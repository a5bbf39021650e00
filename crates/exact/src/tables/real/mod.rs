//! Jarmo with the shuttle rule: which placements a side holds, that is, does not lose, for the game as it is played.
//!
//! One side is *bound* by the rule, the other is *free* of it: the free side may play every move, and may also pass
//! wherever the rule could force it to. What the bound side holds in this game it holds in the real one, because
//! there the other side has fewer actions. A position that both sides hold, each bound in its turn, is drawn.
//! `docs/lab/real_rules.md` has the proof, and what is lost by freeing a side.
//!
//! [`build_real`] finds what one side holds, force by force, from tables; [`Holds`] opens the files.

mod actions;
mod endgames;
mod hold;
mod known;
mod layer;
mod solve;

use std::path::Path;
use std::time::Instant;

use self::actions::Move;
use self::hold::MOST_MOVES;
use self::known::Known;
use self::layer::{HeldLayer, Layout, Unfinished, finished_path};
use self::solve::{Solver, Stage};
use super::build::TableProgress;
use super::code;
use super::file::Owner;
use super::index::{LEAST_FORCE, MOST_FORCE, Placement};
use super::lines::Lines;
use super::lookup::Tables;
use crate::ExactError;
use jarmo_core::game::{Game, Player, Verdict};
use jarmo_core::games::board::{Board, BoardAction};
use jarmo_core::games::jarmo::Shuttle;
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_host::files::lock_folder;

pub(super) use self::endgames::RealTables;
pub(super) use self::hold::Hold;

/// Finds what a side holds, up to a force, in `folder`. Finished forces there are kept, an unfinished one is continued.
pub fn build_real(
    game: &Jarmo,
    tables: &Tables,
    folder: &Path,
    bound: Player,
    force: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<(), ExactError> {
    let lines = Lines::of(game.board())?;
    if lines.most_actions() as usize > MOST_MOVES {
        return Err(ExactError::new(format!(
            "a player can have {} actions on this board, more than the {MOST_MOVES} that are supported",
            lines.most_actions()
        )));
    }
    let exists = |force| finished_path(folder, bound, force).exists();
    let lacks = |&force: &u32| !exists(force) && tables.bytes(force).is_none();
    if let Some(force) = (LEAST_FORCE..=force).find(lacks) {
        return Err(ExactError::new(format!(
            "force {force}: a table with distances is needed; build it first (packed results have none)"
        )));
    }
    let owner = Owner::of(game);
    std::fs::create_dir_all(folder).map_err(ExactError::io(folder))?;
    let _lock = lock_folder(folder).map_err(ExactError::io(folder))?.ok_or_else(|| ExactError::busy(folder))?;
    let mut lower = Vec::new();
    for force in LEAST_FORCE..=force {
        let kept = exists(force);
        if !kept {
            let began = Instant::now();
            let layout = Layout::new(force);
            let (mut file, existed) = Unfinished::open(folder, owner, bound, &layout)?;
            if existed {
                tell(TableProgress::Resumed(force));
            }
            let solver = Solver {
                lines: &lines,
                bound,
                lower: &lower,
                layout: &layout,
                table: tables.bytes(force).expect("all forces have tables or files"),
            };
            solver.solve(&mut file, &mut |stage| tell(progress(force, stage)));
            file.finish(&finished_path(folder, bound, force))?;
            let (placements, took) = (layout.size, began.elapsed().as_secs_f64());
            tell(TableProgress::Done(force, format!("{placements} bare positions in {took:.1} s")));
        }
        lower.push(HeldLayer::open(folder, owner, bound, force)?);
        if kept {
            tell(TableProgress::Kept(force));
        }
    }
    Ok(())
}

/// The message for a stage of the work on a force.
fn progress(force: u32, stage: Stage) -> TableProgress {
    let percent = |done: f64| format!("{:.0} %", 100.0 * done);
    let what = match stage {
        Stage::Filled(done) => format!("{} filled", percent(done)),
        Stage::Counted(done) => format!("{} counted", percent(done)),
        Stage::Round(round, done, lowered) => format!("round {round}, {}, {lowered} lowered", percent(done)),
    };
    match stage {
        Stage::Round(_, 1.0, _) => TableProgress::Done(force, what),
        _ => TableProgress::Working(force, what),
    }
}

/// The highest force of which a folder has a file for this side.
fn highest(folder: &Path, bound: Player) -> Option<u32> {
    let exists = |&force: &u32| finished_path(folder, bound, force).exists();
    (LEAST_FORCE..=MOST_FORCE).rev().find(exists)
}

/// What is known of a position of the game as it is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealValue {
    /// Whether White is proven not to lose, if White's files are there.
    pub white_holds: Option<bool>,
    /// Whether Black is proven not to lose, if Black's files are there.
    pub black_holds: Option<bool>,
}

impl RealValue {
    /// Whether both sides hold.
    pub fn is_drawn(self) -> bool {
        self.white_holds == Some(true) && self.black_holds == Some(true)
    }
}

/// The placements that each side holds, as far as there are files.
#[derive(Debug)]
pub struct Holds {
    lines: Lines,
    board: Board,
    sides: [Vec<HeldLayer>; 2],
}

/// Placements with a bound side to move, by the result of the table and by how far the side holds them: not, if
/// its last move was another or its streak short enough, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldCounts {
    /// Drawn by the table.
    pub drawn: [u64; 3],
    /// Won by the table.
    pub won: [u64; 3],
    /// Of the drawn ones held unless there is a streak: by the streak that is too long, 1 to 4.
    pub streaks: [u64; 4],
}

impl Holds {
    /// Whether a folder has files.
    pub(super) fn exist(folder: &Path) -> bool {
        let exists = |bound| highest(folder, bound).is_some();
        Player::BOTH.into_iter().any(exists)
    }

    /// Opens the files in a folder and verifies all checksums.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<Holds, ExactError> {
        let lines = Lines::of(game.board())?;
        let owner = Owner::of(game);
        let side = |bound| {
            (LEAST_FORCE..=highest(folder, bound).unwrap_or(LEAST_FORCE - 1))
                .map(|force| HeldLayer::open(folder, owner, bound, force))
                .collect::<Result<Vec<_>, _>>()
        };
        let sides = [side(Player::White)?, side(Player::Black)?];
        if sides.iter().all(Vec::is_empty) {
            return Err(ExactError::new("has no files of bare positions held; build them first").at(folder));
        }
        Ok(Holds { lines, board: game.board().clone(), sides })
    }

    /// The highest force of which there is a file for this side.
    pub fn force(&self, bound: Player) -> Option<u32> {
        let count = self.sides[bound.index()].len() as u32;
        count.checked_sub(1).map(|last| LEAST_FORCE + last)
    }

    /// What is known of a position, with both players' last moves and streaks. The limit on the length of a game
    /// does not count. `None` where the game is over.
    pub fn value(&self, game: &Jarmo, position: &JarmoPosition) -> Option<RealValue> {
        let over = game.outcome(position).is_some();
        (!over).then(|| RealValue {
            white_holds: self.holds(position, Player::White),
            black_holds: self.holds(position, Player::Black),
        })
    }

    /// Whether a side is proven not to lose a position that is not over; `None` without a file.
    fn holds(&self, position: &JarmoPosition, bound: Player) -> Option<bool> {
        let placement = Placement::of(position);
        if self.force(bound)? < position.force() {
            return None;
        }
        let known = Known { lines: &self.lines, bound, lower: &self.sides[bound.index()], top: None };
        let last = position.shuttle(bound).last_move().and_then(|(action, streak)| match self.board.decode(action) {
            BoardAction::Move { from, to } => {
                let (from, to) = (from.index() as u32, to.index() as u32);
                Some((Move { from, to }, streak))
            }
            _ => None,
        });
        Some(match placement.mover == bound {
            true => known.holds_before(&placement, last),
            false if position.shuttle(bound) == Shuttle::PASS => known.holds_after_pass(&placement),
            false => known.holds_after(&placement, last),
        })
    }

    /// Counts the placements of a force with a side to move; `None` without a file or table of it.
    pub fn counts(&self, tables: &Tables, bound: Player, force: u32) -> Option<HoldCounts> {
        let number = force.checked_sub(LEAST_FORCE)? as usize;
        let held = self.sides[bound.index()].get(number)?;
        let table = tables.bytes(force)?;
        let mut counts = HoldCounts::default();
        for (block, &start) in held.layout.layer.blocks().iter().zip(&held.layout.starts) {
            if block.material.mover != bound {
                continue;
            }
            let codes = &held.codes()[start..][..block.size()];
            for (&byte, &code) in table[block.start..][..block.size()].iter().zip(codes) {
                let proven = code::proven(byte);
                let hold = Hold::of(code);
                let column = match hold {
                    Hold::No => 0,
                    Hold::Unless { .. } => 1,
                    Hold::Yes => 2,
                };
                match proven.verdict {
                    _ if proven.is_over() => {}
                    Verdict::Draw => {
                        counts.drawn[column] += 1;
                        if let Hold::Unless { streak, .. } = hold {
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
}
