//! Packs a folder of tables, force by force. A file gets its name when it is complete, so after a kill the
//! next run goes on with the force that was under way.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::BLOCK;
use super::coder::{Counts, Model};
use super::file::{PackedLayer, head_bytes, head_size, sizes};
use crate::ExactError;
use crate::tables::TableProgress;
use crate::tables::build::may_rebuild;
use crate::tables::file::{Bytes, Owner, finished_path, lock, packed_path};
use crate::tables::solvable::{Layer, Solvable};
use crate::tables::stats::layer_stats;
use jarmo_host::files::{rename, write_whole_by};

/// Packs the tables in `from` into the folder `to`, and copies whole tables up to the force `whole`. Sound files of the
/// same tables that exist there already are kept.
pub fn pack<G: Solvable>(
    game: &G,
    from: &Path,
    to: &Path,
    whole: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<(), ExactError> {
    let owner = Owner::of(game);
    let _lock = lock(to)?;
    let lowest = *G::FORCES.start();
    let highest = G::FORCES.rev().find(|&force| finished_path::<G>(from, force).exists());
    for force in lowest..=highest.unwrap_or(lowest) {
        let began = Instant::now();
        let layer = G::layer(force);
        let table = Bytes::open::<G>(from, owner, &layer)?;
        let (source, longest) = (table.checksum(), table.longest());
        if force <= whole {
            tell(copy::<G>(&table, to, owner, &layer)?);
            continue;
        }
        if is_kept(PackedLayer::open::<G>(to, owner, &layer).map(|packed| packed.source), source)? {
            tell(TableProgress::Kept(force));
            continue;
        }
        let path = packed_path::<G>(to, force);
        if let Some(most) = G::PACKED_PLIES
            && longest > most
        {
            let problem = format!("its longest result takes {longest} plies, packed tables hold at most {most}");
            let problem = format!("{problem}; copy whole tables up to this force");
            return Err(ExactError::new(problem).at(&finished_path::<G>(from, force)));
        }
        let unfinished = path.with_extension("packed.tmp");
        let matrices = Matrices { game, layer: &layer, values: table.get() };
        let bytes = write(&unfinished, (owner, source), &matrices, tell)
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

/// Whether a file is there and sound, and was made from the table with this checksum.
fn is_kept(found: Result<u64, ExactError>, wanted: u64) -> Result<bool, ExactError> {
    match found {
        Ok(source) => Ok(source == wanted),
        Err(error) => may_rebuild(error, &mut |_| ()).map(|()| false),
    }
}

/// Copies a whole table.
fn copy<G: Solvable>(table: &Bytes, to: &Path, owner: Owner, layer: &G::Layer) -> Result<TableProgress, ExactError> {
    let force = layer.force();
    if is_kept(Bytes::open::<G>(to, owner, layer).map(|there| there.checksum()), table.checksum())? {
        return Ok(TableProgress::Kept(force));
    }
    let path = finished_path::<G>(to, force);
    write_whole_by(&path, &path.with_extension("table.tmp"), &[table.file()]).map_err(ExactError::io(&path))?;
    Ok(TableProgress::Done(force, "copied, with distances".to_owned()))
}

/// Writes the whole file of a layer and syncs it. Returns its size.
fn write<G: Solvable>(
    path: &Path,
    owner: (Owner, u64),
    matrices: &Matrices<'_, G>,
    tell: &mut dyn FnMut(TableProgress),
) -> io::Result<u64> {
    let all = G::matrices(matrices.layer);
    let sizes = sizes(&all);
    let symbols: usize = sizes.iter().sum();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let first = head_size(&sizes) as u64;
    file.seek(SeekFrom::Start(first))?;
    let mut at: u64 = 0; // bytes of blocks so far
    let (mut directory, mut entries) = (Vec::new(), Vec::new());
    let mut done = 0;
    for (number, [rows, length]) in all.into_iter().enumerate() {
        let (model, matrix) = (matrices.model(number, rows, length), at);
        directory.extend(at.to_le_bytes());
        directory.extend(model.to_bytes());
        let mut waiting: Vec<u8> = Vec::new(); // less than a block
        let mut from = 0;
        while from < rows {
            let to = (from + (AT_ONCE / length).max(1)).min(rows);
            matrices.read(number, length, from..to, &mut waiting);
            let whole = if to == rows { waiting.len() } else { waiting.len() / BLOCK * BLOCK };
            let coded: Vec<Vec<u8>> = waiting[..whole].par_chunks(BLOCK).map(|part| model.encode(part)).collect();
            waiting.drain(..whole);
            for part in coded {
                let start = u32::try_from(at - matrix).expect("a matrix is below 4 GiB");
                entries.extend(start.to_le_bytes());
                entries.extend((xxh3_64(&part) as u32).to_le_bytes());
                file.write_all(&part)?;
                at += part.len() as u64;
            }
            done += (to - from) * length;
            from = to;
            let share = 100.0 * done as f64 / symbols as f64;
            tell(TableProgress::Working(matrices.layer.force(), format!("{share:.0} %")));
        }
    }
    directory.extend(entries);
    file.seek(SeekFrom::Start(0))?;
    let stats = layer_stats(matrices.layer, matrices.values);
    file.write_all(&head_bytes(owner, &stats, &sizes, &directory, at))?;
    file.into_inner()?.sync_all()?;
    Ok(first + at)
}

/// Symbols that are read together: neighbouring rows, because their values lie close together in the table.
const AT_ONCE: usize = 1 << 22;

/// The matrices of a layer.
struct Matrices<'a, G: Solvable> {
    game: &'a G,
    layer: &'a G::Layer,
    values: &'a [u8], // as in the table
}

impl<G: Solvable> Matrices<'_, G> {
    /// A model of evenly spaced rows of a matrix.
    fn model(&self, matrix: usize, rows: usize, length: usize) -> Model {
        const SAMPLE: usize = 1 << 19;
        let step = (rows * length / SAMPLE).max(1);
        let mut counts = Counts::new();
        let mut row = Vec::new();
        for number in (0..rows).step_by(step) {
            row.clear();
            self.read(matrix, length, number..number + 1, &mut row);
            counts.add(&row);
        }
        counts.model()
    }

    /// Appends the symbols of some rows of a matrix.
    fn read(&self, matrix: usize, length: usize, rows: Range<usize>, out: &mut Vec<u8>) {
        const TASK: usize = 64;
        let from = out.len();
        out.resize(from + rows.len() * length, 0);
        out[from..].par_chunks_mut(TASK * length).enumerate().for_each(|(task, out)| {
            for (row, out) in out.chunks_exact_mut(length).enumerate() {
                self.game.read_row(self.layer, self.values, (matrix, rows.start + task * TASK + row), out);
            }
        });
    }
}
