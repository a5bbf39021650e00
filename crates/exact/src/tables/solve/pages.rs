//! The bytes of an unfinished layer, cut into pages: those in memory, and those on disk.
//!
//! A page is some rows of a block. When memory is full, the pages of the block that is needed last leave it; changed
//! ones are written first, by a thread of their own. Every page knows how many sources it includes (see
//! [`Pages::time`]), so that a killed build can go on from any mixture of older and newer pages.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::spill::{Entry, Outgoing, Saved, Spill, TOGETHER, Writer};
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
        let longest = layer.blocks.iter().map(|block| block.columns).max();
        let size = PAGE.max(longest.unwrap_or(0));
        let (mut blocks, mut places) = (Vec::new(), Vec::new());
        for block in &layer.blocks {
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
    writer: Writer,
    /// The files of the layer.
    pub(crate) spill: Arc<Spill>,
    save_every: Duration,
    saved: Instant,
}

impl Pages {
    /// The pages of a layer, of which at most `memory` bytes are in memory, and the others in `spill`.
    pub(super) fn new(
        layer: &Layer,
        memory: u64,
        (spill, (time, entries)): (Spill, Saved),
        save_every: Duration,
    ) -> io::Result<Pages> {
        let plan = Plan::of(layer);
        let page = |entry: Entry| Page {
            distances: entry.distances,
            includes: if entry.includes == 0 { 0 } else { entry.includes.max(time) },
            ..Page::default()
        };
        let spill = Arc::new(spill);
        Ok(Pages {
            pages: entries.into_iter().map(page).collect(),
            time,
            free: Vec::new(),
            most: plan.len().min((memory / plan.largest() as u64) as usize),
            made: 0,
            plan,
            writer: Writer::start(spill.clone())?,
            spill,
            save_every,
            saved: Instant::now(),
        })
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
        let spill = &self.spill;
        self.pages[*first..=*last]
            .par_iter_mut()
            .zip(*first..*last + 1)
            .filter(|(page, number)| page.includes > 0 && missing.binary_search(number).is_ok())
            .try_for_each(|(page, number)| spill.read(number, &mut page.bytes))
    }

    /// Asks the system to read those pages of a block ahead that are on disk.
    pub(super) fn read_ahead(&self, block: usize) {
        let mut numbers = self.plan.blocks[block].numbers();
        while let Some(first) = numbers.find(|&page| self.on_disk_only(page)) {
            let mut end = first + 1;
            while end < numbers.end && self.on_disk_only(end) {
                end += 1;
            }
            self.spill.read_ahead(first..end);
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
        let lacking = count.saturating_sub(room(self) + self.writer.under_way);
        if lacking > 0 {
            // A few more, so that writes are large.
            self.push_out(lacking.max(4 * TOGETHER), wanted, keep, next_use);
        }
        while room(self) < count {
            assert!(self.writer.under_way > 0, "the pages needed at a time fit into memory");
            self.receive()?;
        }
        Ok(())
    }

    /// Removes up to `count` pages from memory; changed ones are sent to the writer.
    fn push_out(&mut self, count: usize, wanted: &[usize], keep: &[usize], next_use: &[u32]) {
        let mut blocks: Vec<usize> = (0..self.plan.blocks.len()).filter(|block| !keep.contains(block)).collect();
        blocks.sort_by_key(|&block| std::cmp::Reverse(next_use[block]));
        let numbers: Vec<Range<usize>> = blocks.iter().map(|&block| self.plan.blocks[block].numbers()).collect();
        let mut left = count;
        let mut changed = Vec::new();
        for number in numbers.into_iter().flatten() {
            let page = &mut self.pages[number];
            if left == 0 {
                break;
            }
            if page.bytes.is_empty() || wanted.binary_search(&number).is_ok() {
                continue;
            }
            left -= 1;
            if !page.changed {
                self.free.push(std::mem::take(&mut page.bytes));
                continue;
            }
            page.on_its_way = true;
            changed.push(self.take_changed(number));
        }
        let mut changed = changed.into_iter().peekable();
        while changed.peek().is_some() {
            self.writer.send(changed.by_ref().take(TOGETHER).collect());
        }
    }

    /// A changed page, to be written.
    fn take_changed(&mut self, number: usize) -> Outgoing {
        let page = &mut self.pages[number];
        page.changed = false;
        Outgoing {
            page: number,
            bytes: std::mem::take(&mut page.bytes),
            includes: page.includes.max(self.time),
            distances: page.distances,
        }
    }

    fn receive(&mut self) -> io::Result<()> {
        for out in self.writer.receive()? {
            self.pages[out.page].on_its_way = false;
            self.free.push(out.bytes);
        }
        Ok(())
    }

    fn receive_all(&mut self) -> io::Result<()> {
        while self.writer.under_way > 0 {
            self.receive()?;
        }
        Ok(())
    }

    /// Writes all changed pages if the last time was long enough ago. No source may be half included.
    pub(super) fn save_if_due(&mut self) -> io::Result<()> {
        if self.saved.elapsed() >= self.save_every { self.save() } else { Ok(()) }
    }

    /// Writes all changed pages.
    pub(super) fn save(&mut self) -> io::Result<()> {
        self.receive_all()?;
        let changed: Vec<usize> = (0..self.pages.len()).filter(|&number| self.pages[number].changed).collect();
        for numbers in changed.chunks(TOGETHER) {
            let together: Vec<Outgoing> = numbers.iter().map(|&number| self.take_changed(number)).collect();
            self.spill.write(&together)?;
            for out in together {
                self.pages[out.page].bytes = out.bytes;
            }
        }
        self.spill.save(self.time)?;
        self.saved = Instant::now();
        Ok(())
    }
}
