//! Rules for the sources that the compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of sources that users run.
const CRATES: [&str; 13] = [
    "crates/core/src",
    "crates/host/src",
    "crates/exact/src",
    "crates/judge/src",
    "crates/selfplay/src",
    "crates/learn/src",
    "crates/fleet/src",
    "crates/session/src",
    "src",
    "play/src",
    "web/src",
    "python/src",
    "lab/src",
];

/// The programs over the library, whose modules may import each other.
const PROGRAMS: [&str; 4] = ["crates/session/src", "play/src", "web/src", "python/src"];

/// A source file.
struct Source {
    krate: &'static str,
    module: String, // of the crate's `lib.rs`
    path: PathBuf,
    text: String,
}

impl Source {
    /// The path inside its crate, with the crate's folder in front: `core/env/mod.rs`.
    fn place(&self) -> PathBuf {
        let inside = self.path.strip_prefix(self.krate).unwrap();
        let name = match self.krate {
            "src" => "jarmo",
            other => other.trim_start_matches("crates/").trim_end_matches("/src"),
        };
        Path::new(name).join(inside)
    }
}

/// Every source file of every crate.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for krate in CRATES {
        let mut folders = vec![PathBuf::from(krate)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let inside = path.strip_prefix(krate).unwrap();
                    let first = inside.components().next().unwrap();
                    let module = Path::new(first.as_os_str()).file_stem().unwrap();
                    let module = module.to_str().unwrap().to_owned();
                    let text = fs::read_to_string(&path).unwrap();
                    found.push(Source { krate, module, path, text });
                }
            }
        }
    }
    assert!(found.len() > 300);
    found
}

/// The modules of a crate's `lib.rs` in their order, private ones too.
fn modules(krate: &str) -> Vec<String> {
    let library = fs::read_to_string(Path::new(krate).join("lib.rs")).unwrap();
    let module = |line: &str| {
        let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let name = line.strip_prefix("mod ")?.strip_suffix(';')?;
        Some(name.to_owned())
    };
    library.lines().filter_map(module).collect()
}

/// The modules that a file names after `crate::`, alone or in a list with lists inside.
fn imports(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            named.push(first_word(rest));
            continue;
        };
        let mut depth = 1;
        named.push(first_word(list.trim_start()));
        for (index, symbol) in list.char_indices() {
            match symbol {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => named.push(first_word(list[index + 1..].trim_start())),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    named
}

fn first_word(text: &str) -> String {
    let inside = |symbol: &char| symbol.is_ascii_alphanumeric() || *symbol == '_';
    text.chars().take_while(inside).collect()
}

#[test]
fn imports_are_found_in_nested_lists() {
    let text = "use crate::a::B; use crate::{c, d::{E, F}, g::H}; crate::i::j()";
    let named = imports(text);
    assert_eq!(named, ["a", "c", "d", "g", "i"]);
}

#[test]
fn a_module_imports_only_modules_above_it() {
    let mut checked = 0;
    for krate in CRATES.into_iter().filter(|krate| !PROGRAMS.contains(krate)) {
        let order: BTreeMap<String, usize> = modules(krate).into_iter().zip(0..).collect();
        assert!(order.len() > 2, "{krate}");
        for source in sources().iter().filter(|source| source.krate == krate) {
            let Some(place) = order.get(&source.module) else {
                continue; // `lib.rs` itself
            };
            for named in imports(&source.text) {
                if let Some(other) = order.get(&named) {
                    checked += 1;
                    let path = source.path.display();
                    assert!(other <= place, "{path}: {} imports {named}", source.module);
                }
            }
        }
    }
    assert!(checked > 50);
}

#[test]
fn every_module_is_described_in_architecture_md() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    for krate in CRATES.into_iter().filter(|krate| !PROGRAMS.contains(krate)) {
        for module in modules(krate) {
            assert!(text.contains(&format!("`{module}`")), "{krate}: {module}");
        }
    }
}

#[test]
fn nothing_below_the_command_line_prints() {
    for source in sources() {
        let program = ["src", "lab/src"].contains(&source.krate);
        let talks = program && ["cli", "main"].contains(&source.module.as_str());
        for word in ["println!", "eprintln!", "print!(", "dbg!("] {
            let path = source.path.display();
            assert!(talks || !source.text.contains(word), "{path}: {word}");
        }
    }
}

/// The crates whose errors leave hints about the command line to the program.
const WITHOUT_OPTIONS: [&str; 5] =
    ["crates/core/src", "crates/host/src", "crates/exact/src", "crates/judge/src", "crates/selfplay/src"];

/// Whether a text names an option or a command of the program.
fn names_options(text: &str) -> bool {
    let is_option = |rest: &str| rest.starts_with(|first: char| first.is_ascii_lowercase());
    text.contains("`jarmo ") || text.split("--").skip(1).any(is_option)
}

#[test]
fn errors_of_the_libraries_name_no_options() {
    assert!(names_options("continue it with --resume") && names_options("see `jarmo tables`"));
    assert!(!names_options("a -- b"));
    for source in sources().iter().filter(|source| WITHOUT_OPTIONS.contains(&source.krate)) {
        for line in source.text.lines().filter(|line| !line.trim().starts_with("//")) {
            assert!(!names_options(line), "{}: {line}", source.path.display());
        }
    }
}

#[test]
fn no_file_is_longer_than_600_lines() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= 600, "{}: {lines} lines", source.path.display());
    }
}

#[test]
fn core_and_session_read_no_files_and_no_clock_and_start_no_threads() {
    let words = ["std::fs", "std::env", "std::net", "Instant", "SystemTime", "std::thread"];
    for source in sources() {
        for word in words {
            let inside = ["crates/core/src", "crates/session/src"].contains(&source.krate);
            let path = source.path.display();
            assert!(!inside || !source.text.contains(word), "{path}: {word}");
        }
    }
}

#[test]
fn unsafe_code_stays_in_the_kernels_and_the_mapped_files() {
    let mut kernels = 0;
    for source in sources() {
        let place = source.place();
        let inside =
            place.starts_with("core/net/kernel") || place.ends_with("tables/map.rs") || place.ends_with("real/map.rs");
        kernels += usize::from(inside);
        let has = source.text.contains("unsafe fn") || source.text.contains("unsafe {");
        assert!(inside || !has, "{}", source.path.display());
    }
    assert!(kernels > 4);
}

#[test]
fn the_tensor_library_is_named_in_train_alone() {
    let mut named = 0;
    for source in sources() {
        if source.text.contains("burn::") {
            named += 1;
            let path = source.path.display();
            assert!(source.place().starts_with("learn/train"), "{path}");
        }
    }
    assert!(named > 0);
}

#[test]
fn messages_of_protobuf_are_written_and_never_parsed() {
    let reads = ["parse_from", "merge_from", "CodedInputStream"];
    let mut named = BTreeSet::new();
    for source in sources() {
        if source.text.contains("protobuf::") || source.text.contains("tensorboard_proto::") {
            for word in reads {
                let path = source.path.display();
                assert!(!source.text.contains(word), "{path}: {word}");
            }
            named.insert(source.place());
        }
    }
    assert_eq!(named, BTreeSet::from([PathBuf::from("learn/observe/tensorboard.rs")]));
}

/// The folders and files that may play actions on a position by hand. All other games are stepped
/// through the environment.
const PLAY_BY_HAND: [&str; 21] = [
    // The rules themselves, and the environment.
    "core/game",
    "core/games",
    "core/env",
    // They look ahead from a position, which is not part of a game.
    "core/search",
    "core/eval",
    "core/known.rs",
    "exact/tables",
    "exact/proof",
    "core/agent/endgame.rs",
    "core/agent/greedy.rs",
    "judge/yardstick/worst.rs",
    // They follow the actions that a person, a file or tables give.
    "core/record.rs",
    "judge/puzzles.rs",
    "jarmo/pictures.rs",
    "jarmo/probe.rs",
    "jarmo/engine",
    "jarmo/cli/rules.rs",
    "session",
    "play",
    "python",
    "lab",
];

/// Whether a source plays an action on a position of a game.
fn plays_by_hand(text: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim().starts_with("//"));
    let text: String = code.flat_map(str::chars).filter(|symbol| !symbol.is_whitespace()).collect();
    let calls = [
        "game.play(",
        "game().play(",
        "Game::play(",
        ".play(&mut",
        "game.after(",
        "game().after(",
        "Game::after(",
        "rules.after(",
        "self.after(",
    ];
    let checked = [".try_play(", ".play_text("];
    calls.iter().chain(&checked).any(|call| text.contains(call))
}

#[test]
fn played_actions_are_found_however_they_are_written() {
    assert!(plays_by_hand("self.game\n    .play(position, action);"));
    assert!(plays_by_hand("rules.play(&mut position, action)"));
    assert!(plays_by_hand("env.game().play(at, action)"));
    assert!(plays_by_hand("rules.try_play(position, action)?"));
    assert!(plays_by_hand("self.game.after(position, action)"));
    assert!(!plays_by_hand("tournament.play(teams, stop, observer)"));
}

#[test]
fn every_game_is_stepped_through_the_environment() {
    let mut by_hand = BTreeSet::new();
    let mut stepped = BTreeSet::new();
    for source in sources() {
        if plays_by_hand(&source.text) {
            let inside = source.place();
            let place = PLAY_BY_HAND.iter().find(|place| inside.starts_with(place));
            let message = "step this game through `env`, or say in PLAY_BY_HAND why not";
            let path = source.path.display();
            by_hand.insert(*place.unwrap_or_else(|| panic!("{path}: {message}")));
        }
        if source.text.contains("jarmo_core::env::") {
            stepped.insert(source.module);
        }
    }
    assert_eq!(by_hand, BTreeSet::from(PLAY_BY_HAND), "only those that do");
    for module in ["selfplay", "arena", "bench"] {
        assert!(stepped.contains(module), "{module}");
    }
}
