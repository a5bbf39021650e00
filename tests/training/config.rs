//! The settings of a run: layers, and errors that name the nearest known setting.

use std::path::Path;

use assert_cmd::Command;
use jarmo::Games;
use jarmo::catalog::GAMES;
use jarmo::config::{Base, Config};
use jarmo::facade::Listed;
use jarmo::games::Scripted;
use jarmo::games::scripted::Node;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn with(settings: &[&str]) -> Result<Config, String> {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    Config::layered(&Base::default(), &[], &settings).map_err(|error| error.to_string())
}

#[test]
fn every_config_in_the_repository_is_valid_and_reads_back() {
    let mut seen = 0;
    for entry in std::fs::read_dir("configs").unwrap() {
        let path = entry.unwrap().path();
        // The folder is a crate, too, and has what a worker's machine needs.
        if path.extension() != Some("toml".as_ref()) || path.ends_with("Cargo.toml") {
            continue;
        }
        let config = Config::layered(&Base::default(), &[&path], &[]).unwrap();
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
        Games::shipped().open(&config.game.name, &config.game.settings()).unwrap();
        seen += 1;
    }
    assert!(seen > 0);
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
    std::fs::write(&second, "selfplay.simulations = 11\n[game]\nname = \"guard\"\n").unwrap();
    let files: [&Path; 2] = [&first, &second];
    let config = Config::layered(&Base::default(), &files, &["run.seed=99".to_owned()]).unwrap();
    assert_eq!(config.selfplay.games, 7);
    assert_eq!(config.selfplay.simulations, 11);
    assert_eq!(config.game.name, "guard");
    assert_eq!(config.run.seed, 99);
    assert_eq!(config.learner, Config::default().learner);
}

#[test]
fn a_run_from_an_agent_has_its_network_size_unless_set_otherwise() {
    let net = with(&["net.width=64", "net.blocks=3"]).unwrap().net.size();
    let from = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
        let base = Base { net: Some(net.into()), ..Base::default() };
        Config::layered(&base, &[], &settings).unwrap().net.size()
    };
    assert_eq!(from(&["run.seed=2"]), net);
    assert_eq!(from(&["net.blocks=5"]).to_string(), "mlp 64x5");
}

#[test]
fn single_settings_take_numbers_and_unquoted_strings() {
    let config = with(&["net.width=64", "game.name=connect_four"]).unwrap();
    assert_eq!(config.net.size().to_string(), "mlp 64x2");
    assert_eq!(config.game.name, "connect_four");
}

#[test]
fn a_run_takes_the_exam_of_the_program_unless_it_names_another_or_none() {
    let choice = |settings: &[&str]| {
        let config = with(settings).unwrap();
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
        config.evaluation.exam
    };
    assert_eq!(choice(&[]), "built-in");
    assert_eq!(choice(&["evaluation.exam=none"]), "none");
    assert_eq!(choice(&["evaluation.exam=my.exam"]), "my.exam");
}

#[test]
fn a_value_that_a_file_must_not_have_is_refused_with_the_file_and_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    for (text, message) in [
        ("[game]\nname = 3\n", "game.name = 3: invalid type"),
        ("run.batch = true\n", "run.batch = true: it must be a whole number"),
        ("net.width = 100\n", "net.width = 100: it must be a multiple"),
        ("evaluation.games = 5\n", "evaluation.games = 5: it must be even"),
        ("run.sed = 5\n", "unknown setting run.sed; the nearest is run.seed"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = Config::layered(&Base::default(), &[&path], &[]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn all_problems_of_the_settings_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.toml");
    std::fs::write(&path, "net.width = 100\n[run]\nbatch = 0\nsed = 5\n").unwrap();
    let settings = ["learner.rate=10".to_owned(), "run.keep".to_owned(), "run.seed=2".to_owned()];
    let error = Config::layered(&Base::default(), &[&path], &settings).unwrap_err().to_string();
    let place = path.display().to_string();
    let expected = [
        format!("{place}: net.width = 100: it must be a multiple of 32"),
        format!("{place}: run.batch = 0: it must be a whole number from 1 to"),
        format!("{place}: unknown setting run.sed; the nearest is run.seed"),
        "learner.rate = 10: it must be a number from".to_owned(),
        "run.keep: expected KEY=VALUE".to_owned(),
    ];
    assert_eq!(error.lines().count(), expected.len(), "{error}");
    for (line, expected) in error.lines().zip(expected) {
        assert!(line.starts_with(&expected), "{line}: {expected}");
    }
    let text = Config::default().to_toml().replace("batch = 512", "batch = 0").replace("keep = 20", "keep = 0");
    let error = Config::from_toml(&text).unwrap_err().to_string();
    assert!(error.contains("run.batch = 0: ") && error.contains("\nrun.keep = 0: "), "{error}");
}

#[test]
fn every_number_has_bounds_that_its_error_names() {
    let mut tried = 0;
    let defaults: toml::Table = Config::default().to_toml().parse().unwrap();
    for (group, settings) in &defaults {
        for (name, value) in settings.as_table().unwrap() {
            if value.is_integer() || value.is_float() {
                try_number(&format!("{group}.{name}"), value.is_float());
                tried += 1;
            }
        }
    }
    assert!(tried >= 30, "{tried}");
}

/// Tries a setting at its bounds, which its error names, and beyond.
fn try_number(key: &str, real: bool) {
    let refusal = |value: &str| {
        let setting = format!("{key}={value}");
        let other = match key {
            "replay.capacity" => "run.first_samples=1",
            _ => "replay.capacity=1000000000",
        };
        with(&[other, &setting]).err()
    };
    let message = refusal("nan").unwrap();
    let range = message.rsplit_once("number from ").expect(&message).1;
    let (least, most) = range.split_once(" to ").unwrap();
    for inside in [least, most] {
        assert_eq!(refusal(inside), None, "{key}={inside}");
    }
    let mut outside = vec!["-1", "inf", "-inf", "18446744073709551615", "1e300", "many"];
    let (below, above) = match real {
        true => {
            let beyond = |bound: &str, by: f64| (bound.parse::<f64>().unwrap() + by).to_string();
            (beyond(least, -0.001), beyond(most, 0.001))
        }
        false => {
            let beyond = |bound: &str, by: i128| (bound.parse::<i128>().unwrap() + by).to_string();
            (beyond(least, -1), beyond(most, 1))
        }
    };
    outside.extend([below.as_str(), above.as_str()]);
    for value in outside {
        let message = refusal(value).unwrap_or_else(|| panic!("{key} takes {value}"));
        assert!(message.starts_with(&format!("{key} = ")), "{message}");
        assert!(message.ends_with(range), "{message}");
    }
    if least == "1" {
        assert!(refusal("0").is_some(), "{key}");
    }
}

#[test]
fn settings_of_a_program_are_checked_as_those_of_a_file_are() {
    let mut config = Config::default();
    config.run.reuse = f64::NAN;
    let error = config.validate().unwrap_err().to_string();
    assert!(error.contains("run.reuse = nan: it must be a number from 0.001 to 1000"), "{error}");
    config = Config::default();
    config.run.seed = u64::MAX;
    assert!(config.validate().is_err());
}

#[test]
fn errors_name_the_setting_and_the_remedy() {
    for (setting, message) in [
        ("selfplay.simulation=3", "the nearest is selfplay.simulations"),
        ("selfplay.sims=3", "the nearest is selfplay.simulations"),
        ("net.depth=3", "the settings of net are "),
        ("net.width=64\nnet.blocks=3", "expected one setting"),
        ("learnr.rate=3", "unknown setting learnr.rate; the nearest is learner.rate"),
        ("net.widht=64", "the nearest is net.width"),
        ("learner=3", "learner is a group of settings"),
        ("selfplay.games", "expected KEY=VALUE"),
        ("selfplay.games=0", "selfplay.games = 0: it must be a whole number from 1 to 1048576"),
        ("net.width=100", "net.width = 100: it must be a multiple of 32"),
        ("run.batch=0", "run.batch = 0: it must be a whole number from 1 to"),
        ("learner.rate=-1.0", "learner.rate = -1.0: it must be a number from 0.0000000001 to 1"),
        ("learner.rate=10", "learner.rate = 10: it must be a number from 0.0000000001 to 1"),
        ("learner.rate=nan", "learner.rate = nan: it must be a number from"),
        ("learner.average=2.0", "learner.average = 2.0: it must be a number from 0 to 1"),
        ("run.minutes=-1.0", "run.minutes = -1.0: it must be a number from 0 to"),
        ("replay.capacity=3000", "run.first_samples = 8192: it must be at most replay.capacity = 3000"),
        (
            "selfplay.max_random_plies=4294967295",
            "selfplay.max_random_plies = 4294967295: it must be a whole number from 0 to 1000",
        ),
        ("selfplay.games=many", "selfplay.games = many: it must be a whole number"),
        ("net.depth=2", "unknown setting net.depth; the settings of net are blocks, kind, width"),
        ("foo=1", "unknown setting foo; the groups of settings are evaluation, fleet, game, learner"),
        ("simulations=8", "did you mean evaluation.simulations or selfplay.simulations?"),
        ("selfplay.root=alpha", "selfplay.root = alpha: unknown variant `alpha`"),
        ("evaluation.opponents=random", "evaluation.opponents = random: invalid type"),
        ("game.name=chess", "game.name = chess: it must be one of jarmo, guard, tammi, connect_four"),
    ] {
        let error = with(&[setting]).unwrap_err();
        assert!(error.contains(message), "{setting}: {error}");
    }
    let missing = Config::layered(&Base::default(), &[Path::new("no/such.toml")], &[]).unwrap_err();
    assert!(missing.to_string().starts_with("no/such.toml: "));
}

#[test]
fn config_prints_the_settings_of_a_run() {
    let mut command = Command::cargo_bin("jarmo").unwrap();
    command
        .args(["config", "--set", "run.seed=123", "--set", "game.name=tammi"])
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

#[test]
fn a_game_comes_with_the_settings_that_suit_it() {
    for game in GAMES {
        let base = Base { game: Some(game.to_owned()), ..Base::default() };
        let config = Config::layered(&base, &[], &[]).unwrap();
        let file = format!("configs/{game}.toml");
        assert_eq!(config, Config::layered(&Base::default(), &[Path::new(&file)], &[]).unwrap());
        let other = ["game.name=scripted".to_owned()];
        assert!(Config::layered(&base, &[], &other).is_err());
    }
    for (args, message) in [
        (&["config", "--game", "chess"][..], "game.name = chess: it must be one of jarmo"),
        (&["config", "--game", "tammi", "--set", "game.name=guard"], "game.name = guard: the run was to play tammi"),
        (&["train", "--game", "jarmo", "--set", "game.board=none.toml"], "game.board: "),
        (&["export", "runs/none", "--out", "x.safetensors"], "runs/none: No such file"),
        (&["export", "runs/none", "--out", "x"], "--out: the name of an agent file ends in .safetensors"),
    ] {
        let mut command = Command::cargo_bin("jarmo").unwrap();
        let assert = command.args(args).assert().failure();
        assert.stderr(contains(message));
    }
}

#[test]
fn a_registered_game_brings_its_settings_and_is_named_in_errors() {
    let scripted = || Scripted::new(&Node::white([Node::end(1, 0), Node::end(0, 1)]));
    let base = |games: Vec<Listed>| Base { games, game: Some("scripted".to_owned()), net: None };
    let usual = Config::layered(&base(Games::shipped().register(scripted()).list()), &[], &[]).unwrap();
    assert_eq!(usual.game.name, "scripted");
    assert_eq!(usual.evaluation.opponents, ["rollout:1000", "random"]);
    assert_eq!(Config::from_toml(&usual.to_toml()).unwrap(), usual);

    let with = |training| Games::shipped().register(scripted()).trained_with(training).list();
    let own = base(with("net.width = 64"));
    assert_eq!(Config::layered(&own, &[], &[]).unwrap().net.width, 64);
    // A file that names no game leaves the default game its settings.
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("rate.toml");
    std::fs::write(&file, "learner.rate = 0.0005\n").unwrap();
    let alone = Games::empty().register(scripted()).trained_with("net.width = 64");
    assert_eq!(Config::of_run(&alone, None, None, &[&file], &[]).unwrap().net.width, 64);
    let chess = Base { game: Some("chess".to_owned()), ..own.clone() };
    for (base, settings, message) in [
        (chess, vec![], "it must be one of jarmo, guard, tammi, connect_four, scripted"),
        (own, vec!["game.name=chess".to_owned()], "it must be one of jarmo, guard, tammi, connect_four, scripted"),
        (base(with("net.depth = 3")), vec![], "the training settings of scripted: unknown setting net.depth"),
    ] {
        let error = Config::layered(&base, &[], &settings).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn an_error_about_settings_together_names_the_file_that_sets_them() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let small = file("small.toml", "[replay]\ncapacity = 100\n");
    let other = file("other.toml", "[run]\nseed = 7\n");
    let chess = file("chess.toml", "[game]\nname = \"chess\"\n");
    let told = |files: &[&std::path::Path], settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
        Config::layered(&Base::default(), files, &settings).unwrap_err().to_string()
    };
    let named = |path: &std::path::Path| format!("{}: ", path.display());
    assert!(told(&[&small, &other], &[]).starts_with(&(named(&small) + "run.first_samples = ")));
    assert!(told(&[&chess], &[]).starts_with(&(named(&chess) + "game.name = chess: ")));
    let by_option = told(&[&small], &["replay.capacity=50"]);
    assert!(by_option.starts_with("run.first_samples = "), "{by_option}");
}
