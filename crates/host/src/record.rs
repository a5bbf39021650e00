//! Files of game records, with one record per line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jarmo_core::error::FileError;
pub use jarmo_core::record::{ArenaMark, FORMAT, GameRecord};

use crate::files::{LINES_BYTES, check_regular, read_open, unlock};

/// A file to which records are appended. Each record is one write, so killing the process loses no finished game. The
/// file is locked against other processes.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
}

/// A file that was opened again to append to it.
#[derive(Debug)]
pub struct Resumed {
    /// The file, ready for new records.
    pub file: RecordFile,
    /// The records already in the file.
    pub records: Vec<GameRecord>,
    /// The length of an incomplete last line that was removed, in bytes.
    pub torn_bytes: usize,
}

impl RecordFile {
    /// Creates a new file. Fails if the file exists.
    pub fn create(path: &Path) -> Result<RecordFile, FileError> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).open(path); // Windows locks what it may read
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => FileError::at(path, "already exists; choose another name, or resume it"),
            _ => FileError::at(path, error),
        })?;
        RecordFile::locked(path, file)
    }

    /// Opens a file to append to it. Removes an incomplete last line, and ignores empty lines.
    pub fn resume(path: &Path) -> Result<Resumed, FileError> {
        let failed = |error: io::Error| FileError::at(path, error);
        check_regular(path).map_err(failed)?;
        // Not `append`: on Windows such a file cannot be shortened.
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let mut file = RecordFile::locked(path, file)?;
        // Through the locked handle: on Windows no other one can read it.
        let bytes = read_open(&file.file, LINES_BYTES).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let tail = std::str::from_utf8(&bytes[whole..]).unwrap_or_default();
        let mut kept = whole;
        if GameRecord::parse(tail).is_ok() {
            kept = bytes.len(); // only the line break is missing
        }
        let text = std::str::from_utf8(&bytes[..kept])
            .map_err(|error| FileError::at(path, format_args!("not text: {error}")))?;
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let records = lines.map(|(line, number)| {
            let record = GameRecord::parse(line);
            record.map_err(|error| FileError::at(path, format_args!("line {number}: {error}")))
        });
        let records = records.collect::<Result<_, _>>()?;
        file.file.set_len(kept as u64).map_err(failed)?;
        file.file.seek(SeekFrom::End(0)).map_err(failed)?;
        if kept > whole {
            file.file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Resumed { file, records, torn_bytes: bytes.len() - kept })
    }

    /// Appends a record.
    pub fn append(&mut self, record: &GameRecord) -> Result<(), FileError> {
        let line = record.to_line() + "\n";
        self.file.write_all(line.as_bytes()).map_err(|error| FileError::at(&self.path, error))
    }

    fn locked(path: &Path, file: File) -> Result<RecordFile, FileError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                Err(FileError::at(path, "another process is writing to this file; wait until it has finished"))
            }
            // Some file systems have no locks. There, nothing prevents a second process from writing.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(RecordFile { path: path.to_owned(), file }),
        }
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}
