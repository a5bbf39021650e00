//! What exact tables hold, and how fast they are.

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use jarmo_core::games::tammi::{DEFAULT_MAX_PLIES, DEFAULT_QUIET_LIMIT};
use jarmo_core::games::{Jarmo, Tammi};
use jarmo_exact::tables::{BuildSettings, Solvable, build};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn built<G: Solvable>(game: &G, folder: &Path, force: u32) {
    let settings = BuildSettings { force, save_every: Duration::MAX };
    build(game, folder, settings, &mut |_| {}).unwrap();
}

fn lab(arguments: &[&str]) -> Assert {
    let mut command = Command::cargo_bin("lab").unwrap();
    command.arg("tables").args(arguments).assert()
}

fn json(arguments: &[&str]) -> Value {
    let assert = lab(arguments).success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn tables_of_jarmo_are_counted_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    built(&Jarmo::standard(), folder.path(), 4);
    let tables = folder.path().to_str().unwrap();
    lab(&["bench", tables, "--lookups", "1000"])
        .success()
        .stdout(contains("force 4: ").and(contains(" ns per lookup")));
    let position = "5/b4/4b/5/2w1w w - - 0";
    lab(&["stats", tables])
        .success()
        .stdout(contains("96810       28720       58455       35115").and(contains(position)));
    let json = json(&["stats", tables, "--json"]);
    let side = &json["layers"][2]["sides"][0];
    assert_eq!(side["to_move"], "white");
    assert_eq!((&side["won"], &side["drawn"]), (&96810.into(), &28720.into()));
    assert_eq!((&side["lost"], &side["over"]), (&58455.into(), &35115.into()));
    assert_eq!(json["layers"][2]["longest_win"]["plies"], 23);
}

#[test]
fn tables_of_tammi_are_counted_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    built(&Tammi::new(DEFAULT_QUIET_LIMIT, DEFAULT_MAX_PLIES), folder.path(), 3);
    let tables = folder.path().to_str().unwrap();
    lab(&["stats", tables, "--game", "tammi"])
        .success()
        .stdout(contains("either        63007      102242       30625         158"));
    let json = json(&["stats", tables, "--game", "tammi", "--json"]);
    assert_eq!(json["layers"][1]["longest_win"]["plies"], 21);
    assert!(json["layers"][1]["sides"][0]["to_move"].is_null());
    lab(&["bench", tables, "--game", "tammi", "--lookups", "1000"]).success().stdout(contains("force 3: "));
    lab(&["stats", tables, "--game", "guard"]).failure().stderr(contains("for jarmo and tammi only, not for guard"));
}
