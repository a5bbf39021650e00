//! Atomic file writes, and folder locks between processes.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file atomically: readers find the old content or the new content, even after a crash. Writes to
/// a temporary file beside it, syncs, and renames.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_by(path, &beside(path), &[content])
}

/// Like [`write_whole`], for content in several parts and with a given temporary file in the same folder.
/// With a fixed name, the next write replaces a temporary file left by a killed process; use it only if no
/// other process writes the same file.
pub fn write_whole_by(path: &Path, temporary: &Path, parts: &[&[u8]]) -> io::Result<()> {
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
    sync_folder(to)
}

/// Syncs the folder, so that the rename survives a crash. Only Unix can open folders for this.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Deletes temporary files left by a killed process. No other process may be writing to the folder.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == TEMPORARY) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// An exclusive lock on a folder, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File, // locked until it is closed
}

/// Locks a folder for this process with a file named `lock`; `None` if another process holds the lock.
pub fn lock_folder(folder: &Path) -> io::Result<Option<FolderLock>> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FolderLock { _file: file })),
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
