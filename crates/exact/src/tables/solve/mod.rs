//! Solves one layer from the finished ones below it.
//!
//! A position's actions lead to its own layer or to a lower one. [`first`] gives every position a byte: its result if
//! that is certain, else a counter of the actions that may not lose. Then the results are propagated backwards
//! ([`back`]) by distance: step `n` takes all positions with a result after `n` plies. A predecessor of a lost position
//! is won after `n + 1` plies, unless it wins sooner. A predecessor of a won position decrements its counter; when no
//! action is left, it is lost. Positions that still have a counter after the last step are drawn.
//!
//! Distances are exact because all results with distance `n` are final when step `n` begins: later
//! steps write larger distances only.
//!
//! The layer lies in pages ([`pages`]), of which memory holds as many as it may. A step takes one block after the other
//! as the *source* of results. A source is read once, page by page, and changes at most three other blocks. Only these
//! must be in memory together; the order of the sources keeps the blocks there that are needed next.

mod back;
mod first;
mod pages;
mod spill;

use std::io;
use std::time::Duration;

use rayon::prelude::*;

pub(super) use self::spill::{Saved, Spill};

use self::back::{Bins, Columns, Origin, Spread};
use self::pages::{BlockPages, FINAL, Page, Pages, Plan};
use super::code::{self, ActionCounters, DRAWN};
use super::file::Bytes;
use super::index::{LEAST_FORCE, Layer, Material, Placement};
use super::lines::Lines;
use super::subsets::{MOST, sets};
use crate::ExactError;
use jarmo_core::game::{Player, Proven};
use jarmo_core::games::board::CIRCLES;

/// Finished layers: the bytes of each, lowest force first.
#[derive(Clone, Debug)]
pub(super) struct Layers<'a> {
    layers: Vec<(Layer, &'a [u8])>,
}

impl<'a> Layers<'a> {
    /// The layers with these bytes, from the lowest force up.
    pub(super) fn of(finished: &'a [Bytes]) -> Layers<'a> {
        let layers = finished.iter().zip(LEAST_FORCE..).map(|(bytes, force)| (Layer::new(force), bytes.get()));
        Layers { layers: layers.collect() }
    }

    /// The value of a placement in one of the layers.
    #[inline(always)]
    fn proven(&self, placement: &Placement) -> Proven {
        let number = placement.force() - LEAST_FORCE;
        let (layer, bytes) = &self.layers[number as usize];
        let index = layer.index(placement).expect("both players have archers");
        code::proven(bytes[index])
    }
}

/// The shares of the work that the first bytes and the last ones take. They are from force 10, by processor time.
const FILLING: f64 = 0.2;
const CLOSING: f64 = 0.01;

/// Pages that are brought into memory at a time, to be filled or read.
const BATCH: usize = 256;

/// Items that are collected before the positions they point to are updated: many, so that each page that is
/// touched has much to do. They take 128 MiB.
const ITEMS: usize = 1 << 24;

/// Parallel parts of a batch: more than there are cores, to balance the load.
const PARTS: usize = 8;

/// Memory for everything but pages: items, with room for their growth, and pages that are being written.
const BESIDES: u64 = 512 << 20;

/// The bytes of memory that the solver must have for this layer, and those that it can use.
pub(super) fn memory_of(layer: &Layer) -> (u64, u64) {
    let plan = Plan::of(layer);
    let largest = (0..layer.blocks.len()).map(|number| {
        let others = targets(layer, number).into_iter().flatten().map(|target| plan.blocks[target].count());
        let own = plan.blocks[number].count().min(2 * BATCH);
        own + others.sum::<usize>()
    });
    let bytes = |pages: usize| (pages * plan.largest()) as u64 + BESIDES;
    let least = largest.max().unwrap_or(0).min(plan.len());
    (bytes(least), bytes(plan.len()))
}

/// The solver of one layer.
pub(super) struct Solver<'a> {
    lines: &'a Lines,
    layer: &'a Layer,
    lower: &'a Layers<'a>,
    counters: ActionCounters,
    columns: Columns,
    order: Vec<usize>, // blocks in the order in which even steps take them; odd steps go backwards
}

impl<'a> Solver<'a> {
    /// A solver of `layer`; `lower` holds all layers below it.
    pub(super) fn new(lines: &'a Lines, layer: &'a Layer, lower: &'a Layers<'a>) -> Solver<'a> {
        const FREE: usize = CIRCLES - 1; // the opponent has an archer
        // Neighbours in this order lead to the same blocks, so that few have to be read again.
        let mut order: Vec<usize> = (0..layer.blocks.len()).collect();
        order.sort_by_key(|&number| {
            let Material { mover, own, enemy } = layer.blocks[number].material;
            let (white, black) = match mover {
                Player::White => (own, enemy),
                Player::Black => (enemy, own),
            };
            let lead = i16::from(white.archers) - i16::from(black.archers);
            (lead, white.archers, white.marks, mover.index())
        });
        Solver {
            lines,
            layer,
            lower,
            // One more for a drawing action to a lower layer.
            counters: ActionCounters::up_to(lines.most_actions + 1),
            columns: Columns {
                sets: std::array::from_fn(|size| sets(FREE, size).collect()),
                patterns: std::array::from_fn(|size| sets(MOST, size).collect()),
            },
            order,
        }
    }

    /// The pages of this layer that may take `memory` bytes in all, with the others in these files.
    pub(super) fn pages(&self, memory: u64, files: (Spill, Saved), save_every: Duration) -> io::Result<Pages> {
        Pages::new(self.layer, memory.saturating_sub(BESIDES), files, save_every)
    }

    /// Solves the layer, and tells the share of the work that is done. Afterwards all pages are final and saved. Returns
    /// the longest distance.
    pub(super) fn solve(&self, pages: &mut Pages, tell: &mut dyn FnMut(f64)) -> Result<u32, ExactError> {
        self.fill(pages, tell)?;
        self.propagate(pages, tell)?;
        self.close(pages, tell)?;
        pages.save()?;
        Ok(pages.longest())
    }

    /// Gives every position its first byte.
    fn fill(&self, pages: &mut Pages, tell: &mut dyn FnMut(f64)) -> Result<(), ExactError> {
        let never = vec![0; self.layer.blocks.len()];
        for block in pages.plan.blocks.clone() {
            let numbers: Vec<usize> = block.numbers().filter(|&number| pages.pages[number].includes == 0).collect();
            for batch in numbers.chunks(BATCH) {
                pages.load(batch, &[], &never)?;
                each_of(pages, &block, batch, |number, page| {
                    first::fill(
                        self.lines,
                        self.counters,
                        self.lower,
                        &block.block,
                        block.first_row(number),
                        &mut page.bytes,
                    );
                    page.distances = self.counters.distances(&page.bytes);
                    page.includes = 1;
                    page.changed = true;
                });
                self.check_length(pages.longest())?;
                pages.save_if_due()?;
                let filled = pages.plan.place(batch[batch.len() - 1]).end;
                tell(FILLING * filled as f64 / self.layer.size as f64);
            }
        }
        pages.time = pages.time.max(1);
        Ok(())
    }

    /// Propagates results until none is left.
    fn propagate(&self, pages: &mut Pages, tell: &mut dyn FnMut(f64)) -> Result<(), ExactError> {
        let sources = self.order.len() as u32;
        let mut workers: Vec<Bins> = (0..PARTS).map(|_| Bins::default()).collect();
        loop {
            let (step, place) = ((pages.time - 1) / sources, (pages.time - 1) % sources);
            if step > pages.longest() {
                return Ok(());
            }
            self.spread(pages, step, &mut workers)?;
            pages.time += 1;
            pages.save_if_due()?;
            let (from, to) = (steps_done(step), steps_done(step + 1));
            let done = from + (to - from) * f64::from(place + 1) / f64::from(sources);
            tell(FILLING + (1.0 - FILLING - CLOSING) * done);
        }
    }

    /// The block whose results are propagated at a time.
    fn source(&self, time: u32) -> usize {
        let sources = self.order.len();
        let (step, place) = ((time - 1) as usize / sources, (time - 1) as usize % sources);
        match step % 2 {
            0 => self.order[place],
            _ => self.order[sources - 1 - place],
        }
    }

    /// The time at which each block is needed next.
    fn next_use(&self, now: u32) -> Vec<u32> {
        let sources = self.order.len() as u32;
        let mut next = vec![u32::MAX; self.order.len()];
        for time in now + 1..=now + 2 * sources {
            let source = self.source(time);
            for block in targets(self.layer, source).into_iter().flatten().chain([source]) {
                next[block] = next[block].min(time);
            }
        }
        next[self.source(now)] = now;
        next
    }

    /// Asks the system to read the blocks of the next source while this one is propagated, unless few of
    /// their pages will be needed.
    fn read_ahead(&self, pages: &Pages) {
        let next = pages.time + 1;
        let step = (next - 1) / self.order.len() as u32;
        let source = self.source(next);
        let numbers = pages.plan.blocks[source].numbers();
        let count = numbers.len();
        let wanted = numbers.filter(|&number| pages.pages[number].distances.has(step));
        if 2 * wanted.count() < count {
            return;
        }
        for block in targets(self.layer, source).into_iter().flatten().chain([source]) {
            pages.read_ahead(block);
        }
    }

    /// Propagates the results of one source that belong to this step.
    fn spread(&self, pages: &mut Pages, step: u32, workers: &mut [Bins]) -> Result<(), ExactError> {
        let now = pages.time;
        let source = self.source(now);
        let block = pages.plan.blocks[source];
        let wanted: Vec<usize> = block.numbers().filter(|&number| pages.pages[number].distances.has(step)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        self.read_ahead(pages);
        let targets = targets(self.layer, source);
        let keep: Vec<usize> = targets.into_iter().flatten().collect();
        let targets = targets.map(|target| Some(pages.plan.blocks[target?]));
        let next_use = self.next_use(now);
        for bins in workers.iter_mut() {
            for (bins, target) in bins.iter_mut().zip(&targets) {
                *bins = vec![Vec::new(); target.map_or(0, |target| target.count())];
            }
        }
        let mut batches = wanted.chunks(BATCH).peekable();
        while let Some(batch) = batches.next() {
            pages.load(batch, &keep, &next_use)?;
            let part = batch.len().div_ceil(PARTS);
            let held = &pages.pages;
            batch.par_chunks(part).zip(workers.par_iter_mut()).for_each(|(numbers, bins)| {
                for &number in numbers {
                    back::scan(
                        &self.columns,
                        &block.block,
                        block.first_row(number),
                        &held[number].bytes,
                        step,
                        &targets,
                        bins,
                    );
                }
            });
            let items: usize = workers.iter().flatten().flatten().map(Vec::len).sum();
            if items >= ITEMS || batches.peek().is_none() {
                self.update(pages, step, &targets, workers, &keep, &next_use)?;
            }
        }
        Ok(())
    }

    /// Updates the positions that the items point to, and clears the bins.
    fn update(
        &self,
        pages: &mut Pages,
        step: u32,
        targets: &[Option<BlockPages>; 3],
        workers: &mut [Bins],
        keep: &[usize],
        next_use: &[u32],
    ) -> Result<(), ExactError> {
        let now = pages.time;
        let spread = Spread { lines: self.lines, counters: self.counters, lower: self.lower, plies: step };
        for origin in Origin::ALL {
            let Some(target) = &targets[origin as usize] else { continue };
            let bins = |number: usize| {
                let bin = number - target.first;
                workers.iter().map(move |bins| &bins[origin as usize][bin])
            };
            // After a restart, pages that were written later include this source already.
            let wanted: Vec<usize> = target
                .numbers()
                .filter(|&number| pages.pages[number].includes <= now)
                .filter(|&number| bins(number).any(|bin| !bin.is_empty()))
                .collect();
            pages.load(&wanted, keep, next_use)?;
            each_of(pages, target, &wanted, |number, page| {
                let written = back::apply(
                    spread,
                    origin,
                    target,
                    target.first_row(number),
                    &mut page.bytes,
                    bins(number).flatten(),
                );
                page.distances = page.distances.or(written);
                page.changed = true;
            });
        }
        self.check_length(pages.longest())?;
        workers.par_iter_mut().flatten().flatten().for_each(Vec::clear);
        Ok(())
    }

    /// Makes every position that still has a counter a draw.
    fn close(&self, pages: &mut Pages, tell: &mut dyn FnMut(f64)) -> Result<(), ExactError> {
        let never = vec![0; self.layer.blocks.len()];
        for block in pages.plan.blocks.clone() {
            let numbers: Vec<usize> = block.numbers().filter(|&number| pages.pages[number].includes != FINAL).collect();
            for batch in numbers.chunks(BATCH) {
                pages.load(batch, &[], &never)?;
                each_of(pages, &block, batch, |_, page| {
                    page.distances = self.counters.distances(&page.bytes);
                    for byte in &mut page.bytes {
                        if self.counters.is_counter(*byte) {
                            *byte = DRAWN;
                        }
                    }
                    page.includes = FINAL;
                    page.changed = true;
                });
                let closed = pages.plan.place(batch[batch.len() - 1]).end;
                tell(1.0 - CLOSING + CLOSING * closed as f64 / self.layer.size as f64);
            }
        }
        Ok(())
    }

    fn check_length(&self, longest: u32) -> Result<(), ExactError> {
        let most = self.counters.most_plies();
        if longest > most {
            return Err(ExactError::new(format!(
                "a game under best play takes more than {most} plies, the most that a byte can hold on this \
                 board; build a lower force"
            )));
        }
        Ok(())
    }
}

/// Does something to some pages of a block, which are in memory, in parallel.
fn each_of(pages: &mut Pages, block: &BlockPages, numbers: &[usize], work: impl Fn(usize, &mut Page) + Sync) {
    pages.pages[block.numbers()]
        .par_iter_mut()
        .zip(block.numbers())
        .filter(|(_, number)| numbers.binary_search(number).is_ok())
        .for_each(|(page, number)| work(number, page));
}

/// The blocks of the positions from which actions of each kind lead into block `number`.
fn targets(layer: &Layer, number: usize) -> [Option<usize>; 3] {
    Origin::ALL.map(|origin| layer.block_of(&origin.material(&layer.blocks[number].material)?))
}

/// The share of the work of all steps that this many steps are. Two thirds of it follow the positions that are
/// decided; the rest is the same in every step.
fn steps_done(steps: u32) -> f64 {
    const BY_POSITIONS: f64 = 0.66;
    const LAST_STEP: f64 = 90.0;
    let decided = match steps.checked_sub(1) {
        Some(last) => DECIDED.get(last as usize).copied().unwrap_or(1.0),
        None => 0.0,
    };
    let passed = (f64::from(steps) / LAST_STEP).min(1.0);
    BY_POSITIONS * decided + (1.0 - BY_POSITIONS) * passed
}

/// The share of force 9's decided positions that is decided within 0, 1, 2, … plies.
const DECIDED: [f64; 38] = [
    0.011, 0.043, 0.052, 0.104, 0.118, 0.183, 0.209, 0.299, 0.341, 0.442, 0.494, 0.587, 0.642, 0.715, 0.764, 0.814,
    0.851, 0.883, 0.907, 0.927, 0.942, 0.954, 0.964, 0.971, 0.977, 0.982, 0.986, 0.989, 0.991, 0.993, 0.994, 0.995,
    0.996, 0.997, 0.997, 0.998, 0.998, 0.999,
];
