//! Facts about the running program, as it states them itself: its name, the sources it was built from, its compiler.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};
use std::thread::available_parallelism;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a program was built from. Empty where it is not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Build {
    /// The commit of the sources.
    pub commit: &'static str,
    /// Whether the sources had uncommitted changes.
    pub is_changed: bool,
    /// The compiler version.
    pub toolchain: &'static str,
    /// Optional parts of the program, and whether it has them.
    pub features: &'static [(&'static str, bool)],
}

static BUILD: OnceLock<Build> = OnceLock::new();

static NAME: OnceLock<String> = OnceLock::new();

impl Build {
    fn text(&self) -> String {
        let mut text = VERSION.to_owned();
        match (self.commit, self.is_changed) {
            ("", _) => {}
            (commit, false) => text += &format!(" ({commit})"),
            (commit, true) => text += &format!(" ({commit}, changed)"),
        }
        let features: Vec<&str> = self.features.iter().filter_map(|&(name, on)| on.then_some(name)).collect();
        if !features.is_empty() {
            text += &format!("\nfeatures: {}", features.join(", "));
        }
        if !self.toolchain.is_empty() {
            text += &format!("\ncompiler: {}", self.toolchain);
        }
        text
    }
}

/// States what this program was built from, and takes its name from the first argument of the process. The first call
/// counts.
pub fn announce(build: Build) {
    // Neither changes while a process runs, so a second call would set nothing else.
    let _ = BUILD.set(build);
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_stem);
    if let Some(name) = name.and_then(OsStr::to_str) {
        let _ = NAME.set(name.to_owned());
    }
}

/// What this program was built from, if it has said so.
pub fn build() -> Build {
    BUILD.get().copied().unwrap_or_default()
}

/// The text of `--version` after the name: version, and what is known of commit, features and compiler.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| build().text());
    &TEXT
}

/// Name and version of the program, for the headers of files.
pub fn this_program() -> String {
    format!("jarmo {VERSION}")
}

/// The name of the running program, for hints that say what to type. A program with the command line of `jarmo` may have
/// another one.
pub fn name() -> &'static str {
    NAME.get().map_or("jarmo", String::as_str)
}

/// The number of threads that can run in parallel; 1 if unknown.
pub fn cores() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}
