//! The vectorized environment of an erased game.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_core::agent::{AgentError, AgentOpponent, AgentSpec};
use jarmo_core::encode::Encode;
use jarmo_core::env::{Autoreset, EnvSettings, Features, Interrupted, Line, Opponent, Rows, SavedEnv, Seat, VecEnv};
use jarmo_core::error::FileError;
use jarmo_core::game::{Action, AnyPosition, Game, Mask, Player};
use jarmo_core::ndarray::ArrayViewMut4;
use jarmo_exact::catalog::CatalogGame;

use serde::{Deserialize, Serialize};

use crate::agent::AgentPlan;

/// The smallest number of games per shard against an agent that does not search.
const MIN_PER_THREAD: usize = 128;

/// Stands for an action in a slot whose game is over.
pub const NO_ACTION: i64 = -1;

/// An environment to make.
pub struct EnvPlan {
    /// How its games begin and end.
    pub settings: EnvSettings,
    /// Who plays the side that the caller does not play. Saved environments name it.
    pub opponent: Option<AgentPlan>,
    /// Interrupts an opponent that searches or asks a function.
    pub stop: Arc<AtomicBool>,
}

/// The games to start again.
pub enum Reset<'a> {
    /// All games, unless the environment is new and its games have just begun.
    All,
    /// All, as in a new environment with this seed.
    Seed(u64),
    /// All, with a seed for each slot, `[games]`.
    Seeds(&'a [u64]),
    /// The games of the slots whose entry is true, `[games]`.
    Where(&'a [bool]),
    /// The games of these slots, from these positions, which are not over.
    At(&'a [(usize, AnyPosition)]),
}

/// The error if an environment cannot be created or cannot continue. The environment has not changed.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// The opponent cannot be built.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The opponent was interrupted.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// This action cannot be played, and why.
    #[error("{0}")]
    Illegal(String),
}

/// Many games that advance together: see [`VecEnv`]. Threads of the current rayon pool step them.
pub trait AnyEnv: Send + Sync {
    /// Starts games again.
    fn reset(&mut self, reset: &Reset<'_>) -> Result<(), EnvError>;

    /// Checks one action per game, which the next step plays. In a slot whose game is over the action must be
    /// [`NO_ACTION`], unless the next step restarts it. An error names the slot, counted from `first`.
    fn choose(&mut self, actions: &[i64], first: usize) -> Result<(), EnvError>;

    /// Plays the actions that were chosen, and writes the results.
    fn step(&mut self, rows: Rows<'_>) -> Result<(), EnvError>;

    /// Whether the opponent can be interrupted.
    fn can_be_interrupted(&self) -> bool;

    /// The number of threads that step the games.
    fn shards(&self) -> usize;

    /// Writes the results of the last step.
    fn write(&self, rows: Rows<'_>);

    /// A legal action per game, uniformly at random; [`NO_ACTION`] where the game is over.
    fn sample(&self, out: &mut [i64]);

    /// The slots whose games ended in the last step.
    fn finished(&self) -> Vec<usize>;

    /// The last positions of these games, in the same order.
    fn final_positions(&self) -> Vec<AnyPosition>;

    /// Writes the features of these positions, as seen by the player whose action the last step played. All numbers
    /// must be 0 before the call.
    fn write_final_features(&self, features: Features<'_>, threats: bool);

    /// The position in a slot.
    fn position(&self, slot: usize) -> AnyPosition;

    /// The caller's side in every game.
    fn sides(&self) -> Vec<Player>;

    /// The number of steps so far.
    fn steps(&self) -> u64;

    /// The seed, or those of the slots, `[games]`.
    fn seeds(&self) -> Vec<u64>;

    /// Saves the unfinished games, those of each board for themselves. Fails if a game began from a position that text
    /// cannot describe.
    fn save(&self) -> Result<Vec<SavedGames>, EnvError>;

    /// Replaces the games by saved ones.
    fn restore(&mut self, saved: &[SavedGames]) -> Result<(), FileError>;
}

/// The saved games of one board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedGames {
    is_new: bool,
    #[serde(flatten)]
    env: SavedEnv,
}

struct Stepped<G: Game> {
    env: VecEnv<G>,
    actions: Vec<Action>, // [games], of the next step
    is_new: bool,         // nothing has been played or begun again
}

pub(super) fn env<G: CatalogGame>(game: &G, plan: EnvPlan) -> Result<Box<dyn AnyEnv>, EnvError> {
    let EnvPlan { settings, opponent, stop } = plan;
    let start = game.start();
    let ends = |action| game.outcome(&game.after(&start, action)).is_some();
    if opponent.is_some() && settings.seat != Seat::White && game.legal(&start).iter().all(ends) {
        return Err(EnvError::Illegal(
            "every first action ends the game, so an opponent who plays White leaves the other side no action"
                .to_owned(),
        ));
    }
    let env = match opponent {
        None => VecEnv::with_settings(game.clone(), settings),
        Some(plan) => VecEnv::with_opponents(game.clone(), settings, opponents(game, &plan, &settings, &stop)?)?,
    };
    Ok(Box::new(Stepped { env, actions: vec![Action(0); settings.games], is_new: true }))
}

/// Agents that play alike, one per shard.
fn opponents<G: CatalogGame>(
    game: &G,
    plan: &AgentPlan,
    settings: &EnvSettings,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Box<dyn Opponent<G>>>, AgentError> {
    // A search is slow enough for a thread with a few games, and to be interrupted. A function is called by one thread.
    let (shards, stop) = match plan {
        AgentPlan::Spec(spec, _) if **spec == AgentSpec::Random => {
            (settings.threads.min(settings.games / MIN_PER_THREAD), None)
        }
        AgentPlan::Spec(..) => (settings.threads.min(settings.games), Some(stop)),
        AgentPlan::Function(_) => (1, Some(stop)),
    };
    let opponent = |_| -> Result<Box<dyn Opponent<G>>, AgentError> {
        Ok(Box::new(AgentOpponent::new(plan.to_string(), plan.build(game)?, stop.cloned())))
    };
    (0..shards.max(1)).map(opponent).collect()
}

impl<G: CatalogGame> AnyEnv for Stepped<G> {
    fn reset(&mut self, reset: &Reset<'_>) -> Result<(), EnvError> {
        let env = &mut self.env;
        let done = match reset {
            Reset::All if self.is_new => Ok(()),
            Reset::All => env.reset(|_| true),
            Reset::Seed(seed) => env.reseed(*seed),
            Reset::Seeds(seeds) => env.reseed_each(seeds),
            Reset::Where(which) => env.reset(|slot| which[slot]),
            Reset::At(places) => {
                let places = places.iter();
                env.start(&places.map(|(slot, position)| (*slot, Line::at(*position.of::<G>()))).collect::<Vec<_>>())
            }
        };
        self.is_new &= done.is_err();
        Ok(done?)
    }

    fn choose(&mut self, chosen: &[i64], first: usize) -> Result<(), EnvError> {
        let Stepped { env, actions, .. } = self;
        let count = env.game().actions();
        let masks = env.all_legal().zip(chosen);
        for (slot, ((legal, &action), out)) in masks.zip(&mut *actions).enumerate() {
            *out = Action(action as u16);
            let known = i64::from(action as u16) == action && usize::from(out.0) < count;
            if known && legal.contains(*out) {
                continue;
            }
            if let Some(reason) = refusal(env, slot, first, action) {
                return Err(EnvError::Illegal(reason));
            }
            *out = Action(0); // of an idle slot, which ignores it
        }
        Ok(())
    }

    fn step(&mut self, rows: Rows<'_>) -> Result<(), EnvError> {
        let Stepped { env, actions, is_new, .. } = self;
        let stepped = env.step_into(actions, rows);
        *is_new &= stepped.is_err();
        Ok(stepped?)
    }

    fn can_be_interrupted(&self) -> bool {
        self.env.can_be_interrupted()
    }

    fn shards(&self) -> usize {
        self.env.shards()
    }

    fn write(&self, rows: Rows<'_>) {
        self.env.write(rows);
    }

    fn sample(&self, out: &mut [i64]) {
        let mut actions = vec![Action(0); out.len()];
        self.env.sample(&mut actions);
        for ((out, action), legal) in out.iter_mut().zip(actions).zip(self.env.all_legal()) {
            *out = if legal.is_empty() { NO_ACTION } else { action.0.into() };
        }
    }

    fn finished(&self) -> Vec<usize> {
        self.env.finished().map(|ended| ended.slot).collect()
    }

    fn final_positions(&self) -> Vec<AnyPosition> {
        self.env.finished().map(|ended| AnyPosition::new(self.env.game(), ended.position)).collect()
    }

    fn write_final_features(&self, features: Features<'_>, threats: bool) {
        match features {
            Features::Float(all) => write_final(&self.env, all, threats),
            Features::Byte(all) => write_final(&self.env, all, threats),
        }
    }

    fn position(&self, slot: usize) -> AnyPosition {
        AnyPosition::new(self.env.game(), *self.env.position(slot))
    }

    fn sides(&self) -> Vec<Player> {
        self.env.sides().collect()
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

    fn save(&self) -> Result<Vec<SavedGames>, EnvError> {
        let Stepped { env, is_new, .. } = self;
        for slot in (0..env.len()).filter(|&slot| !env.is_idle(slot)) {
            let line = env.history(slot);
            if let Some(text) = line.start_text(env.game())
                && env.game().parse_position(&text).ok() != Some(line.start)
            {
                return Err(EnvError::Illegal(format!(
                    "slot {slot} cannot be saved: the text of the position that its game began from leaves out earlier \
                     positions that count: {text}"
                )));
            }
        }
        Ok(vec![SavedGames { is_new: *is_new, env: env.save() }])
    }

    fn restore(&mut self, saved: &[SavedGames]) -> Result<(), FileError> {
        let [saved] = saved else {
            return Err(format!("the saved environment has {} boards, this one 1", saved.len()).into());
        };
        self.env.restore(&saved.env)?;
        self.is_new = saved.is_new;
        Ok(())
    }
}

fn write_final<G: Encode, T: From<bool>>(env: &VecEnv<G>, mut all: ArrayViewMut4<'_, T>, threats: bool) {
    for (ended, row) in env.finished().zip(all.outer_iter_mut()) {
        let seen = env.game().seen_by(&ended.position, env.actor(ended.slot));
        env.game().set_features(&seen, row.into_slice().expect("a row in C order"), threats);
    }
}

/// Why an action cannot be played in a slot, if it cannot. The message has the number of the slot counted from `first`.
fn refusal<G: Game>(env: &VecEnv<G>, slot: usize, first: usize, action: i64) -> Option<String> {
    let (game, number) = (env.game(), first + slot);
    if env.is_idle(slot) {
        let ignored = env.settings().autoreset == Autoreset::NextStep || action == NO_ACTION;
        return (!ignored)
            .then(|| format!("actions[{number}]: the game in this slot is over; reset it first, or give {NO_ACTION}"));
    }
    let actions = game.actions();
    if !(0..actions as i64).contains(&action) {
        return Some(format!("actions[{number}] is {action}; the game has only actions 0 to {}", actions - 1));
    }
    let mut position = *env.position(slot);
    let refused = game.try_play(&mut position, Action(action as u16)).err();
    let reason = refused.map_or("it is illegal".to_owned(), |error| error.to_string());
    Some(format!("actions[{number}] is {action}: {reason}"))
}
