//! Facts about this build: version, commit, compiler, features; and the number of cores.

#[cfg(feature = "cli")]
use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use std::num::NonZeroUsize;
use std::sync::{LazyLock, OnceLock};
use std::thread::available_parallelism;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit of the sources; empty when built without version control.
pub const COMMIT: &str = env!("JARMO_COMMIT");

/// The compiler version.
pub const TOOLCHAIN: &str = env!("JARMO_TOOLCHAIN");

/// Whether the sources had uncommitted changes.
pub fn is_changed() -> bool {
    env!("JARMO_CHANGED") == "true"
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

/// Takes the name from the first argument of the process.
#[cfg(feature = "cli")]
pub(crate) fn set_name() {
    let path = env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_stem);
    if let Some(name) = name.and_then(OsStr::to_str) {
        // The name of a process does not change, so a second call sets nothing else.
        let _ = NAME.set(name.to_owned());
    }
}

static NAME: OnceLock<String> = OnceLock::new();

/// The number of threads that can run in parallel; 1 if unknown.
pub fn cores() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The text of `--version` after the name: version, commit, features and compiler.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(write_version);
    &TEXT
}

fn write_version() -> String {
    let commit = match (COMMIT, is_changed()) {
        ("", _) => String::new(),
        (commit, false) => format!(" ({commit})"),
        (commit, true) => format!(" ({commit}, changed)"),
    };
    let features: Vec<&str> = [
        ("net", cfg!(feature = "net")),
        ("cuda", cfg!(feature = "cuda")),
        ("wgpu", cfg!(feature = "wgpu")),
        ("fleet", cfg!(feature = "fleet")),
    ]
    .into_iter()
    .filter_map(|(name, on)| on.then_some(name))
    .collect();
    let features = match features.len() {
        0 => "none".to_owned(),
        _ => features.join(", "),
    };
    format!("{VERSION}{commit}\nfeatures: {features}\ncompiler: {TOOLCHAIN}")
}
