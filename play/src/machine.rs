//! The parts of this machine that a session uses: a clock, seeds, trained agents, the language of the user.

use std::env;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::lang::Language;
use crate::specs::Store;
use jarmo_host::ascii::locale;

/// Environment variable with the folder of trained agents; if set, no others are used.
const FOLDER_VARIABLE: &str = "JARMO_CHECKPOINTS";

/// Default folder of trained agents, in the current directory and beside the program.
const FOLDER: &str = "checkpoints";

/// The time since the first call.
pub fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// Random bits of the operating system: for seeds, and for the ids of sessions, which nobody can guess.
pub(crate) fn fresh_seed() -> u64 {
    getrandom::u64().expect("the operating system has random numbers")
}

/// The folder named by the environment, or else `checkpoints` in the current directory and beside the
/// program, then the program itself.
pub fn installed() -> Store {
    let folder = env::var_os(FOLDER_VARIABLE);
    let built_in = folder.is_none();
    let agents = match folder {
        Some(folder) if folder.is_empty() => Vec::new(),
        Some(folder) => vec![folder.into()],
        None => {
            let program = env::current_exe().ok();
            let beside = program.and_then(|program| Some(program.parent()?.join(FOLDER)));
            std::iter::once(FOLDER.into()).chain(beside).collect()
        }
    };
    Store { agents, built_in, ..Store::default() }
}

/// The page without a server beside the program, if it is there: archives of a release have one.
pub fn static_page() -> Option<PathBuf> {
    let folder = env::current_exe().ok()?.parent()?.join("page");
    folder.join("learn.html").is_file().then_some(folder)
}

/// The language of the environment, or English.
pub fn language() -> Language {
    let tag = locale(["LC_ALL", "LC_MESSAGES", "LANG"]); // the order of POSIX
    tag.and_then(|tag| Language::parse(&tag)).unwrap_or(Language::En)
}
