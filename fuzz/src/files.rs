//! Files that people and programs write: exams, openings, puzzles, results, proofs, tables and folders of runs.
//!
//! Files with a checksum are read twice: as they are, and with the checksum made to fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jarmo::accuracy::Exam;
use jarmo::arena::{Openings, read_results};
use jarmo::catalog::{CatalogGame, GameSettings, GameTask};
use jarmo::checksum::{digits, sealed_line};
use jarmo::config::Config;
use jarmo::env::{EnvSettings, Keep};
use jarmo::erase;
use jarmo::facade::measure::{EnvPlan, SavedGames};
use jarmo::facade::selfplay::Net;
use jarmo::game::{Game, Mask, Player};
use jarmo::games::board::Board;
use jarmo::games::jarmo::SHUTTLE_LIMIT;
use jarmo::games::{ConnectFour, Jarmo, Tammi};
use jarmo::net::FrozenNet;
use jarmo::proof::{CHECKSUM, Proof, ProofStrategy, TITLE};
use jarmo::puzzles::Puzzle;
use jarmo::random::stream;
use jarmo::run::RunFolder;
use jarmo::selfplay::{GamesState, SelfPlaySettings};
use jarmo::tables::index::JarmoLayer;
use jarmo::tables::shuttle_bounds::layer;
use jarmo::tables::{
    BuildSettings, Layer, ShuttleBounds, Solvable, Tables, build, checksum, owner, pack, random_position,
};
use jarmo::train::{Learner, OpenDevice};
use jarmo::yardstick::{self, Row};
use jarmo_learn::sweep::Sweep;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::targets::{Tools, agent_file, sealed, with_first_byte};

/// Temporary folders for files that are read by their path.
#[derive(Default)]
pub(crate) struct Folders {
    scratch: Option<TempDir>,
    run: Option<(TempDir, RunFolder)>,
}

impl Folders {
    /// The path of a file with this content, which is the only one in its folder.
    fn file(&mut self, folder: &str, name: &str, content: &[u8]) -> PathBuf {
        let scratch = self.scratch.get_or_insert_with(|| tempfile::tempdir().expect("a temporary folder"));
        let folder = scratch.path().join(folder);
        fs::create_dir_all(&folder).expect("a new folder");
        let path = folder.join(name);
        let _ = fs::remove_file(&path); // a file that was mapped must not be written into
        fs::write(&path, content).expect("room in the temporary folder");
        path
    }
}

/// Positions that are looked up in a table.
const LOOKUPS: u64 = 16;

pub(crate) fn boards(_: &mut Tools, bytes: &[u8]) {
    if let Ok(board) = Board::from_toml(&String::from_utf8_lossy(bytes)) {
        let game = Jarmo::new(board, 0);
        let position = game.start();
        assert_eq!(game.legal(&position).count() == 0, game.outcome(&position).is_some());
    }
}

/// The game is that of the first byte, so most exams are for another one.
pub(crate) fn exams(_: &mut Tools, bytes: &[u8]) {
    struct Read<'a>(&'a [u8]);
    impl GameTask for Read<'_> {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            if let Ok(exam) = Exam::from_bytes(&game, self.0) {
                let again = Exam::from_bytes(&game, exam.to_text().as_bytes());
                assert!(again.is_ok_and(|again| again.to_text() == exam.to_text()));
            }
        }
    }
    let file = bytes.get(1..).unwrap_or_default();
    with_first_byte(bytes, Read(file));
    with_first_byte(bytes, Read(&with_digits(file, "jarmo exam 1\nchecksum: ")));
}

/// A file with the right digits after this start, if that is its start.
fn with_digits(file: &[u8], start: &str) -> Vec<u8> {
    let after = start.len() + 16;
    if !file.starts_with(start.as_bytes()) || file.len() < after {
        return file.to_vec();
    }
    let digits = digits(&[start.as_bytes(), &file[after..]]);
    [start.as_bytes(), digits.as_bytes(), &file[after..]].concat()
}

pub(crate) fn openings(tools: &mut Tools, bytes: &[u8]) {
    struct Read(PathBuf);
    impl GameTask for Read {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            for plies in [None, Some(2)] {
                if let Ok(openings) = Openings::from_file(&game, &self.0, plies) {
                    assert_eq!(openings.list().len(), openings.distinct);
                }
            }
        }
    }
    let path = tools.folders.file("openings", "openings", bytes.get(1..).unwrap_or_default());
    with_first_byte(bytes, Read(path));
}

pub(crate) fn puzzles(_: &mut Tools, bytes: &[u8]) {
    struct Check<'a>(&'a Puzzle);
    impl GameTask for Check<'_> {
        type Output = ();

        fn run<G: CatalogGame>(self, game: G) {
            let _ = self.0.check(&game);
        }
    }
    if let Ok(puzzle) = Puzzle::parse(&String::from_utf8_lossy(bytes)) {
        let again = Puzzle::parse(&puzzle.to_line());
        assert!(again.is_ok_and(|again| again == puzzle));
        let _ = jarmo::catalog::with_game(&puzzle.game, &GameSettings::default(), Check(&puzzle));
    }
}

/// Rows of the yardstick. Their answers are not marked again, which needs tables.
pub(crate) fn yardstick(_: &mut Tools, bytes: &[u8]) {
    let Ok(rows) = Row::read_all(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    let _ = (yardstick::to_text(&rows), yardstick::to_svg("", &rows));
    for row in rows {
        let _ = row.check_seal();
        assert!(row.of_exam().check_seal().is_ok());
    }
}

pub(crate) fn results(_: &mut Tools, bytes: &[u8]) {
    let _ = read_results(&String::from_utf8_lossy(bytes), "jarmo", 1);
}

pub(crate) fn sweeps(tools: &mut Tools, bytes: &[u8]) {
    let path = tools.folders.file("sweep", "sweep.toml", bytes);
    if let Ok((sweep, _)) = Sweep::read(&path) {
        let _ = (sweep.jobs(), sweep.stages());
    }
}

pub(crate) fn proofs(_: &mut Tools, bytes: &[u8]) {
    let game = Jarmo::standard();
    for file in [bytes, &with_digits(bytes, &format!("{TITLE}\n{CHECKSUM}"))] {
        let Ok(proof) = Proof::from_bytes(&game, file) else {
            continue;
        };
        for claim in &proof.claims {
            let _ = (claim.text(&game), proof.next(&game, &claim.opening.position));
        }
    }
}

/// A file of a run with a line for each record. The first byte selects it.
pub(crate) fn runs(tools: &mut Tools, bytes: &[u8]) {
    const FILES: [&str; 4] = ["order.jsonl", "metrics.jsonl", "exam.json", "resume/current.json"];
    let Some((&first, content)) = bytes.split_first() else {
        return;
    };
    let (folder, run) = tools.folders.run.get_or_insert_with(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = RunFolder::create(folder.path(), &Config::default(), None).expect("a new run");
        (folder, run)
    });
    let path = folder.path().join(FILES[usize::from(first) % FILES.len()]);
    let before = fs::read(&path).ok();
    for content in [content, sealed_lines(content).as_bytes()] {
        fs::write(&path, content).expect("room in the temporary folder");
        let _ = (run.order(), jarmo::run::metrics(folder.path()), jarmo::fleet::run_id(folder.path()));
        let _ = jarmo::run::summary(folder.path(), folder.path());
    }
    match before {
        Some(before) => fs::write(&path, before),
        None => fs::remove_file(&path),
    }
    .expect("the folder of a run");
}

/// The lines with their checksums made to fit.
pub(crate) fn sealed_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| match line.rsplit_once(r#","check":"#) {
        Some((fields, _)) => sealed_line(&format!("{fields}}}")),
        None if line.ends_with('}') => sealed_line(line),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// What only a resumed run reads: the learner's arrays.
pub(crate) fn learner(_: &mut Tools, bytes: &[u8]) {
    let settings = Config::default().learner;
    if let Ok(learner) = Learner::from_bytes(settings, &OpenDevice::cpu(), &sealed(bytes)) {
        let _ = (learner.steps(), learner.weights());
    }
}

pub(crate) fn written_learner() -> Vec<Vec<u8>> {
    let learner = Learner::new(Config::default().learner, agent_file().weights().clone(), &OpenDevice::cpu());
    vec![learner.to_bytes()]
}

/// The games of a Python environment, or of self-play that is resumed. The first byte selects which.
pub(crate) fn saves(_: &mut Tools, bytes: &[u8]) {
    let Some((first, content)) = bytes.split_first() else {
        return;
    };
    let game = erase(ConnectFour::new(0));
    if first % 2 == 0 {
        if let Ok(saved) = serde_json::from_slice::<Vec<SavedGames>>(content) {
            let mut env = game.env(env_plan()).expect("games without an opponent");
            if env.restore(&saved).is_ok() {
                let mut actions = vec![0; env.sides().len()];
                env.sample(&mut actions);
                assert_eq!(env.save().expect("games from their start"), saved);
            }
        }
    } else if let Ok(saved) = serde_json::from_slice::<GamesState>(content) {
        let mut play = game.self_play(&self_play(), &net(), 1, 1);
        if play.restore(&saved).is_ok() {
            play.round();
        }
    }
}

pub(crate) fn written_saves() -> Vec<Vec<u8>> {
    let game = erase(ConnectFour::new(0));
    let env = game.env(env_plan()).expect("games without an opponent");
    let mut play = game.self_play(&self_play(), &net(), 1, 1);
    play.round();
    let env = env.save().expect("games from their start");
    let [env, play] = [serde_json::to_vec(&env), serde_json::to_vec(&play.save())];
    let parts = [(0, env), (1, play)].map(|(first, content)| [vec![first], content.expect("plain data")].concat());
    parts.into()
}

fn env_plan() -> EnvPlan {
    let keep = Keep { history: true, ..Keep::default() };
    let settings = EnvSettings { keep, ..EnvSettings::new(2, 1) };
    EnvPlan { settings, opponent: None, stop: Arc::new(AtomicBool::new(false)) }
}

fn self_play() -> SelfPlaySettings {
    SelfPlaySettings { games: 2, simulations: 2, ..Config::default().selfplay }
}

fn net() -> Net {
    FrozenNet::new(agent_file().weights()).into()
}

/// A table of the lowest force. The first byte selects the game, and whether the table is packed.
pub(crate) fn tables(tools: &mut Tools, bytes: &[u8]) {
    let Some((first, file)) = bytes.split_first() else {
        return;
    };
    let name = TABLES[usize::from(*first) % TABLES.len()];
    let (head, body, place) = if name.ends_with(".packed") { (152, 160, 144) } else { (64, 72, 48) };
    for file in [file.to_vec(), with_header(file, body, place, head)] {
        let path = tools.folders.file(name, name, &file);
        let folder = path.parent().expect("a file of a folder");
        if name.starts_with("tammi") {
            look_up(&Tammi::standard(), folder);
        } else {
            look_up(&Jarmo::standard(), folder);
        }
    }
}

const TABLES: [&str; 4] = ["force-02.table", "force-02.packed", "tammi-02.table", "tammi-02.packed"];

fn look_up<G: Solvable>(game: &G, folder: &Path) {
    let Ok(tables) = Tables::open(game, folder) else {
        return;
    };
    tables.stats();
    let layers: Vec<_> = tables.layers().collect();
    for number in 0..LOOKUPS {
        let position = random_position(layers[0], &mut stream(number, 0));
        let _ = tables.actions(game, &position);
    }
}

/// A file with the checksum of what follows `body` at `place`, and then that of its header at `head`.
fn with_header(file: &[u8], body: usize, place: usize, head: usize) -> Vec<u8> {
    let mut file = file.to_vec();
    if file.len() >= body {
        let sum = checksum(&file[body..]);
        file[place..place + 8].copy_from_slice(&sum.to_le_bytes());
        let sum = xxh3_64(&file[..head]);
        file[head..head + 8].copy_from_slice(&sum.to_le_bytes());
    }
    file
}

pub(crate) fn written_tables() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make_tables(&Jarmo::standard(), folder.path());
    make_tables(&Tammi::standard(), folder.path());
    let file =
        |(name, first): (&str, u8)| [vec![first], fs::read(folder.path().join(name)).expect("it was written")].concat();
    TABLES.into_iter().zip(0..).map(file).collect()
}

fn make_tables<G: Solvable>(game: &G, folder: &Path) {
    let settings = BuildSettings { force: *G::TABLES.forces.start(), save_every: Duration::MAX };
    build(game, folder, settings, &mut |_| {}).expect("room in the temporary folder");
    pack(game, folder, folder, 0, &mut |_| {}).expect("the table is there");
}

/// The positions of force 2 that White holds under the shuttle rule.
pub(crate) fn bounds(tools: &mut Tools, bytes: &[u8]) {
    let game = Jarmo::standard();
    let mut fitting = bytes.to_vec();
    if let Some(body) = bytes.get(layer::HEADER..) {
        fitting[layer::CHECKSUM..][..8].copy_from_slice(&checksum(body).to_le_bytes());
    }
    let name = layer::finished_path(Path::new(""), Player::White, 2).display().to_string();
    for file in [bytes, &fitting] {
        let path = tools.folders.file("bounds", &name, file);
        let Ok(bounds) = ShuttleBounds::open(&game, path.parent().expect("a file of a folder")) else {
            continue;
        };
        for number in 0..LOOKUPS {
            let mut position = random_position(&JarmoLayer::new(2), &mut stream(number, 0));
            for _ in 0..SHUTTLE_LIMIT {
                if game.outcome(&position).is_some() {
                    break;
                }
                let _ = bounds.holds(&position, Player::White);
                let action = game.legal(&position).iter().next().expect("the game is not over");
                game.play(&mut position, action);
            }
        }
    }
}

/// A file as `lab real build` writes it, with arbitrary results.
pub(crate) fn written_bounds() -> Vec<Vec<u8>> {
    let own = JarmoLayer::new(2);
    let mut file = Vec::from(layer::MAGIC);
    file.extend(layer::FORMAT_VERSION.to_le_bytes());
    file.extend(owner(&Jarmo::standard()).to_bytes());
    file.extend(2_u32.to_le_bytes());
    file.extend((Player::White.index() as u32).to_le_bytes());
    file.extend(layer::FINISHED.to_le_bytes());
    file.extend([0; 4]);
    file.extend((own.size() as u64 / 2).to_le_bytes());
    file.resize(layer::HEADER, 0);
    file.resize(layer::file_size(&own), 0);
    for (place, byte) in file[layer::HEADER..].iter_mut().enumerate() {
        *byte = (place * place) as u8;
    }
    vec![file]
}
