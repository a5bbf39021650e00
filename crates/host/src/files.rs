//! Reads of regular files, atomic writes, and folder locks between processes.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The most bytes of a file of settings, such as a board or a configuration.
pub const SETTINGS_BYTES: u64 = 1 << 24;

/// The most bytes of a file with one line per game or per report.
pub const LINES_BYTES: u64 = 1 << 32;

/// Waits before a read is tried again after an error that may pass, in milliseconds.
const WAITS: [u64; 5] = [20, 50, 100, 200, 400];

/// Opens a file to read it; also gives its size in bytes. Folders, pipes and devices are refused, because
/// reading a pipe or a device may never end.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    patiently(|| {
        check_regular(path)?; // before it is opened, because opening a pipe waits for its writer
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    })
}

/// Reads a file of at most `most` bytes. A larger one is refused before it is read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open(path)?;
    let too_large = |size| {
        let problem = format!("it has {size} bytes, and such a file has at most {most}");
        io::Error::new(io::ErrorKind::FileTooLarge, problem)
    };
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(most + 1).read_to_end(&mut bytes)?; // it may grow meanwhile
    match bytes.len() as u64 {
        size if size > most => Err(too_large(size)),
        _ => Ok(bytes),
    }
}

/// Reads a text file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, most)?);
    text.map_err(|error| {
        let problem = format!("not UTF-8 text: {}", error.utf8_error());
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

/// Refuses what is there but is no regular file.
pub fn check_regular(path: &Path) -> io::Result<()> {
    refuse_other_kinds(path, "copy its content to a file first")
}

/// Refuses to write over what is there but is no regular file.
pub fn check_output(path: &Path) -> io::Result<()> {
    match refuse_other_kinds(path, "name a file") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        checked => checked,
    }
}

/// Refuses a folder, and a pipe or device with this way out.
fn refuse_other_kinds(path: &Path, way_out: &str) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    let problem = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder, not a file".to_owned()
    } else {
        format!("a pipe or a device, not a file; {way_out}")
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// The paths in a folder, in no particular order.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = patiently(|| fs::read_dir(folder))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Tries again for a moment if too many files are open, in this process or on the machine.
fn patiently<T>(read: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for wait in WAITS {
        match read() {
            Err(error) if may_pass(&error) => thread::sleep(Duration::from_millis(wait)),
            done => return done,
        }
    }
    read()
}

fn may_pass(error: &io::Error) -> bool {
    const TOO_MANY_OPEN: [i32; 2] = [23, 24]; // ENFILE and EMFILE
    let number = error.raw_os_error();
    cfg!(unix) && number.is_some_and(|number| TOO_MANY_OPEN.contains(&number))
}

/// Writes a file atomically: readers find the old content or the new content, even after a crash. Writes to
/// a temporary file beside it, syncs, and renames. Folders, pipes and devices are refused, because the new file
/// would replace them.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_by(path, &beside(path), &[content])
}

/// Like [`write_whole`], for content in several parts and with a given temporary file in the same folder.
/// With a fixed name, the next write replaces a temporary file left by a killed process; use it only if no
/// other process writes the same file.
pub fn write_whole_by(path: &Path, temporary: &Path, parts: &[&[u8]]) -> io::Result<()> {
    check_output(path)?;
    let result = write_and_rename(path, temporary, parts);
    if result.is_err() {
        // Report the first error; a leftover temporary file is harmless.
        let _ = fs::remove_file(temporary);
    }
    result
}

fn write_and_rename(path: &Path, temporary: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.sync_all()?;
    drop(file);
    rename(temporary, path)
}

/// Renames a synced file within its folder, so that the new name survives a crash.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // Only Unix can open folders to sync them.
    if cfg!(unix) {
        let folder = match to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Deletes temporary files that [`write_whole`] left in a killed process. No other process may be writing
/// to the folder.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for path in list(folder)? {
        if is_temporary(&path) && path.is_file() {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Whether a path is named `NAME.PROCESS.tmp`, as [`beside`] names temporary files.
fn is_temporary(path: &Path) -> bool {
    let inner = path.file_stem().map(Path::new);
    let process = inner.and_then(|inner| inner.extension()?.to_str());
    path.extension().is_some_and(|ending| ending == TEMPORARY)
        && process.is_some_and(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An exclusive lock on a folder, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

/// Releases a lock at once. Closing the file is not enough: a program that this process is starting holds a
/// copy of every open file, locks included, until it begins to run.
pub(crate) fn unlock(file: &File) {
    let _ = file.unlock(); // an error leaves the lock until the file is closed
}

/// Locks a folder for this process with a file named `lock`; `None` if another process holds the lock.
pub fn lock_folder(folder: &Path) -> io::Result<Option<FolderLock>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FolderLock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The extension of temporary files.
const TEMPORARY: &str = "tmp";

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.{TEMPORARY}", std::process::id()));
    path.with_file_name(name)
}
