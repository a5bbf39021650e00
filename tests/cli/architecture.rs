//! Rules for the sources that the compiler does not check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every source file, with the module of `lib.rs` it belongs to; those of the package `play` with `play`.
fn sources() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("src"), PathBuf::from("play/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix("src").unwrap_or(&path);
                let first = inside.components().next().unwrap();
                let module = Path::new(first.as_os_str()).file_stem().unwrap();
                found.push((module.to_str().unwrap().to_owned(), path));
            }
        }
    }
    assert!(found.len() > 20);
    found
}

/// The modules of `lib.rs` in their order.
fn modules() -> Vec<String> {
    let library = fs::read_to_string("src/lib.rs").unwrap();
    library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
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
    let order: BTreeMap<String, usize> = modules().into_iter().zip(0..).collect();
    assert!(order.len() > 5);
    let mut checked = 0;
    for (module, path) in sources() {
        let Some(place) = order.get(&module) else {
            continue; // the programs may use everything
        };
        for named in imports(&fs::read_to_string(&path).unwrap()) {
            if let Some(other) = order.get(&named) {
                checked += 1;
                assert!(
                    other <= place,
                    "{}: {module} imports {named}",
                    path.display()
                );
            }
        }
    }
    assert!(checked > 50);
}

#[test]
fn nothing_below_the_command_line_prints() {
    for (module, path) in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for word in ["println!", "eprintln!", "print!(", "dbg!("] {
            let talks = ["cli", "main"].contains(&module.as_str());
            assert!(talks || !text.contains(word), "{}: {word}", path.display());
        }
    }
}

#[test]
fn no_file_is_longer_than_600_lines() {
    for (_, path) in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 600, "{}: {lines} lines", path.display());
    }
}

#[test]
fn unsafe_code_stays_in_the_kernels_and_the_mapped_files() {
    let mut kernels = 0;
    for (_, path) in sources() {
        let inside = path.starts_with("src/net/kernel") || path.ends_with("tables/map.rs");
        kernels += usize::from(inside);
        let text = fs::read_to_string(&path).unwrap();
        let has = text.contains("unsafe fn") || text.contains("unsafe {");
        assert!(inside || !has, "{}", path.display());
    }
    assert!(kernels > 4);
}

#[test]
fn the_tensor_library_is_named_in_train_alone() {
    let mut named = 0;
    for (module, path) in sources() {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("burn::") {
            named += 1;
            assert_eq!(module, "train", "{}", path.display());
        }
    }
    assert!(named > 0);
}

#[test]
fn messages_of_protobuf_are_written_and_never_parsed() {
    let reads = ["parse_from", "merge_from", "CodedInputStream"];
    let mut named = BTreeSet::new();
    for (_, path) in sources() {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("protobuf::") || text.contains("tensorboard_proto::") {
            for word in reads {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
            named.insert(path);
        }
    }
    let writers = ["hparams.rs", "tensorboard.rs"].map(|name| Path::new("src/observe").join(name));
    assert_eq!(named, BTreeSet::from(writers));
}

/// The folders and files that may play actions on a position by hand. All other games are stepped
/// through the environment.
const PLAY_BY_HAND: [&str; 16] = [
    // The rules themselves, and the environment.
    "game",
    "games",
    "catalog/bare.rs",
    "env",
    // They look ahead from a position, which is not part of a game.
    "search",
    "eval",
    "tables",
    "proof",
    "agent/greedy.rs",
    // They follow the actions that a person, a file or tables give.
    "puzzles",
    "pictures.rs",
    "record.rs",
    "probe.rs",
    "engine",
    "cli/rules.rs",
    "play/src",
];

/// Whether a source plays an action on a position of a game.
fn plays_by_hand(text: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim().starts_with("//"));
    let text: String = code
        .flat_map(str::chars)
        .filter(|symbol| !symbol.is_whitespace())
        .collect();
    let calls = ["game.play(", "game().play(", "Game::play(", ".play(&mut"];
    let checked = [".try_play(", ".play_text("];
    calls.iter().chain(&checked).any(|call| text.contains(call))
}

#[test]
fn played_actions_are_found_however_they_are_written() {
    assert!(plays_by_hand("self.game\n    .play(position, action);"));
    assert!(plays_by_hand("rules.play(&mut position, action)"));
    assert!(plays_by_hand("env.game().play(at, action)"));
    assert!(plays_by_hand("rules.try_play(position, action)?"));
    assert!(!plays_by_hand("tournament.play(teams, stop, observer)"));
}

#[test]
fn every_game_is_stepped_through_the_environment() {
    let mut by_hand = BTreeSet::new();
    let mut stepped = BTreeSet::new();
    for (module, path) in sources() {
        let text = fs::read_to_string(&path).unwrap();
        if plays_by_hand(&text) {
            let inside = path.strip_prefix("src").unwrap_or(&path);
            let place = PLAY_BY_HAND.iter().find(|place| inside.starts_with(place));
            let message = "step this game through `env`, or say in PLAY_BY_HAND why not";
            by_hand.insert(*place.unwrap_or_else(|| panic!("{}: {message}", path.display())));
        }
        if imports(&text).contains(&"env".to_owned()) {
            stepped.insert(module);
        }
    }
    assert_eq!(by_hand, BTreeSet::from(PLAY_BY_HAND), "only those that do");
    for module in ["selfplay", "arena", "accuracy", "bench"] {
        assert!(stepped.contains(module), "{module}");
    }
}
