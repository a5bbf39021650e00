//! The unfinished table of a layer, in pages that are mapped into memory. The system keeps in memory as much of them as
//! it can, and writes the rest to the disk.
//!
//! `force-NN.unfinished` becomes the table: after the room for its header it holds the bytes of all pages.
//! `force-NN.pages` says what each page includes, so that a killed build can go on from any mixture of older and newer
//! pages. All numbers are little-endian:
//!
//! | offset in `.pages` | bytes | what |
//! |---|---|---|
//! | 0 | 48 | `JARMOPAG`, version, rules, board, force, pages, 8 zeros, XXH3-64 of the 40 bytes before |
//! | 64 | 4 | the time of the last save |
//! | 4096 | 32 each | per page: checksum, stamp (8 each), distances (16) |
//! | then, at a multiple of 4096 | | the copies: a number of 8 bytes, an entry, and the bytes of the largest page |
//!
//! Before a page changes, it is copied with its entry, and the copy gets the number of the page, counted from 1; when
//! the page and its new entry are complete, the number becomes 0. So a process that dies meanwhile leaves either a whole
//! page or a whole copy. After a power failure, the disk has any mixture of the last save and what was written after it. The
//! checksum of a page covers its entry, and so shows whether the two belong together; if they do not, the layer is solved
//! again from its start.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, compiler_fence};
use std::time::{Duration, Instant};

use memmap2::MmapMut;
use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::ExactError;
use crate::tables::code::Distances;
use crate::tables::file::{HEADER, TableId, long, short};
use crate::tables::index::{Block, JarmoLayer};
use crate::tables::map::{allocate, map_mut};
use jarmo_host::files::rename;

/// Bytes of a page, unless a single row is longer.
const PAGE: usize = 1 << 18;

const MAGIC: [u8; 8] = *b"JARMOPAG";
const VERSION: u32 = 2;
const HEAD: usize = 48;
const TIME: usize = 64;
const ENTRIES: usize = 4096;
const ENTRY: usize = 32;

/// Copies of pages, one for each task that changes pages: more than a machine has cores, to balance the load.
const COPIES: usize = 32;
const COPY_HEAD: usize = 8 + ENTRY;

/// The pages of one block: each holds some rows.
#[derive(Clone, Copy)]
pub(super) struct BlockPages {
    pub(super) block: Block,
    /// The number of its first page within the layer.
    pub(super) first: usize,
    /// Rows in each page; the last page may have fewer.
    pub(super) rows: usize,
}

impl BlockPages {
    /// How the blocks of a layer are cut into pages.
    pub(super) fn of(layer: &JarmoLayer) -> Vec<BlockPages> {
        let longest = layer.blocks.iter().map(|block| block.columns).max();
        let size = PAGE.max(longest.unwrap_or(0));
        let mut first = 0;
        let pages = layer.blocks.iter().map(|&block| {
            let pages = BlockPages { block, first, rows: size / block.columns };
            first += pages.count();
            pages
        });
        pages.collect()
    }

    /// How many pages there are.
    pub(super) fn count(&self) -> usize {
        self.block.rows.div_ceil(self.rows)
    }

    /// Their numbers within the layer.
    pub(super) fn numbers(&self) -> Range<usize> {
        self.first..self.first + self.count()
    }

    /// The first row of a page, by its number within the layer.
    pub(super) fn first_row(&self, number: usize) -> usize {
        (number - self.first) * self.rows
    }

    /// The page that holds a row, counted from the first page of the block.
    #[inline(always)]
    pub(super) fn page_of(&self, row: usize) -> usize {
        row / self.rows
    }

    /// The positions of a page within the layer.
    pub(super) fn positions(&self, number: usize) -> Range<usize> {
        let Block { start, columns, rows, .. } = self.block;
        let row = self.first_row(number);
        start + row * columns..start + rows.min(row + self.rows) * columns
    }
}

/// What is known of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    checksum: u64, // of the bytes, seeded with that of the rest of the entry and the number of the page
    stamp: u64,
    distances: Distances,
}

impl Entry {
    fn new(page: usize, bytes: &[u8], stamp: u64, distances: Distances) -> Entry {
        let mut rest = [0; ENTRY];
        rest[..8].copy_from_slice(&(page as u64).to_le_bytes());
        rest[8..16].copy_from_slice(&stamp.to_le_bytes());
        rest[16..].copy_from_slice(&distances.0.to_le_bytes());
        Entry { checksum: xxh3_64_with_seed(bytes, xxh3_64(&rest)), stamp, distances }
    }

    fn to_bytes(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..8].copy_from_slice(&self.checksum.to_le_bytes());
        out[8..16].copy_from_slice(&self.stamp.to_le_bytes());
        out[16..].copy_from_slice(&self.distances.0.to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Entry {
        Entry {
            checksum: long(bytes, 0),
            stamp: long(bytes, 8),
            distances: Distances(u128::from_le_bytes(bytes[16..ENTRY].try_into().expect("sixteen bytes"))),
        }
    }

    fn fits(self, page: usize, bytes: &[u8]) -> bool {
        self == Entry::new(page, bytes, self.stamp, self.distances)
    }
}

/// A file of an unfinished layer, mapped into memory.
struct Mapped {
    path: PathBuf,
    file: File,
    map: MmapMut,
}

impl Mapped {
    /// Opens the file, or makes a new one of this size.
    fn open(path: PathBuf, size: usize, new: bool) -> Result<Mapped, ExactError> {
        let open = || -> io::Result<(File, MmapMut)> {
            let file = OpenOptions::new().read(true).write(true).create(new).truncate(new).open(&path)?;
            if new {
                // Writing to a hole on a full disk would end the process.
                allocate(&file, size as u64)?;
            }
            let map = map_mut(&file)?;
            Ok((file, map))
        };
        match open() {
            Ok((file, map)) if map.len() == size => Ok(Mapped { path, file, map }),
            Ok(_) => Err(ExactError::damaged("has the wrong length").at(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ExactError::missing().at(&path)),
            Err(error) => Err(ExactError::io(&path)(error)),
        }
    }

    fn sync(&self) -> Result<(), ExactError> {
        self.map.flush().map_err(ExactError::io(&self.path))
    }
}

/// The bytes of a layer that is being solved.
pub(super) struct Unfinished {
    pub(super) blocks: Vec<BlockPages>,
    table: Mapped,
    side: Mapped,
    /// The next source; all pages include those before it. 0 before all pages have their first bytes.
    pub(super) time: u32,
    save_every: Duration,
    saved: Instant,
}

impl Unfinished {
    /// Opens the files of an earlier build, or makes new ones.
    pub(super) fn open(
        id: &TableId<'_>,
        layer: &JarmoLayer,
        new: bool,
        save_every: Duration,
    ) -> Result<Unfinished, ExactError> {
        let blocks = BlockPages::of(layer);
        let pages: usize = blocks.iter().map(BlockPages::count).sum();
        let side_size = copies_start(pages) + COPIES * copy_size(&blocks);
        let table = Mapped::open(id.unfinished(), HEADER + layer.size, new)?;
        let mut side = Mapped::open(id.pages(), side_size, new)?;
        let head = head(id, pages);
        if new {
            side.map[..HEAD].copy_from_slice(&head);
        } else if side.map[..HEAD] != head {
            return Err(ExactError::damaged("belongs to another build or is damaged").at(&side.path));
        }
        let time = short(&side.map, TIME);
        let mut unfinished = Unfinished { blocks, table, side, time, save_every, saved: Instant::now() };
        if !new {
            unfinished.restore();
            if !unfinished.is_sound() {
                return Err(ExactError::damaged("is damaged").at(&unfinished.table.path));
            }
        }
        Ok(unfinished)
    }

    /// The pages of the layer.
    fn len(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.numbers().end)
    }

    fn entry(&self, page: usize) -> Entry {
        Entry::from_bytes(&self.side.map[ENTRIES + page * ENTRY..])
    }

    /// The last update that a page includes; 0 before its first bytes.
    pub(super) fn stamp(&self, page: usize) -> u64 {
        self.entry(page).stamp
    }

    /// Whether results in a page may have this distance.
    pub(super) fn may_have(&self, page: usize, plies: u32) -> bool {
        self.entry(page).distances.has(plies)
    }

    /// The longest distance that a result may have, in plies.
    pub(super) fn longest(&self) -> u32 {
        let distances = (0..self.len()).map(|page| self.entry(page).distances);
        distances.fold(Distances::default(), Distances::or).longest()
    }

    /// The bytes of a page.
    pub(super) fn bytes(&self, block: &BlockPages, page: usize) -> &[u8] {
        &self.table.map[HEADER..][block.positions(page)]
    }

    /// Changes some pages of a block, in parallel. `work` gets the number of a page, its bytes, and the distances that its
    /// results may have; it returns these for the new bytes.
    pub(super) fn change(
        &mut self,
        block: &BlockPages,
        pages: &[usize],
        stamp: u64,
        work: impl Fn(usize, &mut [u8], Distances) -> Distances + Sync,
    ) {
        let (start, copy_size) = (copies_start(self.len()), copy_size(&self.blocks));
        let (entries, copies) = self.side.map.split_at_mut(start);
        let entries = entries[ENTRIES + block.first * ENTRY..].chunks_exact_mut(ENTRY);
        let region = &mut self.table.map[HEADER + block.block.start..][..block.block.size()];
        let all = region.chunks_mut(block.rows * block.block.columns).zip(entries).zip(block.numbers());
        let mut wanted: Vec<(usize, &mut [u8], &mut [u8])> = all
            .filter(|(_, page)| pages.binary_search(page).is_ok())
            .map(|((bytes, entry), page)| (page, bytes, entry))
            .collect();
        let part = wanted.len().div_ceil(COPIES).max(1);
        wanted.par_chunks_mut(part).zip(copies.par_chunks_exact_mut(copy_size)).for_each(|(part, copy)| {
            for (page, bytes, entry) in part {
                copy[8..COPY_HEAD].copy_from_slice(entry);
                copy[COPY_HEAD..][..bytes.len()].copy_from_slice(bytes);
                mark(copy, *page + 1);
                let distances = work(*page, bytes, Entry::from_bytes(entry).distances);
                entry.copy_from_slice(&Entry::new(*page, bytes, stamp, distances).to_bytes());
                mark(copy, 0);
            }
        });
    }

    /// Undoes the changes that an earlier build had begun.
    fn restore(&mut self) {
        let (start, copy_size) = (copies_start(self.len()), copy_size(&self.blocks));
        let (entries, copies) = self.side.map.split_at_mut(start);
        for copy in copies.chunks_exact_mut(copy_size) {
            let page = (long(copy, 0) as usize).wrapping_sub(1);
            if let Some(block) = self.blocks.iter().find(|block| block.numbers().contains(&page)) {
                let bytes = &mut self.table.map[HEADER..][block.positions(page)];
                bytes.copy_from_slice(&copy[COPY_HEAD..][..bytes.len()]);
                entries[ENTRIES + page * ENTRY..][..ENTRY].copy_from_slice(&copy[8..COPY_HEAD]);
            }
            mark(copy, 0);
        }
    }

    /// Whether the bytes of all pages fit their entries.
    fn is_sound(&self) -> bool {
        self.blocks.par_iter().all(|block| {
            block.numbers().into_par_iter().all(|page| {
                let entry = self.entry(page);
                entry == Entry::default() || entry.fits(page, self.bytes(block, page))
            })
        })
    }

    /// Asks the system to read some pages ahead.
    pub(super) fn read_ahead(&self, block: &BlockPages, pages: &[usize]) {
        #[cfg(unix)]
        for run in pages.chunk_by(|page, next| page + 1 == *next) {
            let (start, end) = (block.positions(run[0]).start, block.positions(run[run.len() - 1]).end);
            // It is a hint: without it the read takes longer.
            let _ = self.table.map.advise_range(memmap2::Advice::WillNeed, HEADER + start, end - start);
        }
        #[cfg(not(unix))]
        let _ = (block, pages);
    }

    /// Saves if the last time was long enough ago. No source may be half included.
    pub(super) fn save_if_due(&mut self) -> Result<(), ExactError> {
        if self.saved.elapsed() >= self.save_every { self.save() } else { Ok(()) }
    }

    /// Notes that the disk has all sources before `time`.
    fn save(&mut self) -> Result<(), ExactError> {
        self.table.sync()?;
        self.side.sync()?;
        self.side.map[TIME..TIME + 4].copy_from_slice(&self.time.to_le_bytes());
        self.side.sync()?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Makes the solved layer a table: header, sync, rename.
    pub(super) fn finish(mut self, id: &TableId<'_>, longest: u32) -> Result<(), ExactError> {
        let header = id.header(&self.table.map[HEADER..], longest);
        self.table.map[..HEADER].copy_from_slice(&header);
        self.table.sync()?;
        let Mapped { path, file, map } = self.table;
        drop(map);
        file.sync_all().and_then(|()| rename(&path, &id.finished())).map_err(ExactError::io(&path))?;
        let path: &Path = &self.side.path;
        drop(self.side.map);
        std::fs::remove_file(path).map_err(ExactError::io(path))
    }
}

/// Where the copies begin in the side file.
fn copies_start(pages: usize) -> usize {
    (ENTRIES + pages * ENTRY).next_multiple_of(4096)
}

/// The bytes of a copy.
fn copy_size(blocks: &[BlockPages]) -> usize {
    let largest = blocks.iter().map(|block| block.positions(block.first).len()).max();
    (COPY_HEAD + largest.unwrap_or(0)).next_multiple_of(8)
}

/// Says that a copy is that of a page, counted from 1; 0: of none. What was written before is written before it, as a
/// killed process leaves it, and what is written after, after it.
fn mark(copy: &mut [u8], page: usize) {
    compiler_fence(Ordering::SeqCst);
    copy[..8].copy_from_slice(&(page as u64).to_le_bytes());
    compiler_fence(Ordering::SeqCst);
}

fn head(id: &TableId<'_>, pages: usize) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head[12..24].copy_from_slice(&id.owner.to_bytes());
    head[24..28].copy_from_slice(&id.force.to_le_bytes());
    head[28..32].copy_from_slice(&(pages as u32).to_le_bytes());
    let check = xxh3_64(&head[..40]);
    head[40..].copy_from_slice(&check.to_le_bytes());
    head
}
