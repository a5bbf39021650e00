//! From positions whose result is known back to those that could lead to them.
//!
//! A step has two halves. [`scan`] reads a part of a block and writes down, for each position whose
//! result comes at this step, which positions could have led there, sorted into *bins* by where
//! those lie. [`apply`] then works off the bins of one stretch of memory, small enough for the
//! cache and written by nobody else.

use super::Layers;
use super::first::longest_below;
use crate::tables::code::{self, Counters, LAST_COUNTER};
use crate::tables::index::{Army, Block, Material, Placement, army, row};
use crate::tables::lines::{Lines, goal, home};
use crate::tables::subsets::{
    MOST, bits, compress, expand, pattern, pattern_rank, pick, places_outside, rank, squeeze,
};

/// How a position can have come about from another one of the same force.
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

    /// The material before an action of the player who is not to move in `after`.
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
        let possible =
            usize::from(enemy.archers) <= MOST && own.archers > 0 && own.marks <= own.archers;
        possible.then_some(Material {
            mover: !mover,
            own,
            enemy,
        })
    }
}

/// Positions from which to go back: one, or all that an action could have come from.
///
/// Bits 0-24 say where the archers of the player who stood still are, 25-49 the acting player's, 50-54
/// and 55-59 which of them are marked, in order, and bit 60 whether the result that spreads is a win
/// for the player who stood still. For a capture the two sets share the circle it happened on.
#[derive(Clone, Copy)]
pub(super) struct Item(u64);

impl Item {
    #[inline(always)]
    fn new(still: u32, still_marks: u32, acting: u32, acting_marks: u32, won: bool) -> Item {
        Item(
            u64::from(still)
                | u64::from(acting) << 25
                | u64::from(still_marks) << 50
                | u64::from(acting_marks) << 55
                | u64::from(won) << 60,
        )
    }

    #[inline(always)]
    fn still(self) -> u32 {
        self.0 as u32 & 0x1ff_ffff
    }

    #[inline(always)]
    fn acting(self) -> u32 {
        (self.0 >> 25) as u32 & 0x1ff_ffff
    }

    #[inline(always)]
    fn still_marks(self) -> u32 {
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

/// Where a block's earlier positions lie, cut into bins.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) block: Block,
    pub(super) rows_per_bin: usize,
}

impl Target {
    pub(super) fn bins(&self) -> usize {
        self.block.rows.div_ceil(self.rows_per_bin)
    }
}

/// The items of one worker: by origin, by bin.
pub(super) type Bins = [Vec<Vec<Item>>; 3];

/// Sets and patterns by size and rank, to read off what a column means.
pub(super) struct Columns {
    pub(super) sets: [Vec<u32>; MOST + 1],
    pub(super) patterns: [Vec<u32>; MOST + 1],
}

/// Writes down the origins of the positions in `bytes` (whole rows of `block`) whose result comes
/// after `plies`. Answers how many there were.
#[inline(always)]
pub(super) fn scan(
    columns: &Columns,
    block: &Block,
    first_row: usize,
    bytes: &[u8],
    plies: u32,
    targets: &[Option<Target>; 3],
    bins: &mut Bins,
) -> u64 {
    const STRIDE: usize = 64;
    let (won, lost) = (code::won(plies), code::lost(plies));
    let mut found = 0;
    for (offset, cells) in bytes.chunks_exact(block.columns).enumerate() {
        let mut row = None;
        for (stride, cells) in cells.chunks(STRIDE).enumerate() {
            let any = cells
                .iter()
                .fold(false, |any, &byte| any | (byte == won) | (byte == lost));
            if !any {
                continue;
            }
            let row = row.get_or_insert_with(|| Row::new(block, first_row + offset));
            for (index, &byte) in cells.iter().enumerate() {
                if byte == won || byte == lost {
                    found += 1;
                    let column = stride * STRIDE + index;
                    row.write_origins(columns, block, column, byte == won, targets, bins);
                }
            }
        }
    }
    found
}

/// What the positions of a row share: the acting player's archers, and how he may have acted.
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
            row.captures[row.capture_count] =
                (1 << circle, pattern(marked & !(1 << circle), archers));
            row.capture_count += 1;
        }
        // The archer that lost its mark was the lowest one marked on the goal row.
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
        targets: &[Option<Target>; 3],
        bins: &mut Bins,
    ) {
        let own = block.material.own;
        let patterns = own.patterns();
        let still = expand(
            columns.sets[usize::from(own.archers)][column / patterns],
            &self.places,
        );
        let marks = columns.patterns[usize::from(own.marks)][column % patterns];
        let [quiet, capture, deploy] = targets;
        let [quiet_bins, capture_bins, deploy_bins] = bins;
        if let Some(target) = quiet {
            let bin = row(target.block.material.enemy, still, marks) / target.rows_per_bin;
            quiet_bins[bin].push(Item::new(still, marks, self.acting, self.marks, won));
        }
        if let Some(target) = capture {
            for &(circle, left) in &self.captures[..self.capture_count] {
                let before = still | circle;
                let below = (1 << (still & (circle - 1)).count_ones()) - 1;
                let before_marks = (marks & below) | (marks & !below) << 1;
                let bin =
                    row(target.block.material.enemy, before, before_marks) / target.rows_per_bin;
                capture_bins[bin].push(Item::new(before, before_marks, self.acting, left, won));
            }
        }
        if let Some(target) = deploy {
            for &(before, before_marks) in &self.deploys[..self.deploy_count] {
                let bin = row(target.block.material.enemy, still, marks) / target.rows_per_bin;
                deploy_bins[bin].push(Item::new(still, marks, before, before_marks, won));
            }
        }
    }
}

/// What is needed to work off items.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) lines: &'a Lines,
    pub(super) counters: Counters,
    pub(super) lower: &'a Layers<'a>,
    /// Plies until the result of the positions whose items are worked off.
    pub(super) plies: u32,
}

/// Works off one bin: positions before a won one have an action less, positions before a lost one
/// are won. Answers the most plies of a result it wrote.
#[inline(always)]
pub(super) fn apply<'a>(
    step: Step<'_>,
    origin: Origin,
    target: &Target,
    first_row: usize,
    bytes: &mut [u8],
    items: impl Iterator<Item = &'a Item>,
) -> u32 {
    let block = &target.block;
    let columns = block.columns;
    let mut longest = 0;
    for &item in items {
        let number = row(block.material.enemy, item.still(), item.still_marks()) - first_row;
        let cells = &mut bytes[number * columns..][..columns];
        let reached = match origin {
            Origin::Quiet | Origin::Capture => undo_moves(step, block, origin, item, cells),
            Origin::Deploy => {
                let free = compress(item.acting(), item.still());
                let column = column_of(&block.material, free, item.acting_marks());
                let before = || (item.acting(), pick(item.acting_marks(), item.acting()));
                update(step, block, item, before, &mut cells[column])
            }
        };
        longest = longest.max(reached);
    }
    longest
}

#[inline(always)]
fn column_of(material: &Material, free: u32, marks: u32) -> usize {
    rank(free, material.own.archers.into()) * material.own.patterns() + pattern_rank(marks)
}

/// Takes back every move that can have been the last one and updates the position before it.
#[inline(always)]
fn undo_moves(step: Step<'_>, block: &Block, origin: Origin, item: Item, cells: &mut [u8]) -> u32 {
    let material = &block.material;
    let (still, acting) = (item.still(), item.acting());
    let marks = item.acting_marks();
    let closed = still | acting | goal(material.mover); // no move starts there
    let moved = if origin == Origin::Capture {
        still & acting
    } else {
        acting
    };
    let others = acting & !(still & acting);
    let free = compress(others, still);
    let mut longest = 0;
    for (index, to) in bits(acting).enumerate() {
        if moved >> to & 1 == 0 {
            continue;
        }
        let rest = if origin == Origin::Capture {
            free
        } else {
            free & !(1 << squeeze(to, still))
        };
        for from in bits(step.lines.near(to) & !closed) {
            let before = rest | 1 << squeeze(from, still);
            let column = if material.own.marks == 0 {
                rank(before, material.own.archers.into())
            } else {
                let marks = moved_pattern(
                    marks,
                    index,
                    (acting & ((1 << from) - 1) & !(1 << to)).count_ones(),
                );
                column_of(material, before, marks)
            };
            let army = || {
                let archers = acting & !(1 << to) | 1 << from;
                let marked = pick(marks, acting);
                let marked = if marked >> to & 1 == 1 {
                    marked & !(1 << to) | 1 << from
                } else {
                    marked
                };
                (archers, marked)
            };
            longest = longest.max(update(step, block, item, army, &mut cells[column]));
        }
    }
    longest
}

/// The pattern of marks after the archer with number `old` in order got number `new`.
#[inline(always)]
fn moved_pattern(marks: u32, old: usize, new: u32) -> u32 {
    let bit = marks >> old & 1;
    let below = (1 << old) - 1;
    let rest = marks & below | marks >> 1 & !below;
    let below = (1 << new) - 1;
    rest & below | (rest & !below) << 1 | bit << new
}

/// Updates the byte of the position before an action; `army` are the acting player's archers and
/// marks in it. Answers the plies of the result, if that is new.
#[inline(always)]
fn update(
    step: Step<'_>,
    block: &Block,
    item: Item,
    army: impl FnOnce() -> (u32, u32),
    cell: &mut u8,
) -> u32 {
    if !item.won() {
        // Games that are over and positions won sooner have a lower byte, counters a higher one.
        let now = code::won(step.plies + 1);
        if now < *cell {
            *cell = now;
            return step.plies + 1;
        }
    } else if *cell == LAST_COUNTER {
        let (archers, marked) = army();
        let placement = Placement {
            mover: block.material.mover,
            own: Army { archers, marked },
            enemy: Army {
                archers: item.still(),
                marked: pick(item.still_marks(), item.still()),
            },
        };
        let plies = (step.plies + 1).max(longest_below(step.lines, step.lower, &placement));
        *cell = code::lost(plies);
        return plies;
    } else if step.counters.is_counter(*cell) {
        *cell += 1;
    }
    0
}
