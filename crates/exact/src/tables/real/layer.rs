//! The file of one force and one bound side, finished or not.
//!
//! A header of 64 bytes, one byte for each placement with the bound side to move ([`super::hold`]), and two bits
//! for each placement with the other side to move. Placements come in the order of the tables, those of the
//! other player left out. Numbers are little-endian:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `JARMOHLD` |
//! | 8 | 4 | version of this format |
//! | 12 | 12 | version of the rules and digest of the board, as in a table |
//! | 24 | 4 | force |
//! | 28 | 4 | the bound side: 0 White, 1 Black |
//! | 32 | 4 | stage of the work; `u32::MAX`: finished |
//! | 36 | 4 | blocks that are done in this stage |
//! | 40 | 8 | number of placements of either kind |
//! | 48 | 8 | checksum of everything after the header, as in a table |
//! | 56 | 8 | 0 |

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapMut};

use crate::ExactError;
use crate::tables::file::{Owner, checksum, long, short};
use crate::tables::index::{Layer, Placement};
use crate::tables::map::{allocate, map, map_mut};
use jarmo_core::game::Player;
use jarmo_host::files::{self, rename};

const MAGIC: [u8; 8] = *b"JARMOHLD";
const FORMAT_VERSION: u32 = 1;
const FINISHED: u32 = u32::MAX;

/// Bytes before the first placement.
pub(super) const HEADER: usize = 64;

const STAGE: usize = 32;
const BLOCKS: usize = 36;
const CHECKSUM: usize = 48;

/// Where the placements of a force lie.
#[derive(Debug)]
pub(super) struct Layout {
    pub layer: Layer,
    pub starts: Vec<usize>, // by block: its first placement among those with the same player to move
    pub size: usize,        // placements with White to move, and as many with Black
}

impl Layout {
    pub(super) fn new(force: u32) -> Layout {
        let layer = Layer::new(force);
        let mut ends = [0; 2];
        let mut starts = Vec::new();
        for block in layer.blocks() {
            let end = &mut ends[block.material.mover.index()];
            starts.push(*end);
            *end += block.size();
        }
        let [size, other] = ends;
        assert_eq!(size, other, "both players have the same placements");
        Layout { layer, starts, size }
    }

    /// The number of a placement among those with the same player to move.
    #[inline(always)]
    pub(super) fn place(&self, placement: &Placement) -> usize {
        let (number, within) =
            self.layer.place(placement).expect("the placement has this force, and both players have archers");
        self.starts[number] + within
    }

    /// The bytes of the two-bit flags.
    pub(super) fn flag_bytes(&self) -> usize {
        self.size.div_ceil(4)
    }

    /// The bytes of the file.
    pub(super) fn file_size(&self) -> usize {
        HEADER + self.size + self.flag_bytes()
    }
}

/// The finished file of one force.
#[derive(Debug)]
pub(super) struct HeldLayer {
    pub layout: Layout,
    map: Mmap,
}

impl HeldLayer {
    /// Opens the file and verifies its checksum.
    pub(super) fn open(folder: &Path, owner: Owner, bound: Player, force: u32) -> Result<HeldLayer, ExactError> {
        let path = finished_path(folder, bound, force);
        if !path.exists() {
            return Err(ExactError::new("is missing; build it first").at(&path));
        }
        let (file, _) = files::open(&path).map_err(ExactError::io(&path))?;
        let map = map(&file).map_err(ExactError::io(&path))?;
        let layout = Layout::new(force);
        check(&map, owner, bound, &layout).map_err(|error| error.at(&path))?;
        if short(&map, STAGE) != FINISHED || long(&map, CHECKSUM) != checksum(&map[HEADER..]) {
            return Err(damaged().at(&path));
        }
        Ok(HeldLayer { layout, map })
    }

    /// One byte for each placement with the bound side to move.
    #[inline(always)]
    pub(super) fn codes(&self) -> &[u8] {
        &self.map[HEADER..][..self.layout.size]
    }

    /// Two bits for each placement with the other side to move.
    #[inline(always)]
    pub(super) fn flags(&self) -> &[u8] {
        &self.map[HEADER + self.layout.size..]
    }
}

/// The file of a force on which work goes on. Whatever is written to the map survives the end of the process.
pub(super) struct Unfinished {
    path: PathBuf,
    file: File,
    pub map: MmapMut,
}

impl Unfinished {
    /// Opens the unfinished file of an earlier build, or begins one. Also tells whether it existed.
    pub(super) fn open(
        folder: &Path,
        owner: Owner,
        bound: Player,
        layout: &Layout,
    ) -> Result<(Unfinished, bool), ExactError> {
        let path = unfinished_path(folder, bound, layout.layer.force());
        let existed = path.exists();
        let open = || {
            let mut options = File::options();
            let file = options.read(true).write(true).create(true).truncate(false).open(&path)?;
            // Writing to a hole on a full disk would end the process.
            allocate(&file, layout.file_size() as u64)?;
            let map = map_mut(&file)?;
            Ok((file, map))
        };
        let (file, mut map) = open().map_err(ExactError::io(&path))?;
        if map[..MAGIC.len()] == [0; MAGIC.len()] {
            let mut header = Vec::with_capacity(HEADER);
            header.extend(MAGIC);
            header.extend(FORMAT_VERSION.to_le_bytes());
            header.extend(owner.to_bytes());
            header.extend(layout.layer.force().to_le_bytes());
            header.extend((bound.index() as u32).to_le_bytes());
            header.extend([0; 8]);
            header.extend((layout.size as u64).to_le_bytes());
            header.resize(HEADER, 0);
            // The first bytes say that the others are there.
            map[MAGIC.len()..HEADER].copy_from_slice(&header[MAGIC.len()..]);
            map[..MAGIC.len()].copy_from_slice(&MAGIC);
        }
        check(&map, owner, bound, layout).map_err(|error| error.at(&path))?;
        Ok((Unfinished { path, file, map }, existed))
    }

    /// The stage of the work and the blocks that are done in it.
    pub(super) fn stage(&self) -> (u32, u32) {
        (short(&self.map, STAGE), short(&self.map, BLOCKS))
    }

    /// Notes the stage of the work and the blocks that are done in it.
    pub(super) fn note(&mut self, stage: u32, blocks: u32) {
        let both = u64::from(stage) | u64::from(blocks) << 32;
        self.map[STAGE..STAGE + 8].copy_from_slice(&both.to_le_bytes());
    }

    /// Writes the checksum and gives the file its name.
    pub(super) fn finish(mut self, finished: &Path) -> Result<(), ExactError> {
        let sum = checksum(&self.map[HEADER..]);
        self.map[CHECKSUM..CHECKSUM + 8].copy_from_slice(&sum.to_le_bytes());
        self.note(FINISHED, 0);
        let Unfinished { path, file, map } = self;
        let seal = || {
            map.flush()?;
            drop(map);
            file.sync_all()?;
            rename(&path, finished)
        };
        seal().map_err(ExactError::io(&path))
    }
}

/// The file of a finished force.
pub(super) fn finished_path(folder: &Path, bound: Player, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.held", bound.name()))
}

/// The file of an unfinished force.
fn unfinished_path(folder: &Path, bound: Player, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.unfinished", bound.name()))
}

fn damaged() -> ExactError {
    ExactError::new("is damaged; remove it and build it again")
}

fn check(file: &[u8], owner: Owner, bound: Player, layout: &Layout) -> Result<(), ExactError> {
    if file.len() != layout.file_size() || !file.starts_with(&MAGIC) {
        return Err(damaged());
    }
    if short(file, 8) != FORMAT_VERSION {
        return Err(ExactError::new("has another format version; remove it and build it again"));
    }
    owner.check(short(file, 12), long(file, 16))?;
    let same = short(file, 24) == layout.layer.force()
        && short(file, 28) == bound.index() as u32
        && long(file, 40) == layout.size as u64;
    if same { Ok(()) } else { Err(damaged()) }
}
