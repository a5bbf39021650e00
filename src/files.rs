//! Files that are there as a whole or not at all, and folders that one process has to itself.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file so that whoever reads it, now or after a crash, finds the old content or the new
/// one: into a temporary file beside it, to the disk, then renamed.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    write_whole_by(path, &beside(path), &[content])
}

/// The same for content in several parts, by way of this temporary file in the same folder. A name
/// that is always the same is for those who write alone and much: what a kill leaves is written over.
pub fn write_whole_by(path: &Path, temporary: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let result = write_and_rename(path, temporary, parts);
    if result.is_err() {
        // The error is what matters; a temporary file that stays is only untidy.
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
    fs::rename(temporary, path)?;
    sync_folder(path)
}

/// Takes the renaming itself to the disk, where a folder can be opened for that.
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

/// Deletes the temporary files that a killed process left in a folder, which must not be written to
/// by another one.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == TEMPORARY) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// A folder that this process has to itself, until this is dropped or the process ends in any way.
#[derive(Debug)]
pub struct FolderLock {
    _file: File, // locked until it is closed
}

/// Takes a folder for this process alone, by a file `lock` in it; `None` if another process has it.
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

/// The ending of temporary files.
const TEMPORARY: &str = "tmp";

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.{TEMPORARY}", std::process::id()));
    path.with_file_name(name)
}
