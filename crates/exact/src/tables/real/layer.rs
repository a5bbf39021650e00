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

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::hold::Hold;
use crate::ExactError;
use crate::tables::file::{Owner, checksum, long, short};
use crate::tables::index::{Layer, Placement};
use crate::tables::map::map;
use jarmo_core::game::Player;
use jarmo_host::files;

/// How a file begins.
pub const MAGIC: [u8; 8] = *b"JARMOHLD";
/// Goes up when anything in the file changes its meaning.
pub const FORMAT_VERSION: u32 = 1;

/// The stage of a finished file.
pub const FINISHED: u32 = u32::MAX;

/// Bytes before the first placement.
pub const HEADER: usize = 64;

/// Where the stage of the work is, and the number of blocks that are done behind it.
pub const STAGE: usize = 32;

/// Where the checksum is.
pub const CHECKSUM: usize = 48;

/// Where the placements of a force lie.
#[derive(Debug)]
pub struct Layout {
    /// The placements with either player to move.
    pub layer: Layer,
    /// By block: its first placement among those with the same player to move.
    pub starts: Vec<usize>,
    /// Placements with White to move, and as many with Black.
    pub size: usize,
}

impl Layout {
    /// The layout of this force.
    pub fn new(force: u32) -> Layout {
        let layer = Layer::new(force);
        let mut ends = [0; 2];
        let mut starts = Vec::new();
        for block in &layer.blocks {
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
    pub fn place(&self, placement: &Placement) -> usize {
        let (number, within) =
            self.layer.place(placement).expect("the placement has this force, and both players have archers");
        self.starts[number] + within
    }

    /// The bytes of the file.
    pub fn file_size(&self) -> usize {
        HEADER + self.size + self.size.div_ceil(4)
    }
}

/// The finished file of one force.
#[derive(Debug)]
pub struct HeldLayer {
    /// Where its placements lie.
    pub layout: Layout,
    map: Mmap,
}

impl HeldLayer {
    /// Opens the file and verifies its checksum.
    pub fn open(folder: &Path, owner: Owner, bound: Player, force: u32) -> Result<HeldLayer, ExactError> {
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
    pub fn codes(&self) -> &[u8] {
        &self.map[HEADER..][..self.layout.size]
    }

    /// How far the bound side, which is to move, holds a placement.
    #[inline(always)]
    pub fn hold(&self, placement: &Placement) -> Hold {
        Hold::of(self.codes()[self.layout.place(placement)])
    }

    /// The flags of a placement with the other side to move.
    #[inline(always)]
    pub fn flags(&self, placement: &Placement) -> u8 {
        let place = self.layout.place(placement);
        self.map[HEADER + self.layout.size..][place / 4] >> (2 * (place % 4)) & 3
    }
}

/// The file of a finished force.
pub fn finished_path(folder: &Path, bound: Player, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.held", bound.name()))
}

fn damaged() -> ExactError {
    ExactError::new("is damaged; remove it and build it again")
}

/// Refuses a file of something else.
pub fn check(file: &[u8], owner: Owner, bound: Player, layout: &Layout) -> Result<(), ExactError> {
    if file.len() != layout.file_size() || !file.starts_with(&MAGIC) {
        return Err(damaged());
    }
    if short(file, 8) != FORMAT_VERSION {
        return Err(ExactError::new("has another format version; remove it and build it again"));
    }
    owner.check(short(file, 12), long(file, 16))?;
    let same = short(file, 24) == layout.layer.force
        && short(file, 28) == bound.index() as u32
        && long(file, 40) == layout.size as u64;
    if same { Ok(()) } else { Err(damaged()) }
}
