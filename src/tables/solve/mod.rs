//! Solves one layer from the finished ones below it.
//!
//! A position's actions lead to its own layer or to a lower one. [`first`] gives every position a
//! byte: its result if that is certain, else a counter of the actions that may not lose. Then the
//! results are propagated backwards ([`back`]) by distance: step `n` takes all positions with a result
//! after `n` plies. A predecessor of a lost position is won after `n + 1` plies, unless it wins sooner. A
//! predecessor of a won position decrements its counter; when no action is left, it is lost. Positions
//! that still have a counter after the last step are drawn.
//!
//! Distances are exact because all results with distance `n` are final when step `n` begins: later
//! steps write larger distances only.

mod back;
mod first;

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use self::back::{Bins, Columns, Origin, Spread, TargetBlock};
use super::code::{self, ActionCounters, DRAWN};
use super::index::{Block, LEAST_FORCE, Layer, Material, Placement};
use super::lines::Lines;
use super::subsets::{self, MOST, choose};
use crate::game::Proven;

/// Finished layers: the bytes of each, lowest force first.
#[derive(Clone, Debug)]
pub struct Layers<'a> {
    layers: Vec<(Layer, &'a [u8])>,
}

impl<'a> Layers<'a> {
    /// The layers with these bytes, from the lowest force up.
    ///
    /// # Panics
    /// Panics unless every layer has one byte per position.
    pub fn of(finished: impl Iterator<Item = &'a [u8]>) -> Layers<'a> {
        let layers = finished.zip(LEAST_FORCE..).map(|(bytes, force)| {
            let layer = Layer::new(force);
            assert_eq!(bytes.len(), layer.size(), "one byte per position");
            (layer, bytes)
        });
        Layers {
            layers: layers.collect(),
        }
    }

    /// The value of a placement in one of the layers.
    #[inline(always)]
    fn proven(&self, placement: &Placement) -> Proven {
        let number = Material::of(placement).force() - LEAST_FORCE;
        let (layer, bytes) = &self.layers[number as usize];
        let index = layer.index(placement).expect("both players have archers");
        code::proven(bytes[index])
    }
}

/// An unfinished layer between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Results and counters.
    pub bytes: Vec<u8>,
    /// The distance to propagate next.
    pub next: u32,
    /// The largest distance written so far.
    pub longest: u32,
}

/// A solved layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolvedLayer {
    /// The result of every position.
    pub bytes: Vec<u8>,
    /// The largest distance.
    pub longest: u32,
}

/// Follows the progress of a layer. The unit type ignores it.
pub trait Monitor {
    /// `positions` of the layer have their first byte.
    fn filled(&mut self, positions: usize);

    /// A step is done, which propagated the results of `positions` positions.
    fn stepped(&mut self, state: &Unfinished, positions: u64) -> io::Result<()>;
}

impl Monitor for () {
    fn filled(&mut self, _: usize) {}

    fn stepped(&mut self, _: &Unfinished, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Why a layer was not solved.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// A distance does not fit into a byte.
    #[error(
        "force {force}: a game under best play takes more than {most} plies, the most that a byte can hold \
         on this board; build a lower force"
    )]
    TooLong {
        /// The layer.
        force: u32,
        /// The most plies that fit.
        most: u32,
    },
    /// The monitor failed.
    #[error("{0}")]
    Monitor(io::Error),
}

/// Positions scanned at a time; their predecessors are kept in memory until they are updated.
const SLAB: usize = 1 << 23;

/// Bytes of the table that one bin covers: they fit into a core's cache.
const BIN: usize = 1 << 18;

/// Parallel parts of a slab: more than there are cores, to balance the load.
const PARTS: usize = 16;

/// The solver of one layer.
pub struct Solver<'a> {
    lines: &'a Lines,
    layer: &'a Layer,
    lower: &'a Layers<'a>,
    counters: ActionCounters,
    columns: Columns,
}

impl<'a> Solver<'a> {
    /// A solver of `layer`; `lower` holds all layers below it.
    pub fn new(lines: &'a Lines, layer: &'a Layer, lower: &'a Layers<'a>) -> Solver<'a> {
        Solver {
            lines,
            layer,
            lower,
            // One more for a drawing action to a lower layer.
            counters: ActionCounters::up_to(lines.most_actions() + 1),
            columns: columns(),
        }
    }

    /// Gives every position its first byte.
    pub fn start(&self, monitor: &mut dyn Monitor) -> Result<Unfinished, SolveError> {
        let mut bytes = vec![DRAWN; self.layer.size()];
        let mut rest = bytes.as_mut_slice();
        let mut filled = 0;
        for block in self.layer.blocks() {
            let (cells, after) = rest.split_at_mut(block.size());
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
                monitor.filled(filled);
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

    /// Propagates results until none is left, and returns the solved layer.
    pub fn finish(
        &self,
        mut state: Unfinished,
        monitor: &mut dyn Monitor,
    ) -> Result<SolvedLayer, SolveError> {
        let mut workers: Vec<Bins> = (0..PARTS).map(|_| Bins::default()).collect();
        while state.next <= state.longest {
            let mut positions = 0;
            for number in 0..self.layer.blocks().len() {
                positions += self.step(&mut state, number, &mut workers)?;
            }
            state.next += 1;
            monitor
                .stepped(&state, positions)
                .map_err(SolveError::Monitor)?;
        }
        state.bytes.par_iter_mut().for_each(|byte| {
            if self.counters.is_counter(*byte) {
                *byte = DRAWN;
            }
        });
        Ok(SolvedLayer {
            bytes: state.bytes,
            longest: state.longest,
        })
    }

    /// Propagates the results of one block that belong to this step; returns the number of positions.
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

    /// Updates the positions in all bins.
    fn spread(
        &self,
        state: &mut Unfinished,
        targets: &[Option<TargetBlock>; 3],
        workers: &mut [Bins],
    ) -> Result<(), SolveError> {
        let step = Spread {
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
            let longest = state.bytes[block.start..][..block.size()]
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

    /// The block of the positions from which actions of kind `origin` lead into `block`.
    fn target(&self, block: &Block, origin: Origin) -> Option<TargetBlock> {
        let material = origin.material(&block.material)?;
        let block = self.layer.blocks()[self.layer.block_of(&material)?];
        Some(TargetBlock {
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
    const FREE: usize = crate::games::board::CIRCLES - 1; // the opponent has an archer
    Columns {
        sets: all(FREE),
        patterns: all(MOST),
    }
}
