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
//! The layer lies in pages ([`unfinished`]). A step takes one block after the other as the *source* of results. A source
//! is read once, page by page, and changes at most three other blocks, so that only these are needed in memory together.

mod back;
mod first;
mod unfinished;

use rayon::prelude::*;

use self::back::{Bins, Columns, Origin, Spread};
use self::unfinished::{BlockPages, Unfinished};
use super::build::may_rebuild;
use super::code::{self, ActionCounters, DRAWN, Distances};
use super::file::Bytes;
use super::index::{JarmoLayer, LEAST_FORCE, Material, Placement};
use super::lines::Lines;
use super::solvable::{Job, LayerEvent};
use super::subsets::{MOST, sets};
use crate::ExactError;
use jarmo_core::game::{Player, Proven};
use jarmo_core::games::board::{Board, CIRCLES};

/// Finished layers: the bytes of each, lowest force first.
#[derive(Clone, Debug)]
pub(super) struct Layers<'a> {
    layers: Vec<(JarmoLayer, &'a [u8])>,
}

impl<'a> Layers<'a> {
    /// The layers with these bytes, from the lowest force up.
    pub(super) fn of(finished: &'a [Bytes]) -> Layers<'a> {
        let layers = finished.iter().zip(LEAST_FORCE..).map(|(bytes, force)| (JarmoLayer::new(force), bytes.get()));
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

/// The shares of the work that the first bytes and the last ones take. They are from force 10, by CPU time.
const FILLING: f64 = 0.2;
const CLOSING: f64 = 0.01;

/// Pages that are filled or read at a time.
const BATCH: usize = 256;

/// Items that are collected before the positions they point to are updated: many, so that each page that is
/// touched has much to do. They take 128 MiB.
const ITEMS: usize = 1 << 24;

/// Parallel parts of a batch: more than there are cores, to balance the load.
const PARTS: usize = 8;

/// Memory for everything but pages: mostly items, with room for their growth.
const BESIDES: u64 = 512 << 20;

/// The stamp of pages that have their first bytes.
const FILLED: u64 = 1;

/// The stamp of pages of a solved layer.
const FINAL: u64 = u64::MAX;

/// The bytes of memory that the solver needs for this layer, so that it does not wait for the disk all the time: the
/// blocks that a source changes, and some pages of the source.
pub(super) fn memory_needed(layer: &JarmoLayer) -> u64 {
    let size = |number: usize| layer.blocks[number].size();
    let together = |number: usize| targets(layer, number).into_iter().flatten().map(size).sum::<usize>();
    let largest = (0..layer.blocks.len()).map(together).max();
    largest.unwrap_or(0) as u64 + BESIDES
}

/// Solves a layer and writes its table, or continues what an earlier build left.
pub(super) fn solve(
    board: &Board,
    job: &Job<'_, JarmoLayer>,
    tell: &mut dyn FnMut(LayerEvent),
) -> Result<(), ExactError> {
    let (lines, lower) = (Lines::of(board)?, Layers::of(job.lower));
    let solver = Solver::new(&lines, job.layer, &lower);
    let mut unfinished = open(job, tell)?;
    let longest = solver
        .solve(&mut unfinished, &mut |share| tell(LayerEvent::Done(share)))
        .map_err(|error| error.at(&job.id.unfinished()))?;
    unfinished.finish(&job.id, longest)
}

/// The files of an earlier build of this layer, or new ones.
fn open(job: &Job<'_, JarmoLayer>, tell: &mut dyn FnMut(LayerEvent)) -> Result<Unfinished, ExactError> {
    if job.id.pages().exists() {
        match Unfinished::open(&job.id, job.layer, false, job.save_every) {
            Ok(resumed) => {
                tell(LayerEvent::Resumed);
                return Ok(resumed);
            }
            Err(error) => may_rebuild(error, &mut |why| tell(LayerEvent::Rebuilding(why)))?,
        }
    }
    Unfinished::open(&job.id, job.layer, true, job.save_every)
}

/// The solver of one layer.
struct Solver<'a> {
    lines: &'a Lines,
    layer: &'a JarmoLayer,
    lower: &'a Layers<'a>,
    counters: ActionCounters,
    columns: Columns,
    order: Vec<usize>, // blocks in the order in which even steps take them; odd steps go backwards
}

impl<'a> Solver<'a> {
    /// A solver of `layer`; `lower` holds all layers below it.
    fn new(lines: &'a Lines, layer: &'a JarmoLayer, lower: &'a Layers<'a>) -> Solver<'a> {
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

    /// Solves the layer, and tells the share of the work that is done. Returns the longest distance.
    fn solve(&self, layer: &mut Unfinished, tell: &mut dyn FnMut(f64)) -> Result<u32, ExactError> {
        self.fill(layer, tell)?;
        self.propagate(layer, tell)?;
        self.close(layer, tell);
        Ok(layer.longest())
    }

    /// Gives every position its first byte.
    fn fill(&self, layer: &mut Unfinished, tell: &mut dyn FnMut(f64)) -> Result<(), ExactError> {
        for block in layer.blocks.clone() {
            let pages: Vec<usize> = block.numbers().filter(|&page| layer.stamp(page) == 0).collect();
            for batch in pages.chunks(BATCH) {
                layer.change(&block, batch, FILLED, |page, bytes, _| {
                    first::fill(self.lines, self.counters, self.lower, &block.block, block.first_row(page), bytes);
                    self.counters.distances(bytes)
                });
                self.check_length(layer.longest())?;
                layer.save_if_due()?;
                tell(FILLING * self.share_before(&block, batch));
            }
        }
        layer.time = layer.time.max(1);
        Ok(())
    }

    /// The share of the layer up to the last of some pages of a block.
    fn share_before(&self, block: &BlockPages, pages: &[usize]) -> f64 {
        block.positions(pages[pages.len() - 1]).end as f64 / self.layer.size as f64
    }

    /// Propagates results until none is left.
    fn propagate(&self, layer: &mut Unfinished, tell: &mut dyn FnMut(f64)) -> Result<(), ExactError> {
        let sources = self.order.len() as u32;
        let mut workers: Vec<Bins> = (0..PARTS).map(|_| Bins::default()).collect();
        loop {
            let (step, place) = ((layer.time - 1) / sources, (layer.time - 1) % sources);
            if step > layer.longest() {
                return Ok(());
            }
            self.spread(layer, step, &mut workers)?;
            layer.time += 1;
            layer.save_if_due()?;
            let (from, to) = (steps_done(step), steps_done(step + 1));
            let done = from + (to - from) * f64::from(place + 1) / f64::from(sources);
            tell(FILLING + (1.0 - FILLING - CLOSING) * done);
        }
    }

    /// The block whose results are propagated at a time. Every other step goes backwards, because the system keeps in
    /// memory what was used last.
    fn source(&self, time: u32) -> usize {
        let sources = self.order.len();
        let (step, place) = ((time - 1) as usize / sources, (time - 1) as usize % sources);
        match step % 2 {
            0 => self.order[place],
            _ => self.order[sources - 1 - place],
        }
    }

    /// Propagates the results of one source that belong to this step.
    fn spread(&self, layer: &mut Unfinished, step: u32, workers: &mut [Bins]) -> Result<(), ExactError> {
        let source = self.source(layer.time);
        let block = layer.blocks[source];
        let wanted: Vec<usize> = block.numbers().filter(|&page| layer.may_have(page, step)).collect();
        let targets = targets(self.layer, source).map(|target| Some(layer.blocks[target?]));
        for bins in workers.iter_mut() {
            for (bins, target) in bins.iter_mut().zip(&targets) {
                *bins = vec![Vec::new(); target.map_or(0, |target| target.count())];
            }
        }
        // The same after a restart, because a source does not change while its results are propagated.
        let mut updates = u64::from(layer.time) << 32;
        let mut batches = wanted.chunks(BATCH).peekable();
        while let Some(batch) = batches.next() {
            if let Some(next) = batches.peek() {
                layer.read_ahead(&block, next);
            }
            let part = batch.len().div_ceil(PARTS);
            let held = &*layer;
            batch.par_chunks(part).zip(workers.par_iter_mut()).for_each(|(pages, bins)| {
                for &page in pages {
                    let bytes = held.bytes(&block, page);
                    back::scan(&self.columns, &block.block, block.first_row(page), bytes, step, &targets, bins);
                }
            });
            let items: usize = workers.iter().flatten().flatten().map(Vec::len).sum();
            if items >= ITEMS || batches.peek().is_none() {
                updates += 1;
                self.update(layer, updates, step, &targets, workers);
                self.check_length(layer.longest())?;
            }
        }
        Ok(())
    }

    /// Updates the positions that the items point to, and clears the bins.
    fn update(
        &self,
        layer: &mut Unfinished,
        stamp: u64,
        step: u32,
        targets: &[Option<BlockPages>; 3],
        workers: &mut [Bins],
    ) {
        let spread = Spread { lines: self.lines, counters: self.counters, lower: self.lower, plies: step };
        for origin in Origin::ALL {
            let Some(target) = &targets[origin as usize] else { continue };
            let bins = |page: usize| {
                let bin = page - target.first;
                workers.iter().map(move |bins| &bins[origin as usize][bin])
            };
            // After a restart, some pages include this update already.
            let wanted: Vec<usize> = target
                .numbers()
                .filter(|&page| layer.stamp(page) < stamp && bins(page).any(|bin| !bin.is_empty()))
                .collect();
            layer.read_ahead(target, &wanted);
            layer.change(target, &wanted, stamp, |page, bytes, distances| {
                let items = bins(page).flatten();
                distances.or(back::apply(spread, origin, target, target.first_row(page), bytes, items))
            });
        }
        workers.par_iter_mut().flatten().flatten().for_each(Vec::clear);
    }

    /// Makes every position that still has a counter a draw.
    fn close(&self, layer: &mut Unfinished, tell: &mut dyn FnMut(f64)) {
        for block in layer.blocks.clone() {
            let pages: Vec<usize> = block.numbers().filter(|&page| layer.stamp(page) != FINAL).collect();
            for batch in pages.chunks(BATCH) {
                layer.change(&block, batch, FINAL, |_, bytes, _| self.close_page(bytes));
                tell(1.0 - CLOSING + CLOSING * self.share_before(&block, batch));
            }
        }
    }

    fn close_page(&self, bytes: &mut [u8]) -> Distances {
        let distances = self.counters.distances(bytes);
        for byte in bytes {
            if self.counters.is_counter(*byte) {
                *byte = DRAWN;
            }
        }
        distances
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

/// The blocks of the positions from which actions of each kind lead into block `number`.
fn targets(layer: &JarmoLayer, number: usize) -> [Option<usize>; 3] {
    Origin::ALL.map(|origin| layer.block_of(&origin.material(&layer.blocks[number].material)?))
}

/// The share of the work of all steps that this many steps are. Two thirds of it follow the positions that are
/// decided; the rest is the same in every step.
fn steps_done(steps: u32) -> f64 {
    const BY_POSITIONS: f64 = 0.66;
    const LAST_STEP: f64 = 90.0;
    // The share of decided positions that are decided within so many steps, fitted to those of force 9.
    let decided = 1.0 - (-(f64::from(steps) / 12.8).powf(2.17)).exp();
    let passed = (f64::from(steps) / LAST_STEP).min(1.0);
    BY_POSITIONS * decided + (1.0 - BY_POSITIONS) * passed
}
