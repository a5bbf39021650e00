//! The environment of one game, in parts for several threads.

use std::sync::Arc;

use jarmo_exact::agent::{Agent, AgentSpec, Networks, build_sharing};
use jarmo_exact::catalog::CatalogGame;
use jarmo_core::env::EnvState;
use jarmo_core::game::{Action, Mask, Player};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::out::{Features, Out};
use super::part::{Course, Part};
use super::{AnyEnv, Autoreset, EnvSettings, Learner};
use crate::game::Rules;
use crate::position::{AnyPosition, At, write_features};
use crate::threads::pool;

/// A part has at least this many games; with fewer, another thread costs more than it saves.
const MIN_PER_THREAD: usize = 128;

struct Games<G: CatalogGame> {
    rules: Arc<Rules<G>>,
    course: Course,
    opponent: Option<AgentSpec>,
    networks: Networks,
    games: usize,
    share: usize, // games per part; the last part may have fewer
    parts: Vec<Part<G>>,
    actions: Vec<Action>, // [games], of the next step
}

pub fn build<G: CatalogGame>(
    rules: Arc<Rules<G>>,
    settings: EnvSettings,
) -> Result<Box<dyn AnyEnv>, String> {
    let opponent = settings.opponent.as_deref().map(str::parse::<AgentSpec>);
    let opponent = opponent.transpose().map_err(|error| error.to_string())?;
    // An opponent that searches is slow enough for a thread with a few games.
    let least = match opponent {
        None | Some(AgentSpec::Random) => MIN_PER_THREAD,
        Some(_) => 1,
    };
    let parts = settings.threads.min(settings.games / least).max(1);
    let mut games = Games {
        course: Course {
            seed: settings.seed,
            resets: 0,
            autoreset: settings.autoreset,
            learner: settings.learner,
            opening_plies: settings.opening_plies,
            threats: settings.threats,
        },
        rules,
        opponent,
        networks: Networks::new(),
        games: settings.games,
        share: settings.games.div_ceil(parts),
        parts: Vec::new(),
        actions: vec![Action(0); settings.games],
    };
    games.parts = games.fresh_parts()?;
    Ok(Box::new(games))
}

/// An environment as it is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    format: u32,
    game: String,
    rules_version: u32,
    max_plies: u32,
    games: usize,
    autoreset: Autoreset,
    learner: Learner,
    opponent: Option<String>,
    opening_plies: u32,
    seed: u64,
    resets: u64,
    sides: Vec<i8>,
    state: EnvState,
}

/// Increased whenever saved environments change their meaning.
const FORMAT: u32 = 1;

impl<G: CatalogGame> Games<G> {
    /// All parts with new games, as at the start.
    fn fresh_parts(&self) -> Result<Vec<Part<G>>, String> {
        let firsts = (0..self.games).step_by(self.share);
        let part = |first: usize| {
            let slots = first..self.games.min(first + self.share);
            let game = &self.rules.game;
            let opponent = self.opponent.as_ref().map(|spec| {
                let built: Result<Box<dyn Agent<G>>, _> =
                    build_sharing(game.clone(), spec, &self.networks);
                built.map_err(|error| error.to_string())
            });
            Ok(Part::new(game, slots, &self.course, opponent.transpose()?))
        };
        firsts.map(part).collect()
    }

    fn part(&self, slot: usize) -> (&Part<G>, usize) {
        (&self.parts[slot / self.share], slot % self.share)
    }

    /// Does something with every part, its rows of the arrays, and its actions.
    fn each(
        &mut self,
        out: Out<'_>,
        work: impl Fn(&mut Part<G>, &Course, &[Action], Out<'_>) + Sync,
    ) {
        let course = &self.course;
        let actions = self.actions.chunks(self.share);
        if let [part] = &mut self.parts[..] {
            return work(part, course, &self.actions, out);
        }
        let jobs = self
            .parts
            .iter_mut()
            .zip(actions)
            .zip(out.parts(self.share));
        let jobs: Vec<_> = jobs.collect();
        pool().install(|| {
            jobs.into_par_iter()
                .for_each(|((part, actions), out)| work(part, course, actions, out));
        });
    }

    /// What this environment is, to compare with a saved one.
    fn head(&self) -> Saved {
        Saved {
            format: FORMAT,
            game: self.rules.game.id().to_owned(),
            rules_version: self.rules.game.rules_version(),
            max_plies: self.rules.game.max_plies(),
            games: self.games,
            autoreset: self.course.autoreset,
            learner: self.course.learner,
            opponent: self.opponent.as_ref().map(ToString::to_string),
            opening_plies: self.course.opening_plies,
            seed: self.course.seed,
            resets: self.course.resets,
            sides: Vec::new(),
            state: EnvState::default(),
        }
    }
}

impl<G: CatalogGame> AnyEnv for Games<G> {
    fn reset(&mut self, seed: Option<u64>, which: Option<&[bool]>) -> Result<(), String> {
        if let Some(seed) = seed {
            if which.is_some() {
                return Err("a seed starts all games again; give either seed or mask".to_owned());
            }
            self.course.seed = seed;
            self.course.resets = 0;
            self.parts = self.fresh_parts()?;
            return Ok(());
        }
        self.course.resets += 1;
        for part in &mut self.parts {
            let first = part.shard.number(0) as usize;
            part.restart(&self.course, |slot| {
                which.is_none_or(|which| which[first + slot])
            });
        }
        Ok(())
    }

    fn set_actions(&mut self, actions: &[i64]) -> Result<(), String> {
        let parts = self.parts.iter().zip(actions.chunks(self.share));
        let mut out = self.actions.iter_mut();
        for (part, actions) in parts {
            for (slot, (&action, out)) in actions.iter().zip(&mut out).enumerate() {
                *out = Action(action as u16);
                let known = i64::from(action as u16) == action
                    && usize::from(out.0) < self.rules.game.actions();
                let legal = known && part.shard.legal(slot).contains(*out);
                if legal {
                    continue;
                }
                if let Some(refusal) = part.refusal(slot, action, self.course.autoreset) {
                    return Err(refusal);
                }
                *out = Action(0); // of an idle slot, which ignores it
            }
        }
        Ok(())
    }

    fn step(&mut self, out: Out<'_>) {
        self.each(out, |part, course, actions, out| {
            part.step(course, actions);
            part.write(course, out);
        });
    }

    fn write(&self, out: Out<'_>) {
        for (part, out) in self.parts.iter().zip(out.parts(self.share)) {
            part.write(&self.course, out);
        }
    }

    fn sample(&self, out: &mut [i64]) {
        let mut actions = vec![Action(0); self.share];
        for (part, out) in self.parts.iter().zip(out.chunks_mut(self.share)) {
            let actions = &mut actions[..out.len()];
            part.shard.sample(self.course.seed, actions);
            for (slot, (out, action)) in out.iter_mut().zip(actions).enumerate() {
                *out = match part.shard.is_idle(slot) {
                    true => -1,
                    false => action.0.into(),
                };
            }
        }
    }

    fn ended(&self) -> Vec<(usize, Box<dyn AnyPosition>)> {
        let all = self.parts.iter().flat_map(|part| {
            let first = part.shard.number(0) as usize;
            part.ended
                .iter()
                .map(move |ended| (first + ended.slot, ended.position))
        });
        let boxed = |(slot, position)| {
            let rules = self.rules.clone();
            let at: Box<dyn AnyPosition> = Box::new(At { rules, position });
            (slot, at)
        };
        all.map(boxed).collect()
    }

    fn ended_count(&self) -> usize {
        self.parts.iter().map(|part| part.ended.len()).sum()
    }

    fn write_ended(&self, slots: &mut [i64], features: Features<'_>) {
        fn write<G: CatalogGame, T: From<bool>>(games: &Games<G>, all: &mut [T]) {
            let game = &games.rules.game;
            let threats = games.course.threats;
            let width = match threats {
                true => game.input_count(),
                false => game.feature_count(),
            };
            let ended = games.parts.iter().flat_map(|part| &part.ended);
            for (ended, row) in ended.zip(all.chunks_exact_mut(width)) {
                write_features(game, &ended.position, row, threats);
            }
        }
        let numbers = self.parts.iter().flat_map(|part| {
            let first = part.shard.number(0) as usize;
            part.ended.iter().map(move |ended| first + ended.slot)
        });
        for (out, slot) in slots.iter_mut().zip(numbers) {
            *out = slot as i64;
        }
        match features {
            Features::Float(all) => write(self, all),
            Features::Byte(all) => write(self, all),
        }
    }

    fn position(&self, slot: usize) -> Box<dyn AnyPosition> {
        let (part, slot) = self.part(slot);
        Box::new(At {
            rules: self.rules.clone(),
            position: *part.shard.position(slot),
        })
    }

    fn sides(&self) -> Vec<i8> {
        let sides = self.parts.iter().flat_map(|part| &part.sides);
        sides.map(|side| side.index() as i8).collect()
    }

    fn steps(&self) -> u64 {
        self.parts[0].shard.steps()
    }

    fn seed(&self) -> u64 {
        self.course.seed
    }

    fn save(&self) -> Vec<u8> {
        let saved = Saved {
            sides: self.sides(),
            state: EnvState {
                steps: self.steps(),
                games: self.parts.iter().flat_map(Part::save).collect(),
            },
            ..self.head()
        };
        serde_json::to_vec(&saved).expect("plain data")
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), String> {
        let saved: Saved = serde_json::from_slice(saved)
            .map_err(|error| format!("not a saved environment: {error}"))?;
        let head = self.head();
        let pairs = [
            ("format", saved.format.to_string(), head.format.to_string()),
            ("game", saved.game.clone(), head.game),
            (
                "rules version",
                saved.rules_version.to_string(),
                head.rules_version.to_string(),
            ),
            (
                "max_plies",
                saved.max_plies.to_string(),
                head.max_plies.to_string(),
            ),
            ("num_envs", saved.games.to_string(), head.games.to_string()),
            (
                "autoreset",
                format!("{:?}", saved.autoreset),
                format!("{:?}", head.autoreset),
            ),
            (
                "opponent",
                format!("{:?}", saved.opponent),
                format!("{:?}", head.opponent),
            ),
            (
                "learner",
                format!("{:?}", saved.learner),
                format!("{:?}", head.learner),
            ),
            (
                "opening_plies",
                saved.opening_plies.to_string(),
                head.opening_plies.to_string(),
            ),
        ];
        for (name, theirs, ours) in pairs {
            if theirs != ours {
                return Err(format!(
                    "the saved environment has {name} {theirs}, this one {ours}"
                ));
            }
        }
        if saved.state.games.len() != self.games || saved.sides.len() != self.games {
            return Err("not a saved environment: games are missing".to_owned());
        }
        // Into new parts, so that a game that breaks the rules changes nothing.
        let mut parts = self.fresh_parts()?;
        let games = saved.state.games.chunks(self.share);
        let sides = saved.sides.chunks(self.share);
        for ((part, games), sides) in parts.iter_mut().zip(games).zip(sides) {
            let sides = sides
                .iter()
                .map(|&side| Player::BOTH[usize::from(side != 0)]);
            let restored = part.restore(saved.state.steps, games, sides.collect());
            restored.map_err(|error| error.to_string())?;
        }
        self.parts = parts;
        self.course.seed = saved.seed;
        self.course.resets = saved.resets;
        Ok(())
    }
}
