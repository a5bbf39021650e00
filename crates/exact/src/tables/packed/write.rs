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
use super::file::{PackedLayer, head_bytes, head_size};
use super::{BLOCK, row_length};
use crate::ExactError;
use crate::tables::TableProgress;
use crate::tables::build::may_rebuild;
use crate::tables::code;
use crate::tables::file::{Bytes, Owner, finished_path, lock, packed_path};
use crate::tables::index::{Army, Block, LEAST_FORCE, Layer, MOST_FORCE, army, number_of};
use crate::tables::lines::goal;
use crate::tables::stats::layer_stats;
use crate::tables::subsets::{compress, expand, next, places_outside, rank};
use jarmo_core::game::{Player, Verdict};
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
        let table = Bytes::open::<Jarmo>(from, owner, &layer)?;
        let source = table.checksum();
        if force <= distances {
            tell(copy(&table, to, owner, &layer)?);
            continue;
        }
        if is_kept(PackedLayer::open(to, owner, &layer).map(|packed| packed.source), source)? {
            tell(TableProgress::Kept(force));
            continue;
        }
        let values = table.get();
        let path = packed_path::<Jarmo>(to, force);
        let unfinished = path.with_extension("packed.tmp");
        let bytes = write(&unfinished, (owner, source), &layer, values, tell)
            .and_then(|bytes| rename(&unfinished, &path).map(|()| bytes))
            .map_err(|error| {
                // The first error counts; the next run replaces what is left.
                let _ = fs::remove_file(&unfinished);
                ExactError::io(&path)(error)
            })?;
        let (positions, took) = (layer.size, began.elapsed().as_secs_f64());
        let bits = 8.0 * bytes as f64 / positions as f64;
        let what = format!("{positions} positions in {bytes} bytes, {bits:.3} bits each, {took:.1} s");
        tell(TableProgress::Done(force, what));
    }
    Ok(())
}

/// Whether a file is there and sound, and was made from the table with this checksum.
fn is_kept(found: Result<u64, ExactError>, wanted: u64) -> Result<bool, ExactError> {
    match found {
        Ok(source) => Ok(source == wanted),
        Err(error) => may_rebuild(error, &mut |_| ()).map(|()| false),
    }
}

/// Copies a whole table.
fn copy(table: &Bytes, to: &Path, owner: Owner, layer: &Layer) -> Result<TableProgress, ExactError> {
    let force = layer.force;
    if is_kept(Bytes::open::<Jarmo>(to, owner, layer).map(|there| there.checksum()), table.checksum())? {
        return Ok(TableProgress::Kept(force));
    }
    let path = finished_path::<Jarmo>(to, force);
    write_whole_by(&path, &path.with_extension("table.tmp"), &[table.file()]).map_err(ExactError::io(&path))?;
    Ok(TableProgress::Done(force, "copied, with distances".to_owned()))
}

/// Writes the whole file of a layer and syncs it. Returns its size.
fn write(
    path: &Path,
    (owner, source): (Owner, u64),
    layer: &Layer,
    values: &[u8],
    tell: &mut dyn FnMut(TableProgress),
) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let first = head_size(layer) as u64;
    file.seek(SeekFrom::Start(first))?;
    let mut at: u64 = 0; // bytes of blocks so far
    let (mut directory, mut entries) = (Vec::new(), Vec::new());
    let mut done = 0;
    let white = |block: &&Block| block.material.mover == Player::White;
    for block in layer.blocks.iter().filter(white) {
        let results = Results::of(block, &values[block.start..][..block.size()]);
        let (model, matrix) = (results.model(), at);
        directory.extend(at.to_le_bytes());
        directory.extend(model.to_bytes());
        let mut waiting: Vec<u8> = Vec::new(); // less than a block
        let mut from = 0;
        while from < results.rows {
            let to = (from + results.rows_at_once()).min(results.rows);
            results.read(from..to, &mut waiting);
            let whole = if to == results.rows { waiting.len() } else { waiting.len() / BLOCK * BLOCK };
            let coded: Vec<Vec<u8>> = waiting[..whole].par_chunks(BLOCK).map(|part| model.encode(part)).collect();
            waiting.drain(..whole);
            for part in coded {
                let start = u32::try_from(at - matrix).expect("a matrix is below 4 GiB");
                entries.extend(start.to_le_bytes());
                entries.extend((xxh3_64(&part) as u32).to_le_bytes());
                file.write_all(&part)?;
                at += part.len() as u64;
            }
            done += (to - from) * results.columns;
            from = to;
            let share = 200.0 * done as f64 / layer.size as f64;
            tell(TableProgress::Working(layer.force, format!("{share:.0} %")));
        }
    }
    directory.extend(entries);
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head_bytes(owner, source, &layer_stats(layer, values), layer, &directory, at))?;
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
        out.resize(from + rows.len() * self.length, Verdict::Draw as u8);
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
        let mut last = Verdict::Draw as u8;
        let (out, filling) = out.split_at_mut(self.columns);
        for cells in out.chunks_exact_mut(black.patterns()) {
            let enemy = expand(set, &places);
            let over = white_over || enemy & !goal(Player::Black) == 0;
            if over {
                cells.fill(last);
            } else {
                let own = compress(archers, enemy);
                let column = rank(own, white.archers.into()) * white.patterns() + marks_of_white;
                let first = number_of(black, enemy, 0);
                for (marks, cell) in cells.iter_mut().enumerate() {
                    let value = self.values[(first + marks) * self.block.columns + column];
                    *cell = code::proven(value).verdict as u8;
                }
                last = cells[cells.len() - 1];
            }
            set = next(set);
        }
        filling.fill(last);
    }
}
