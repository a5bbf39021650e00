//! The bytes of an unfinished layer, cut into pages: those in memory, and those on disk.
//!
//! A page is some rows of a block. When memory is full, the pages of the block that is needed last leave it; changed
//! ones are written first, by a thread of their own. Every page knows how many sources it includes (see
//! [`Pages::time`]), so that a killed build can go on from any mixture of older and newer pages.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::spill::{Outgoing, Spill, TOGETHER, Writer};
use crate::tables::code::Distances;
use crate::tables::index::{Block, Layer};

/// Bytes of a page, unless a single row is longer.
const PAGE: usize = 1 << 18;

/// The pages of one block.
#[derive(Clone, Copy)]
pub(super) struct BlockPages {
    pub(super) block: Block,
    /// The number of its first page within the layer.
    pub(super) first: usize,
    /// Rows in each page; the last page may have fewer.
    pub(super) rows: usize,
}

impl BlockPages {
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
}

/// How a layer is cut into pages.
pub(super) struct Plan {
    pub(super) blocks: Vec<BlockPages>,
    places: Vec<Range<usize>>, // by page: its positions within the layer
}

impl Plan {
    pub(super) fn of(layer: &Layer) -> Plan {
        let longest = layer.blocks().iter().map(|block| block.columns).max();
        let size = PAGE.max(longest.unwrap_or(0));
        let (mut blocks, mut places) = (Vec::new(), Vec::new());
        for block in layer.blocks() {
            let rows = size / block.columns;
            let end = block.start + block.size();
            blocks.push(BlockPages { block: *block, first: places.len(), rows });
            places.extend(
                (block.start..end)
                    .step_by(rows * block.columns)
                    .map(|start| start..end.min(start + rows * block.columns)),
            );
        }
        Plan { blocks, places }
    }

    /// The number of pages.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The positions of a page within the layer.
    pub(super) fn place(&self, page: usize) -> Range<usize> {
        self.places[page].clone()
    }

    /// The bytes of the largest page.
    pub(super) fn largest(&self) -> usize {
        self.places.iter().map(Range::len).max().unwrap_or(0)
    }
}

/// One page of a layer.
#[derive(Default)]
pub(super) struct Page {
    /// One byte per position; empty while the page is not in memory.
    pub(super) bytes: Vec<u8>,
    /// The time of the next source that it does not include; 0 before its first bytes, [`FINAL`] at the end.
    pub(super) includes: u32,
    /// Distances that its results may have.
    pub(super) distances: Distances,
    /// Whether memory holds newer bytes than the disk.
    pub(super) changed: bool,
    on_its_way: bool, // to the disk
}

/// `includes` of a page of a solved layer.
pub(super) const FINAL: u32 = u32::MAX;

/// All pages of a layer.
pub(crate) struct Pages {
    pub(super) plan: Plan,
    pub(super) pages: Vec<Page>,
    /// The next source; all pages include those before it. 0 before all pages have their first bytes.
    pub(super) time: u32,
    free: Vec<Vec<u8>>, // buffers without a page
    most: usize,        // buffers in all
    made: usize,        // of these, so far
    disk: Option<Disk>,
}

struct Disk {
    writer: Writer,
    spill: Spill,
    save_every: Duration,
    saved: Instant,
}

impl Pages {
    /// The pages of a layer that is solved in memory alone.
    pub(crate) fn in_memory(layer: &Layer) -> Pages {
        Pages::new(Plan::of(layer), usize::MAX, None)
    }

    /// The pages of a layer, of which at most `memory` bytes are in memory, and the others in `spill`.
    pub(crate) fn on_disk(layer: &Layer, memory: u64, mut spill: Spill, save_every: Duration) -> io::Result<Pages> {
        let plan = Plan::of(layer);
        let most = (memory / plan.largest() as u64) as usize;
        let (time, entries) = spill.take_saved();
        let disk = Disk { writer: Writer::start(&spill)?, spill, save_every, saved: Instant::now() };
        let mut pages = Pages::new(plan, most, Some(disk));
        pages.time = time;
        for (page, entry) in pages.pages.iter_mut().zip(entries) {
            page.distances = entry.distances;
            page.includes = match entry.includes {
                0 => 0,
                includes => includes.max(time),
            };
        }
        Ok(pages)
    }

    fn new(plan: Plan, most: usize, disk: Option<Disk>) -> Pages {
        Pages {
            pages: (0..plan.len()).map(|_| Page::default()).collect(),
            most: most.min(plan.len()),
            plan,
            time: 0,
            free: Vec::new(),
            made: 0,
            disk,
        }
    }

    /// The longest distance that a result may have, in plies.
    pub(super) fn longest(&self) -> u32 {
        self.pages.iter().map(|page| page.distances).fold(Distances::default(), Distances::or).longest()
    }

    /// Brings pages, in order of their numbers, into memory. These and the pages of the blocks `keep` stay
    /// there; if there is no room, others leave, those of the block with the largest `next_use` first.
    pub(super) fn load(&mut self, wanted: &[usize], keep: &[usize], next_use: &[u32]) -> io::Result<()> {
        if wanted.iter().any(|&page| self.pages[page].on_its_way) {
            self.receive_all()?;
        }
        let absent = |page: &&usize| self.pages[**page].bytes.is_empty();
        let missing: Vec<usize> = wanted.iter().filter(absent).copied().collect();
        self.make_room(missing.len(), wanted, keep, next_use)?;
        for &page in &missing {
            let mut buffer = self.free.pop().unwrap_or_else(|| {
                self.made += 1;
                Vec::with_capacity(self.plan.largest())
            });
            buffer.resize(self.plan.place(page).len(), 0);
            self.pages[page].bytes = buffer;
        }
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        let Some(Disk { spill, .. }) = &self.disk else { return Ok(()) };
        self.pages[*first..=*last]
            .par_iter_mut()
            .zip(*first..*last + 1)
            .filter(|(page, number)| page.includes > 0 && missing.binary_search(number).is_ok())
            .try_for_each(|(page, number)| spill.read(number, &mut page.bytes))
    }

    /// Asks the system to read those pages of a block ahead that are on disk.
    pub(super) fn read_ahead(&self, block: usize) {
        let Some(disk) = &self.disk else { return };
        let mut numbers = self.plan.blocks[block].numbers();
        while let Some(first) = numbers.find(|&page| self.on_disk_only(page)) {
            let mut end = first + 1;
            while end < numbers.end && self.on_disk_only(end) {
                end += 1;
            }
            disk.spill.read_ahead(first..end);
            numbers.start = end;
        }
    }

    fn on_disk_only(&self, page: usize) -> bool {
        let page = &self.pages[page];
        page.bytes.is_empty() && !page.on_its_way
    }

    /// Sees to it that `count` buffers are free.
    fn make_room(&mut self, count: usize, wanted: &[usize], keep: &[usize], next_use: &[u32]) -> io::Result<()> {
        let room = |pages: &Pages| pages.free.len() + pages.most - pages.made;
        let under_way = |pages: &Pages| pages.disk.as_ref().map_or(0, |disk| disk.writer.under_way);
        let lacking = count.saturating_sub(room(self) + under_way(self));
        if lacking > 0 {
            // A few more, so that writes are large.
            self.push_out(lacking.max(4 * TOGETHER), wanted, keep, next_use);
        }
        while room(self) < count {
            assert!(under_way(self) > 0, "the pages needed at a time fit into memory");
            self.receive()?;
        }
        Ok(())
    }

    /// Removes up to `count` pages from memory; changed ones are sent to the writer.
    fn push_out(&mut self, count: usize, wanted: &[usize], keep: &[usize], next_use: &[u32]) {
        let mut blocks: Vec<usize> = (0..self.plan.blocks.len()).filter(|block| !keep.contains(block)).collect();
        blocks.sort_by_key(|&block| std::cmp::Reverse(next_use[block]));
        let mut left = count;
        let mut changed = Vec::new();
        for number in blocks.into_iter().flat_map(|block| self.plan.blocks[block].numbers()) {
            let page = &mut self.pages[number];
            if left == 0 {
                break;
            }
            if page.bytes.is_empty() || wanted.binary_search(&number).is_ok() {
                continue;
            }
            left -= 1;
            let bytes = std::mem::take(&mut page.bytes);
            if !page.changed {
                self.free.push(bytes);
                continue;
            }
            page.changed = false;
            page.on_its_way = true;
            changed.push(Outgoing {
                page: number,
                bytes,
                includes: page.includes.max(self.time),
                distances: page.distances,
            });
        }
        let Some(disk) = &mut self.disk else { return };
        let mut changed = changed.into_iter().peekable();
        while changed.peek().is_some() {
            disk.writer.send(changed.by_ref().take(TOGETHER).collect());
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        for out in disk.writer.receive()? {
            self.pages[out.page].on_its_way = false;
            self.free.push(out.bytes);
        }
        Ok(())
    }

    fn receive_all(&mut self) -> io::Result<()> {
        while self.disk.as_ref().is_some_and(|disk| disk.writer.under_way > 0) {
            self.receive()?;
        }
        Ok(())
    }

    /// Writes all changed pages if the last time was long enough ago. No source may be half included.
    pub(super) fn save_if_due(&mut self) -> io::Result<()> {
        match &self.disk {
            Some(disk) if disk.saved.elapsed() >= disk.save_every => self.save(),
            _ => Ok(()),
        }
    }

    /// Writes all changed pages.
    pub(super) fn save(&mut self) -> io::Result<()> {
        self.receive_all()?;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        let time = self.time;
        let mut changed = self.pages.iter_mut().enumerate();
        loop {
            let together: Vec<(usize, &mut Page)> =
                changed.by_ref().filter(|(_, page)| page.changed).take(TOGETHER).collect();
            if together.is_empty() {
                break;
            }
            let pages: Vec<_> = together
                .iter()
                .map(|(number, page)| (*number, &*page.bytes, page.includes.max(time), page.distances))
                .collect();
            disk.spill.write(&pages)?;
            for (_, page) in together {
                page.changed = false;
            }
        }
        disk.spill.save(time)?;
        disk.saved = Instant::now();
        Ok(())
    }

    /// The bytes of the layer, one per position, if they are all in memory.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.plan.places.last().map_or(0, |place| place.end));
        for page in self.pages {
            all.extend(page.bytes);
        }
        all
    }

    /// The files of the layer; every page must be saved.
    pub(crate) fn into_spill(self) -> Option<Spill> {
        self.disk.map(|disk| disk.spill)
    }
}
