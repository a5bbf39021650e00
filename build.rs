//! Tells the program which sources and which compiler it was built from.

use std::env;
use std::process::Command;

fn main() {
    for path in ["src", "crates", "configs", "Cargo.toml", "Cargo.lock", "build.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    // Without version control nothing else changes, and a path that is not there would always count.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let toolchain = output(&compiler, &["--version"]);
    for (name, value) in [
        ("JARMO_COMMIT", commit),
        ("JARMO_CHANGED", changed.map(|files| (!files.is_empty()).to_string())),
        ("JARMO_TOOLCHAIN", toolchain),
    ] {
        println!("cargo::rustc-env={name}={}", value.unwrap_or_default());
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    output("git", arguments)
}

/// What a program says, if it is there and content.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
