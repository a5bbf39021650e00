//! Jarmo's part of the tables: its layers, and how one is built that may be larger than memory.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use super::build::may_rebuild;
use super::file::{pages_path, unfinished_path};
use super::index::{self, LEAST_FORCE, MOST_FORCE, Placement};
use super::lines::Lines;
use super::lookup::Tables;
use super::packed::four;
use super::real::Holds;
use super::solvable::{Job, Layer, LayerEvent, PliesTo, Solvable};
use super::solve::{Layers, Saved, Solver, Spill, memory_of};
use crate::ExactError;
use jarmo_core::game::{Action, Game, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::random::Stream;

impl Solvable for Jarmo {
    const FORCES: RangeInclusive<u32> = LEAST_FORCE..=MOST_FORCE;
    const FORCE_COUNTS: &'static str = "archers and marks";
    const FILES: &'static str = "force";
    const PLIES_TO: PliesTo = PliesTo::End;
    const HOLDS: bool = true;
    const OTHER_RULES: [&'static str; 2] = ["another board", "; play on that board, or use another folder"];

    type Layer = index::Layer;

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

    fn open_holds(&self, folder: &Path) -> Result<Holds, ExactError> {
        Holds::open(self, folder)
    }

    fn holds(tables: &Tables<Jarmo>, position: &JarmoPosition, player: Player) -> Option<bool> {
        tables.holds.as_ref()?.holds(position, player)
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

    fn check_solvable(&self) -> Result<(), ExactError> {
        Lines::of(self.board()).map(|_| ())
    }

    fn matrices(layer: &index::Layer) -> Vec<[usize; 2]> {
        four::matrices(layer)
    }

    fn read_row(&self, layer: &index::Layer, values: &[u8], row: (usize, usize), symbols: &mut [u8]) {
        four::read_row(layer, values, row, symbols);
    }

    fn memory_needed(layer: &index::Layer) -> (u64, u64) {
        memory_of(layer)
    }

    fn build_layer(&self, job: &Job<'_, Jarmo>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(), ExactError> {
        let (lines, lower) = (Lines::of(self.board())?, Layers::of(job.done));
        let solver = Solver::new(&lines, &job.layer, &lower);
        let files = files(job, tell)?;
        let path = unfinished_path::<Jarmo>(job.folder, job.layer.force());
        let mut pages = solver.pages(job.memory, files, job.save_every).map_err(ExactError::io(&path))?;
        let solved = solver.solve(&mut pages, &mut |share| tell(LayerEvent::Done(share)));
        let longest = solved.map_err(|error| error.at(&path))?;
        pages.spill.finish(job.folder, job.owner, &job.layer, longest)
    }
}

/// The files of an earlier build of this layer, or new ones.
fn files(job: &Job<'_, Jarmo>, tell: &mut dyn FnMut(LayerEvent)) -> Result<(Spill, Saved), ExactError> {
    if pages_path::<Jarmo>(job.folder, job.layer.force()).exists() {
        match Spill::resume(job.folder, job.owner, &job.layer) {
            Ok(resumed) => {
                tell(LayerEvent::Resumed);
                return Ok(resumed);
            }
            Err(error) => may_rebuild(error, &mut |why| tell(LayerEvent::Rebuilding(why)))?,
        }
    }
    Spill::create(job.folder, job.owner, &job.layer)
}

impl Layer for index::Layer {
    type Position = JarmoPosition;

    fn force(&self) -> u32 {
        self.force
    }

    fn size(&self) -> usize {
        self.size
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
        self.blocks.iter().map(side).collect()
    }
}
