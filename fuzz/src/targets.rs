//! What reads inputs from outside. A target gets bytes, and panics if an invariant fails.

use std::io::{Cursor, sink};

use jarmo::agent::AgentSpec;
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::checksum;
use jarmo::config::{Base, Config};
use jarmo::engine;
use jarmo::game::{Game, Mask};
use jarmo::games::{ConnectFour, Jarmo};
use jarmo::net::{AgentFile, GameVersion, NetOutput, NetSettings, NetShape, Provenance, Weights};
use jarmo::probe;
use jarmo::random::stream;
use jarmo::record::GameRecord;
use jarmo::replay::{Sample, Samples};
use jarmo::{Games, erase};

use crate::files::{self, Folders};
use crate::fleet::{self, Fleet};
use crate::http::{self, Page};

/// A target: its name, which is that of its corpus, and its share of the inputs.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Its share of the inputs.
    pub share: u64,
    /// Reads an input.
    pub run: fn(&mut Tools, &[u8]),
    /// Inputs that the programs write themselves, in today's format.
    pub written: fn() -> Vec<Vec<u8>>,
}

/// What is expensive to start.
pub struct Tools {
    page: Option<Page>,
    saved: Option<Page>,
    pub(crate) folders: Folders,
    pub(crate) fleet: Option<Fleet>,
    spec: AgentSpec,
}

impl Tools {
    /// Starts nothing yet.
    pub fn new() -> Tools {
        Tools { page: None, saved: None, folders: Folders::default(), fleet: None, spec: AgentSpec::Random }
    }
}

impl Default for Tools {
    fn default() -> Tools {
        Tools::new()
    }
}

/// All targets.
pub const TARGETS: [Target; 29] = [
    target("positions", 20, positions),
    target("actions", 20, actions),
    target("records", 14, records),
    target("trace", 8, trace),
    target("configs", 6, configs),
    target("specs", 10, specs),
    target("engine", 6, engine_lines),
    target("boards", 6, files::boards),
    target("exams", 6, files::exams),
    target("openings", 4, files::openings),
    target("puzzles", 6, files::puzzles),
    target("yardstick", 6, files::yardstick),
    target("results", 4, files::results),
    target("sweeps", 4, files::sweeps),
    target("proofs", 4, files::proofs),
    target("runs", 4, files::runs),
    target("http", 3, |tools, bytes| tools.page.get_or_insert_with(Page::open).post(bytes)),
    target("queries", 3, |tools, bytes| tools.page.get_or_insert_with(Page::open).look(bytes)),
    Target { name: "values", share: 8, run: fleet::values, written: fleet::written_values },
    Target { name: "agents", share: 6, run: agents, written: || vec![agent_file().to_bytes()] },
    Target { name: "replay", share: 7, run: replay, written: || vec![samples().to_bytes(&origin())] },
    Target { name: "learner", share: 1, run: files::learner, written: files::written_learner },
    Target { name: "saves", share: 4, run: files::saves, written: files::written_saves },
    Target { name: "tables", share: 3, run: files::tables, written: files::written_tables },
    Target { name: "bounds", share: 3, run: files::bounds, written: files::written_bounds },
    Target { name: "saved", share: 1, run: |tools, bytes| saved(&mut tools.saved, bytes), written: http::written },
    Target { name: "games", share: 6, run: fleet::games, written: fleet::written_games },
    Target { name: "answers", share: 4, run: fleet::answers, written: fleet::written_answers },
    Target { name: "tasks", share: 4, run: fleet::tasks, written: fleet::written_tasks },
];

const fn target(name: &'static str, share: u64, run: fn(&mut Tools, &[u8])) -> Target {
    Target { name, share, run, written: Vec::new }
}

/// The game that the first byte selects, and the text after it.
pub(crate) fn with_first_byte<T: GameTask>(bytes: &[u8], task: T) -> Option<T::Output> {
    let (&first, _) = bytes.split_first()?;
    let name = GAMES[usize::from(first) % GAMES.len()];
    Some(with_game(name, &GameSettings::default(), task).expect("no settings"))
}

fn positions(_: &mut Tools, bytes: &[u8]) {
    struct Read<'a>(&'a str);
    impl GameTask for Read<'_> {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            if let Ok(position) = game.parse_position(self.0) {
                check_position(&game, &position);
            }
        }
    }
    let text = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default());
    with_first_byte(bytes, Read(&text));
}

/// A position has a text that reads back, and actions exactly when it is not over. The text of tammi omits the moves of
/// kings that the rule on repetition needs, so texts are compared.
fn check_position<G: CatalogGame>(game: &G, position: &G::Position) {
    let text = game.position_text(position);
    let again = game.parse_position(&text);
    let again = again.map(|again| game.position_text(&again));
    assert_eq!(again.as_deref(), Ok(text.as_str()));
    let legal = game.legal(position);
    assert_eq!(legal.count() == 0, game.outcome(position).is_some(), "{text}");
    for action in legal.iter() {
        let action = game.action_text(position, action);
        let mut next = *position;
        let played = game.play_text(&mut next, &action);
        assert!(played.is_ok(), "{text}: {action}");
    }
    let _ = game.display(position).to_string();
}

fn actions(_: &mut Tools, bytes: &[u8]) {
    struct Play<'a>(&'a str);
    impl GameTask for Play<'_> {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            let mut position = game.start();
            for text in self.0.split_whitespace() {
                let before = position;
                if let Err(error) = game.play_text(&mut position, text) {
                    let _ = error.to_string();
                    assert!(position == before, "{text}: a refused action changes nothing");
                }
            }
            check_position(&game, &position);
        }
    }
    let text = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default());
    with_first_byte(bytes, Play(&text));
}

fn records(_: &mut Tools, bytes: &[u8]) {
    struct Replay<'a>(&'a GameRecord);
    impl GameTask for Replay<'_> {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            if let Ok(replayed) = self.0.replay(&game) {
                assert_eq!(replayed.actions.len(), self.0.moves.len());
            }
        }
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(record) = GameRecord::parse(&text) {
        let again = GameRecord::parse(&record.to_line());
        assert!(again.is_ok(), "{}", record.to_line());
        let _ = with_game(&record.game, &GameSettings::default(), Replay(&record));
    }
}

fn trace(_: &mut Tools, bytes: &[u8]) {
    let traced = probe::trace(&Games::shipped(), &GameSettings::default(), Cursor::new(bytes), sink());
    assert!(traced.is_ok());
}

fn configs(_: &mut Tools, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(config) = Config::from_toml(&text) {
        let again = Config::from_toml(&config.to_toml());
        assert!(again.is_ok_and(|again| again == config), "{text}");
    }
    if text.len() < 200 {
        let _ = Config::layered(&Base::default(), &[], &[text.into_owned()]);
    }
}

fn specs(_: &mut Tools, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(spec) = text.parse::<AgentSpec>() {
        let again = spec.to_string().parse::<AgentSpec>();
        assert!(again.is_ok_and(|again| again == spec), "{text}: {spec}");
    }
}

/// Lines to an agent that answers at once: the session is tested, not the search.
fn engine_lines(tools: &mut Tools, bytes: &[u8]) {
    let ran = engine::run(erase(Jarmo::standard()).as_ref(), &tools.spec, 1, Cursor::new(bytes.to_vec()), sink());
    assert!(ran.is_ok_and(|written| written.is_ok()));
}

/// The checksum of a damaged file is made to fit, so that its damage is read.
pub(crate) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    checksum::seal(&mut file);
    file
}

/// A saved game of two people, as it is and with its checksum made to fit.
fn saved(page: &mut Option<Page>, bytes: &[u8]) {
    let page = page.get_or_insert_with(Page::with_saved);
    page.open_saved(bytes);
    page.open_saved(files::sealed_lines(bytes).as_bytes());
}

fn agents(_: &mut Tools, bytes: &[u8]) {
    let Ok(file) = AgentFile::from_bytes(&sealed(bytes)) else {
        return;
    };
    let game = ConnectFour::new(0);
    if let Ok(file) = file.for_game(&game) {
        NetOutput::new(&file, &game, &game.start());
    }
}

pub(crate) fn agent_file() -> AgentFile {
    let game = ConnectFour::new(0);
    let net = NetSettings { width: 32, blocks: 1 };
    let weights = Weights::random(net, NetShape::of(&game), &mut stream(1, 0));
    AgentFile::new(&game, weights, Provenance::default(), Vec::new())
}

fn replay(_: &mut Tools, bytes: &[u8]) {
    if let Ok(samples) = Samples::from_bytes(&sealed(bytes), &origin()) {
        for sample in samples.iter() {
            assert_eq!(sample.actions.len(), sample.policy.len());
        }
    }
}

pub(crate) fn origin() -> GameVersion {
    GameVersion::of(&ConnectFour::new(0))
}

fn samples() -> Samples {
    let mut samples = Samples::new();
    for number in 0..20 {
        samples.push(Sample {
            features: &[number, number + 20],
            actions: &[0, 3, 6],
            policy: &[0.5, 0.25, 0.25],
            result: [0.5, 0.25, 0.25],
            score: 0,
        });
    }
    samples
}
