//! Exact tables in play: their results are shown, and the best level and the analysis use them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assert_cmd::Command;
use jarmo::game::{Game, Player, Proven, Verdict};
use jarmo::games::Jarmo;
use jarmo::random::stream;
use jarmo::tables::index::JarmoLayer;
use jarmo::tables::{BuildSettings, Tables, random_position};
use play::agents::AgentCache;
use play::analysis;
use play::lang::Language;
use play::session::Session;
use play::specs::Store;
use play::thought::Time;
use play::tui::App;
use predicates::prelude::*;
use predicates::str::contains;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

/// White wins in 23 plies.
const WON: &str = "5/b4/4b/5/2w1w w - - 0";

/// Tables up to force 4, built once for all tests of this file.
static TABLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("play-tables");
    let settings = BuildSettings { force: 4, save_every: Duration::from_secs(1000) };
    jarmo::tables::build(&Jarmo::standard(), &folder, settings, &mut |_| {}).unwrap();
    folder
});

fn store() -> Store {
    Store { tables: Some(TABLES.clone()), ..Store::default() }
}

fn session(position: &str, seats: [&str; 2]) -> Session {
    let settings = Default::default();
    Session::new(store(), "jarmo", settings, Some(position), seats, 1).unwrap()
}

fn think(session: &mut Session) {
    let mut cache = AgentCache::default();
    while let Some(job) = session.job() {
        let thought = job.run(&mut cache, Time::alone(play::machine::clock, &AtomicBool::new(false))).unwrap();
        session.finish(&job, Ok(thought));
    }
}

fn drawn() -> String {
    let game = Jarmo::standard();
    let tables = Tables::open(&game, &TABLES).unwrap();
    let (layer, mut draw) = (JarmoLayer::new(4), stream(1, 1));
    loop {
        let position = random_position(&layer, &mut draw);
        if tables.proven(&position) == Some(Proven::DRAW) && game.outcome(&position).is_none() {
            return game.position_text(&position);
        }
    }
}

fn record_file(folder: &Path, position: &str) -> String {
    let path = folder.join("game.jsonl");
    let record = json!({ "game": "jarmo", "position": position, "moves": [] });
    std::fs::write(&path, format!("{record}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_best_level_wins_within_the_plies_of_the_tables() {
    let mut session = session(WON, ["best", "random"]);
    assert_eq!(session.board().known(0), Some(Proven::win(23)));
    assert_eq!(session.value(0), Some(1.0));
    think(&mut session);
    let end = session.board().moves().len();
    let outcome = session.board().outcome(end).expect("the game is over");
    assert_eq!(outcome.verdict(Player::White), Verdict::Win);
    assert!(end <= 23, "{end}");
    assert_eq!(session.board().known(end), None, "a finished game has no board result");
}

#[test]
fn the_best_level_wins_with_packed_results() {
    let folder = tempfile::tempdir().unwrap();
    let game = Jarmo::standard();
    jarmo::tables::pack(&game, &TABLES, folder.path(), 0, &mut |_| {}).unwrap();
    let store = Store { tables: Some(folder.path().to_owned()), ..Store::default() };
    let seats = ["best", "random"];
    let settings = Default::default();
    let mut session = Session::new(store, "jarmo", settings, Some(WON), seats, 1).unwrap();
    let known = session.board().known(0).unwrap();
    assert_eq!((known.verdict, known.plies), (Verdict::Win, None));
    think(&mut session);
    let end = session.board().moves().len();
    let outcome = session.board().outcome(end).expect("the game is over");
    assert_eq!(outcome.verdict(Player::White), Verdict::Win);
}

#[test]
fn analysis_marks_a_missed_table_win_as_a_blunder() {
    let mut session = session(WON, ["human", "human"]);
    let worst = session.board().scene().legal.into_iter().find(|legal| {
        session.play(&legal.text).unwrap();
        let lost = session.value(1) < Some(1.0);
        session.undo();
        lost
    });
    session.play(&worst.expect("not every move wins").text).unwrap();
    session.set_analysing(true);
    think(&mut session);
    let one = &session.assessments()[0];
    assert_eq!(one.before, Some(1.0));
    assert!(one.lost.unwrap() >= 1.0 && one.mark == "??", "{one:?}");
    assert_eq!(one.certain, session.board().known(0));
    assert_eq!(one.mistake, Some(true));
    assert_eq!(analysis::mistakes(&session.assessments()), Some([1, 0]));
    let annotated: Value = serde_json::from_str(&analysis::annotated(&session)).unwrap();
    assert_eq!(annotated["analysis"]["mistakes"], json!({ "white": 1, "black": 0 }));
    let proven = &annotated["analysis"]["moves"][0]["certain"];
    assert_eq!(*proven, json!({ "winner": "white", "plies": 23 }));
}

#[test]
fn plain_play_shows_table_results_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("en", "Exact tables: White wins in 23 plies.", "draw with best play"),
        ("de", "Exakte Tabellen: Weiß gewinnt in 23 Halbzügen.", "Unentschieden bei bestem Spiel"),
        ("it", "Tabelle esatte: Il Bianco vince in 23 semimosse.", "patta con il gioco migliore"),
        ("fi", "Tarkat taulukot: Valkoinen voittaa 23 puolisiirrossa.", "tasapeli parhaalla pelillä"),
        ("eo", "Ekzaktaj tabeloj: Blanko venkas post 23 duonmovoj.", "remiso ĉe plej bona ludo"),
    ];
    let drawn = drawn();
    for (language, won, draw) in cases {
        for (position, words) in [(WON, won), (&drawn, draw)] {
            let mut command = Command::cargo_bin("play").unwrap();
            command
                .env("LC_ALL", "C.UTF-8")
                .args(["--plain", "--black", "human", "--lang", language, "--load"])
                .arg(record_file(folder.path(), position))
                .arg("--tables")
                .arg(&*TABLES)
                .write_stdin("")
                .assert()
                .success()
                .stdout(contains(words).count(1));
        }
    }
}

#[test]
fn the_terminal_shows_table_results_with_the_evaluation_bar_only() {
    for evaluating in [true, false] {
        let mut session = session(WON, ["human", "human"]);
        session.evaluating = evaluating;
        let mut app = App::new(session, Language::En, 0);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| app.draw(frame)).unwrap();
        let screen = terminal.backend().to_string();
        let shown = screen.contains("Exact tables: White wins in");
        assert_eq!(shown, evaluating, "{screen}");
    }
}

#[test]
fn unusable_tables_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let torn = folder.path().join("torn");
    std::fs::create_dir(&torn).unwrap();
    for entry in std::fs::read_dir(&*TABLES).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "board") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let cut = &bytes[..bytes.len() - 1];
        std::fs::write(torn.join(path.file_name().unwrap()), cut).unwrap();
    }
    let missing = folder.path().join("missing");
    let torn = torn.to_str().unwrap();
    for (game, tables, message) in [
        ("tammi", TABLES.to_str().unwrap(), "has no tables of tammi"),
        ("jarmo", missing.to_str().unwrap(), "missing"),
        ("jarmo", torn, torn),
    ] {
        for way in [&["--plain"][..], &["--web", "--port", "0"]] {
            let mut command = Command::cargo_bin("play").unwrap();
            command
                .args(["--game", game, "--tables", tables])
                .args(way)
                .write_stdin("")
                .assert()
                .code(2)
                .stderr(contains(message).and(contains("panicked").not()));
        }
    }
}
