//! Reading of regular files, atomic writing, and locks on folders between processes.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The largest file of settings that is read, such as a board or a configuration, in bytes.
pub const SETTINGS_BYTES: u64 = 1 << 24;

/// The largest file that is read with one line per game or per report, in bytes.
pub const LINES_BYTES: u64 = 1 << 32;

/// The pauses in milliseconds before a failed read is tried again, if the error can be temporary.
const WAITS: [u64; 5] = [20, 50, 100, 200, 400];

/// Opens a file for reading, and returns its size in bytes. Folders, pipes and devices are rejected, because reading
/// a pipe or a device may never end.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    patiently(|| {
        check_regular(path)?; // before opening, because opening a pipe waits for its writer
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    })
}

/// Reads a file of at most `most` bytes. A larger one is rejected before it is read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_open(&open(path)?.0, most)
}

/// Reads a file that was opened, from its start. It may have at most `most` bytes.
pub(crate) fn read_open(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let too_large = |size| {
        let problem = format!("it has {size} bytes, but such a file has at most {most}");
        io::Error::new(io::ErrorKind::FileTooLarge, problem)
    };
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(most + 1).read_to_end(&mut bytes)?; // it may have grown since
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

/// Rejects anything that exists but is not a regular file.
pub fn check_regular(path: &Path) -> io::Result<()> {
    refuse_other_kinds(path, "copy its content to a file first")
}

/// Refuses an output before the work for it is done: what is there but is no regular file, and a file in a folder that is
/// missing or cannot be written to.
pub fn check_output(path: &Path) -> io::Result<()> {
    check_replaceable(path)?;
    let trial = beside(path);
    File::create(&trial).map_err(|error| {
        let folder = folder_of(path);
        let problem = if folder.is_dir() { "cannot be written to" } else { "is no folder" };
        io::Error::new(error.kind(), format!("{} {problem} ({error})", folder.display()))
    })?;
    fs::remove_file(trial)
}

/// Refuses to write over what is there but is no regular file.
fn check_replaceable(path: &Path) -> io::Result<()> {
    match refuse_other_kinds(path, "name a file") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        checked => checked,
    }
}

/// Rejects folders, pipes and devices. The message for pipes and devices ends with `way_out`, the remedy.
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

/// Retries for a moment if too many files are open, in this process or on this machine.
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

/// Writes a file atomically: even after a crash, readers find either the old content or the new. It writes to a
/// temporary file in the same folder, syncs it, and renames it. Folders, pipes and devices are rejected, because the
/// new file would replace them.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_by(path, &beside(path), &[content])
}

/// Like [`write_whole`], but with content in several parts and a given temporary file in the same folder. If the
/// temporary file always has the same name, the next write replaces one that a killed process left. No other process
/// may then write the same file.
pub fn write_whole_by(path: &Path, temporary: &Path, parts: &[&[u8]]) -> io::Result<()> {
    check_replaceable(path)?;
    let result = write_and_rename(path, temporary, parts);
    if result.is_err() {
        // The first error is the one to report. A temporary file that remains does no harm.
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

/// Renames a synced file within its folder. The new name survives a crash.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    // Only on Unix can folders be opened and synced.
    if cfg!(unix) {
        File::open(folder_of(to))?.sync_all()?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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

/// Whether a path has the form `NAME.PROCESS.tmp`, which [`beside`] gives to temporary files.
fn is_temporary(path: &Path) -> bool {
    let inner = path.file_stem().map(Path::new);
    let process = inner.and_then(|inner| inner.extension()?.to_str());
    path.extension().is_some_and(|ending| ending == TEMPORARY)
        && process.is_some_and(|process| process.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An exclusive lock on a folder. It is released when this value is dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

/// Releases a lock now. Closing the file would not be enough: while this process starts another program, that program
/// has a copy of every open file with its lock until it begins to run.
pub(crate) fn unlock(file: &File) {
    let _ = file.unlock(); // after an error, the lock remains until the file is closed
}

/// Locks a folder for this process, by means of a file named `lock`. `None` if another process has locked it.
pub fn lock_folder(folder: &Path) -> io::Result<Option<FolderLock>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FolderLock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether [`lock_folder`] has locked a folder, and by which process, if that is known. Looking takes no lock on Linux, which
/// lists all locks; elsewhere it takes a shared one for a moment.
pub fn is_locked(folder: &Path) -> (bool, Option<u32>) {
    let path = folder.join("lock");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(file) = fs::metadata(path) else { return (false, None) };
        // `1: FLOCK ADVISORY WRITE 4221 fe:00:464 0 EOF`: the process, and the inode after two numbers of the device.
        let inode = format!(":{} ", file.ino());
        let all = fs::read_to_string("/proc/locks").unwrap_or_default();
        let held = all.lines().find(|line| line.contains("FLOCK") && line.contains(&inode));
        (held.is_some(), held.and_then(|line| line.split_whitespace().nth(4)?.parse().ok()))
    }
    #[cfg(not(target_os = "linux"))]
    (matches!(File::open(path).map(|file| file.try_lock_shared()), Ok(Err(TryLockError::WouldBlock))), None)
}

/// The extension of temporary files.
const TEMPORARY: &str = "tmp";

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.{TEMPORARY}", std::process::id()));
    path.with_file_name(name)
}
