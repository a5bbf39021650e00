//! Files of packed values: `force-NN.packed`, `tammi-NN.packed`. All numbers are little-endian.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `JARMOPAK` |
//! | 8 | 4 | version of this format |
//! | 12 | 4 | version of the rules |
//! | 16 | 8 | digest of the rules, as in a table |
//! | 24 | 4 | force |
//! | 28 | 4 | number of matrices: jarmo has one for every material, in the order of the layer; tammi has one |
//! | 32 | 8 | number of blocks |
//! | 40 | 8 | bytes of all blocks |
//! | 48 | 8 | checksum of the table it was made from |
//! | 56 | 64 | positions won, drawn, lost and over, White to move, then Black; in tammi those of both, then zeros |
//! | 120 | 8 | plies of the longest win and of the longest loss |
//! | 128 | 16 | index of the first position of the layer with each |
//! | 144 | 8 | XXH3-64 of the directory |
//! | 152 | 8 | XXH3-64 of the 152 bytes before |
//! | 160 | | the directory |
//! | | | the blocks |
//!
//! The directory has two parts. The first has 13,130 bytes for every matrix: where its blocks begin (8 bytes, counted
//! from the first block of the file), and its model, 81 times 81 frequencies of 2 bytes. The second has 8 bytes for
//! every block: where it begins, counted from the first block of its matrix, and the low half of its XXH3-64.
//!
//! A block has the states of four streams, 4 bytes each, then the words that they share, 2 bytes each.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::coder::{MODEL_BYTES, Model};
use super::{BLOCK, cache};
use crate::tables::file::{Owner, long, packed_path, short};
use crate::tables::map::map;
use crate::tables::solvable::{Layer, Solvable};
use crate::tables::stats::{LayerStats, SideStats};
use crate::{ExactError, ExactErrorKind};

/// Goes up when anything in the file changes its meaning.
const FORMAT_VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"JARMOPAK";
/// Bytes before the directory.
const HEADER: usize = 160;
const MATRIX_BYTES: usize = 8 + MODEL_BYTES;
const ENTRY_BYTES: usize = 8;

/// The bytes of a file before its first block, with this directory of matrices of these sizes, and `data` bytes of
/// blocks. `source` is the checksum of the table.
pub(super) fn head_bytes(
    (owner, source): (Owner, u64),
    stats: &LayerStats,
    sizes: &[usize],
    directory: &[u8],
    data: u64,
) -> Vec<u8> {
    let longest = [stats.longest_win, stats.longest_loss];
    let mut out = Vec::with_capacity(HEADER + directory.len());
    out.extend(MAGIC);
    out.extend(FORMAT_VERSION.to_le_bytes());
    out.extend(owner.to_bytes());
    out.extend(stats.force.to_le_bytes());
    out.extend((sizes.len() as u32).to_le_bytes());
    out.extend((block_count(sizes) as u64).to_le_bytes());
    out.extend(data.to_le_bytes());
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
    out.extend(xxh3_64(directory).to_le_bytes());
    out.extend(xxh3_64(&out).to_le_bytes());
    debug_assert_eq!(out.len(), HEADER);
    out.extend(directory);
    out
}

/// The symbols of every matrix, from its rows and the symbols in a row.
pub(super) fn sizes(matrices: &[[usize; 2]]) -> Vec<usize> {
    matrices.iter().map(|[rows, length]| rows * length).collect()
}

/// The bytes of a file before its first block, with matrices of these sizes.
pub(super) fn head_size(sizes: &[usize]) -> usize {
    HEADER + sizes.len() * MATRIX_BYTES + block_count(sizes) * ENTRY_BYTES
}

fn block_count(sizes: &[usize]) -> usize {
    sizes.iter().map(|size| size.div_ceil(BLOCK)).sum()
}

/// The packed values of a layer.
#[derive(Debug)]
pub(in crate::tables) struct PackedLayer {
    number: u64, // of this file in this process, for the cache
    map: Mmap,
    data: usize, // where the blocks begin
    matrices: Vec<Open>,
    /// The counts of the table it was made from.
    pub(in crate::tables) stats: LayerStats,
    pub(super) source: u64, // the checksum of that table
}

/// A matrix of an open file.
#[derive(Debug)]
struct Open {
    model: Model,
    first: usize, // its first block
    start: u64,   // of that block
    size: usize,  // its symbols
}

impl PackedLayer {
    /// Opens the file of a layer and verifies its checksums.
    pub(in crate::tables) fn open<G: Solvable>(
        folder: &Path,
        owner: Owner,
        layer: &G::Layer,
    ) -> Result<PackedLayer, ExactError> {
        let path = &packed_path::<G>(folder, layer.force());
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => repack("is missing").at(path),
            _ => ExactError::io(path)(error),
        })?;
        let map = map(&file).map_err(ExactError::io(path))?;
        read(map, owner, layer, &sizes(&G::matrices(layer))).map_err(|error| error.at(path))
    }

    /// A symbol of a matrix.
    #[inline]
    pub(in crate::tables) fn symbol(&self, matrix: usize, at: usize) -> u8 {
        let matrix = &self.matrices[matrix];
        let number = matrix.first + at / BLOCK;
        cache::symbol((self.number, number as u64), at % BLOCK, |symbols| {
            let rest = matrix.size - at / BLOCK * BLOCK;
            let bytes = &self.map[self.block(matrix, number)];
            matrix.model.decode(bytes, rest.min(BLOCK), symbols);
        })
    }

    /// The bytes of a block in the file.
    fn block(&self, matrix: &Open, number: usize) -> Range<usize> {
        let from = matrix.start + u64::from(self.entry(number).0);
        let last = number + 1 == matrix.first + matrix.size.div_ceil(BLOCK);
        let to = if last {
            let next = self.matrices.partition_point(|one| one.first <= number);
            let next = self.matrices.get(next);
            next.map_or((self.map.len() - self.data) as u64, |next| next.start)
        } else {
            matrix.start + u64::from(self.entry(number + 1).0)
        };
        self.data + from as usize..self.data + to as usize
    }

    /// The first block whose checksum does not fit.
    fn damaged_block(&self) -> Option<usize> {
        self.matrices.par_iter().find_map_first(|matrix| {
            let numbers = matrix.first..matrix.first + matrix.size.div_ceil(BLOCK);
            numbers.into_par_iter().find_first(|&number| {
                let bytes = self.map.get(self.block(matrix, number));
                bytes.is_none_or(|bytes| xxh3_64(bytes) as u32 != self.entry(number).1)
            })
        })
    }

    /// Where a block begins in its matrix, and its checksum.
    #[inline(always)]
    fn entry(&self, number: usize) -> (u32, u32) {
        let at = HEADER + self.matrices.len() * MATRIX_BYTES + number * ENTRY_BYTES;
        (short(&self.map, at), short(&self.map, at + 4))
    }
}

/// Refuses the header of another kind or version of file, of another board or other rules, and of another layer.
fn check(head: &[u8], owner: Owner, force: u32, matrices: usize, blocks: usize) -> Result<(), ExactError> {
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
    owner.check(short(head, 12), long(head, 16))?;
    let found = short(head, 24);
    if (found, short(head, 28), long(head, 32)) != (force, matrices as u32, blocks as u64) {
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

/// Checks a whole file.
fn read(file: Mmap, owner: Owner, layer: &impl Layer, sizes: &[usize]) -> Result<PackedLayer, ExactError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let (head, rest) = file.split_at_checked(HEADER).ok_or_else(|| repack("is truncated"))?;
    let blocks = block_count(sizes);
    check(head, owner, layer.force(), sizes.len(), blocks)?;
    let size = head_size(sizes) - HEADER;
    let whole = rest.len().checked_sub(size).map(|data| data as u64);
    if whole != Some(long(head, 40)) {
        return Err(repack("has the wrong length"));
    }
    let directory = &rest[..size];
    if xxh3_64(directory) != long(head, 144) {
        return Err(repack("has a damaged directory"));
    }
    let packed = PackedLayer {
        number: NUMBER.fetch_add(1, Ordering::Relaxed),
        data: HEADER + size,
        matrices: read_matrices(directory, sizes)?,
        stats: read_stats(head, layer),
        source: long(head, 48),
        map: file,
    };
    match packed.damaged_block() {
        Some(number) => Err(repack(format_args!("is damaged in block {number} of {blocks}"))),
        None => Ok(packed),
    }
}

/// The matrices of a directory, with these numbers of symbols.
fn read_matrices(directory: &[u8], sizes: &[usize]) -> Result<Vec<Open>, ExactError> {
    let mut first = 0;
    let matrices = directory.chunks(MATRIX_BYTES).zip(sizes).map(|(bytes, &size)| {
        let (start, model) = bytes.split_at(8);
        let model = Model::from_bytes(model).ok_or_else(|| repack("has a wrong directory"))?;
        let matrix = Open { model, first, start: long(start, 0), size };
        first += size.div_ceil(BLOCK);
        Ok(matrix)
    });
    matrices.collect()
}
