//! The replay window: the newest samples in memory, and the files that hold them.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::samples::{Sample, Samples};
use jarmo_core::error::FileError;
use jarmo_core::net::GameVersion;
use jarmo_core::numbers::Bounds;
use jarmo_core::random::Stream;
use jarmo_host::container::read_file;
use jarmo_host::files::{list, write_whole};

/// Settings of the replay window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// Samples in the window. The oldest are dropped, one file at a time.
    pub capacity: usize,
}

impl ReplaySettings {
    /// The bounds of the numbers.
    pub const BOUNDS: [(&str, Bounds); 1] = [("capacity", Bounds::whole(1, 1_000_000_000))];
}

/// The newest samples, and their files in a folder.
pub struct Replay {
    settings: ReplaySettings,
    origin: GameVersion,
    folder: PathBuf,
    shards: VecDeque<ReplayFile>,
    next: u64, // number of the next file
    total: usize,
    unneeded: Vec<u64>, // files that left the window
}

struct ReplayFile {
    number: u64,
    samples: Samples,
    is_written: bool,
}

impl Replay {
    /// An empty window. Nothing is read or written before [`Replay::save`].
    pub fn new(folder: &Path, settings: ReplaySettings, origin: GameVersion) -> Replay {
        Replay {
            settings,
            origin,
            folder: folder.to_owned(),
            shards: VecDeque::new(),
            next: 0,
            total: 0,
            unneeded: Vec::new(),
        }
    }

    /// Reads the newest samples of a folder, which is created if necessary, as they were at a checkpoint with these files in
    /// its window. Later files are deleted. Files that are damaged or belong to another game are skipped, with one warning
    /// each; missing ones have a warning together. A file that cannot be read is an error: it may well be sound.
    pub fn open(
        folder: &Path,
        settings: ReplaySettings,
        origin: GameVersion,
        files: Range<u64>,
    ) -> Result<(Replay, Vec<String>), FileError> {
        let failed = |error| FileError::at(folder, error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut numbers = Vec::new();
        for path in list(folder).map_err(failed)? {
            match number_of(&path) {
                Some(later) if later >= files.end => {
                    fs::remove_file(&path).map_err(|error| FileError::at(&path, error))?;
                }
                number => numbers.extend(number),
            }
        }
        numbers.sort_unstable();
        let mut replay = Replay { next: files.end, ..Replay::new(folder, settings, origin) };
        let mut warnings = Vec::new();
        for &number in numbers.iter().rev() {
            if replay.total >= settings.capacity {
                replay.unneeded.push(number);
                continue;
            }
            let path = replay.path(number);
            let bytes = match read_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string().into()),
                Err(error) => return Err(FileError::at(&path, error)),
                Ok(bytes) => Ok(bytes),
            };
            match bytes.and_then(|bytes| Samples::from_bytes(&bytes, &replay.origin)) {
                Ok(samples) => {
                    replay.total += samples.len();
                    replay.shards.push_front(ReplayFile { number, samples, is_written: true });
                }
                Err(error) => warnings.push(format!("{}: {error}; skipped", path.display())),
            }
        }
        let missing = files.filter(|number| numbers.binary_search(number).is_err());
        let missing: Vec<String> = missing.map(|number| number.to_string()).collect();
        if !missing.is_empty() {
            let (folder, numbers) = (folder.display(), missing.join(", "));
            warnings.push(format!("{folder}: files are missing: {numbers}; the run continues without them"));
        }
        Ok((replay, warnings))
    }

    /// Adds samples as one file, which [`Replay::save`] writes.
    pub fn push(&mut self, samples: Samples) {
        if samples.is_empty() {
            return;
        }
        let number = self.next;
        self.next += 1;
        self.total += samples.len();
        self.shards.push_back(ReplayFile { number, samples, is_written: false });
        while let Some(oldest) = self.shards.front() {
            let rest = self.total - oldest.samples.len();
            if rest < self.settings.capacity {
                break;
            }
            if oldest.is_written {
                self.unneeded.push(oldest.number);
            }
            self.total = rest;
            self.shards.pop_front();
        }
    }

    /// Writes the files of the window that are not on the disk yet. Those that entered and left it since the last call are
    /// never written. Files of samples that left the window stay until [`Replay::tidy`].
    pub fn save(&mut self) -> Result<(), FileError> {
        let (folder, origin) = (&self.folder, &self.origin);
        let new = self.shards.iter_mut().filter(|file| !file.is_written);
        for file in new {
            let path = Replay::path_in(folder, file.number);
            write_whole(&path, &file.samples.to_bytes(origin)).map_err(|error| FileError::at(&path, error))?;
            file.is_written = true;
        }
        Ok(())
    }

    /// Deletes the files that left the window. To be called once the checkpoint that needs them is replaced.
    pub fn tidy(&mut self) -> Result<(), FileError> {
        for number in std::mem::take(&mut self.unneeded) {
            let path = self.path(number);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(FileError::at(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of the oldest file in the window, or of the next file if there is none.
    pub fn first(&self) -> u64 {
        self.shards.front().map_or(self.next, |oldest| oldest.number)
    }

    /// The number of the next file.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of samples in the window.
    pub fn len(&self) -> usize {
        self.total
    }

    /// Whether the window is empty.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Draws one sample, with replacement.
    ///
    /// # Panics
    /// Panics if the window is empty.
    pub fn draw(&self, stream: &mut Stream) -> Sample<'_> {
        let last = self.total.checked_sub(1).expect("a window with samples");
        let mut place = ((stream.random::<f64>() * self.total as f64) as usize).min(last);
        for shard in &self.shards {
            if place < shard.samples.len() {
                return shard.samples.get(place);
            }
            place -= shard.samples.len();
        }
        unreachable!("the shards hold all samples")
    }

    /// Every sample, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Sample<'_>> {
        self.shards.iter().flat_map(|shard| shard.samples.iter())
    }

    fn path(&self, number: u64) -> PathBuf {
        Replay::path_in(&self.folder, number)
    }

    /// The path of a file in the folder of a window.
    pub fn path_in(folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("{number:08}.safetensors"))
    }
}

/// The number of a replay file, or `None` for another file.
fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_suffix(".safetensors")?;
    let plain = digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}
