//! Rules for the sources that the compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of sources that users run.
const CRATES: [&str; 16] = [
    "crates/core/src",
    "crates/host/src",
    "crates/exact/src",
    "crates/judge/src",
    "crates/selfplay/src",
    "crates/facade/src",
    "crates/train/src",
    "crates/learn/src",
    "crates/fleet/src",
    "crates/session/src",
    "src",
    "play/src",
    "web/src",
    "web/learn/src",
    "python/src",
    "lab/src",
];

/// The programs over the library, whose modules may import each other.
const PROGRAMS: [&str; 5] = ["crates/session/src", "play/src", "web/src", "web/learn/src", "python/src"];

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
    text.split("crate::").skip(1).flat_map(heads).collect()
}

/// The first words of the path with which a text begins, or of all paths of a list in braces.
fn heads(text: &str) -> Vec<String> {
    let Some(list) = text.strip_prefix('{') else { return vec![first_word(text)] };
    let mut named = vec![first_word(list.trim_start())];
    let mut depth = 1;
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
        assert!(order.len() > 1, "{krate}");
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

/// The folders whose modules still import each other in a circle.
const CIRCLES: [&str; 8] = [
    "crates/core/src/net",
    "crates/judge/src/arena",
    "crates/learn/src/run",
    "crates/selfplay/src/selfplay",
    "crates/session/src",
    "crates/train/src",
    "play/src/server",
    "python/src",
];

/// What a file imports of the modules beside the one it belongs to, `depth` folders above it.
fn beside(text: &str, folder: &str, depth: usize) -> Vec<String> {
    let absolute = format!("crate::{folder}");
    let mut named: Vec<String> = text.split(&absolute).skip(1).flat_map(heads).collect();
    for (index, _) in text.match_indices("super::") {
        let rest = text[index..].trim_start_matches("super::");
        let supers = (text.len() - index - rest.len()) / "super::".len();
        if !text[..index].ends_with("super::") && supers == depth {
            named.extend(heads(rest));
        }
    }
    named
}

/// The modules in a folder that lead back to themselves, if each imports these others.
fn circular(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let leads_back = |start: &&String| {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![*start]);
        while let Some(module) = waiting.pop() {
            let new = imports[module].iter().filter(|next| imports.contains_key(*next) && reached.insert(*next));
            waiting.extend(new.collect::<Vec<_>>());
        }
        reached.contains(start)
    };
    imports.keys().filter(leads_back).collect()
}

#[test]
fn the_modules_of_a_folder_import_each_other_without_circles() {
    let mut found = BTreeSet::new();
    let sources = sources();
    let folders: BTreeSet<&Path> = sources.iter().filter_map(|source| source.path.parent()).collect();
    for folder in folders {
        let within = sources.iter().filter(|source| source.path.starts_with(folder));
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut exports: BTreeMap<String, String> = BTreeMap::new();
        for source in within {
            let inside = source.path.strip_prefix(folder).unwrap();
            let of_crate = folder.strip_prefix(source.krate).unwrap();
            let module: String = of_crate.iter().map(|part| format!("{}::", part.to_str().unwrap())).collect();
            let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
            let tests = source.text.find("#[cfg(test)]\nmod tests {").unwrap_or(source.text.len());
            let lines = source.text[..tests].lines().map(|line| line.split("//").next().unwrap());
            let text: String = lines.collect::<Vec<_>>().join("\n");
            match parts[..] {
                ["mod.rs" | "lib.rs" | "main.rs"] => {
                    for export in text.split("use ").skip(1) {
                        let (from, names) = export.split_once("::").unwrap_or_default();
                        let names = names.split(';').next().unwrap();
                        let words = names.split(|symbol: char| !symbol.is_alphanumeric() && symbol != '_');
                        exports.extend(words.map(|word| (word.to_owned(), from.to_owned())));
                    }
                }
                _ => {
                    let depth = parts.len() - usize::from(parts[parts.len() - 1] == "mod.rs");
                    let own = parts[0].trim_end_matches(".rs").to_owned();
                    imports.entry(own).or_default().extend(beside(&text, &module, depth));
                }
            }
        }
        // A name that the folder's own file exports stands for its module.
        let modules: BTreeSet<String> = imports.keys().cloned().collect();
        for (own, named) in &mut imports {
            let to_module = |name: &String| match modules.contains(name) {
                true => Some(name.clone()),
                false => exports.get(name).cloned(),
            };
            *named = named.iter().filter_map(to_module).filter(|name| name != own).collect();
        }
        if !circular(&imports).is_empty() {
            found.insert(folder.to_str().unwrap().to_owned());
        }
    }
    assert_eq!(found, BTreeSet::from(CIRCLES.map(str::to_owned)));
}

#[test]
fn circles_of_imports_are_found() {
    let graph = |edges: &[(&str, &[&str])]| -> BTreeMap<String, BTreeSet<String>> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        edges.iter().map(|(name, named)| ((*name).to_owned(), owned(named))).collect()
    };
    let round = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["a", "d"]), ("d", &[])]);
    assert_eq!(circular(&round), ["a", "b", "c"]);
    assert!(circular(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    let text = "use super::a::{B, C}; use super::{d, e::F}; use super::super::g::H; use crate::env::{i, J}";
    assert_eq!(beside(text, "env::", 1), ["i", "J", "a", "d", "e"]);
    assert_eq!(beside(text, "", 2), ["env", "g"]);
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
const WITHOUT_OPTIONS: [&str; 6] = [
    "crates/core/src",
    "crates/host/src",
    "crates/exact/src",
    "crates/judge/src",
    "crates/selfplay/src",
    "crates/facade/src",
];

/// Says how cargo started the program, with the options of cargo.
const OF_CARGO: &str = "crates/host/src/program.rs";

/// Whether a text names an option or a command of the program.
fn names_options(text: &str) -> bool {
    let is_option = |rest: &str| rest.starts_with(|first: char| first.is_ascii_lowercase());
    text.contains("`jarmo ") || text.split("--").skip(1).any(is_option)
}

#[test]
fn errors_of_the_libraries_name_no_options() {
    assert!(names_options("continue it with --resume") && names_options("see `jarmo tables`"));
    assert!(!names_options("a -- b"));
    let checked = |source: &&Source| WITHOUT_OPTIONS.contains(&source.krate) && source.path != Path::new(OF_CARGO);
    for source in sources().iter().filter(checked) {
        for line in source.text.lines().filter(|line| !line.trim().starts_with("//")) {
            assert!(!names_options(line), "{}: {line}", source.path.display());
        }
    }
}

#[test]
fn no_file_is_longer_than_900_lines() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= 900, "{}: {lines} lines", source.path.display());
    }
}

#[test]
fn what_runs_in_a_tab_reads_no_files_and_no_clock_and_starts_no_threads() {
    let words = ["std::fs", "std::env", "std::net", "Instant", "SystemTime", "std::thread"];
    for source in sources() {
        for word in words {
            let inside = ["crates/core/src", "crates/session/src", "crates/train/src"].contains(&source.krate);
            let inside = inside || source.place().starts_with("selfplay") && source.module != "bench";
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
        let inside = place.starts_with("core/net/kernel")
            || place.ends_with("tables/map.rs")
            || place.ends_with("shuttle_bounds/map.rs")
            || place.ends_with("web/learn/exports.rs"); // random bytes for libraries
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
            assert!(source.place().starts_with("train"), "{path}");
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
const PLAY_BY_HAND: [&str; 24] = [
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
    "facade/game.rs",
    "facade/measure/env.rs",
    "jarmo/probe.rs",
    "jarmo/engine",
    "jarmo/cli/report",
    "jarmo/cli/rules.rs",
    "session",
    "play",
    "python",
    "web/learn/scenes.rs",
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
