//! Solves one force for one bound side, from the finished forces below and the table of this force.
//!
//! Every placement first gets a byte that is no worse than the final one: those that the table calls lost do not
//! hold, those with one holding action by the table hold with a streak of four at most. Then bytes are lowered
//! until each follows from the others. A placement that may change is *waiting*; when its byte is lowered, the
//! placements two plies earlier that depend on it wait.
//!
//! The order of writes makes the work safe at a kill: what depends on a new byte is told before the byte is
//! written and stops waiting.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

use super::actions::{
    after_deploys, after_move, before, may_pass, moves, nth_move, passed, undo_move,
};
use super::hold::{Hold, WAITING};
use super::known::{DEPENDS, Known, LOSES, Top};
use super::layer::{HEADER, HeldLayer, Layout, Unfinished};
use crate::tables::code;
use crate::tables::index::{Army, Block, Material, Placement, SideMaterial, army};
use crate::tables::lines::{Lines, capture, goal, is_over};
use crate::tables::subsets::{bits, expand, next, pick, places_outside};
use jarmo_core::game::{Player, Verdict};
use jarmo_core::games::board::CIRCLES;
use jarmo_core::games::jarmo::SHUTTLE_LIMIT;

/// How far the work on a force is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// This share of the placements has first bytes.
    Filled(f64),
    /// The holding actions of this share are counted.
    Counted(f64),
    /// Rounds so far, the share of this one that is done, and the bytes that were lowered in it.
    Round(u32, f64, u64),
}

const FILL: u32 = 0;
const COUNT: u32 = 1;
const ROUNDS: u32 = 2;

/// Armies of the bound side whose placements are counted together, so that their successors stay in the cache.
const TILE: usize = 32;

pub(super) struct Solver<'a> {
    pub lines: &'a Lines,
    pub bound: Player,
    pub lower: &'a [HeldLayer],
    pub layout: &'a Layout,
    pub table: &'a [u8],
}

impl Solver<'_> {
    /// Brings the file to its final bytes.
    pub(super) fn solve(&self, file: &mut Unfinished, tell: &mut dyn FnMut(Stage)) {
        let blocks = self.layout.layer.blocks();
        let share = |number: usize| (number + 1) as f64 / blocks.len() as f64;
        for stage in [FILL, COUNT] {
            if file.stage().0 > stage {
                continue;
            }
            for number in file.stage().1 as usize..blocks.len() {
                let work = Work::of(self, &mut file.map);
                match stage {
                    FILL => work.fill(number),
                    _ => work.count(number),
                }
                file.note(stage, number as u32 + 1);
                tell(match stage {
                    FILL => Stage::Filled(share(number)),
                    _ => Stage::Counted(share(number)),
                });
            }
            file.note(stage + 1, 0);
        }
        debug_assert_eq!(file.stage().0, ROUNDS);
        let work = Work::of(self, &mut file.map);
        let mut round = 1;
        loop {
            let (mut waited, mut lowered) = (0, 0);
            for number in 0..blocks.len() {
                let (waiting, lower) = work.round(number);
                waited += waiting;
                lowered += lower;
                tell(Stage::Round(round, share(number), lowered));
            }
            if waited == 0 {
                break;
            }
            round += 1;
        }
    }
}

/// The bytes of the force on which work goes on.
struct Work<'a> {
    known: Known<'a>,
    layout: &'a Layout,
    table: &'a [u8],
    codes: &'a [Cell<u8>],
    flags: &'a [Cell<u8>],
}

impl<'a> Work<'a> {
    fn of(solver: &Solver<'a>, map: &'a mut [u8]) -> Work<'a> {
        let cells = Cell::from_mut(&mut map[HEADER..]).as_slice_of_cells();
        let (codes, flags) = cells.split_at(solver.layout.size);
        let top = Top {
            layout: solver.layout,
            codes,
            flags,
        };
        Work {
            known: Known {
                lines: solver.lines,
                bound: solver.bound,
                lower: solver.lower,
                top: Some(top),
            },
            layout: solver.layout,
            table: solver.table,
            codes,
            flags,
        }
    }

    fn block(&self, number: usize) -> (&'a Block, usize) {
        (
            &self.layout.layer.blocks()[number],
            self.layout.starts[number],
        )
    }

    fn set_flag(&self, place: usize, flag: u8) {
        let cell = &self.flags[place / 4];
        cell.set(cell.get() | flag << (2 * (place % 4)));
    }

    /// Gives every placement of a block its first byte or flags.
    fn fill(&self, number: usize) {
        let (block, start) = self.block(number);
        let table = &self.table[block.start..][..block.size()];
        if block.material.mover == self.known.bound {
            for (&byte, cell) in table.iter().zip(&self.codes[start..]) {
                let lost = code::proven(byte).verdict == Verdict::Loss;
                cell.set(if lost { Hold::No } else { Hold::Yes }.byte());
            }
            return;
        }
        for (row, table) in table.chunks_exact(block.columns).enumerate() {
            let start = start + row * block.columns;
            each_of_row(block, row, |column, placement| {
                let flags = match code::proven(table[column]).verdict {
                    Verdict::Win => LOSES,
                    _ => self.flags_from_below(placement),
                };
                if flags != 0 {
                    self.set_flag(start + column, flags);
                }
            });
        }
    }

    /// The flags of a placement with the free side to move that follow from lower forces and from the pass.
    fn flags_from_below(&self, placement: &Placement) -> u8 {
        let Placement { mover, own, enemy } = *placement;
        if is_over(placement) {
            return 0;
        }
        let mut flags = 0;
        if own.marked | enemy.marked != 0 {
            for from in bits(own.archers & !goal(mover)) {
                // All other captures leave the force as it is: the new mark makes up for the captured archer.
                let targets = match own.marked >> from & 1 {
                    1 => enemy.archers,
                    _ => enemy.marked,
                };
                for to in bits(self.known.lines.near(from) & targets) {
                    flags |= flag_of(self.known.hold(&capture(placement, from, to)));
                }
            }
        }
        if may_pass(self.known.lines, placement) {
            let same = passed(placement);
            let index = self.layout.layer.index(&same);
            let byte = self.table[index.expect("the same force")];
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
        if mover != self.known.bound {
            return;
        }
        let armies = |strength: SideMaterial| -> Vec<Army> {
            let all = strength.placements(CIRCLES);
            (0..all).map(|number| army(strength, number, 0)).collect()
        };
        let enemies = armies(enemy);
        for tile in armies(own).chunks(TILE) {
            for &enemy in &enemies {
                for &own in tile {
                    if own.archers & enemy.archers != 0 {
                        continue;
                    }
                    let placement = Placement { mover, own, enemy };
                    let cell = &self.codes[self.layout.place(&placement)];
                    if Hold::of(cell.get()) != Hold::No && !is_over(&placement) {
                        cell.set(self.first_count(&placement));
                    }
                }
            }
        }
    }

    fn first_count(&self, placement: &Placement) -> u8 {
        let (mut count, mut only, mut depends) = (0, 0, false);
        for (index, taken) in moves(self.known.lines, placement).enumerate() {
            let next = after_move(placement, taken);
            let flags = match next.own.archers {
                0 => 0,
                _ => self.known.flags(&next),
            };
            if flags & LOSES == 0 {
                count += 1;
                only = index as u8;
                depends |= flags & DEPENDS != 0;
                if count == 2 && !depends {
                    return Hold::Yes.byte();
                }
            }
        }
        for next in after_deploys(placement) {
            if self.known.flags(&next) & LOSES == 0 {
                return Hold::Yes.byte();
            }
        }
        if count == 1 && !depends {
            let held = Hold::Unless {
                index: only,
                streak: SHUTTLE_LIMIT,
            };
            return held.byte() | WAITING;
        }
        Hold::Yes.byte() | WAITING
    }

    /// Evaluates the waiting placements of a block; returns their number and that of the lowered bytes.
    fn round(&self, number: usize) -> (u64, u64) {
        let (block, start) = self.block(number);
        let (mut waited, mut lowered) = (0, 0);
        if block.material.mover != self.known.bound {
            return (0, 0);
        }
        let codes = &self.codes[start..][..block.size()];
        for (row, cells) in codes.chunks_exact(block.columns).enumerate() {
            let waiting = |cell: &&Cell<u8>| cell.get() & WAITING != 0;
            let count = cells.iter().filter(waiting).count();
            if count == 0 {
                continue;
            }
            waited += count as u64;
            if count > block.columns / 16 {
                each_of_row(block, row, |column, placement| {
                    let cell = &cells[column];
                    if waiting(&cell) {
                        lowered += u64::from(self.again(placement, cell));
                    }
                });
                continue;
            }
            let Material { mover, own, enemy } = block.material;
            let enemy = army(enemy, row, 0);
            for (column, cell) in cells.iter().enumerate() {
                if waiting(&cell) {
                    let own = army(own, column, enemy.archers);
                    let placement = Placement { mover, own, enemy };
                    lowered += u64::from(self.again(&placement, cell));
                }
            }
        }
        (waited, lowered)
    }

    /// Evaluates a waiting placement; returns whether its byte was lowered.
    fn again(&self, placement: &Placement, cell: &Cell<u8>) -> bool {
        let old = Hold::of(cell.get());
        let new = match old {
            Hold::No => Hold::No,
            _ => self.known.evaluate(placement),
        };
        if new != old {
            self.tell(placement, new);
        }
        compiler_fence(Ordering::SeqCst);
        cell.set(new.byte());
        new != old
    }

    /// Makes wait what depends on the new byte of a placement.
    fn tell(&self, placement: &Placement, new: Hold) {
        let known = &self.known;
        let taken = match new {
            Hold::Unless { index, .. } => Some(nth_move(known.lines, placement, index).reverse()),
            _ => None,
        };
        let mut tell_before = |earlier: &Placement| {
            let place = self.layout.place(earlier);
            if self.flags[place / 4].get() >> (2 * (place % 4)) & LOSES != 0 {
                return;
            }
            match taken {
                Some(taken) => undo_move(earlier, taken, &mut |first| self.wake(first)),
                None => {
                    before(known.lines, earlier, &mut |first| self.wake(first));
                    self.wake(&passed(earlier)); // it may hold by a pass
                }
            }
            compiler_fence(Ordering::SeqCst);
            match new {
                Hold::No => self.set_flag(place, LOSES),
                Hold::Unless { streak: 1, .. } => self.set_flag(place, DEPENDS),
                _ => {}
            }
        };
        before(known.lines, placement, &mut tell_before);
        let same = passed(placement);
        if may_pass(known.lines, &same) {
            tell_before(&same);
        }
    }

    /// Makes a placement with the bound side to move wait, unless it cannot be lowered.
    fn wake(&self, placement: &Placement) {
        let cell = &self.codes[self.layout.place(placement)];
        if Hold::of(cell.get()) != Hold::No {
            cell.set(cell.get() | WAITING);
        }
    }
}

fn flag_of(hold: Hold) -> u8 {
    match hold {
        Hold::No => LOSES,
        Hold::Unless { streak: 1, .. } => DEPENDS,
        Hold::Yes | Hold::Unless { .. } => 0,
    }
}

/// Visits the placements of a row of a block, with their columns.
#[inline(always)]
fn each_of_row(block: &Block, row: usize, mut visit: impl FnMut(usize, &Placement)) {
    let Material { mover, own, enemy } = block.material;
    let enemy = army(enemy, row, 0);
    let places = places_outside(enemy.archers);
    let mut set = (1_u32 << own.archers) - 1;
    for first in (0..block.columns).step_by(own.patterns()) {
        let archers = expand(set, &places);
        let mut pattern = (1_u32 << own.marks) - 1;
        for column in first..first + own.patterns() {
            let own_army = Army {
                archers,
                marked: pick(pattern, archers),
            };
            let placement = Placement {
                mover,
                own: own_army,
                enemy,
            };
            visit(column, &placement);
            if own.marks > 0 {
                pattern = next(pattern);
            }
        }
        set = next(set);
    }
}
