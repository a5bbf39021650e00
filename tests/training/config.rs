//! The settings of a run: layers, and errors that name the nearest known setting.
#![cfg(feature = "net")]

use std::path::Path;

use assert_cmd::Command;
use jarmo::config::Config;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn with(settings: &[&str]) -> Result<Config, String> {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    Config::layered(&[], &settings).map_err(|error| error.to_string())
}

#[test]
fn every_config_in_the_repository_is_valid_and_reads_back() {
    let mut seen = 0;
    for entry in std::fs::read_dir("configs").unwrap() {
        let path = entry.unwrap().path();
        let config = Config::layered(&[&path], &[]).unwrap();
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
        jarmo::catalog::with_game(&config.game.name, &config.game.settings(), Nothing).unwrap();
        seen += 1;
    }
    assert!(seen > 0);
}

struct Nothing;

impl jarmo::catalog::GameTask for Nothing {
    type Output = ();

    fn run<G: jarmo::catalog::CatalogGame>(self, _: G) {}
}

#[test]
fn the_defaults_are_in_one_file_that_names_every_setting() {
    assert_eq!(with(&[]).unwrap(), Config::default());
    // No default comes from elsewhere.
    let file = std::fs::read_to_string("configs/default.toml").unwrap();
    let settings: Config = toml::from_str(&file).unwrap();
    assert_eq!(settings, Config::default());
}

#[test]
fn later_layers_win() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.toml", "second.toml"].map(|name| folder.path().join(name));
    std::fs::write(&first, "[selfplay]\ngames = 7\nsimulations = 9\n").unwrap();
    std::fs::write(
        &second,
        "selfplay.simulations = 11\n[game]\nname = \"guard\"\n",
    )
    .unwrap();
    let files: [&Path; 2] = [&first, &second];
    let config = Config::layered(&files, &["run.seed=99".to_owned()]).unwrap();
    assert_eq!(config.selfplay.games, 7);
    assert_eq!(config.selfplay.simulations, 11);
    assert_eq!(config.game.name, "guard");
    assert_eq!(config.run.seed, 99);
    assert_eq!(config.learner, Config::default().learner);
}

#[test]
fn a_run_from_an_agent_has_its_network_size_unless_set_otherwise() {
    let net = with(&["net.width=64", "net.blocks=3"]).unwrap().net;
    let from = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        Config::layered_from(net, &[], &settings).unwrap().net
    };
    assert_eq!(from(&["run.seed=2"]), net);
    assert_eq!(from(&["net.blocks=5"]).to_string(), "mlp 64x5");
}

#[test]
fn single_settings_take_numbers_and_unquoted_strings() {
    let config = with(&["net.width=64", "game.name=connect_four"]).unwrap();
    assert_eq!(config.net.to_string(), "mlp 64x2");
    assert_eq!(config.game.name, "connect_four");
}

#[test]
fn exact_tables_for_self_play_are_off_until_a_directory_is_named() {
    assert_eq!(Config::default().selfplay.tables, Path::new(""));
    let config = with(&["selfplay.tables=some/where"]).unwrap();
    assert_eq!(config.selfplay.tables, Path::new("some/where"));
    let kept = Config::from_toml(&config.to_toml()).unwrap();
    assert_eq!(kept.selfplay.tables, Path::new("some/where"));
    let without = config.to_toml().replace("tables = \"some/where\"\n", "");
    assert!(!without.contains("some/where"));
    let kept = Config::from_toml(&without).unwrap();
    assert_eq!(kept.selfplay.tables, Path::new(""));
}

#[test]
fn errors_name_the_setting_and_the_remedy() {
    for (setting, message) in [
        (
            "selfplay.simulation=3",
            "the nearest is selfplay.simulations",
        ),
        (
            "learnr.rate=3",
            "unknown setting learnr.rate; the nearest is learner.rate",
        ),
        ("net.widht=64", "the nearest is net.width"),
        ("learner=3", "learner is a group of settings"),
        ("selfplay.games", "expected KEY=VALUE"),
        ("selfplay.games=0", "selfplay.games = 0: it must be from 1"),
        (
            "net.width=100",
            "net.width = 100: it must be a multiple of 32",
        ),
        ("run.batch=0", "run.batch = 0: it must be at least 1"),
        ("learner.rate=-1.0", "learner.rate = -1: it must be above 0"),
        ("learner.rate=nan", "learner.rate = NaN: it must be above 0"),
        (
            "learner.average=2.0",
            "learner.average = 2: it must be from 0 to 1",
        ),
        (
            "run.minutes=-1.0",
            "run.minutes = -1: it must not be below 0",
        ),
        (
            "replay.capacity=3000",
            "run.first_samples = 8192: it must be at most replay.capacity = 3000",
        ),
        (
            "selfplay.opening_plies=4294967295",
            "selfplay.opening_plies = 4294967295: it must be from 0 to 1000",
        ),
        ("selfplay.games=many", "expected usize"),
        ("net.kind=mlp", "unknown setting net.kind"),
    ] {
        let error = with(&[setting]).unwrap_err();
        assert!(error.contains(message), "{setting}: {error}");
    }
    let missing = Config::layered(&[Path::new("no/such.toml")], &[]).unwrap_err();
    assert!(missing.to_string().starts_with("no/such.toml: "));
}

#[test]
fn config_prints_the_settings_of_a_run() {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command
        .args([
            "config",
            "--set",
            "run.seed=123",
            "--set",
            "game.name=tammi",
        ])
        .assert()
        .success()
        .stdout(contains("seed = 123").and(contains("name = \"tammi\"")));
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command
        .args(["config", "--set", "run.sed=123"])
        .assert()
        .code(2)
        .stderr(contains("unknown setting run.sed; the nearest is run.seed"));
}
