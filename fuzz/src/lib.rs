//! Everything that reads text or files from outside, as targets of the fuzzer. See README.md beside this crate.

mod files;
mod fleet;
mod http;
mod targets;

use std::fs;
use std::path::Path;

pub use targets::{TARGETS, Target, Tools};

/// The files of a target's corpus in the order of their names, and what the programs write.
///
/// # Panics
/// Panics if it cannot be read, or is empty.
pub fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let mut paths: Vec<_> =
        fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| fs::read(path).expect("a readable file"));
    let corpus: Vec<Vec<u8>> = files.chain((target.written)()).collect();
    assert!(!corpus.is_empty(), "{}: no corpus", folder.display());
    corpus
}
