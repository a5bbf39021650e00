//! Which program this is: version, sources, compiler, features; and how many cores it runs on.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread::available_parallelism;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, or nothing if it was built without version control.
pub const COMMIT: &str = env!("JARMO_COMMIT");

/// The compiler that built it.
pub const TOOLCHAIN: &str = env!("JARMO_TOOLCHAIN");

/// Whether the sources differed from the commit.
pub fn is_changed() -> bool {
    env!("JARMO_CHANGED") == "true"
}

/// The name of this program with its version, for files that it writes.
pub fn this_program() -> String {
    format!("jarmo {VERSION}")
}

/// How many threads this machine runs side by side, as far as it tells.
pub fn cores() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

/// What `--version` says after the name: version, commit, features and compiler.
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
