//! Jarmo's part of the tables: its layers, and how one is built that may be larger than memory.

use std::ops::{Range, RangeInclusive};

use super::build::may_rebuild;
use super::file::{Bytes, pages_path, unfinished_path};
use super::index::{self, LEAST_FORCE, MOST_FORCE, Placement};
use super::lines::Lines;
use super::lookup::Tables;
use super::packed::PackedLayer;
use super::solvable::{Job, Layer, LayerEvent, PliesTo, Solvable};
use super::solve::{Layers, Pages, Progress, Solver, Spill, memory_of};
use crate::ExactError;
use jarmo_core::game::{Action, Game, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::random::Stream;

impl Solvable for Jarmo {
    const FORCES: RangeInclusive<u32> = LEAST_FORCE..=MOST_FORCE;
    const FORCE_COUNTS: &'static str = "archers and marks";
    const FILES: &'static str = "force";
    const PLIES_TO: PliesTo = PliesTo::End;
    const OTHER_RULES: [&'static str; 2] = ["another board", "; play on that board, or use another folder"];

    type Layer = index::Layer;
    type Packed = PackedLayer;
    type Preparation = Lines;

    fn layer(force: u32) -> index::Layer {
        index::Layer::new(force)
    }

    #[inline]
    fn force(position: &JarmoPosition) -> u32 {
        position.force()
    }

    /// The lines of the board; its name is ignored.
    fn solved_rules(&self) -> String {
        self.board().text()
    }

    fn value_without_byte(tables: &Tables<Jarmo>, position: &JarmoPosition) -> Option<Proven> {
        tables.packed_value(position)
    }

    /// Only packed results have no plies.
    fn is_close(tables: &Tables<Jarmo>, position: &JarmoPosition, proven: Proven, left: u32) -> bool {
        let decided = proven.plies.is_none() && proven.verdict != Verdict::Draw;
        decided && left <= tables.longest(position.force())
    }

    /// A loser who reaches the limit has a draw.
    fn in_game(&self, position: &JarmoPosition, proven: Proven) -> Proven {
        match (self.plies_left(position), proven.plies) {
            (Some(left), Some(plies)) if plies > left => Proven::DRAW,
            _ => proven,
        }
    }

    fn way_forward(
        tables: &Tables<Jarmo>,
        game: &Jarmo,
        position: &JarmoPosition,
        winning: &[Action],
        stream: &mut Stream,
    ) -> Action {
        tables.way_forward(game, position, winning, stream)
    }

    /// The tables ignore the shuttle rule.
    fn as_solved(position: &JarmoPosition) -> JarmoPosition {
        Placement::of(position).position()
    }

    fn prepare(&self) -> Result<Lines, ExactError> {
        Lines::of(self.board())
    }

    fn solve_layer(&self, lines: &Lines, layer: &index::Layer, done: &[Bytes]) -> Vec<u8> {
        let lower = Layers::of(done.iter().map(Bytes::get));
        let mut pages = Pages::in_memory(layer);
        Solver::new(lines, layer, &lower).solve(&mut pages, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        pages.into_bytes()
    }

    fn memory_needed(layer: &index::Layer) -> (u64, u64) {
        memory_of(layer)
    }

    fn build_layer(
        &self,
        lines: &Lines,
        job: &Job<'_, Jarmo>,
        tell: &mut dyn FnMut(LayerEvent),
    ) -> Result<(), ExactError> {
        let lower = Layers::of(job.done.iter().map(Bytes::get));
        let solver = Solver::new(lines, &job.layer, &lower);
        let spill = files(job, tell)?;
        let path = unfinished_path::<Jarmo>(job.folder, job.layer.force());
        let mut pages = solver.pages(job.memory, spill, job.save_every).map_err(ExactError::io(&path))?;
        let longest = solver
            .solve(&mut pages, &mut |progress| {
                tell(LayerEvent::Done(share_done(progress)));
            })
            .map_err(|error| error.at(&path))?;
        pages.into_spill().expect("a build has files").finish(job.folder, job.owner, &job.layer, longest)?;
        Ok(())
    }
}

/// The files of an earlier build of this layer, or new ones.
fn files(job: &Job<'_, Jarmo>, tell: &mut dyn FnMut(LayerEvent)) -> Result<Spill, ExactError> {
    if pages_path::<Jarmo>(job.folder, job.layer.force()).exists() {
        match Spill::resume(job.folder, job.owner, &job.layer) {
            Ok(spill) => {
                tell(LayerEvent::Resumed);
                return Ok(spill);
            }
            Err(error) => may_rebuild(error, &mut |why| tell(LayerEvent::Rebuilding(why)))?,
        }
    }
    Spill::create(job.folder, job.owner, &job.layer)
}

impl Layer for index::Layer {
    type Position = JarmoPosition;

    fn force(&self) -> u32 {
        self.force()
    }

    fn size(&self) -> usize {
        self.size()
    }

    #[inline]
    fn index_of(&self, position: &JarmoPosition) -> Option<usize> {
        self.index(&Placement::of(position))
    }

    fn position_at(&self, index: usize) -> JarmoPosition {
        self.placement(index).position()
    }

    fn sides(&self) -> Vec<(Option<Player>, Range<usize>)> {
        let side = |block: &index::Block| (Some(block.material.mover), block.start..block.start + block.size());
        self.blocks().iter().map(side).collect()
    }
}

/// The share of the work on a layer that is done. The constants are from force 10, by processor time.
fn share_done(progress: Progress) -> f64 {
    const FILLING: f64 = 0.2;
    const CLOSING: f64 = 0.01;
    const STEPS: f64 = 1.0 - FILLING - CLOSING;
    match progress {
        Progress::Filled(share) => FILLING * share,
        Progress::Step(step, share) => {
            let (from, to) = (steps_done(step), steps_done(step + 1));
            FILLING + STEPS * (from + (to - from) * share)
        }
        Progress::Closed(share) => 1.0 - CLOSING + CLOSING * share,
    }
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
