//! Propagates results from positions to their predecessors.
//!
//! A step has two halves. [`scan`] reads a part of a block, finds the positions whose result belongs to
//! this step, and sorts their predecessors into *bins*, one per page. [`apply`] then updates the
//! predecessors in one page, which fits into the cache, and to which no other thread writes.

use super::Layers;
use super::first::longest_below;
use super::unfinished::BlockPages;
use crate::tables::code::{self, ActionCounters, Distances, LAST_COUNTER};
use crate::tables::index::{Army, Block, Material, Placement, army, number_of};
use crate::tables::lines::{Lines, goal, home};
use crate::tables::subsets::{MOST, bits, compress, expand, pattern, pick, places_outside, rank, squeeze};

/// The kinds of actions between positions of the same force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// By a move to an empty circle.
    Quiet,
    /// By an unmarked archer's capture of an unmarked archer.
    Capture,
    /// By a redeploy.
    Deploy,
}

impl Origin {
    pub(super) const ALL: [Origin; 3] = [Origin::Quiet, Origin::Capture, Origin::Deploy];

    /// The material before an action of this kind by the player not to move in `after`.
    pub(super) fn material(self, after: &Material) -> Option<Material> {
        let Material { mover, own, enemy } = *after;
        let (mut own, mut enemy) = (enemy, own);
        match self {
            Origin::Quiet => {}
            Origin::Capture => {
                own.marks = own.marks.checked_sub(1)?;
                enemy.archers += 1;
            }
            Origin::Deploy => {
                own.archers = own.archers.checked_sub(1)?;
                own.marks += 1;
            }
        }
        let possible = usize::from(enemy.archers) <= MOST && own.archers > 0 && own.marks <= own.archers;
        possible.then_some(Material { mover: !mover, own, enemy })
    }
}

/// One predecessor, or all predecessors by one kind of action, packed into 61 bits.
///
/// Bits 0-24 are the circles of the waiting player's archers, bits 25-49 those of the acting player, bits
/// 50-54 and 55-59 their marks in the order of the archers. Bit 60 is set if the propagated result is a
/// win for the waiting player. For a capture the two sets share the circle on which it happened.
#[derive(Clone, Copy)]
pub(super) struct Item(u64);

impl Item {
    #[inline(always)]
    fn new(waiting: u32, waiting_marks: u32, acting: u32, acting_marks: u32, won: bool) -> Item {
        Item(
            u64::from(waiting)
                | u64::from(acting) << 25
                | u64::from(waiting_marks) << 50
                | u64::from(acting_marks) << 55
                | u64::from(won) << 60,
        )
    }

    #[inline(always)]
    fn waiting(self) -> u32 {
        self.0 as u32 & 0x1ff_ffff
    }

    #[inline(always)]
    fn acting(self) -> u32 {
        (self.0 >> 25) as u32 & 0x1ff_ffff
    }

    #[inline(always)]
    fn waiting_marks(self) -> u32 {
        (self.0 >> 50) as u32 & 0x1f
    }

    #[inline(always)]
    fn acting_marks(self) -> u32 {
        (self.0 >> 55) as u32 & 0x1f
    }

    #[inline(always)]
    fn won(self) -> bool {
        self.0 >> 60 != 0
    }
}

/// The items of one worker: by origin, by page of the block that holds the predecessors.
pub(super) type Bins = [Vec<Vec<Item>>; 3];

/// Sets and patterns by size and rank, to decode columns.
pub(super) struct Columns {
    pub(super) sets: [Vec<u32>; MOST + 1],
    pub(super) patterns: [Vec<u32>; MOST + 1],
}

/// Collects the predecessors of the positions in `bytes` (whole rows of `block`) with a result after
/// `plies`.
#[inline(always)]
pub(super) fn scan(
    columns: &Columns,
    block: &Block,
    first_row: usize,
    bytes: &[u8],
    plies: u32,
    targets: &[Option<BlockPages>; 3],
    bins: &mut Bins,
) {
    const STRIDE: usize = 64;
    let (won, lost) = (code::won(plies), code::lost(plies));
    for (offset, cells) in bytes.chunks_exact(block.columns).enumerate() {
        let mut row = None;
        for (stride, cells) in cells.chunks(STRIDE).enumerate() {
            let any = cells.iter().fold(false, |any, &byte| any | (byte == won) | (byte == lost));
            if !any {
                continue;
            }
            let row = row.get_or_insert_with(|| Row::new(block, first_row + offset));
            for (index, &byte) in cells.iter().enumerate() {
                if byte == won || byte == lost {
                    let column = stride * STRIDE + index;
                    row.write_origins(columns, block, column, byte == won, targets, bins);
                }
            }
        }
    }
}

/// The data shared by the positions of a row: the acting player's archers and possible last actions.
struct Row {
    places: [u8; 25],
    acting: u32,
    marks: u32,                   // pattern
    captures: [(u32, u32); MOST], // circle of a marked archer, marks without it
    deploys: [(u32, u32); 25],    // archers and marks before
    capture_count: usize,
    deploy_count: usize,
}

impl Row {
    fn new(block: &Block, number: usize) -> Row {
        let Army { archers, marked } = army(block.material.enemy, number, 0);
        let marks = pattern(marked, archers);
        let mut row = Row {
            places: places_outside(archers),
            acting: archers,
            marks,
            captures: [(0, 0); MOST],
            deploys: [(0, 0); 25],
            capture_count: 0,
            deploy_count: 0,
        };
        for circle in bits(marked) {
            row.captures[row.capture_count] = (1 << circle, pattern(marked & !(1 << circle), archers));
            row.capture_count += 1;
        }
        // A redeploy takes the mark of the lowest marked archer on the goal row.
        let player = !block.material.mover;
        let goal = goal(player);
        let first_marked = (marked & goal).trailing_zeros();
        for unmarked in bits(archers & goal & !marked).take_while(|&at| at < first_marked) {
            for fresh in bits(archers & home(player) & !marked) {
                let before = archers & !(1 << fresh);
                row.deploys[row.deploy_count] = (before, pattern(marked | 1 << unmarked, before));
                row.deploy_count += 1;
            }
        }
        row
    }

    #[inline(always)]
    fn write_origins(
        &self,
        columns: &Columns,
        block: &Block,
        column: usize,
        won: bool,
        targets: &[Option<BlockPages>; 3],
        bins: &mut Bins,
    ) {
        let own = block.material.own;
        let patterns = own.patterns();
        let waiting = expand(columns.sets[usize::from(own.archers)][column / patterns], &self.places);
        let marks = columns.patterns[usize::from(own.marks)][column % patterns];
        let [quiet, capture, deploy] = targets;
        let [quiet_bins, capture_bins, deploy_bins] = bins;
        if let Some(target) = quiet {
            let bin = target.page_of(number_of(target.block.material.enemy, waiting, marks));
            quiet_bins[bin].push(Item::new(waiting, marks, self.acting, self.marks, won));
        }
        if let Some(target) = capture {
            for &(circle, left) in &self.captures[..self.capture_count] {
                let before = waiting | circle;
                let below = (1 << (waiting & (circle - 1)).count_ones()) - 1;
                let before_marks = (marks & below) | (marks & !below) << 1;
                let bin = target.page_of(number_of(target.block.material.enemy, before, before_marks));
                capture_bins[bin].push(Item::new(before, before_marks, self.acting, left, won));
            }
        }
        if let Some(target) = deploy {
            for &(before, before_marks) in &self.deploys[..self.deploy_count] {
                let bin = target.page_of(number_of(target.block.material.enemy, waiting, marks));
                deploy_bins[bin].push(Item::new(waiting, marks, before, before_marks, won));
            }
        }
    }
}

/// The context of [`apply`].
#[derive(Clone, Copy)]
pub(super) struct Spread<'a> {
    pub(super) lines: &'a Lines,
    pub(super) counters: ActionCounters,
    pub(super) lower: &'a Layers<'a>,
    /// The distance of the results being propagated, in plies.
    pub(super) plies: u32,
}

/// Updates the predecessors in one page: those of won positions lose an action from their counter, those
/// of lost positions are won. Returns the distances written.
#[inline(always)]
pub(super) fn apply<'a>(
    step: Spread<'_>,
    origin: Origin,
    target: &BlockPages,
    first_row: usize,
    bytes: &mut [u8],
    items: impl Iterator<Item = &'a Item>,
) -> Distances {
    let block = &target.block;
    let columns = block.columns;
    let mut written = Distances::default();
    for &item in items {
        let number = number_of(block.material.enemy, item.waiting(), item.waiting_marks()) - first_row;
        let cells = &mut bytes[number * columns..][..columns];
        match origin {
            Origin::Quiet | Origin::Capture => {
                undo_moves(step, block, origin, item, cells, &mut written);
            }
            Origin::Deploy => {
                let free = compress(item.acting(), item.waiting());
                let column = number_of(block.material.own, free, item.acting_marks());
                let before = || (item.acting(), pick(item.acting_marks(), item.acting()));
                update(step, block, item, before, &mut cells[column], &mut written);
            }
        }
    }
    written
}

/// Undoes every possible last move and updates the position before it.
#[inline(always)]
fn undo_moves(step: Spread<'_>, block: &Block, origin: Origin, item: Item, cells: &mut [u8], written: &mut Distances) {
    let material = &block.material;
    let (waiting, acting) = (item.waiting(), item.acting());
    let marks = item.acting_marks();
    let closed = waiting | acting | goal(material.mover); // no move starts there
    let moved = if origin == Origin::Capture { waiting & acting } else { acting };
    let others = acting & !(waiting & acting);
    let free = compress(others, waiting);
    for (index, to) in bits(acting).enumerate() {
        if moved >> to & 1 == 0 {
            continue;
        }
        let rest = if origin == Origin::Capture { free } else { free & !(1 << squeeze(to, waiting)) };
        for from in bits(step.lines.near(to) & !closed) {
            let before = rest | 1 << squeeze(from, waiting);
            let column = if material.own.marks == 0 {
                rank(before, material.own.archers.into())
            } else {
                let marks = moved_pattern(marks, index, (acting & ((1 << from) - 1) & !(1 << to)).count_ones());
                number_of(material.own, before, marks)
            };
            let army = || {
                let archers = acting & !(1 << to) | 1 << from;
                let marked = pick(marks, acting);
                let marked = if marked >> to & 1 == 1 { marked & !(1 << to) | 1 << from } else { marked };
                (archers, marked)
            };
            update(step, block, item, army, &mut cells[column], written);
        }
    }
}

/// The pattern of marks after the archer at index `old` moved to index `new` in the order.
#[inline(always)]
fn moved_pattern(marks: u32, old: usize, new: u32) -> u32 {
    let bit = marks >> old & 1;
    let below = (1 << old) - 1;
    let rest = marks & below | marks >> 1 & !below;
    let below = (1 << new) - 1;
    rest & below | (rest & !below) << 1 | bit << new
}

/// Updates the byte of a predecessor, in which the acting player has the archers and marks `army`.
#[inline(always)]
fn update(
    step: Spread<'_>,
    block: &Block,
    item: Item,
    army: impl FnOnce() -> (u32, u32),
    cell: &mut u8,
    written: &mut Distances,
) {
    if !item.won() {
        // Finished games and quicker wins have lower bytes, counters have higher ones.
        let now = code::won(step.plies + 1);
        if now < *cell {
            *cell = now;
            written.add(step.plies + 1);
        }
    } else if *cell == LAST_COUNTER {
        let (archers, marked) = army();
        let placement = Placement {
            mover: block.material.mover,
            own: Army { archers, marked },
            enemy: Army { archers: item.waiting(), marked: pick(item.waiting_marks(), item.waiting()) },
        };
        let plies = (step.plies + 1).max(longest_below(step.lines, step.lower, &placement));
        *cell = code::lost(plies);
        written.add(plies);
    } else if step.counters.is_counter(*cell) {
        *cell += 1;
    }
}
