//! Packs a folder of tables, force by force. A file gets its name when it is complete, so after a kill the
//! next run goes on with the force that was under way.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::coder::{Counts, Model};
use super::file::{Head, Matrix, PackedLayer, head_bytes, head_size, number, packed_path};
use super::{BLOCK, DRAWN, row_length};
use crate::tables::TableProgress;
use crate::tables::code;
use crate::tables::file::{HEADER, Owner, checksum_of, finished_path, lock, open_finished};
use crate::tables::index::{Army, Block, LEAST_FORCE, Layer, MOST_FORCE, army, row};
use crate::tables::lines::goal;
use crate::tables::solvable::Packed;
use crate::tables::stats::layer_stats;
use crate::tables::subsets::{compress, expand, next, places_outside, rank};
use crate::{ExactError, ExactErrorKind};
use jarmo_core::game::Player;
use jarmo_core::games::Jarmo;
use jarmo_core::games::board::CIRCLES;
use jarmo_host::files::{rename, write_whole_by};

/// Writes the packed results of the tables in `from` to the folder `to`, and whole tables up to the force
/// `distances`. Sound files of the same tables that exist there already are kept.
pub fn pack(
    game: &Jarmo,
    from: &Path,
    to: &Path,
    distances: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<(), ExactError> {
    let owner = Owner::of(game);
    let _lock = lock(to)?;
    let highest = (LEAST_FORCE..=MOST_FORCE).rev().find(|&force| finished_path::<Jarmo>(from, force).exists());
    for force in LEAST_FORCE..=highest.unwrap_or(LEAST_FORCE) {
        let began = Instant::now();
        let layer = Layer::new(force);
        let table = open_finished::<Jarmo>(from, owner, &layer)?;
        let source = checksum_of(&table);
        if force <= distances {
            tell(copy(&table, to, owner, &layer)?);
            continue;
        }
        match PackedLayer::open(to, owner, &layer) {
            Ok(packed) if packed.source() == source => {
                tell(TableProgress::Kept(force));
                continue;
            }
            Ok(_) => {}
            Err(error) if error.kind == ExactErrorKind::Damaged => {}
            Err(error) => return Err(error),
        }
        let values = &table[HEADER..];
        let head = Head { owner, source, stats: layer_stats(&layer, values) };
        let path = packed_path(to, force);
        let unfinished = path.with_extension("packed.tmp");
        let bytes = write(&unfinished, &head, &layer, values, tell)
            .and_then(|bytes| rename(&unfinished, &path).map(|()| bytes))
            .map_err(|error| {
                // The first error counts; the next run replaces what is left.
                let _ = fs::remove_file(&unfinished);
                ExactError::io(&path)(error)
            })?;
        let (positions, took) = (layer.size(), began.elapsed().as_secs_f64());
        let bits = 8.0 * bytes as f64 / positions as f64;
        let what = format!("{positions} positions in {bytes} bytes, {bits:.3} bits each, {took:.1} s");
        tell(TableProgress::Done(force, what));
    }
    Ok(())
}

/// Copies a whole table.
fn copy(table: &[u8], to: &Path, owner: Owner, layer: &Layer) -> Result<TableProgress, ExactError> {
    let force = layer.force();
    match open_finished::<Jarmo>(to, owner, layer) {
        Ok(there) if checksum_of(&there) == checksum_of(table) => {
            return Ok(TableProgress::Kept(force));
        }
        Ok(_) => {}
        Err(error) if matches!(error.kind, ExactErrorKind::Missing | ExactErrorKind::Damaged) => {}
        Err(error) => return Err(error),
    }
    let path = finished_path::<Jarmo>(to, force);
    write_whole_by(&path, &path.with_extension("table.tmp"), &[table]).map_err(ExactError::io(&path))?;
    Ok(TableProgress::Done(force, "copied, with distances".to_owned()))
}

/// Writes the whole file of a layer and syncs it. Returns its size.
fn write(
    path: &Path,
    head: &Head,
    layer: &Layer,
    values: &[u8],
    tell: &mut dyn FnMut(TableProgress),
) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let first = head_size(layer) as u64;
    file.seek(SeekFrom::Start(first))?;
    let mut at = 0; // bytes of blocks so far
    let mut matrices = Vec::new();
    let mut done = 0;
    let white = |block: &&Block| block.material.mover == Player::White;
    for block in layer.blocks().iter().filter(white) {
        let results = Results::of(block, &values[block.start..][..block.size()]);
        let mut matrix = Matrix { model: results.model(), blocks: Vec::new(), start: at };
        let mut waiting: Vec<u8> = Vec::new(); // less than a block
        let mut from = 0;
        while from < results.rows {
            let to = (from + results.rows_at_once()).min(results.rows);
            results.read(from..to, &mut waiting);
            let whole = if to == results.rows { waiting.len() } else { waiting.len() / BLOCK * BLOCK };
            let coded: Vec<Vec<u8>> =
                waiting[..whole].par_chunks(BLOCK).map(|part| matrix.model.encode(part)).collect();
            waiting.drain(..whole);
            for part in coded {
                let start = u32::try_from(at - matrix.start).expect("a matrix is below 4 GiB");
                matrix.blocks.push((start, xxh3_64(&part) as u32));
                file.write_all(&part)?;
                at += part.len() as u64;
            }
            done += (to - from) * results.columns;
            from = to;
            let share = 200.0 * done as f64 / layer.size() as f64;
            tell(TableProgress::Working(layer.force(), format!("{share:.0} %")));
        }
        matrices.push(matrix);
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head_bytes(head, layer, &matrices, at))?;
    file.into_inner()?.sync_all()?;
    Ok(first + at)
}

/// The results of a block with White to move, with a row for every placement of White.
struct Results<'a> {
    block: &'a Block,
    values: &'a [u8], // as in the table
    rows: usize,
    columns: usize, // of the matrix
    length: usize,  // of a row in the file
}

impl Results<'_> {
    fn of<'a>(block: &'a Block, values: &'a [u8]) -> Results<'a> {
        let (white, black) = (block.material.own, block.material.enemy);
        let columns = black.placements(CIRCLES - usize::from(white.archers));
        Results { block, values, rows: white.placements(CIRCLES), columns, length: row_length(columns) }
    }

    /// Rows that one task reads: neighbours, because their values lie close together in the table.
    fn rows_at_once(&self) -> usize {
        const RESULTS: usize = 1 << 24;
        (RESULTS / self.length).max(1)
    }

    /// A model of evenly spaced rows.
    fn model(&self) -> Model {
        const SAMPLE: usize = 1 << 21;
        let step = (self.rows * self.length / SAMPLE).max(1);
        let mut counts = Counts::new();
        let mut row = Vec::new();
        for placement in (0..self.rows).step_by(step) {
            row.clear();
            self.read(placement..placement + 1, &mut row);
            counts.add(&row);
        }
        counts.model()
    }

    /// Appends the results of some rows.
    fn read(&self, rows: Range<usize>, out: &mut Vec<u8>) {
        const TASK: usize = 64;
        let from = out.len();
        out.resize(from + rows.len() * self.length, DRAWN);
        out[from..].par_chunks_mut(TASK * self.length).enumerate().for_each(|(task, out)| {
            for (row, out) in out.chunks_exact_mut(self.length).enumerate() {
                self.read_row(rows.start + task * TASK + row, out);
            }
        });
    }

    /// The results of one placement of White. A game that is over takes the result before it, because the
    /// rules decide it and repeats take the least space.
    fn read_row(&self, placement: usize, out: &mut [u8]) {
        let (white, black) = (self.block.material.own, self.block.material.enemy);
        let Army { archers, .. } = army(white, placement, 0);
        let marks_of_white = placement % white.patterns();
        let places = places_outside(archers);
        let white_over = archers & !goal(Player::White) == 0;
        let mut set = (1_u32 << black.archers) - 1;
        let mut last = DRAWN;
        let (out, filling) = out.split_at_mut(self.columns);
        for cells in out.chunks_exact_mut(black.patterns()) {
            let enemy = expand(set, &places);
            let over = white_over || enemy & !goal(Player::Black) == 0;
            if over {
                cells.fill(last);
            } else {
                let own = compress(archers, enemy);
                let column = rank(own, white.archers.into()) * white.patterns() + marks_of_white;
                let first = row(black, enemy, 0);
                for (marks, cell) in cells.iter_mut().enumerate() {
                    let value = self.values[(first + marks) * self.block.columns + column];
                    *cell = number(code::proven(value).verdict);
                }
                last = cells[cells.len() - 1];
            }
            set = next(set);
        }
        filling.fill(last);
    }
}
