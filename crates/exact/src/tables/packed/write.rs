//! Packs a folder of tables, force by force. A file gets its name when it is complete, so after a kill the next run
//! continues with the unfinished force.

use std::path::Path;
use std::time::Instant;

use miniz_oxide::deflate::compress_to_vec;
use rayon::prelude::*;

use super::{BLOCK, END_BYTES, PackedLayer, block_count, header};
use crate::ExactError;
use crate::tables::build::{TableProgress, may_rebuild};
use crate::tables::file::{Bytes, TableId, finished_path, lock};
use crate::tables::solvable::{Layer, Solvable, owner, table_id};
use crate::tables::stats::layer_stats;
use jarmo_host::files::write_whole_by;

/// The compression level, 0 to 10. A higher level gains next to nothing.
const LEVEL: u8 = 9;

/// Packs the tables in `from` into the folder `to`, and copies complete tables up to the force `whole`. Undamaged files
/// of the same tables in `to` are kept.
pub fn pack<G: Solvable>(
    game: &G,
    from: &Path,
    to: &Path,
    whole: u32,
    tell: &mut dyn FnMut(TableProgress),
) -> Result<(), ExactError> {
    let owner = owner(game);
    let kind = G::TABLES;
    let lowest = *kind.forces.start();
    Bytes::open(&table_id::<G>(from, owner, &G::Layer::new(lowest)))?; // or the lock would create a folder in vain
    let _lock = lock(to)?;
    let highest = kind.forces.clone().rev().find(|&force| finished_path(from, kind.files, force).exists());
    for force in lowest..=highest.unwrap_or(lowest) {
        let began = Instant::now();
        let layer = G::Layer::new(force);
        let table = Bytes::open(&table_id::<G>(from, owner, &layer))?;
        let id = table_id::<G>(to, owner, &layer);
        if force <= whole {
            tell(copy(&table, &id)?);
            continue;
        }
        let source = table.checksum();
        if is_kept(PackedLayer::open(&id, &kind, &layer).map(|packed| packed.source), source)? {
            tell(TableProgress::Kept(force));
            continue;
        }
        let path = id.packed();
        let body = compress(game, &layer, table.get(), tell);
        let header = header(&id, source, &layer_stats(&layer, table.get()), block_count(&kind, &layer), &body);
        write_whole_by(&path, &path.with_extension("packed.tmp"), &[&header, &body]).map_err(ExactError::io(&path))?;
        let (positions, bytes, took) = (layer.size(), header.len() + body.len(), began.elapsed().as_secs_f64());
        let bits = 8.0 * bytes as f64 / positions as f64;
        let what = format!("{positions} positions in {bytes} bytes, {bits:.3} bits each, {took:.1} s");
        tell(TableProgress::Done(force, what));
    }
    Ok(())
}

/// Whether a file exists, is undamaged, and was made from the table with this checksum.
fn is_kept(found: Result<u64, ExactError>, wanted: u64) -> Result<bool, ExactError> {
    match found {
        Ok(source) => Ok(source == wanted),
        Err(error) => may_rebuild(error, &mut |_| ()).map(|()| false),
    }
}

/// Copies a whole table.
fn copy(table: &Bytes, to: &TableId<'_>) -> Result<TableProgress, ExactError> {
    if is_kept(Bytes::open(to).map(|there| there.checksum()), table.checksum())? {
        return Ok(TableProgress::Kept(to.force));
    }
    let path = to.finished();
    write_whole_by(&path, &path.with_extension("table.tmp"), &[table.file()]).map_err(ExactError::io(&path))?;
    Ok(TableProgress::Done(to.force, "copied, with distances".to_owned()))
}

/// The bytes after the header: the ends of the blocks, then the blocks.
fn compress<G: Solvable>(game: &G, layer: &G::Layer, values: &[u8], tell: &mut dyn FnMut(TableProgress)) -> Vec<u8> {
    let data = block_count(&G::TABLES, layer) * END_BYTES;
    let mut body = vec![0; data];
    let mut ends = 0; // bytes of them so far
    let mut push = |symbols: &[u8]| {
        let blocks: Vec<Vec<u8>> = symbols.par_chunks(BLOCK).map(|block| compress_to_vec(block, LEVEL)).collect();
        for block in blocks {
            body.extend(block);
            let end = (body.len() - data) as u64;
            body[ends..ends + END_BYTES].copy_from_slice(&end.to_le_bytes());
            ends += END_BYTES;
        }
    };
    let mut waiting: Vec<u8> = Vec::new(); // symbols that are not in a block yet
    game.each_symbol(layer, values, &mut |done, symbols| {
        waiting.extend(symbols);
        let whole = waiting.len() / BLOCK * BLOCK;
        push(&waiting[..whole]);
        waiting.drain(..whole);
        tell(TableProgress::Working(layer.force(), format!("{:.0} %", 100.0 * done)));
    });
    push(&waiting);
    assert_eq!(ends, data, "the layer has as many symbols as it says");
    body
}
