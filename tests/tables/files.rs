//! Table files: round trips, damage, other boards, and builds that were killed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jarmo::games::Jarmo;
use jarmo::games::board::Board;
use jarmo::tables::index::JarmoLayer;
use jarmo::tables::{BuildSettings, Solvable, TableProgress, Tables, build};

fn settings(force: u32) -> BuildSettings {
    BuildSettings { force, save_every: Duration::from_secs(1000) }
}

fn build_in(folder: &Path, force: u32) -> (Tables, Vec<TableProgress>) {
    let mut messages = Vec::new();
    let mut tell = |progress| messages.push(progress);
    let tables = build(&Jarmo::standard(), folder, settings(force), &mut tell).unwrap();
    (tables, messages)
}

fn open_error(folder: &Path) -> String {
    Tables::open(&Jarmo::standard(), folder).unwrap_err().to_string()
}

fn layer(folder: &Path, force: u32) -> PathBuf {
    folder.join(format!("force-{force:02}.table"))
}

#[test]
fn built_tables_open_with_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let (built, _) = build_in(folder.path(), 4);
    let opened = Tables::open(&Jarmo::standard(), folder.path()).unwrap();
    assert_eq!((built.force(), opened.force()), (4, 4));
    let solved = Tables::solve(&Jarmo::standard(), 4).unwrap();
    for force in 2..=4 {
        assert!(opened.bytes(force).is_some());
        assert!(opened.bytes(force) == solved.bytes(force));
    }
    let positions: u64 = (2..=4).map(|force| fs::metadata(layer(folder.path(), force)).unwrap().len() - 72).sum();
    assert_eq!(positions, 469_400, "one byte per position");
}

#[test]
fn damaged_files_are_refused_by_name_and_rebuilt() {
    /// The damage to the file of force 3, and a part of the error.
    type Damage = (fn(&Path), &'static str);
    let damages: [Damage; 6] = [
        (|path| fs::remove_file(path).unwrap(), "is missing"),
        (|path| cut(path, 1), "29999 bytes for 30000 positions"),
        (|path| cut(path, 30_010), "is truncated"),
        (|path| flip(path, 20_000), "checksum"),
        (|path| flip(path, 25), "damaged header"),
        (|path| fs::write(path, b"").unwrap(), "is truncated"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (_, _) = build_in(folder.path(), 4);
    for (damage, what) in damages {
        let path = layer(folder.path(), 3);
        let sound = fs::read(&path).unwrap();
        damage(&path);
        let message = open_error(folder.path());
        assert!(message.contains(what), "{message}");
        assert!(message.contains("force-03.table"), "{message}");
        let remedy = if what == "is missing" { "; build it first" } else { "; build it again" };
        assert!(message.ends_with(remedy), "{message}");
        let (_, messages) = build_in(folder.path(), 4);
        let built: Vec<u32> = messages
            .iter()
            .filter_map(|progress| match progress {
                TableProgress::Done(force, _) => Some(*force),
                _ => None,
            })
            .collect();
        assert_eq!(built, [3], "{what}: only this layer is rebuilt");
        assert!(fs::read(&path).unwrap() == sound);
    }
}

fn cut(path: &Path, bytes: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() - bytes).unwrap();
}

fn flip(path: &Path, place: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn files_that_are_not_tables_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = layer(folder.path(), 2);
    fs::write(&path, "my holiday pictures").unwrap();
    assert!(open_error(folder.path()).contains("is not a table file"));
    let result = build(&Jarmo::standard(), folder.path(), settings(3), &mut |_| {});
    assert!(result.unwrap_err().to_string().contains("is not a table file"));
    assert_eq!(fs::read(&path).unwrap(), b"my holiday pictures");
}

#[test]
fn tables_of_another_board_are_refused() {
    let lines = Jarmo::standard();
    let lines: Vec<String> =
        lines.board().lines().iter().map(|(a, b)| format!("\"{a}-{b}\"")).chain(["\"A1-A2\"".to_owned()]).collect();
    let text = format!("name = \"standard\"\nlines = [{}]", lines.join(", "));
    let other = Jarmo::new(Board::from_toml(&text).unwrap(), 0);
    let folder = tempfile::tempdir().unwrap();
    build(&other, folder.path(), settings(3), &mut |_| {}).unwrap();
    assert_eq!(Tables::open(&other, folder.path()).unwrap().force(), 3);
    let message = open_error(folder.path());
    assert!(message.contains("another board"), "{message}");
    let built = build(&Jarmo::standard(), folder.path(), settings(3), &mut |_| {});
    let message = built.unwrap_err().to_string();
    assert!(message.contains("another board"), "{message}");
}

#[test]
#[cfg(unix)]
fn a_pipe_in_the_place_of_a_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 2);
    let path = layer(folder.path(), 2);
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let error = open_error(folder.path());
    assert!(error.contains("force-02.table: a pipe or a device"), "{error}");
}

#[test]
fn a_missing_or_empty_folder_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    assert!(open_error(folder.path()).contains("force-02.table: is missing"));
    let nowhere = folder.path().join("nowhere");
    assert!(open_error(&nowhere).contains("nowhere: is missing"));
}

#[test]
fn a_killed_build_resumes_from_its_last_save() {
    let whole = tempfile::tempdir().unwrap();
    build_in(whole.path(), 4);
    let folder = tempfile::tempdir().unwrap();
    let often = BuildSettings { force: 4, save_every: Duration::ZERO };
    // The build dies in the middle of force 4 four times: while it gives positions their first bytes, and at
    // three different steps.
    for (died, messages) in [2, 40, 90, 200].into_iter().enumerate() {
        let mut left = messages;
        let mut resumed = false;
        let result = catch_unwind(AssertUnwindSafe(|| {
            build(&Jarmo::standard(), folder.path(), often, &mut |progress| match progress {
                TableProgress::Working(4, _) => {
                    left -= 1;
                    if left == 0 {
                        resume_unwind(Box::new(()));
                    }
                }
                TableProgress::Resumed(4) => resumed = true,
                _ => {}
            })
        }));
        assert!(result.is_err());
        assert_eq!(resumed, died > 0);
        assert!(folder.path().join("force-04.unfinished").exists());
        assert!(!layer(folder.path(), 4).exists());
    }
    let (tables, messages) = build_in(folder.path(), 4);
    assert!(messages.iter().any(|one| matches!(one, TableProgress::Resumed(4))));
    assert_eq!(tables.force(), 4);
    for rest in ["force-04.unfinished", "force-04.pages"] {
        assert!(!folder.path().join(rest).exists());
    }
    for force in 2..=4 {
        let (one, other) = (layer(whole.path(), force), layer(folder.path(), force));
        assert!(fs::read(one).unwrap() == fs::read(other).unwrap(), "force {force}");
    }
}

/// Checksums of the positions' bytes, force 2 first.
const CHECKSUMS: [u64; 5] =
    [0xf870_d24e_abe9_f33f, 0xcb44_e398_d6a7_d958, 0x8a09_47aa_795a_fec1, 0x227a_d668_df42_c31d, 0xf4c1_7230_19fa_9823];

#[test]
fn tables_have_the_bytes_that_they_always_had() {
    let folder = tempfile::tempdir().unwrap();
    let often = BuildSettings { save_every: Duration::from_secs(1), ..settings(6) };
    build(&Jarmo::standard(), folder.path(), often, &mut |_| {}).unwrap();
    for (force, checksum) in (2..).zip(CHECKSUMS) {
        let file = fs::read(layer(folder.path(), force)).unwrap();
        assert_eq!(file[48..56], checksum.to_le_bytes(), "force {force}");
    }
}

#[test]
fn the_highest_force_needs_a_fraction_of_its_size_in_memory() {
    let tenths = |force| (10.0 * Jarmo::memory_needed(&JarmoLayer::new(force)) as f64 / f64::from(1 << 30)).ceil();
    assert_eq!(tenths(10), 31.0, "GiB / 10, as docs/tables.md says");
    assert_eq!(tenths(4), 6.0);
}

#[test]
fn a_damaged_unfinished_layer_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let often = BuildSettings { save_every: Duration::ZERO, ..settings(4) };
    let mut left = 90;
    let died = catch_unwind(AssertUnwindSafe(|| {
        build(&Jarmo::standard(), folder.path(), often, &mut |progress| {
            if let TableProgress::Working(4, _) = progress {
                left -= 1;
                if left == 0 {
                    resume_unwind(Box::new(()));
                }
            }
        })
    }));
    assert!(died.is_err());
    flip(&folder.path().join("force-04.unfinished"), 100_000);
    let (_, messages) = build_in(folder.path(), 4);
    let told = messages
        .iter()
        .any(|one| matches!(one, TableProgress::Rebuilding(why) if why.contains("force-04.unfinished: is damaged")));
    assert!(told);
    let file = fs::read(layer(folder.path(), 4)).unwrap();
    assert_eq!(file[48..56], CHECKSUMS[2].to_le_bytes());
}
