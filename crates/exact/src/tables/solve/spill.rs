//! The files of an unfinished layer.
//!
//! `force-NN.unfinished` becomes the table: after the room for its header it holds the bytes of every
//! page at their final place. `force-NN.pages` says what each page includes, and keeps a second copy of
//! the pages that were written last. A page is written to the copy first, so a process that dies while it
//! writes leaves one of the two whole. All numbers are little-endian:
//!
//! | offset in `.pages` | bytes | what |
//! |---|---|---|
//! | 0 | 48 | `JARMOPAG`, version, rules, board, force, pages, 8 zeros, XXH3-64 of the 40 bytes before |
//! | 512 and 1024 | 16 | the time of a save, twice (4 bytes each), and its XXH3-64; the larger time counts |
//! | 4096 | 32 each | per page: checksum (8), `includes` (4), 4 zeros, distances (16) |
//! | then, at a multiple of 4096 | 4096 | the copy: the number of its pages (8); page number (8) and entry (32) of each |
//! | then | | the bytes of these pages |
//!
//! The checksum of a page is the XXH3-64 of its bytes, seeded with that of the rest of its entry.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use rayon::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::pages::Plan;
use crate::ExactError;
use crate::tables::code::Distances;
use crate::tables::file::{HEADER, Owner, long, pages_path, seal_finished, short, unfinished_path};
use crate::tables::index::Layer;
use crate::tables::map::allocate;
use jarmo_core::games::Jarmo;

const MAGIC: [u8; 8] = *b"JARMOPAG";
const VERSION: u32 = 1;
const SAVES: [u64; 2] = [512, 1024];
const ENTRIES: u64 = 4096;
const ENTRY: usize = 32;

/// The most pages that are written together.
pub(super) const TOGETHER: usize = 32;
const COPY_HEAD: usize = 4096;

/// What the disk knows about a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    checksum: u64,
    pub(super) includes: u32,
    pub(super) distances: Distances,
}

impl Entry {
    fn of(out: &Outgoing) -> Entry {
        let mut entry = Entry { checksum: 0, includes: out.includes, distances: out.distances };
        entry.checksum = entry.checksum_of(out.page, &out.bytes);
        entry
    }

    fn checksum_of(&self, page: usize, bytes: &[u8]) -> u64 {
        let mut rest = [0; ENTRY];
        rest[..8].copy_from_slice(&(page as u64).to_le_bytes());
        rest[8..].copy_from_slice(&self.to_bytes()[8..]);
        xxh3_64_with_seed(bytes, xxh3_64(&rest))
    }

    fn to_bytes(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..8].copy_from_slice(&self.checksum.to_le_bytes());
        out[8..12].copy_from_slice(&self.includes.to_le_bytes());
        out[16..].copy_from_slice(&self.distances.0.to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Entry {
        Entry {
            checksum: long(bytes, 0),
            includes: short(bytes, 8),
            distances: Distances(u128::from_le_bytes(bytes[16..].try_into().expect("sixteen bytes"))),
        }
    }
}

/// A page on its way to the disk.
pub(super) struct Outgoing {
    pub(super) page: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) includes: u32,
    pub(super) distances: Distances,
}

/// The two files of an unfinished layer.
pub(crate) struct Spill {
    table: File,
    side: File,
    table_path: PathBuf,
    side_path: PathBuf,
    starts: Vec<u64>, // of the pages in the table
    sizes: Vec<usize>,
    copy: u64, // offset of the copy in the side file
}

/// What an unfinished layer had at its last save: the time, and the entry of every page.
pub(crate) type Saved = (u32, Vec<Entry>);

impl Spill {
    /// Goes on with the files of an earlier build.
    pub(crate) fn resume(folder: &Path, owner: Owner, layer: &Layer) -> Result<(Spill, Saved), ExactError> {
        let spill = Spill::open(folder, layer, false)?;
        let damaged = |path: &Path, what: &str| ExactError::damaged(what).at(path);
        let mut head = [0; 48];
        let ended = "is truncated";
        read_at(&spill.side, &mut head, 0).map_err(|_| damaged(&spill.side_path, ended))?;
        if head != spill.head(owner, layer) {
            return Err(damaged(&spill.side_path, "belongs to another build or is damaged"));
        }
        let mut entries = vec![0; spill.sizes.len() * ENTRY];
        read_at(&spill.side, &mut entries, ENTRIES).map_err(|_| damaged(&spill.side_path, ended))?;
        let mut entries: Vec<Entry> = entries.chunks_exact(ENTRY).map(Entry::from_bytes).collect();
        let unsound = spill.unsound(&entries).map_err(ExactError::io(&spill.table_path))?;
        let restored = spill.restore(&mut entries, &unsound).map_err(ExactError::io(&spill.side_path))?;
        if restored < unsound.len() {
            return Err(damaged(&spill.table_path, "is damaged"));
        }
        let time = SAVES.iter().filter_map(|&at| spill.saved_time(at)).max();
        Ok((spill, (time.unwrap_or(0), entries)))
    }

    /// Creates empty files; room for the whole table is taken at once.
    pub(crate) fn create(folder: &Path, owner: Owner, layer: &Layer) -> Result<(Spill, Saved), ExactError> {
        let spill = Spill::open(folder, layer, true)?;
        allocate(&spill.table, (HEADER + layer.size) as u64).map_err(ExactError::io(&spill.table_path))?;
        let largest = spill.sizes.iter().max().copied().unwrap_or(0);
        let side = spill.copy + (COPY_HEAD + TOGETHER * largest) as u64;
        allocate(&spill.side, side)
            .and_then(|()| write_at(&spill.side, &spill.head(owner, layer), 0))
            .map_err(ExactError::io(&spill.side_path))?;
        let entries = vec![Entry::default(); spill.sizes.len()];
        Ok((spill, (0, entries)))
    }

    /// Reads a page.
    pub(super) fn read(&self, page: usize, bytes: &mut [u8]) -> io::Result<()> {
        read_at(&self.table, bytes, self.starts[page])
    }

    /// Notes that every page on disk includes all sources before `time`.
    pub(super) fn save(&self, time: u32) -> io::Result<()> {
        self.table.sync_data()?;
        self.side.sync_data()?;
        let mut record = [time.to_le_bytes(), time.to_le_bytes()].concat();
        record.extend(xxh3_64(&record).to_le_bytes());
        // The slot of the older save is replaced.
        let newest = SAVES.into_iter().max_by_key(|&at| self.saved_time(at).unwrap_or(0));
        let older = SAVES.into_iter().find(|&at| Some(at) != newest);
        write_at(&self.side, &record, older.expect("there are two"))?;
        self.side.sync_data()
    }

    /// Makes the solved layer a table: header, sync, rename.
    pub(crate) fn finish(&self, folder: &Path, owner: Owner, layer: &Layer, longest: u32) -> Result<(), ExactError> {
        seal_finished::<Jarmo>(folder, &self.table, owner, layer, longest)?;
        std::fs::remove_file(&self.side_path).map_err(ExactError::io(&self.side_path))
    }

    fn open(folder: &Path, layer: &Layer, new: bool) -> Result<Spill, ExactError> {
        let open = |path: &Path| {
            OpenOptions::new().read(true).write(true).create(new).truncate(new).open(path).map_err(|error| match error
                .kind()
            {
                io::ErrorKind::NotFound => ExactError::missing().at(path),
                _ => ExactError::io(path)(error),
            })
        };
        let plan = Plan::of(layer);
        let places = || (0..plan.len()).map(|page| plan.place(page));
        let side_path = pages_path::<Jarmo>(folder, layer.force);
        let table_path = unfinished_path::<Jarmo>(folder, layer.force);
        Ok(Spill {
            side: open(&side_path)?,
            table: open(&table_path)?,
            side_path,
            table_path,
            starts: places().map(|place| (HEADER + place.start) as u64).collect(),
            sizes: places().map(|place| place.len()).collect(),
            copy: (ENTRIES + (plan.len() * ENTRY) as u64).next_multiple_of(4096),
        })
    }

    fn head(&self, owner: Owner, layer: &Layer) -> [u8; 48] {
        let mut head = [0; 48];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..24].copy_from_slice(&owner.to_bytes());
        head[24..28].copy_from_slice(&layer.force.to_le_bytes());
        head[28..32].copy_from_slice(&(self.sizes.len() as u32).to_le_bytes());
        let check = xxh3_64(&head[..40]);
        head[40..].copy_from_slice(&check.to_le_bytes());
        head
    }

    fn saved_time(&self, at: u64) -> Option<u32> {
        let mut record = [0; 16];
        read_at(&self.side, &mut record, at).ok()?;
        (long(&record, 8) == xxh3_64(&record[..8])).then_some(short(&record, 0))
    }

    /// The pages whose bytes do not match their entries.
    fn unsound(&self, entries: &[Entry]) -> io::Result<Vec<usize>> {
        let sound = entries.par_iter().enumerate().map_init(Vec::new, |bytes, (page, entry)| {
            if entry.includes == 0 {
                return Ok(entry == &Entry::default());
            }
            bytes.resize(self.sizes[page], 0);
            read_at(&self.table, bytes, self.starts[page])?;
            Ok(entry.checksum_of(page, bytes) == entry.checksum)
        });
        let sound = sound.collect::<io::Result<Vec<bool>>>()?;
        Ok((0..sound.len()).filter(|&page| !sound[page]).collect())
    }

    /// Copies these pages and their entries from the second copy; returns how many it holds.
    fn restore(&self, entries: &mut [Entry], pages: &[usize]) -> io::Result<usize> {
        if pages.is_empty() {
            return Ok(0);
        }
        let mut head = [0; COPY_HEAD];
        read_at(&self.side, &mut head, self.copy)?;
        let count = long(&head, 0);
        let mut at = self.copy + COPY_HEAD as u64;
        let mut restored = 0;
        for item in head[8..].chunks_exact(8 + ENTRY).take(TOGETHER.min(count as usize)) {
            let page = long(item, 0) as usize;
            let Some(&size) = self.sizes.get(page) else { break };
            let entry = Entry::from_bytes(&item[8..]);
            if pages.contains(&page) {
                let mut bytes = vec![0; size];
                read_at(&self.side, &mut bytes, at)?;
                if entry.checksum_of(page, &bytes) == entry.checksum {
                    self.write_home(page, &bytes, entry)?;
                    entries[page] = entry;
                    restored += 1;
                }
            }
            at += size as u64;
        }
        Ok(restored)
    }

    /// Writes up to [`TOGETHER`] pages.
    pub(super) fn write(&self, pages: &[Outgoing]) -> io::Result<()> {
        assert!(pages.len() <= TOGETHER, "too many pages");
        let entries: Vec<Entry> = pages.iter().map(Entry::of).collect();
        let mut head = vec![0; COPY_HEAD];
        head[..8].copy_from_slice(&(pages.len() as u64).to_le_bytes());
        for ((item, entry), out) in head[8..].chunks_exact_mut(8 + ENTRY).zip(&entries).zip(pages) {
            item[..8].copy_from_slice(&(out.page as u64).to_le_bytes());
            item[8..].copy_from_slice(&entry.to_bytes());
        }
        write_at(&self.side, &head, self.copy)?;
        let mut at = self.copy + COPY_HEAD as u64;
        for out in pages {
            write_at(&self.side, &out.bytes, at)?;
            at += out.bytes.len() as u64;
        }
        for (out, entry) in pages.iter().zip(entries) {
            self.write_home(out.page, &out.bytes, entry)?;
        }
        Ok(())
    }

    fn write_home(&self, page: usize, bytes: &[u8], entry: Entry) -> io::Result<()> {
        write_at(&self.table, bytes, self.starts[page])?;
        write_at(&self.side, &entry.to_bytes(), ENTRIES + (page * ENTRY) as u64)
    }

    /// Asks the system to read some pages ahead.
    #[cfg(target_os = "linux")]
    pub(super) fn read_ahead(&self, pages: std::ops::Range<usize>) {
        let Some(last) = pages.clone().last() else { return };
        let start = self.starts[pages.start];
        let bytes = self.starts[last] + self.sizes[last] as u64 - start;
        // It is a hint: without it the read takes longer.
        let advice = rustix::fs::Advice::WillNeed;
        let _ = rustix::fs::fadvise(&self.table, start, std::num::NonZeroU64::new(bytes), advice);
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read_ahead(&self, _: std::ops::Range<usize>) {}
}

/// Writes pages in a thread of its own, so that solving goes on meanwhile.
pub(super) struct Writer {
    send: Option<SyncSender<Vec<Outgoing>>>,
    back: Receiver<(Vec<Outgoing>, io::Result<()>)>,
    thread: Option<JoinHandle<()>>,
    /// Pages that were sent and have not come back.
    pub(super) under_way: usize,
}

impl Writer {
    pub(super) fn start(spill: Arc<Spill>) -> io::Result<Writer> {
        const QUEUE: usize = 8;
        let (send, receive) = sync_channel::<Vec<Outgoing>>(QUEUE);
        let (done, back): (Sender<_>, _) = channel();
        let thread = Builder::new().name("table writer".to_owned()).spawn(move || {
            for pages in receive {
                let written = spill.write(&pages);
                if done.send((pages, written)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Writer { send: Some(send), back, thread: Some(thread), under_way: 0 })
    }

    /// Sends up to [`TOGETHER`] pages.
    pub(super) fn send(&mut self, pages: Vec<Outgoing>) {
        self.under_way += pages.len();
        let send = self.send.as_ref().expect("open until it is dropped");
        send.send(pages).expect("the writer runs");
    }

    /// Waits for the next pages that are on disk.
    pub(super) fn receive(&mut self) -> io::Result<Vec<Outgoing>> {
        let (pages, written) = self.back.recv().expect("the writer runs");
        self.under_way -= pages.len();
        written.map(|()| pages)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.send.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was reported already.
            let _ = thread.join();
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Elsewhere a file has one place at which it is read and written, so threads take turns.
#[cfg(not(unix))]
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let _turn = TURN.lock();
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let _turn = TURN.lock();
    io::Seek::seek(&mut file, io::SeekFrom::Start(at))?;
    io::Write::write_all(&mut file, bytes)
}
