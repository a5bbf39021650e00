//! The environment of one game.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use jarmo_core::env::{
    Autoreset, EnvSettings, Features, Finished, Interrupted, Line, Opponent, Rows, SavedEnv, VecEnv,
};
use jarmo_core::game::{Action, Mask};
use jarmo_core::random::Stream;
use jarmo_exact::agent::{AgentOpponent, AgentSpec, build_all};
use jarmo_exact::catalog::CatalogGame;

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use super::{AnyEnv, EnvArguments, Reset};
use crate::game::Rules;
use crate::players::{Player, ask};
use crate::position::Position;
use crate::refusal::Checked;
use crate::threads::pool;

/// A shard has at least this many games against an agent that answers at once.
const MIN_PER_THREAD: usize = 128;

/// Stands for an action where the game is over.
const NO_ACTION: i64 = -1;

struct Games<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    env: VecEnv<G>,
    actions: Vec<Action>,          // [games], of the latest step
    stop: Option<Arc<AtomicBool>>, // interrupts an opponent that searches
    failure: Failure,              // of an opponent that is a function
}

pub(crate) fn build<G: CatalogGame>(rules: Arc<Rules<G>>, arguments: EnvArguments) -> PyResult<Box<dyn AnyEnv>> {
    let EnvArguments { settings, opponent, stop } = arguments;
    let failure = Failure::default();
    let by_function = opponent.as_ref().is_some_and(|opponent| opponent.is_function);
    let opponents: Vec<Box<dyn Opponent<G>>> = match opponent {
        None => Vec::new(),
        Some(Player { given: function, is_function: true, .. }) => {
            vec![Box::new(FunctionOpponent { rules: rules.clone(), function, failure: failure.clone() })]
        }
        Some(agent) => agents(&rules.game, &agent.name, &settings, &stop)?,
    };
    let game = rules.game.clone();
    let env = match opponents.is_empty() {
        true => Ok(VecEnv::with_settings(game, settings)),
        false => VecEnv::with_opponents(game, settings, opponents),
    };
    let env = env.map_err(|Interrupted| taken(&failure))?;
    Ok(Box::new(Games {
        actions: vec![Action(0); settings.games],
        rules,
        // A function must be called by the thread of the caller, which then raises its exception.
        stop: (env.can_be_interrupted() && !by_function).then_some(stop),
        env,
        failure,
    }))
}

/// Agents that play alike, one per shard. Those that search can be stopped.
fn agents<G: CatalogGame>(
    game: &G,
    spec: &str,
    settings: &EnvSettings,
    stop: &Arc<AtomicBool>,
) -> Checked<Vec<Box<dyn Opponent<G>>>> {
    let spec: AgentSpec = spec.parse()?;
    // An opponent that searches is slow enough for a thread with a few games, and to be interrupted.
    let (least, stop) = match spec {
        AgentSpec::Random => (MIN_PER_THREAD, None),
        _ => (1, Some(stop)),
    };
    let shards = settings.threads.min(settings.games / least).max(1);
    let agents = build_all(game, &spec, shards)?;
    let opponent = |agent| Box::new(AgentOpponent::new(spec.to_string(), agent, stop.cloned())) as Box<dyn Opponent<G>>;
    Ok(agents.into_iter().map(opponent).collect())
}

/// The exception that interrupted an opponent.
fn taken(failure: &Failure) -> PyErr {
    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = failure.take();
    taken.unwrap_or_else(|| PyKeyboardInterrupt::new_err("an opponent was interrupted"))
}

/// Does something on the threads of the pool, if there are shards for several.
fn on_threads<T: Send>(shards: usize, work: impl FnOnce() -> T + Send) -> T {
    if shards == 1 { work() } else { pool().install(work) }
}

impl<G: CatalogGame> AnyEnv for Games<G> {
    fn reset(&mut self, reset: &Reset<'_>) -> PyResult<()> {
        let env = &mut self.env;
        let done = on_threads(env.shards(), || match reset {
            Reset::Seed(seed) => env.reseed(*seed),
            Reset::Seeds(seeds) => env.reseed_each(seeds),
            Reset::Where(which) => env.reset(|slot| which[slot]),
            Reset::At(places) => {
                let opening = |(slot, position): &(usize, &Position)| (*slot, Line::at(position.own::<G>()));
                let openings: Vec<_> = places.iter().map(opening).collect();
                env.start(&openings)
            }
        });
        done.map_err(|Interrupted| taken(&self.failure))
    }

    fn stop(&self) -> Option<Arc<AtomicBool>> {
        self.stop.clone()
    }

    fn step(&mut self, chosen: &[i64], rows: Rows<'_>) -> PyResult<()> {
        let Games { rules, env, actions, failure, .. } = self;
        let count = rules.game.actions();
        let masks = env.all_legal().zip(chosen);
        for (slot, ((legal, &action), out)) in masks.zip(&mut *actions).enumerate() {
            *out = Action(action as u16);
            let known = i64::from(action as u16) == action && usize::from(out.0) < count;
            if known && legal.contains(*out) {
                continue;
            }
            if let Some(refusal) = refusal(env, slot, action) {
                return Err(PyValueError::new_err(refusal));
            }
            *out = Action(0); // of an idle slot, which ignores it
        }
        let stepped = on_threads(env.shards(), || env.step_into(actions, rows));
        stepped.map_err(|Interrupted| taken(failure))
    }

    fn write(&self, rows: Rows<'_>) {
        self.env.write(rows);
    }

    fn sample(&self, out: &mut [i64]) {
        let mut actions = vec![Action(0); out.len()];
        on_threads(self.env.shards(), || self.env.sample(&mut actions));
        for ((out, action), legal) in out.iter_mut().zip(actions).zip(self.env.all_legal()) {
            *out = match legal.is_empty() {
                true => NO_ACTION,
                false => action.0.into(),
            };
        }
    }

    fn finished(&self) -> Vec<(usize, Position)> {
        let last = |ended: &Finished<G::Position>| (ended.slot, Position::new(&self.rules, ended.position));
        self.env.finished().map(last).collect()
    }

    fn finished_slots(&self) -> Vec<i64> {
        self.env.finished().map(|ended| ended.slot as i64).collect()
    }

    fn write_finished(&self, features: Features<'_>, threats: bool) {
        fn write<G: CatalogGame, T: From<bool>>(games: &Games<G>, all: &mut [T], threats: bool) {
            let game = &games.rules.game;
            let rows = all.chunks_exact_mut(games.rules.facts.width(threats));
            for (ended, row) in games.env.finished().zip(rows) {
                let seen = game.seen_by(&ended.position, games.env.actor(ended.slot));
                game.set_features(&seen, row, threats);
            }
        }
        match features {
            Features::Float(all) => write(self, all, threats),
            Features::Byte(all) => write(self, all, threats),
        }
    }

    fn position(&self, slot: usize) -> Position {
        Position::new(&self.rules, *self.env.position(slot))
    }

    fn sides(&self) -> Vec<i8> {
        self.env.sides().map(|side| side.index() as i8).collect()
    }

    fn steps(&self) -> u64 {
        self.env.steps()
    }

    fn seeds(&self) -> Vec<u64> {
        match self.env.seeds() {
            [] => vec![self.env.settings().seed],
            seeds => seeds.to_vec(),
        }
    }

    fn save(&self) -> Vec<u8> {
        serde_json::to_vec(&self.env.save()).expect("plain data")
    }

    fn restore(&mut self, saved: &[u8]) -> Checked<()> {
        let saved: SavedEnv =
            serde_json::from_slice(saved).map_err(|error| format!("not a saved environment: {error}"))?;
        Ok(self.env.restore(&saved)?)
    }
}

/// Why an action cannot be played in a slot, if it cannot.
fn refusal<G: CatalogGame>(env: &VecEnv<G>, slot: usize, action: i64) -> Option<String> {
    let game = env.game();
    if env.is_idle(slot) {
        let ignored = env.settings().autoreset == Autoreset::NextStep || action == NO_ACTION;
        return (!ignored)
            .then(|| format!("actions[{slot}]: the game in this slot is over; reset it first, or give {NO_ACTION}"));
    }
    let actions = game.actions();
    if !(0..actions as i64).contains(&action) {
        return Some(format!("actions[{slot}] is {action}; the game has only actions 0 to {}", actions - 1));
    }
    let mut position = *env.position(slot);
    let refused = game.try_play(&mut position, Action(action as u16)).err();
    let reason = refused.map_or("it is illegal".to_owned(), |error| error.to_string());
    Some(format!("actions[{slot}] is {action}: {reason}"))
}

/// Where a function leaves its exception.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// A function of positions. It is called by the thread that steps the environment: that of the caller, because the
/// games are in one shard.
struct FunctionOpponent<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    function: Arc<Py<PyAny>>,
    failure: Failure,
}

impl<G: CatalogGame> Opponent<G> for FunctionOpponent<G> {
    fn name(&self) -> String {
        "a function".to_owned()
    }

    fn can_be_interrupted(&self) -> bool {
        true
    }

    fn choose(&mut self, positions: &[G::Position], _: &mut [Stream]) -> Option<Vec<Action>> {
        let positions = positions.iter().map(|&one| Position::new(&self.rules, one));
        let positions: Vec<Position> = positions.collect();
        let chosen = Python::attach(|py| ask(self.function.bind(py), "opponent", &positions));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        chosen.map_err(|error| *failure = Some(error)).ok()
    }
}
