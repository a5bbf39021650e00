//! Packed tables, in a seventh (tammi) to a fortieth (jarmo) of the space of the tables that they are made from.
//!
//! A layer becomes a sequence of bytes, the *symbols*. A symbol is four results without distances in jarmo, and a value
//! with its distance in tammi. Blocks of [`BLOCK`] symbols are compressed separately, so that a lookup inflates only
//! one.
//!
//! docs/lab/tables.md lists the bytes of the files, `force-NN.packed` and `tammi-NN.packed`.

mod write;

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use xxhash_rust::xxh3::xxh3_64;

use super::file::{TableId, checksum, long, short};
use super::map::map;
use super::solvable::{Layer, TableKind};
use super::stats::{LayerStats, SideStats};
use crate::{ExactError, ExactErrorKind};
use jarmo_host::files;

pub use write::pack;

/// Symbols in a block: with twice as many, files are 6% smaller and lookups take 1.5 times as long.
const BLOCK: usize = 2048;

/// The version of the format. It is increased when anything in the file changes its meaning.
const FORMAT_VERSION: u32 = 2;
const MAGIC: [u8; 8] = *b"JARMOPAK";
const HEADER: usize = 160;
const END_BYTES: usize = 8;

/// The packed values of a layer.
#[derive(Debug)]
pub(super) struct PackedLayer {
    number: u64, // of this file in this process, for the cache
    map: Mmap,
    blocks: usize,
    /// The counts of the table it was made from.
    pub(super) stats: LayerStats,
    source: u64, // the checksum of that table
}

impl PackedLayer {
    /// Opens the file of a layer and verifies its checksums.
    pub(super) fn open(id: &TableId<'_>, kind: &TableKind, layer: &impl Layer) -> Result<PackedLayer, ExactError> {
        let path = &id.packed();
        let (file, _) = files::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => repack("is missing").at(path),
            _ => ExactError::io(path)(error),
        })?;
        let map = map(&file).map_err(ExactError::io(path))?;
        read(map, id, block_count(kind, layer), layer).map_err(|error| error.at(path))
    }

    /// A symbol of the layer. Each thread keeps the blocks that it inflated last.
    #[inline]
    pub(super) fn symbol(&self, at: usize) -> u8 {
        CACHE.with_borrow_mut(|cache| {
            let number = at / BLOCK;
            let key = (self.number, number);
            let slot = (number + 11 * self.number as usize) % KEPT;
            if cache.keys[slot] != Some(key) {
                cache.keys[slot] = Some(key);
                inflate(&mut cache.inflater, &self.map[self.block(number)], &mut cache.blocks[slot]);
            }
            cache.blocks[slot][at % BLOCK]
        })
    }

    /// The bytes of a block in the file.
    fn block(&self, number: usize) -> Range<usize> {
        let data = HEADER + self.blocks * END_BYTES;
        let end = |number: usize| data + long(&self.map, HEADER + number * END_BYTES) as usize;
        let start = if number == 0 { data } else { end(number - 1) };
        start..end(number)
    }
}

/// Blocks kept by each thread.
const KEPT: usize = 128;

struct Cache {
    inflater: Box<DecompressorOxide>,
    keys: [Option<(u64, usize)>; KEPT], // the number of the file in this process, and of the block in the file
    blocks: Box<[[u8; BLOCK]; KEPT]>,
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::new(Cache {
        inflater: Box::default(),
        keys: [None; KEPT],
        blocks: vec![[0; BLOCK]; KEPT].try_into().expect("the length is right"),
    });
}

/// Inflates a block. If the checksum fits but [`pack`] did not write the block, its symbols are arbitrary.
fn inflate(inflater: &mut DecompressorOxide, block: &[u8], symbols: &mut [u8; BLOCK]) {
    inflater.init();
    let _ = decompress(inflater, block, symbols, 0, inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF);
}

/// How many blocks the symbols of a layer fill.
fn block_count(kind: &TableKind, layer: &impl Layer) -> usize {
    layer.size().div_ceil(kind.positions_per_symbol).div_ceil(BLOCK)
}

/// The header of a file with these ends of blocks and these blocks. `source` is the checksum of the table.
fn header(id: &TableId<'_>, source: u64, stats: &LayerStats, blocks: usize, body: &[u8]) -> Vec<u8> {
    let longest = [stats.longest_win, stats.longest_loss];
    let mut out = Vec::with_capacity(HEADER);
    out.extend(MAGIC);
    out.extend(FORMAT_VERSION.to_le_bytes());
    out.extend(id.owner.to_bytes());
    out.extend(id.force.to_le_bytes());
    out.extend([0; 4]);
    out.extend((blocks as u64).to_le_bytes());
    out.extend(((body.len() - blocks * END_BYTES) as u64).to_le_bytes());
    out.extend(source.to_le_bytes());
    let counts = stats.sides.iter().flat_map(|side| [side.won, side.drawn, side.lost, side.over]);
    for count in counts.chain([0; 4]).take(8) {
        out.extend(count.to_le_bytes());
    }
    for longest in longest {
        out.extend(longest.map_or(0, |(plies, _)| plies).to_le_bytes());
    }
    for longest in longest {
        out.extend(longest.map_or(0, |(_, index)| index as u64).to_le_bytes());
    }
    out.extend(checksum(body).to_le_bytes());
    out.extend(xxh3_64(&out).to_le_bytes());
    debug_assert_eq!(out.len(), HEADER);
    out
}

/// Checks a whole file.
fn read(map: Mmap, id: &TableId<'_>, blocks: usize, layer: &impl Layer) -> Result<PackedLayer, ExactError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let (header, body) = map.split_at_checked(HEADER).ok_or_else(|| repack("is truncated"))?;
    check(header, id, blocks)?;
    if body.len() as u64 != long(header, 40) + (blocks * END_BYTES) as u64 {
        return Err(repack("has the wrong length"));
    }
    if long(header, 144) != checksum(body) {
        return Err(repack("is damaged: its checksum does not match"));
    }
    let (ends, data) = body.split_at(blocks * END_BYTES);
    let mut ends = ends.chunks_exact(END_BYTES).map(|end| long(end, 0));
    if !ends.clone().is_sorted() || ends.next_back() != Some(data.len() as u64) {
        return Err(repack("has a wrong list of blocks"));
    }
    let (source, stats) = (long(header, 48), read_stats(header, layer));
    Ok(PackedLayer { number: NUMBER.fetch_add(1, Ordering::Relaxed), blocks, stats, source, map })
}

/// Fails for the header of another kind or version of file, of another board or other rules, or of another layer.
fn check(head: &[u8], id: &TableId<'_>, blocks: usize) -> Result<(), ExactError> {
    if head[..8] != MAGIC {
        return Err(repack("is not a file of packed tables"));
    }
    if long(head, 152) != xxh3_64(&head[..152]) {
        return Err(repack("has a damaged header"));
    }
    let version = short(head, 8);
    if version != FORMAT_VERSION {
        return Err(repack(format_args!("has format version {version}, this build needs {FORMAT_VERSION}")));
    }
    id.owner.check(short(head, 12), long(head, 16))?;
    let found = short(head, 24);
    if (found, long(head, 32)) != (id.force, blocks as u64) {
        return Err(repack(format_args!("holds force {found}")));
    }
    Ok(())
}

/// The counts in a header.
fn read_stats(head: &[u8], layer: &impl Layer) -> LayerStats {
    let longest = |plies: u32, index: u64| {
        let inside = plies > 0 && index < layer.size() as u64;
        inside.then_some((plies, index as usize))
    };
    let players = layer.sides().into_iter().take(2).map(|(to_move, _)| to_move);
    let sides = players.enumerate().map(|(number, to_move)| {
        let count = |place: usize| long(head, 56 + 32 * number + 8 * place);
        SideStats { to_move, won: count(0), drawn: count(1), lost: count(2), over: count(3) }
    });
    LayerStats {
        force: layer.force(),
        sides: sides.collect(),
        longest_win: longest(short(head, 120), long(head, 128)),
        longest_loss: longest(short(head, 124), long(head, 136)),
    }
}

fn repack(problem: impl fmt::Display) -> ExactError {
    ExactError::of_kind(ExactErrorKind::Damaged, format_args!("{problem}; pack it again"))
}
