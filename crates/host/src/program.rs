//! Facts about the running program: its name, and the sources and the compiler that it was built from.

use std::env;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};
use std::thread::available_parallelism;

/// The version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The sources and tools that a program was built from. Unknown fields are empty.
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

static PROGRAM: OnceLock<Program> = OnceLock::new();

struct Program {
    build: Build,
    argument: PathBuf,
    name: Option<String>,
    inner: Option<String>,
}

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

/// Records what this program was built from, its first argument, which has the program's name, and the name of another
/// program that is one of its commands, such as `play`. Only the first call has an effect.
pub fn announce(build: Build, argument: &OsStr, inner: Option<&str>) {
    let argument = PathBuf::from(argument);
    let name = argument.file_stem().and_then(OsStr::to_str).map(str::to_owned);
    // This is the same for the whole process, so a second call has nothing to change.
    let _ = PROGRAM.set(Program { build, argument, name, inner: inner.map(str::to_owned) });
}

/// The sources and tools of this program, as [`announce`] recorded them.
pub fn build() -> Build {
    PROGRAM.get().map(|program| program.build).unwrap_or_default()
}

/// The text that `--version` prints after the name: the version and, if known, commit, features and compiler.
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| build().text());
    &TEXT
}

/// The name and version of the program, for the headers of files.
pub fn this_program() -> String {
    format!("jarmo {VERSION}")
}

/// The name of the running program, for messages that tell users what to type. Programs with the same command line as
/// `jarmo` may have another name.
pub fn name() -> &'static str {
    PROGRAM.get().and_then(|program| program.name.as_deref()).unwrap_or("jarmo")
}

/// What to type to start this program again, as this process was started: `jarmo`, `./target/release/jarmo` or `cargo run
/// --release --`.
pub fn command() -> String {
    command_of(name())
}

/// What to type to start a program of the same build, such as `play`.
pub fn command_of(program: &str) -> String {
    if PROGRAM.get().is_some_and(|this| this.inner.as_deref() == Some(program)) {
        return format!("{} {program}", command());
    }
    let package = env::var("CARGO_PKG_NAME").ok(); // set by `cargo run`
    let features = build().features.iter().filter(|(name, on)| *on && *name != "train");
    let features: Vec<&str> = features.map(|(name, _)| *name).collect();
    let argument = PROGRAM.get().map_or(Path::new(""), |program| &program.argument);
    started(argument, package.as_deref(), &features, (name(), program))
}

/// The command for the program `other`, where `this` program was started by a path, or by cargo in a package.
fn started(path: &Path, package: Option<&str>, features: &[&str], (this, other): (&str, &str)) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(folder) = folder else {
        return other.to_owned(); // found on the PATH
    };
    let profile = folder.file_name().and_then(OsStr::to_str);
    // Cargo starts programs below the current folder by a relative path. Programs that run under `cargo test` have absolute
    // ones.
    let by_cargo = package.filter(|_| path.is_relative() && matches!(profile, Some("debug" | "release")));
    let Some(package) = by_cargo else {
        let path = if this == other { path.to_owned() } else { path.with_file_name(other) };
        return quoted(&path);
    };
    let mut text = "cargo run".to_owned();
    if profile == Some("release") {
        text += " --release";
    }
    let package = if this == other { package } else { other };
    if package != "jarmo" {
        text += &format!(" -p {package}");
    }
    if this == other && !features.is_empty() {
        text += &format!(" --features {}", features.join(","));
    }
    text + " --"
}

/// A path as a word of a command: in quotes if a shell would split it.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |symbol: char| symbol.is_alphanumeric() || "-_./\\:@+,=".contains(symbol);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The number of threads that can run in parallel; 1 if unknown.
pub fn cores() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_starts_a_program_as_this_one_was_started() {
        let in_jarmo = Some("jarmo");
        for (path, package, features, other, command) in [
            ("jarmo", None, &[][..], "jarmo", "jarmo"),
            ("jarmo", None, &[], "play", "play"),
            ("./target/release/jarmo", None, &["fleet"], "jarmo", "./target/release/jarmo"),
            ("/opt/my games/jarmo", None, &[], "play", "'/opt/my games/play'"),
            ("target/release/jarmo", in_jarmo, &[], "jarmo", "cargo run --release --"),
            ("target/debug/jarmo", in_jarmo, &["fleet"], "jarmo", "cargo run --features fleet --"),
            ("target/release/jarmo", in_jarmo, &["fleet"], "play", "cargo run --release -p play --"),
            ("target/release/jarmo", Some("my_game"), &[], "jarmo", "cargo run --release -p my_game --"),
            ("/elsewhere/release/jarmo", in_jarmo, &[], "jarmo", "/elsewhere/release/jarmo"),
            ("target/release/examples/jarmo", in_jarmo, &[], "jarmo", "target/release/examples/jarmo"),
        ] {
            assert_eq!(started(Path::new(path), package, features, ("jarmo", other)), command, "{path}");
        }
    }
}
