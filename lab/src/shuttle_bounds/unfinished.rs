//! The file of a force that is being solved: the finished file with a stage of the work in its header.

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::MmapMut;

use jarmo_core::game::Player;
use jarmo_exact::ExactError;
use jarmo_exact::tables::index::JarmoLayer;
use jarmo_exact::tables::shuttle_bounds::layer::{
    CHECKSUM, FINISHED, FORMAT_VERSION, HEADER, MAGIC, STAGE, check, file_size,
};
use jarmo_exact::tables::{Owner, allocate, checksum, map_mut};
use jarmo_host::files::rename;

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
        layer: &JarmoLayer,
    ) -> Result<(Unfinished, bool), ExactError> {
        let path = unfinished_path(folder, bound, layer.force);
        let existed = path.exists();
        let open = || {
            let mut options = File::options();
            let file = options.read(true).write(true).create(true).truncate(false).open(&path)?;
            // Writing to a hole on a full disk would end the process.
            allocate(&file, file_size(layer) as u64)?;
            let map = map_mut(&file)?;
            Ok((file, map))
        };
        let (file, mut map) = open().map_err(ExactError::io(&path))?;
        if map[..MAGIC.len()] == [0; MAGIC.len()] {
            let header = header(owner, bound, layer);
            // The first bytes say that the others are there.
            map[MAGIC.len()..HEADER].copy_from_slice(&header[MAGIC.len()..]);
            map[..MAGIC.len()].copy_from_slice(&MAGIC);
        }
        check(&map, owner, bound, layer).map_err(|error| error.at(&path))?;
        Ok((Unfinished { path, file, map }, existed))
    }

    /// The stage of the work and the blocks that are done in it.
    pub(super) fn stage(&self) -> (u32, u32) {
        let number = |at: usize| u32::from_le_bytes(self.map[at..at + 4].try_into().expect("four bytes"));
        (number(STAGE), number(STAGE + 4))
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

/// The file of an unfinished force.
fn unfinished_path(folder: &Path, bound: Player, force: u32) -> PathBuf {
    folder.join(format!("{}-{force:02}.unfinished", bound.name()))
}

/// The header of an unfinished file.
fn header(owner: Owner, bound: Player, layer: &JarmoLayer) -> [u8; HEADER] {
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(FORMAT_VERSION.to_le_bytes());
    header.extend(owner.to_bytes());
    header.extend(layer.force.to_le_bytes());
    header.extend((bound.index() as u32).to_le_bytes());
    header.extend([0; 8]);
    header.extend((layer.size as u64 / 2).to_le_bytes());
    header.resize(HEADER, 0);
    header.try_into().expect("the length is right")
}
