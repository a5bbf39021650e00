//! Which program this is: version, sources, compiler, features.

use std::sync::LazyLock;

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
        ("play", cfg!(feature = "play")),
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
