//! Solves one layer from the finished ones below it.
//!
//! A position's actions lead to its own layer or to a lower one. [`first`] gives every position a
//! byte: a result where one is certain, else a counter of the actions that do not lose yet. Then the
//! results spread backwards ([`back`]), by distance: step `n` takes all positions whose result comes
//! after `n` plies. Before a lost position lies one that is won after `n + 1` plies, unless it wins
//! sooner; before a won one lies one with an action less to hope for, lost once none is left. What
//! still has a counter when no result is left to spread can neither be won nor lost.
//!
//! Distances come out exact because every result of step `n` is final when step `n` begins: later
//! steps write larger distances only.

mod back;
mod first;

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use self::back::{Bins, Columns, Origin, Step, Target};
use super::code::{self, Counters, DRAWN};
use super::index::{Block, Layer, Placement};
use super::lines::Lines;
use super::subsets::{self, MOST, choose};
use crate::game::Proven;

/// Finished layers: the bytes of each, lowest force first.
#[derive(Clone, Debug, Default)]
pub struct Layers<'a> {
    layers: Vec<(Layer, &'a [u8])>,
}

impl<'a> Layers<'a> {
    /// All of these, from the lowest force on.
    pub fn of(finished: impl Iterator<Item = &'a [u8]>) -> Layers<'a> {
        let mut layers = Layers::default();
        finished.for_each(|bytes| layers.push(bytes));
        layers
    }

    /// Adds the layer of the next higher force.
    ///
    /// # Panics
    /// Panics unless there is one byte for each of its positions.
    fn push(&mut self, bytes: &'a [u8]) {
        let layer = Layer::new(super::index::LEAST_FORCE + self.layers.len() as u32);
        assert_eq!(bytes.len(), layer.len(), "a byte for each position");
        self.layers.push((layer, bytes));
    }

    /// What a placement in one of the layers is worth.
    #[inline(always)]
    fn proven(&self, placement: &Placement) -> Proven {
        let material = super::index::Material::of(placement);
        let number = material.force() - super::index::LEAST_FORCE;
        let (layer, bytes) = &self.layers[number as usize];
        let index = layer.index(placement).expect("both players have archers");
        code::proven(bytes[index])
    }
}

/// A layer on its way to being solved, between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Results and counters.
    pub bytes: Vec<u8>,
    /// The distance whose positions are looked at next.
    pub next: u32,
    /// The largest distance written so far.
    pub longest: u32,
}

/// A solved layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The result of every position.
    pub bytes: Vec<u8>,
    /// The largest distance.
    pub longest: u32,
}

/// Somebody who follows the work on a layer.
pub trait Watch {
    /// So many positions have their first byte by now.
    fn filled(&mut self, positions: usize);

    /// A step is done, in which the results of so many positions spread.
    fn stepped(&mut self, state: &Unfinished, positions: u64) -> io::Result<()>;
}

/// Nobody follows.
impl Watch for () {
    fn filled(&mut self, _: usize) {}

    fn stepped(&mut self, _: &Unfinished, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Why a layer was not solved.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// A game of the layer takes more plies than a byte holds.
    #[error(
        "force {force}: a game under best play takes more than the {most} plies that a byte holds beside \
         this web's counters; build a lower force"
    )]
    TooLong {
        /// The layer.
        force: u32,
        /// The most plies that fit.
        most: u32,
    },
    /// Whoever followed the work failed.
    #[error("{0}")]
    Watch(io::Error),
}

/// Positions read at a time: what they lead back to is kept until it is worked off.
const SLAB: usize = 1 << 23;

/// Bytes that one bin of origins lies in: they fit into a core's cache.
const BIN: usize = 1 << 18;

/// Parts a slab is cut into, more than there are cores, so that none waits long for another.
const PARTS: usize = 16;

/// The solver of one layer.
pub struct Solver<'a> {
    lines: &'a Lines,
    layer: &'a Layer,
    lower: &'a Layers<'a>,
    counters: Counters,
    columns: Columns,
}

impl<'a> Solver<'a> {
    /// A solver of `layer`; `lower` holds all layers below it.
    pub fn new(lines: &'a Lines, layer: &'a Layer, lower: &'a Layers<'a>) -> Solver<'a> {
        Solver {
            lines,
            layer,
            lower,
            // One more for a drawn action to a lower layer.
            counters: Counters::up_to(lines.most_actions() + 1),
            columns: columns(),
        }
    }

    /// Gives every position its first byte.
    pub fn start(&self, watch: &mut dyn Watch) -> Result<Unfinished, SolveError> {
        let mut bytes = vec![DRAWN; self.layer.len()];
        let mut rest = bytes.as_mut_slice();
        let mut filled = 0;
        for block in self.layer.blocks() {
            let (cells, after) = rest.split_at_mut(block.len());
            rest = after;
            for (slab, cells) in cells
                .chunks_mut(slab_rows(block) * block.columns)
                .enumerate()
            {
                let rows = (cells.len() / block.columns).div_ceil(PARTS);
                let first_row = slab * slab_rows(block);
                cells
                    .par_chunks_mut(rows * block.columns)
                    .enumerate()
                    .for_each(|(part, cells)| {
                        let first_row = first_row + part * rows;
                        first::fill(
                            self.lines,
                            self.counters,
                            self.lower,
                            block,
                            first_row,
                            cells,
                        );
                    });
                filled += cells.len();
                watch.filled(filled);
            }
        }
        let longest = bytes
            .par_iter()
            .filter(|&&byte| !self.counters.is_counter(byte))
            .map(|&byte| code::proven(byte).plies.unwrap_or(0))
            .max()
            .unwrap_or(0);
        self.check_length(longest)?;
        Ok(Unfinished {
            bytes,
            next: 0,
            longest,
        })
    }

    /// Spreads results until none is left, and answers the solved layer.
    pub fn finish(
        &self,
        mut state: Unfinished,
        watch: &mut dyn Watch,
    ) -> Result<Finished, SolveError> {
        let mut workers: Vec<Bins> = (0..PARTS).map(|_| Bins::default()).collect();
        while state.next <= state.longest {
            let mut positions = 0;
            for number in 0..self.layer.blocks().len() {
                positions += self.step(&mut state, number, &mut workers)?;
            }
            state.next += 1;
            watch
                .stepped(&state, positions)
                .map_err(SolveError::Watch)?;
        }
        state.bytes.par_iter_mut().for_each(|byte| {
            if self.counters.is_counter(*byte) {
                *byte = DRAWN;
            }
        });
        Ok(Finished {
            bytes: state.bytes,
            longest: state.longest,
        })
    }

    /// Spreads the results of one block that come at this step.
    fn step(
        &self,
        state: &mut Unfinished,
        number: usize,
        workers: &mut [Bins],
    ) -> Result<u64, SolveError> {
        let block = &self.layer.blocks()[number];
        let targets = Origin::ALL.map(|origin| self.target(block, origin));
        for bins in workers.iter_mut() {
            for (bins, target) in bins.iter_mut().zip(&targets) {
                bins.resize_with(target.map_or(0, |target| target.bins()), Vec::new);
            }
        }
        let mut found = 0;
        for rows in slabs(block) {
            let cells =
                block.start + rows.start * block.columns..block.start + rows.end * block.columns;
            let part = rows.len().div_ceil(PARTS);
            let positions: u64 = state.bytes[cells]
                .par_chunks(part * block.columns)
                .zip(workers.par_iter_mut())
                .enumerate()
                .map(|(index, (bytes, bins))| {
                    let first_row = rows.start + index * part;
                    back::scan(
                        &self.columns,
                        block,
                        first_row,
                        bytes,
                        state.next,
                        &targets,
                        bins,
                    )
                })
                .sum();
            if positions > 0 {
                self.spread(state, &targets, workers)?;
            }
            found += positions;
        }
        Ok(found)
    }

    /// Works off all bins.
    fn spread(
        &self,
        state: &mut Unfinished,
        targets: &[Option<Target>; 3],
        workers: &mut [Bins],
    ) -> Result<(), SolveError> {
        let step = Step {
            lines: self.lines,
            counters: self.counters,
            lower: self.lower,
            plies: state.next,
        };
        for origin in Origin::ALL {
            let Some(target) = &targets[origin as usize] else {
                continue;
            };
            let block = &target.block;
            let longest = state.bytes[block.start..][..block.len()]
                .par_chunks_mut(target.rows_per_bin * block.columns)
                .enumerate()
                .map(|(bin, bytes)| {
                    let items = workers.iter().flat_map(|bins| &bins[origin as usize][bin]);
                    back::apply(
                        step,
                        origin,
                        target,
                        bin * target.rows_per_bin,
                        bytes,
                        items,
                    )
                })
                .max()
                .unwrap_or(0);
            self.check_length(longest)?;
            state.longest = state.longest.max(longest);
        }
        workers
            .par_iter_mut()
            .flatten()
            .flatten()
            .for_each(Vec::clear);
        Ok(())
    }

    /// Where the positions lie that `origin` leads from into this block.
    fn target(&self, block: &Block, origin: Origin) -> Option<Target> {
        let material = origin.material(&block.material)?;
        let block = self.layer.blocks()[self.layer.block_of(&material)?];
        Some(Target {
            block,
            rows_per_bin: (BIN / block.columns).max(1),
        })
    }

    fn check_length(&self, longest: u32) -> Result<(), SolveError> {
        let most = self.counters.most_plies();
        if longest > most {
            let force = self.layer.force();
            return Err(SolveError::TooLong { force, most });
        }
        Ok(())
    }
}

fn slab_rows(block: &Block) -> usize {
    (SLAB / block.columns).max(1)
}

/// The rows of a block, a slab at a time.
fn slabs(block: &Block) -> impl Iterator<Item = Range<usize>> {
    let (rows, slab) = (block.rows, slab_rows(block));
    (0..rows)
        .step_by(slab)
        .map(move |start| start..rows.min(start + slab))
}

fn columns() -> Columns {
    let all = |places: usize| {
        std::array::from_fn(|size| {
            let first = (1_u32 << size) - 1;
            let next = |&set: &u32| Some(if set == 0 { 0 } else { subsets::next(set) });
            std::iter::successors(Some(first), next)
                .take(choose(places, size))
                .collect()
        })
    };
    const FREE: usize = crate::games::web::CIRCLES - 1; // the opponent has an archer
    Columns {
        sets: all(FREE),
        patterns: all(MOST),
    }
}
