//! Environments of one game on several boards as one: each board has a part of the slots.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jarmo_core::env::{EnvSettings, Features, Rows};
use jarmo_core::error::FileError;
use jarmo_core::game::{AnyPosition, Player};
use jarmo_core::random::mix;
use rayon::prelude::*;

use super::Measure;
use super::env::{AnyEnv, EnvError, EnvPlan, Reset, SavedGames};

/// The environment of a board, and its slots.
struct Part {
    env: Box<dyn AnyEnv>,
    first: usize,
    games: usize,
}

impl Part {
    /// Its share of what there is one of for each slot.
    fn of<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        &all[self.first..self.first + self.games]
    }
}

/// The environments of several boards.
struct OnBoards {
    parts: Vec<Part>,
    threads: usize,
}

/// The first slot of each of `boards` that share `games` slots as equally as possible, and the end.
pub fn shares(games: usize, boards: usize) -> Vec<usize> {
    (0..=boards).map(|board| board * games / boards).collect()
}

/// The seed of the environment with this number.
fn seed_of(seed: u64, board: usize) -> u64 {
    if board == 0 { seed } else { mix(seed ^ mix(board as u64)) }
}

/// The environment of a game on several boards, without an opponent. Each board has the slots of [`shares`].
pub fn on_boards(
    boards: &[&dyn Measure],
    settings: EnvSettings,
    stop: &Arc<AtomicBool>,
) -> Result<Box<dyn AnyEnv>, EnvError> {
    let shares = shares(settings.games, boards.len());
    let part = |(board, game): (usize, &&dyn Measure)| {
        let (first, games) = (shares[board], shares[board + 1] - shares[board]);
        let settings = EnvSettings { games, seed: seed_of(settings.seed, board), threads: 1, ..settings };
        let env = game.env(EnvPlan { settings, opponent: None, stop: Arc::clone(stop) })?;
        Ok(Part { env, first, games })
    };
    let parts = boards.iter().enumerate().map(part).collect::<Result<_, EnvError>>()?;
    Ok(Box::new(OnBoards { parts, threads: settings.threads }))
}

impl OnBoards {
    /// The part of a slot.
    fn part(&self, slot: usize) -> &Part {
        let after = self.parts.partition_point(|part| part.first <= slot);
        &self.parts[after - 1]
    }

    fn all<T>(&self, of: impl Fn(&dyn AnyEnv) -> Vec<T>) -> Vec<T> {
        self.parts.iter().flat_map(|part| of(&*part.env)).collect()
    }
}

impl AnyEnv for OnBoards {
    fn reset(&mut self, reset: &Reset<'_>) -> Result<(), EnvError> {
        for (board, part) in self.parts.iter_mut().enumerate() {
            let slots = part.first..part.first + part.games;
            match reset {
                Reset::All => part.env.reset(&Reset::All)?,
                Reset::Seed(seed) => part.env.reset(&Reset::Seed(seed_of(*seed, board)))?,
                Reset::Seeds(seeds) => part.env.reset(&Reset::Seeds(&seeds[slots]))?,
                Reset::Where(which) => part.env.reset(&Reset::Where(&which[slots]))?,
                Reset::At(places) => {
                    let own = places.iter().filter(|(slot, _)| slots.contains(slot));
                    let own: Vec<_> = own.map(|(slot, place)| (slot - part.first, place.clone())).collect();
                    part.env.reset(&Reset::At(&own))?;
                }
            }
        }
        Ok(())
    }

    fn choose(&mut self, actions: &[i64], first: usize) -> Result<(), EnvError> {
        self.parts.iter_mut().try_for_each(|part| {
            let own = part.of(actions);
            part.env.choose(own, first + part.first)
        })
    }

    fn step(&mut self, mut rows: Rows<'_>) -> Result<(), EnvError> {
        let work: Vec<_> = self.parts.iter_mut().map(|part| (rows.take(part.games), &mut part.env)).collect();
        let step = |(rows, env): (Rows<'_>, &mut Box<dyn AnyEnv>)| env.step(rows);
        if self.threads == 1 {
            return work.into_iter().try_for_each(step);
        }
        // Few boards at a time would take longer to hand over than to step.
        let share = work.len().div_ceil(self.threads);
        work.into_par_iter().with_min_len(share).try_for_each(step)
    }

    fn can_be_interrupted(&self) -> bool {
        false // there is no opponent
    }

    fn shards(&self) -> usize {
        self.threads.min(self.parts.len())
    }

    fn write(&self, mut rows: Rows<'_>) {
        for part in &self.parts {
            part.env.write(rows.take(part.games));
        }
    }

    fn sample(&self, mut out: &mut [i64]) {
        for part in &self.parts {
            let (own, others) = out.split_at_mut(part.games);
            part.env.sample(own);
            out = others;
        }
    }

    fn finished(&self) -> Vec<usize> {
        let slots = |part: &Part| part.env.finished().into_iter().map(|slot| part.first + slot).collect::<Vec<_>>();
        self.parts.iter().flat_map(slots).collect()
    }

    fn final_positions(&self) -> Vec<AnyPosition> {
        self.all(|env| env.final_positions())
    }

    fn write_final_features(&self, mut features: Features<'_>, threats: bool) {
        for part in &self.parts {
            let ended = part.env.finished().len();
            part.env.write_final_features(features.take(ended), threats);
        }
    }

    fn position(&self, slot: usize) -> AnyPosition {
        let part = self.part(slot);
        part.env.position(slot - part.first)
    }

    fn sides(&self) -> Vec<Player> {
        self.all(|env| env.sides())
    }

    fn steps(&self) -> u64 {
        self.parts[0].env.steps()
    }

    fn seeds(&self) -> Vec<u64> {
        let first = self.parts[0].env.seeds()[0];
        let is_of_one = |(board, part): (usize, &Part)| part.env.seeds() == [seed_of(first, board)];
        match self.parts.iter().enumerate().all(is_of_one) {
            true => vec![first],
            false => self.all(|env| env.seeds()),
        }
    }

    fn save(&self) -> Result<Vec<SavedGames>, EnvError> {
        let saved = self.parts.iter().map(|part| part.env.save()).collect::<Result<Vec<_>, _>>()?;
        Ok(saved.concat())
    }

    fn restore(&mut self, saved: &[SavedGames]) -> Result<(), FileError> {
        if saved.len() != self.parts.len() {
            let (saved, ours) = (saved.len(), self.parts.len());
            return Err(format!("the saved environment has {saved} boards, this one {ours}").into());
        }
        let before = self.save().map_err(|error| error.to_string())?;
        for board in 0..saved.len() {
            if let Err(error) = self.parts[board].env.restore(&saved[board..=board]) {
                for (part, before) in self.parts.iter_mut().zip(before.chunks(1)).take(board) {
                    part.env.restore(before).expect("it was saved by this environment");
                }
                return Err(error);
            }
        }
        Ok(())
    }
}
