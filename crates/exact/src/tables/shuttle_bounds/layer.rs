//! The file of one force and one bound side, finished or not.
//!
//! A header of 64 bytes, one byte for each placement with the bound side to move ([`super::draw_proof`]), and two bits
//! for each placement with the other side to move. Placements come in the order of the tables, those of the other player
//! left out. docs/lab/tables.md lists the bytes of the header.

use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::draw_proof::DrawProof;
use crate::ExactError;
use crate::tables::file::{Owner, checksum, long, short};
use crate::tables::index::{JarmoLayer, Placement};
use crate::tables::map::map;
use jarmo_core::game::Player;
use jarmo_host::files;

/// How a file begins.
pub const MAGIC: [u8; 8] = *b"JARMOHLD";
/// The version of the format. It is increased when anything in the file changes its meaning.
pub const FORMAT_VERSION: u32 = 1;

/// The stage of a finished file.
pub const FINISHED: u32 = u32::MAX;

/// Bytes before the first placement.
pub const HEADER: usize = 64;

/// Where the stage of the work is, and the number of blocks that are done behind it.
pub const STAGE: usize = 32;

/// Where the checksum is.
pub const CHECKSUM: usize = 48;

/// The bytes of the file of a layer.
pub fn file_size(layer: &JarmoLayer) -> usize {
    let size = layer.size / 2;
    HEADER + size + size.div_ceil(4)
}

/// Where a placement lies among those with the same player to move.
///
/// # Panics
/// Panics if the placement has another force, or a player has no archer.
#[inline(always)]
pub fn place(layer: &JarmoLayer, placement: &Placement) -> usize {
    layer.index_of_side(placement).expect("the placement has this force, and both players have archers")
}

/// The finished file of one force.
#[derive(Debug)]
pub struct BoundLayer {
    /// Its placements, with either player to move.
    pub layer: JarmoLayer,
    map: Mmap,
}

impl BoundLayer {
    /// Opens the file and verifies its checksum.
    pub fn open(folder: &Path, owner: Owner, bound: Player, force: u32) -> Result<BoundLayer, ExactError> {
        let path = finished_path(folder, bound, force);
        if !path.exists() {
            return Err(ExactError::new("is missing; build it first").at(&path));
        }
        let (file, _) = files::open(&path).map_err(ExactError::io(&path))?;
        let map = map(&file).map_err(ExactError::io(&path))?;
        let layer = JarmoLayer::new(force);
        check(&map, owner, bound, &layer).map_err(|error| error.at(&path))?;
        if short(&map, STAGE) != FINISHED || long(&map, CHECKSUM) != checksum(&map[HEADER..]) {
            return Err(damaged().at(&path));
        }
        Ok(BoundLayer { layer, map })
    }

    /// One byte for each placement with the bound side to move.
    #[inline(always)]
    pub fn codes(&self) -> &[u8] {
        &self.map[HEADER..][..self.layer.size / 2]
    }

    /// How far the bound side, which is to move, holds a placement.
    #[inline(always)]
    pub fn draw_proof(&self, placement: &Placement) -> DrawProof {
        DrawProof::of(self.codes()[place(&self.layer, placement)])
    }

    /// The flags of a placement with the other side to move.
    #[inline(always)]
    pub fn flags(&self, placement: &Placement) -> u8 {
        let place = place(&self.layer, placement);
        self.map[HEADER + self.layer.size / 2..][place / 4] >> (2 * (place % 4)) & 3
    }
}

/// The file of a finished force.
pub fn finished_path(folder: &Path, bound: Player, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.held", bound.name()))
}

fn damaged() -> ExactError {
    ExactError::new("is damaged; remove it and build it again")
}

/// Fails for the file of another side, force, board or version.
pub fn check(file: &[u8], owner: Owner, bound: Player, layer: &JarmoLayer) -> Result<(), ExactError> {
    if file.len() != file_size(layer) || !file.starts_with(&MAGIC) {
        return Err(damaged());
    }
    if short(file, 8) != FORMAT_VERSION {
        return Err(ExactError::new("has another format version; remove it and build it again"));
    }
    owner.check(short(file, 12), long(file, 16))?;
    let same = short(file, 24) == layer.force
        && short(file, 28) == bound.index() as u32
        && long(file, 40) == layer.size as u64 / 2;
    if same { Ok(()) } else { Err(damaged()) }
}
