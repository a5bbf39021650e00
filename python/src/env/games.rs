//! The environment of one game.

use std::sync::Arc;

use jarmo_core::env::{Autoreset, Features, Finished, Opponent, Rows, SavedEnv, VecEnv};
use jarmo_core::game::{Action, Mask};
use jarmo_exact::agent::{AgentOpponent, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;

use super::{AnyEnv, EnvArguments};
use crate::game::Rules;
use crate::position::{AnyPosition, At};
use crate::threads::pool;

/// A shard has at least this many games against an agent that answers at once.
const MIN_PER_THREAD: usize = 128;

struct Games<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    env: VecEnv<G>,
    actions: Vec<Action>, // [games], of the next step
}

pub fn build<G: CatalogGame>(
    rules: Arc<Rules<G>>,
    arguments: EnvArguments,
) -> Result<Box<dyn AnyEnv>, String> {
    let EnvArguments { settings, opponent } = arguments;
    let game = rules.game.clone();
    let env = match opponent {
        None => VecEnv::with_settings(game, settings),
        Some(spec) => {
            let spec: AgentSpec = spec.parse().map_err(|error| format!("{error}"))?;
            // An opponent that searches is slow enough for a thread with a few games.
            let least = match spec {
                AgentSpec::Random => MIN_PER_THREAD,
                _ => 1,
            };
            let shards = settings.threads.min(settings.games / least).max(1);
            let networks = Networks::new();
            let opponent = |_| {
                let agent = build_sharing(game.clone(), &spec, &networks);
                let agent = agent.map_err(|error| error.to_string())?;
                let opponent = AgentOpponent::new(spec.to_string(), agent, None);
                Ok::<Box<dyn Opponent<G>>, String>(Box::new(opponent))
            };
            let opponents = (0..shards).map(opponent).collect::<Result<_, _>>()?;
            let env = VecEnv::with_opponents(game.clone(), settings, opponents);
            env.expect("nothing interrupts it")
        }
    };
    Ok(Box::new(Games {
        actions: vec![Action(0); settings.games],
        rules,
        env,
    }))
}

impl<G: CatalogGame> Games<G> {
    /// Does something with the environment on the threads of the pool, if it has shards for several.
    fn on_threads<T: Send>(
        &mut self,
        work: impl FnOnce(&mut VecEnv<G>, &[Action]) -> T + Send,
    ) -> T {
        let Games { env, actions, .. } = self;
        match env.shards() {
            1 => work(env, actions),
            _ => pool().install(|| work(env, actions)),
        }
    }
}

impl<G: CatalogGame> AnyEnv for Games<G> {
    fn reset(&mut self, seed: Option<u64>, which: Option<&[bool]>) -> Result<(), String> {
        let done = match (seed, which) {
            (Some(_), Some(_)) => {
                return Err("a seed starts all games again; give either seed or mask".to_owned());
            }
            (Some(seed), None) => self.on_threads(|env, _| env.reseed(seed)),
            (None, Some(which)) => self.on_threads(|env, _| env.reset(|slot| which[slot])),
            (None, None) => self.on_threads(|env, _| env.reset(|_| true)),
        };
        done.map_err(|error| error.to_string())
    }

    fn set_actions(&mut self, actions: &[i64]) -> Result<(), String> {
        let count = self.rules.game.actions();
        let masks = self.env.all_legal().zip(actions);
        for (slot, ((legal, &action), out)) in masks.zip(&mut self.actions).enumerate() {
            *out = Action(action as u16);
            let known = i64::from(action as u16) == action && usize::from(out.0) < count;
            if known && legal.contains(*out) {
                continue;
            }
            if let Some(refusal) = refusal(&self.env, slot, action) {
                return Err(refusal);
            }
            *out = Action(0); // of an idle slot, which ignores it
        }
        Ok(())
    }

    fn step(&mut self, rows: Rows<'_>) {
        let stepped = self.on_threads(|env, actions| env.step_into(actions, rows));
        stepped.expect("nothing interrupts it");
    }

    fn write(&self, rows: Rows<'_>) {
        self.env.write(rows);
    }

    fn sample(&self, out: &mut [i64]) {
        let mut actions = vec![Action(0); out.len()];
        match self.env.shards() {
            1 => self.env.sample(&mut actions),
            _ => pool().install(|| self.env.sample(&mut actions)),
        }
        for ((out, action), legal) in out.iter_mut().zip(actions).zip(self.env.all_legal()) {
            *out = match legal.is_empty() {
                true => -1,
                false => action.0.into(),
            };
        }
    }

    fn finished(&self) -> Vec<(usize, Box<dyn AnyPosition>)> {
        let boxed = |ended: &Finished<G::Position>| {
            let rules = self.rules.clone();
            let position = ended.position;
            let at: Box<dyn AnyPosition> = Box::new(At { rules, position });
            (ended.slot, at)
        };
        self.env.finished().map(boxed).collect()
    }

    fn finished_slots(&self) -> Vec<i64> {
        self.env.finished().map(|ended| ended.slot as i64).collect()
    }

    fn write_finished(&self, features: Features<'_>, threats: bool) {
        fn write<G: CatalogGame, T: From<bool>>(games: &Games<G>, all: &mut [T], threats: bool) {
            let game = &games.rules.game;
            let rows = all.chunks_exact_mut(games.rules.facts.width(threats));
            for (ended, row) in games.env.finished().zip(rows) {
                game.set_features(&ended.position, row, threats);
            }
        }
        match features {
            Features::Float(all) => write(self, all, threats),
            Features::Byte(all) => write(self, all, threats),
        }
    }

    fn position(&self, slot: usize) -> Box<dyn AnyPosition> {
        Box::new(At {
            rules: self.rules.clone(),
            position: *self.env.position(slot),
        })
    }

    fn sides(&self) -> Vec<i8> {
        self.env.sides().map(|side| side.index() as i8).collect()
    }

    fn steps(&self) -> u64 {
        self.env.steps()
    }

    fn seed(&self) -> u64 {
        self.env.settings().seed
    }

    fn save(&self) -> Vec<u8> {
        serde_json::to_vec(&self.env.save()).expect("plain data")
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        let saved: SavedEnv = serde_json::from_slice(saved)
            .map_err(|error| format!("not a saved environment: {error}"))?;
        self.env.restore(&saved).map_err(|error| error.to_string())
    }
}

/// Why an action cannot be played in a slot, if it cannot.
fn refusal<G: CatalogGame>(env: &VecEnv<G>, slot: usize, action: i64) -> Option<String> {
    let game = env.game();
    if env.is_idle(slot) {
        return match env.settings().autoreset {
            Autoreset::NextStep => None, // the action is ignored
            Autoreset::SameStep | Autoreset::Disabled => Some(format!(
                "actions[{slot}]: the game in this slot is over; reset it first"
            )),
        };
    }
    let actions = game.actions();
    if !(0..actions as i64).contains(&action) {
        return Some(format!(
            "actions[{slot}] is {action}; the game has only actions 0 to {}",
            actions - 1
        ));
    }
    let mut position = *env.position(slot);
    let refused = game.try_play(&mut position, Action(action as u16)).err();
    let reason = refused.map_or("it is illegal".to_owned(), |error| error.to_string());
    Some(format!("actions[{slot}] is {action}: {reason}"))
}
