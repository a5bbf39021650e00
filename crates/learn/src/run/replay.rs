//! The files of a run's replay buffer.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jarmo_core::error::FileError;
use jarmo_core::net::GameVersion;
use jarmo_host::container::read_file;
use jarmo_host::files::{list, write_whole};
use jarmo_selfplay::replay::{ReplaySettings, Samples, Window};

/// The folder with the files of a [`Window`].
#[derive(Debug)]
pub struct ReplayFolder {
    path: PathBuf,
    origin: GameVersion,
    written: BTreeSet<u64>, // the numbers of the files that are there
}

impl ReplayFolder {
    /// Reads the newest samples from a folder, as they were at a checkpoint. `files` are the numbers of the files
    /// that the replay buffer had then.
    ///
    /// The folder is created if needed. Later files are deleted. Damaged files and those of another game are skipped
    /// with one warning each. All missing files share one warning. A file that cannot be read is an error, because it
    /// may be undamaged.
    pub fn open(
        path: &Path,
        settings: ReplaySettings,
        origin: GameVersion,
        files: Range<u64>,
    ) -> Result<(ReplayFolder, Window, Vec<String>), FileError> {
        let failed = |error| FileError::at(path, error);
        fs::create_dir_all(path).map_err(failed)?;
        let mut numbers = BTreeSet::new();
        for file in list(path).map_err(failed)? {
            match number_of(&file) {
                Some(later) if later >= files.end => {
                    fs::remove_file(&file).map_err(|error| FileError::at(&file, error))?;
                }
                number => numbers.extend(number),
            }
        }
        let mut folder = ReplayFolder { path: path.to_owned(), origin, written: BTreeSet::new() };
        let mut window = Window::new(settings, files.end);
        let mut warnings = Vec::new();
        for &number in numbers.iter().rev() {
            if window.is_full() {
                folder.written.insert(number);
                continue;
            }
            let file = ReplayFolder::path_in(path, number);
            let bytes = match read_file(&file) {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string().into()),
                Err(error) => return Err(FileError::at(&file, error)),
                Ok(bytes) => Ok(bytes),
            };
            match bytes.and_then(|bytes| Samples::from_bytes(&bytes, &folder.origin)) {
                Ok(samples) => {
                    window.push_older(number, samples);
                    folder.written.insert(number);
                }
                Err(error) => warnings.push(format!("{}: {error}; skipped", file.display())),
            }
        }
        let missing = files.filter(|number| !numbers.contains(number));
        let missing: Vec<String> = missing.map(|number| number.to_string()).collect();
        if !missing.is_empty() {
            let (folder, numbers) = (path.display(), missing.join(", "));
            warnings.push(format!("{folder}: files are missing: {numbers}; the run continues without them"));
        }
        Ok((folder, window, warnings))
    }

    /// Writes the files of the window that are not on disk yet. Files of dropped samples remain on disk until
    /// [`ReplayFolder::tidy`].
    pub fn save(&mut self, window: &Window) -> Result<(), FileError> {
        for (number, samples) in window.files() {
            if !self.written.contains(number) {
                let file = ReplayFolder::path_in(&self.path, *number);
                let bytes = samples.to_bytes(&self.origin);
                write_whole(&file, &bytes).map_err(|error| FileError::at(&file, error))?;
                self.written.insert(*number);
            }
        }
        Ok(())
    }

    /// Deletes the files of dropped samples. Call it only when no checkpoint needs them any more.
    pub fn tidy(&mut self, window: &Window) -> Result<(), FileError> {
        let needed = self.written.split_off(&window.first());
        for number in std::mem::replace(&mut self.written, needed) {
            let file = ReplayFolder::path_in(&self.path, number);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(FileError::at(&file, error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The path of the file with this number in a folder.
    fn path_in(folder: &Path, number: u64) -> PathBuf {
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
