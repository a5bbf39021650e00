//! `jarmo.Game`, and the trait object behind it: everything that Python does with a game, whichever it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jarmo_core::encode::Mirror;
use jarmo_core::game::{Action, Player};
use jarmo_core::net::Provenance;
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo_judge::yardstick::{Row, Yardstick, YardstickSettings};
use jarmo_selfplay::bench::{self, EnvSpeed};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::agent::{self, Judge};
use crate::arena::{self, ArenaPlan, ArenaTexts};
use crate::array::{copied, filled, shaped, table};
use crate::ask::Function;
use crate::env::{self, AnyEnv, EnvArguments};
use crate::exam::{self, ExamCounts, ExamPlan};
use crate::network::{self, Tensors};
use crate::number;
use crate::position::{Position, positions_of};
use crate::refusal::Checked;
use crate::samples::{self, AnySelfPlay, Terms};
use crate::search::{self, Found, SearchPlan};
use crate::tables::{AnyTables, Opened};
use crate::threads::Caller;
use crate::yardstick::{self, Measure, Questions};

/// Rules with their settings.
pub(crate) struct Rules<G> {
    pub game: G,
    pub facts: Facts,
}

/// What Python needs to know about a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub name: &'static str,
    pub actions: usize,
    pub planes: usize,
    pub threat_planes: usize,
    pub rows: usize,
    pub columns: usize,
    pub max_plies: u32,
    pub rules_version: u32,
    board: String,
    quiet_limit: Option<u32>,
}

impl Facts {
    /// The number of features of a position, with or without threats.
    pub fn width(&self, threats: bool) -> usize {
        self.shape(1, threats).iter().product()
    }

    /// The shape of the features of `count` positions.
    pub fn shape(&self, count: usize, threats: bool) -> [usize; 4] {
        let planes = self.planes + if threats { self.threat_planes } else { 0 };
        [count, planes, self.rows, self.columns]
    }
}

/// A game whose type is not known. Positions that are passed to it must be its own.
pub trait AnyGame: Send + Sync {
    fn facts(&self) -> &Facts;
    /// The same rules with another limit on the length of a game, 0 for none.
    fn limited(&self, max_plies: u32) -> Arc<dyn AnyGame>;
    fn start(self: Arc<Self>) -> Position;
    fn parse(self: Arc<Self>, text: &str) -> Checked<Position>;
    fn env(self: Arc<Self>, arguments: EnvArguments) -> PyResult<Box<dyn AnyEnv>>;
    fn agent(&self, spec: &AgentSpec) -> Checked<Box<Judge>>;
    /// The tensors of an agent's network.
    fn tensors(&self, spec: &AgentSpec) -> Checked<Tensors>;
    fn search(&self, positions: &[Position], plan: &SearchPlan, asked: &Arc<Function>, caller: &Caller) -> Vec<Found>;
    fn self_play(self: Arc<Self>, terms: &Terms, threads: usize, asked: Arc<Function>)
    -> Checked<Box<dyn AnySelfPlay>>;
    fn arena(self: Arc<Self>, plan: &ArenaPlan, caller: &Caller, stop: &AtomicBool) -> Checked<ArenaTexts>;
    fn tables(self: Arc<Self>, folder: &Path) -> Checked<Box<dyn AnyTables>>;
    fn exam(self: Arc<Self>, plan: &ExamPlan, caller: &Caller) -> Checked<ExamCounts>;
    fn save_network(&self, path: &Path, tensors: Tensors, provenance: Provenance) -> Checked<()>;
    fn bench(&self, games: usize, observe: bool, seed: u64, time: Duration) -> EnvSpeed;
    fn plane_names(&self) -> Vec<String>;
    /// The text of every action for the player who begins.
    fn action_names(&self) -> Vec<String>;
    fn mirror(&self) -> Option<Mirror>;
    fn yardstick(self: Arc<Self>, settings: YardstickSettings, tables: Option<&Path>) -> Checked<Box<Measure>>;
    fn verify(&self, row: &Row) -> Checked<()>;
    fn questions(self: Arc<Self>, file: Option<&Path>) -> Checked<Questions>;
}

impl<G: CatalogGame> AnyGame for Rules<G> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn limited(&self, max_plies: u32) -> Arc<dyn AnyGame> {
        let game = self.game.clone().with_max_plies(max_plies);
        erase(game, self.facts.quiet_limit)
    }

    fn start(self: Arc<Self>) -> Position {
        Position::new(&self, self.game.start())
    }

    fn parse(self: Arc<Self>, text: &str) -> Checked<Position> {
        Ok(Position::new(&self, self.game.parse_position(text)?))
    }

    fn env(self: Arc<Self>, arguments: EnvArguments) -> PyResult<Box<dyn AnyEnv>> {
        env::build(self, arguments)
    }

    fn agent(&self, spec: &AgentSpec) -> Checked<Box<Judge>> {
        agent::build(&self.game, spec)
    }

    fn tensors(&self, spec: &AgentSpec) -> Checked<Tensors> {
        network::of_agent(&self.game, spec)
    }

    fn search(&self, positions: &[Position], plan: &SearchPlan, asked: &Arc<Function>, caller: &Caller) -> Vec<Found> {
        let positions: Vec<G::Position> = positions.iter().map(|one| one.own::<G>()).collect();
        search::run(&self.game, &positions, plan, asked, caller)
    }

    fn self_play(
        self: Arc<Self>,
        terms: &Terms,
        threads: usize,
        asked: Arc<Function>,
    ) -> Checked<Box<dyn AnySelfPlay>> {
        samples::build(self, terms, threads, asked)
    }

    fn arena(self: Arc<Self>, plan: &ArenaPlan, caller: &Caller, stop: &AtomicBool) -> Checked<ArenaTexts> {
        arena::play(&self, plan, caller, stop)
    }

    fn tables(self: Arc<Self>, folder: &Path) -> Checked<Box<dyn AnyTables>> {
        Ok(Box::new(Opened { tables: self.game.open_endgames(folder)?, rules: self }))
    }

    fn exam(self: Arc<Self>, plan: &ExamPlan, caller: &Caller) -> Checked<ExamCounts> {
        exam::take(&self, plan, caller)
    }

    fn save_network(&self, path: &Path, tensors: Tensors, provenance: Provenance) -> Checked<()> {
        network::save(&self.game, path, tensors, provenance)
    }

    fn bench(&self, games: usize, observe: bool, seed: u64, time: Duration) -> EnvSpeed {
        bench::env(self.game.clone(), games, observe, seed, time)
    }

    fn plane_names(&self) -> Vec<String> {
        self.game.plane_names()
    }

    fn action_names(&self) -> Vec<String> {
        let start = self.game.start();
        let name = |action| self.game.action_text(&start, Action(action as u16));
        (0..self.facts.actions).map(name).collect()
    }

    fn mirror(&self) -> Option<Mirror> {
        self.game.mirror()
    }

    fn yardstick(self: Arc<Self>, settings: YardstickSettings, tables: Option<&Path>) -> Checked<Box<Measure>> {
        yardstick::build(self, settings, tables)
    }

    fn verify(&self, row: &Row) -> Checked<()> {
        Yardstick::verify(&self.game, row)?;
        Ok(())
    }

    fn questions(self: Arc<Self>, file: Option<&Path>) -> Checked<Questions> {
        yardstick::questions(&self, file)
    }
}

struct Erase(GameSettings);

impl GameTask for Erase {
    type Output = Arc<dyn AnyGame>;

    fn run<G: CatalogGame>(self, game: G) -> Arc<dyn AnyGame> {
        erase(game, self.0.quiet_limit)
    }
}

fn erase<G: CatalogGame>(game: G, quiet_limit: Option<u32>) -> Arc<dyn AnyGame> {
    let (rows, columns) = game.grid();
    let facts = Facts {
        name: game.id(),
        actions: game.actions(),
        planes: game.planes(),
        threat_planes: game.threat_planes(),
        rows,
        columns,
        max_plies: game.max_plies(),
        rules_version: game.rules_version(),
        board: game.board_text(),
        quiet_limit,
    };
    Arc::new(Rules { game, facts })
}

/// The rules of a game with their settings.
///
/// Games with equal rules are equal. All functions that take a game take its name, too, for the standard settings.
///
/// Args:
///     name: One of ``jarmo.GAMES``.
///     max_plies: A game is cut off and drawn after this many actions, 0 for never; by default the game's limit.
///     board: A board file with other lines than the standard board (jarmo and guard).
///     quiet_limit: Plies without a capture after which tammi is drawn.
#[pyclass(frozen, name = "Game", module = "jarmo", eq, hash)]
#[derive(Clone)]
pub struct PyGame(pub Arc<dyn AnyGame>);

impl PartialEq for PyGame {
    fn eq(&self, other: &PyGame) -> bool {
        self.0.facts() == other.0.facts()
    }
}

impl Eq for PyGame {}

impl std::hash::Hash for PyGame {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.facts().name.hash(state);
    }
}

/// As an argument, a game may be its name.
impl<'py> FromPyObject<'_, 'py> for PyGame {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<PyGame> {
        if let Ok(game) = given.cast::<PyGame>() {
            return Ok(game.get().clone());
        }
        let name: String = given
            .extract()
            .map_err(|_| PyTypeError::new_err("game must be a jarmo.Game or the name of one, such as \"jarmo\""))?;
        Ok(PyGame(named(&name, GameSettings::default())?))
    }
}

impl PyGame {
    /// The game that is meant where none is named.
    pub(crate) fn standard() -> PyGame {
        let game = named(GAMES[0], GameSettings::default());
        PyGame(game.expect("the standard settings are valid"))
    }
}

pub(crate) fn named(name: &str, settings: GameSettings) -> Checked<Arc<dyn AnyGame>> {
    Ok(with_game(name, &settings, Erase(settings.clone()))?)
}

#[pymethods]
impl PyGame {
    #[new]
    #[pyo3(signature = (name="jarmo", *, max_plies=None, board=None, quiet_limit=None))]
    fn new(
        name: &str,
        #[pyo3(from_py_with = number::MAX_PLIES)] max_plies: Option<u32>,
        board: Option<PathBuf>,
        #[pyo3(from_py_with = number::QUIET_LIMIT)] quiet_limit: Option<u32>,
    ) -> PyResult<PyGame> {
        let settings = GameSettings { board, max_plies, quiet_limit };
        Ok(PyGame(named(name, settings)?))
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.facts().name
    }

    /// The number of actions; every action is an index below it.
    #[getter]
    fn num_actions(&self) -> usize {
        self.0.facts().actions
    }

    #[getter]
    fn max_plies(&self) -> u32 {
        self.0.facts().max_plies
    }

    #[getter]
    fn rules_version(&self) -> u32 {
        self.0.facts().rules_version
    }

    /// Planes, rows and columns of a position's features. With ``threats`` there are planes for cells under
    /// attack, possible captures and the like behind the others; the networks of agent files need them.
    #[pyo3(signature = (*, threats=false))]
    fn feature_shape(&self, threats: bool) -> (usize, usize, usize) {
        let [_, planes, rows, columns] = self.0.facts().shape(1, threats);
        (planes, rows, columns)
    }

    /// What each plane of features holds, and with ``threats`` each plane of threats. The cells of planes of numbers are
    /// listed in docs/games.
    #[pyo3(signature = (*, threats=false))]
    fn plane_names(&self, threats: bool) -> Vec<String> {
        let [_, planes, ..] = self.0.facts().shape(1, threats);
        self.0.plane_names().into_iter().take(planes).collect()
    }

    /// The text of every action, by index, as the player who begins writes it without a capture. In tammi actions are
    /// in the view of the player to move.
    #[getter]
    fn action_names(&self) -> Vec<String> {
        self.0.action_names()
    }

    /// The symmetries of the game, which keep its rules and results; the first one changes nothing.
    #[pyo3(signature = (*, threats=false))]
    fn symmetries<'py>(&self, py: Python<'py>, threats: bool) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let facts = self.0.facts();
        let types = py.import("jarmo._types")?;
        let width = facts.width(threats);
        let same = Mirror { inputs: (0..width as u16).collect(), actions: (0..facts.actions as u16).collect() };
        let symmetry = |Mirror { inputs, actions }: Mirror| {
            let [features, actions] = [&inputs[..width], &actions]
                .map(|indices| indices.iter().map(|&index| i64::from(index)).collect::<Vec<_>>());
            types.call_method1("Symmetry", (copied(py, &features, [width]), copied(py, &actions, [facts.actions])))
        };
        [same].into_iter().chain(self.0.mirror()).map(symmetry).collect()
    }

    /// The position a game starts from.
    #[getter]
    fn start(&self) -> Position {
        self.0.clone().start()
    }

    /// Reads a position from its text; the error names the field that is wrong.
    fn position(&self, text: &str) -> Checked<Position> {
        self.0.clone().parse(text)
    }

    /// The features of ``N`` positions, ``[N, planes, rows, columns]``, 0 or 1: as the player to move sees them, or as
    /// if ``viewer`` (0 for White, 1 for Black) were to move.
    #[pyo3(signature = (positions, *, threats=false, viewer=None))]
    fn features<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        threats: bool,
        #[pyo3(from_py_with = number::VIEWER)] viewer: Option<u8>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let positions = positions_of(positions, Some(&*self.0))?;
        let viewer = viewer.map(|viewer| Player::BOTH[usize::from(viewer)]);
        let facts = self.0.facts();
        let write = |position: &Position, row: &mut [f32]| position.at.write_features(row, threats, viewer);
        let features = filled(&positions, facts.width(threats), 0.0, write);
        shaped(py, features, &facts.shape(positions.len(), threats))
    }

    /// The legal actions of ``N`` positions, ``[N, actions]``; none where the game is over.
    fn masks<'py>(&self, py: Python<'py>, positions: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let positions = positions_of(positions, Some(&*self.0))?;
        table(py, &positions, self.0.facts().actions, false, |position, row| {
            position.at.legal().into_iter().for_each(|action| row[usize::from(action)] = true);
        })
    }

    /// For pickling.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((&'static str,), Bound<'py, PyDict>)> {
        let facts = self.0.facts();
        let standard = named(facts.name, GameSettings::default())?;
        if standard.facts().board != facts.board {
            return Err(PyTypeError::new_err("a game on a board of its own cannot be pickled"));
        }
        let settings = [("max_plies", Some(facts.max_plies)), ("quiet_limit", facts.quiet_limit)];
        Ok(((facts.name,), settings.into_py_dict(py)?))
    }

    fn __repr__(&self) -> String {
        let facts = self.0.facts();
        format!("jarmo.Game({:?}, max_plies={})", facts.name, facts.max_plies)
    }
}
