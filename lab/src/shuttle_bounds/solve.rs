//! Solves one force for one bound side, from the finished forces below and the table of this force.
//!
//! Every placement first gets a byte that is no worse than the final one: those that the table calls lost do not
//! hold, those with one holding action by the table hold with a streak of four at most. Then bytes are lowered
//! until each follows from the others. A placement that may change is *waiting*; when its byte is lowered, the
//! placements two plies earlier that depend on it wait.
//!
//! Threads share the bytes. Whoever lowers a byte first sets the flags that follow from it, then writes the byte,
//! then makes wait what depends on it; whoever evaluates a placement first ends its waiting, then reads. So no
//! change is missed, and a byte is never lower than the flags say. After a kill, everything waits again.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use rayon::prelude::*;

use super::back::{before, undo_move};
use super::map::atomics;
use super::unfinished::Unfinished;
use jarmo_core::game::{Player, Verdict};
use jarmo_core::games::board::CIRCLES;
use jarmo_core::games::jarmo::SHUTTLE_LIMIT;
use jarmo_exact::tables::TableProgress;
use jarmo_exact::tables::code;
use jarmo_exact::tables::index::{Army, Block, JarmoLayer, LEAST_FORCE, Material, Placement, SideMaterial, army};
use jarmo_exact::tables::lines::{Lines, each_lowering_capture, goal, is_over};
use jarmo_exact::tables::shuttle_bounds::actions::{
    Move, after_deploys, after_move, may_pass, moves, nth_move, single_move,
};
use jarmo_exact::tables::shuttle_bounds::draw_proof::{DEPENDS, DrawProof, DrawProofs, LOSES, WAITING};
use jarmo_exact::tables::shuttle_bounds::layer::{BoundLayer, HEADER, place};

const FILL: u32 = 0;
const COUNT: u32 = 1;
const ROUNDS: u32 = 2;

/// Armies of the bound side whose placements are counted together, so that their successors stay in the cache.
const TILE: usize = 32;

pub(super) struct Solver<'a> {
    pub lines: &'a Lines,
    pub bound: Player,
    pub lower: &'a [BoundLayer],
    pub layer: &'a JarmoLayer,
    pub table: &'a [u8],
}

impl Solver<'_> {
    /// Brings the file to its final bytes.
    pub(super) fn solve(&self, file: &mut Unfinished, tell: &mut dyn FnMut(TableProgress)) {
        let layer = self.layer;
        let (force, blocks) = (layer.force, &layer.blocks);
        let share = |number: usize| {
            let block: &Block = &blocks[number];
            format!("{:.0} %", 100.0 * (block.start + block.size()) as f64 / layer.size as f64)
        };
        let resumed = file.stage().0 == ROUNDS;
        for stage in [FILL, COUNT] {
            if file.stage().0 > stage {
                continue;
            }
            for number in file.stage().1 as usize..blocks.len() {
                let work = Work::of(self, &mut file.map);
                let what = if stage == FILL {
                    work.fill(number);
                    "filled"
                } else {
                    work.count(number);
                    "counted"
                };
                file.note(stage, number as u32 + 1);
                tell(TableProgress::Working(force, format!("{} {what}", share(number))));
            }
            file.note(stage + 1, 0);
        }
        debug_assert!(file.stage().0 >= ROUNDS); // finished, if it was killed before it got its name
        let work = Work::of(self, &mut file.map);
        if resumed {
            (0..blocks.len()).for_each(|number| work.wake_all(number));
        }
        let mut round = 1;
        loop {
            let (mut waited, mut lowered) = (0, 0);
            for number in 0..blocks.len() {
                let (waiting, lower) = work.round(number);
                waited += waiting;
                lowered += lower;
                let what = format!("round {round}, {}, {lowered} lowered", share(number));
                let is_last = number + 1 == blocks.len();
                tell(if is_last { TableProgress::Done(force, what) } else { TableProgress::Working(force, what) });
            }
            if waited == 0 {
                break;
            }
            round += 1;
        }
        work.flags.par_iter().for_each(plain);
    }
}

/// The bytes of the force on which work goes on.
struct Work<'a> {
    lines: &'a Lines,
    bound: Player,
    lower: &'a [BoundLayer], // finished, lowest force first
    layer: &'a JarmoLayer,
    table: &'a [u8],
    codes: &'a [AtomicU8],
    flags: &'a [AtomicU8],
}

impl<'a> Work<'a> {
    fn of(solver: &Solver<'a>, map: &'a mut [u8]) -> Work<'a> {
        let (codes, flags) = atomics(&mut map[HEADER..]).split_at(solver.layer.size / 2);
        let &Solver { lines, bound, lower, layer, table } = solver;
        Work { lines, bound, lower, layer, table, codes, flags }
    }

    fn block(&self, number: usize) -> (&'a Block, usize) {
        let block = &self.layer.blocks[number];
        (block, block.start_of_side)
    }

    /// The finished file of a placement's force, unless that is the force on which work goes on.
    #[inline(always)]
    fn finished(&self, placement: &Placement) -> Option<&BoundLayer> {
        self.lower.get((placement.force() - LEAST_FORCE) as usize)
    }

    fn set_flag(&self, place: usize, flag: u8) {
        self.flags[place / 4].fetch_or(flag << (2 * (place % 4)), SeqCst);
    }

    /// Gives every placement of a block its first byte or flags.
    fn fill(&self, number: usize) {
        let (block, start) = self.block(number);
        let table = &self.table[block.start..][..block.size()];
        let rows = table.par_chunks_exact(block.columns).enumerate();
        if block.material.mover == self.bound {
            rows.for_each(|(row, table)| {
                let cells = &self.codes[start + row * block.columns..];
                for (&byte, cell) in table.iter().zip(cells) {
                    let lost = code::proven(byte).verdict == Verdict::Loss;
                    cell.store(if lost { DrawProof::No } else { DrawProof::Yes }.byte(), Relaxed);
                }
            });
            return;
        }
        rows.for_each(|(row, table)| {
            let start = start + row * block.columns;
            block.each_of_row(row, |column, placement| {
                let flags = match code::proven(table[column]).verdict {
                    Verdict::Win => LOSES,
                    _ => self.flags_from_below(placement),
                };
                if flags != 0 {
                    self.set_flag(start + column, flags);
                }
            });
        });
    }

    /// The flags of a placement with the free side to move that follow from lower forces and from the pass.
    fn flags_from_below(&self, placement: &Placement) -> u8 {
        if is_over(placement) {
            return 0;
        }
        let mut flags = 0;
        each_lowering_capture(self.lines, placement, |next| {
            flags |= flag_of(self.draw_proof(next));
        });
        if may_pass(self.lines, placement) {
            let same = placement.passed();
            let byte = self.table[self.layer.index(&same).expect("the same force")];
            if code::proven(byte).verdict == Verdict::Loss {
                flags |= LOSES;
            }
        }
        flags
    }

    /// Counts the holding actions of every placement of a block, up to two; whatever needs a closer look waits.
    fn count(&self, number: usize) {
        let (block, _) = self.block(number);
        let Material { mover, own, enemy } = block.material;
        if mover != self.bound {
            return;
        }
        let armies = |strength: SideMaterial| -> Vec<Army> {
            let all = strength.placements(CIRCLES);
            (0..all).map(|number| army(strength, number, 0)).collect()
        };
        let enemies = armies(enemy);
        armies(own).par_chunks(TILE).for_each(|tile| {
            for &enemy in &enemies {
                for &own in tile {
                    if own.archers & enemy.archers != 0 {
                        continue;
                    }
                    let placement = Placement { mover, own, enemy };
                    let cell = &self.codes[place(self.layer, &placement)];
                    if DrawProof::of(cell.load(Relaxed)) != DrawProof::No && !is_over(&placement) {
                        cell.store(self.first_count(&placement), Relaxed);
                    }
                }
            }
        });
    }

    fn first_count(&self, placement: &Placement) -> u8 {
        let (mut count, mut only, mut depends) = (0, 0, false);
        for (index, taken) in moves(self.lines, placement).enumerate() {
            let next = after_move(placement, taken);
            let flags = match next.own.archers {
                0 => 0,
                _ => self.flags(&next),
            };
            if flags & LOSES == 0 {
                count += 1;
                only = index as u8;
                depends |= flags & DEPENDS != 0;
                if count == 2 && !depends {
                    return DrawProof::Yes.byte();
                }
            }
        }
        for next in after_deploys(placement) {
            if self.flags(&next) & LOSES == 0 {
                return DrawProof::Yes.byte();
            }
        }
        // A single action of all may leave a pass that holds as well.
        if count == 1 && !depends && single_move(self.lines, placement).is_none() {
            let held = DrawProof::Unless { index: only, streak: SHUTTLE_LIMIT };
            return held.byte() | WAITING;
        }
        DrawProof::Yes.byte() | WAITING
    }

    /// Makes all placements of a block wait in which the game goes on.
    fn wake_all(&self, number: usize) {
        let (block, start) = self.block(number);
        if block.material.mover != self.bound {
            return;
        }
        let cells = self.codes[start..][..block.size()].par_chunks_exact(block.columns);
        cells.enumerate().for_each(|(row, cells)| {
            block.each_of_row(row, |column, placement| {
                if !is_over(placement) {
                    wake(&cells[column]);
                }
            });
        });
    }

    /// Evaluates the waiting placements of a block; returns their number and that of the lowered bytes.
    fn round(&self, number: usize) -> (u64, u64) {
        let (block, start) = self.block(number);
        if block.material.mover != self.bound {
            return (0, 0);
        }
        self.codes[start..][..block.size()]
            .par_chunks_exact(block.columns)
            .enumerate()
            .map(|(row, cells)| self.round_of_row(block, row, cells))
            .reduce(|| (0, 0), |(waited, lowered), (more, lower)| (waited + more, lowered + lower))
    }

    fn round_of_row(&self, block: &Block, row: usize, cells: &[AtomicU8]) -> (u64, u64) {
        let waiting = |cell: &AtomicU8| cell.load(Relaxed) & WAITING != 0;
        let count = cells.iter().filter(|&cell| waiting(cell)).count();
        let mut lowered = 0;
        if count > block.columns / 16 {
            block.each_of_row(row, |column, placement| {
                let cell = &cells[column];
                if waiting(cell) {
                    lowered += u64::from(self.again(placement, cell));
                }
            });
        } else if count > 0 {
            for (column, cell) in cells.iter().enumerate() {
                if waiting(cell) {
                    lowered += u64::from(self.again(&block.placement(row, column), cell));
                }
            }
        }
        (count as u64, lowered)
    }

    /// Evaluates a waiting placement; returns whether its byte was lowered.
    fn again(&self, placement: &Placement, cell: &AtomicU8) -> bool {
        let old = DrawProof::of(cell.fetch_and(!WAITING, SeqCst));
        let new = match old {
            DrawProof::No => DrawProof::No,
            _ => self.evaluate(placement),
        };
        if new != old {
            self.lower(placement, cell, new);
        }
        new != old
    }

    /// How far the bound side, which is to move, holds a placement in which the game is not over.
    #[inline(always)]
    fn evaluate(&self, placement: &Placement) -> DrawProof {
        let mut only = None;
        for (index, taken) in moves(self.lines, placement).enumerate() {
            if self.longest_streak(&after_move(placement, taken), taken, 1) >= 1 {
                if only.is_some() {
                    return DrawProof::Yes;
                }
                only = Some((index, taken));
            }
        }
        for next in after_deploys(placement) {
            if self.flags(&next) & LOSES == 0 {
                return DrawProof::Yes; // a redeploy is never forbidden
            }
        }
        let Some((index, taken)) = only else { return DrawProof::No };
        if goal(placement.mover) >> taken.to & 1 == 1 {
            return DrawProof::Yes; // the reverse would start on the goal row
        }
        let streak = self.longest_streak(&after_move(placement, taken), taken, SHUTTLE_LIMIT);
        if streak == SHUTTLE_LIMIT && self.holds_by_pass(placement) {
            return DrawProof::Yes;
        }
        DrawProof::Unless { index: index as u8, streak }
    }

    /// Whether the bound side, whose single action the rule forbids, holds by the pass that it must make.
    #[inline(always)]
    fn holds_by_pass(&self, placement: &Placement) -> bool {
        single_move(self.lines, placement).is_some() && self.holds_after_pass(&placement.passed())
    }

    /// Gives a placement a new byte, and makes wait what depends on it.
    fn lower(&self, placement: &Placement, cell: &AtomicU8, new: DrawProof) {
        let flag = flag_of(new);
        let mut earlier = Vec::new();
        let mut tell = |before: &Placement| {
            let place = place(self.layer, before);
            if self.flags[place / 4].load(SeqCst) >> (2 * (place % 4)) & LOSES != 0 {
                return;
            }
            if flag != 0 {
                self.set_flag(place, flag);
            }
            earlier.push(*before);
        };
        before(self.lines, placement, &mut tell);
        let same = placement.passed();
        if may_pass(self.lines, &same) {
            tell(&same);
        }
        // Another thread may have made the placement wait again.
        let written = cell.fetch_update(SeqCst, SeqCst, |byte| Some(new.byte() | byte & WAITING));
        debug_assert!(written.is_ok());
        let taken = match new {
            DrawProof::Unless { index, .. } => nth_move(self.lines, placement, index).map(Move::reverse),
            _ => None,
        };
        let mut wake = |first: &Placement| wake(&self.codes[place(self.layer, first)]);
        for earlier in &earlier {
            match taken {
                Some(taken) => undo_move(earlier, taken, &mut wake),
                None => {
                    before(self.lines, earlier, &mut wake);
                    wake(&earlier.passed()); // it may hold by a pass
                }
            }
        }
    }
}

impl DrawProofs for Work<'_> {
    fn lines(&self) -> &Lines {
        self.lines
    }

    #[inline(always)]
    fn draw_proof(&self, placement: &Placement) -> DrawProof {
        match self.finished(placement) {
            Some(layer) => layer.draw_proof(placement),
            None => DrawProof::of(self.codes[place(self.layer, placement)].load(SeqCst)),
        }
    }

    #[inline(always)]
    fn flags(&self, placement: &Placement) -> u8 {
        if let Some(layer) = self.finished(placement) {
            return layer.flags(placement);
        }
        let place = place(self.layer, placement);
        self.flags[place / 4].load(SeqCst) >> (2 * (place % 4)) & 3
    }
}

/// Makes a placement with the bound side to move wait, unless it cannot be lowered.
fn wake(cell: &AtomicU8) {
    let byte = cell.load(SeqCst);
    if byte & WAITING == 0 && DrawProof::of(byte) != DrawProof::No {
        cell.fetch_or(WAITING, SeqCst);
    }
}

/// Clears what the order of the work may have left beside [`LOSES`] in the flags of four placements.
fn plain(flags: &AtomicU8) {
    let byte = flags.load(Relaxed);
    flags.store(byte & !((byte >> 1) & (0b0101_0101 * DEPENDS)), Relaxed);
}

fn flag_of(hold: DrawProof) -> u8 {
    match hold {
        DrawProof::No => LOSES,
        DrawProof::Unless { streak: 1, .. } => DEPENDS,
        DrawProof::Yes | DrawProof::Unless { .. } => 0,
    }
}
