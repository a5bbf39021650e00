//! The speed of the environment in random legal play.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::Runs;
use jarmo_core::encode::Encode;
use jarmo_core::env::VecEnv;
use jarmo_core::game::Action;

/// The settings of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct EnvWork {
    /// Games in lockstep.
    pub games: usize,
    /// Whether to write features and mask of every position.
    pub observe: bool,
    /// The seed of the random play.
    pub seed: u64,
    /// The minimum time of each run.
    pub run_time: Duration,
}

/// The speed of random legal play: medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct EnvSpeed {
    /// The game.
    pub game: &'static str,
    /// Games in lockstep.
    pub games: usize,
    /// Whether features and masks were written.
    pub observe: bool,
    /// Threads with games.
    pub threads: usize,
    /// Plies per second.
    pub plies_per_s: f64,
    /// Plies per second of processor time.
    pub plies_per_cpu_s: f64,
    /// Finished games per second.
    pub games_per_s: f64,
    /// The mean number of plies of a finished game, if any finished.
    pub mean_length: Option<f64>,
}

impl fmt::Display for EnvSpeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, {} games, {}, {} thread(s): {:.1} M plies/s, {:.1} M plies per CPU second, \
             {:.0} games/s, mean length {}",
            self.game,
            self.games,
            if self.observe { "features and masks" } else { "bare" },
            self.threads,
            self.plies_per_s / 1e6,
            self.plies_per_cpu_s / 1e6,
            self.games_per_s,
            self.mean_length.map_or("unknown".to_owned(), |plies| format!("{plies:.1}"))
        )
    }
}

/// Plays random games on the threads of the current rayon pool and reports the speed.
pub fn env<G: Encode>(game: G, work: EnvWork) -> EnvSpeed {
    let observed = if work.observe { work.games } else { 0 };
    let mut features = vec![0.0; observed * game.feature_count()];
    let mut masks = vec![G::Mask::default(); observed];
    let mut actions = vec![Action(0); work.games];
    let mut env = VecEnv::new(game, work.games, work.seed);
    let runs = Runs::of(work.run_time, || {
        if work.observe {
            env.observe(&mut features);
            env.masks(&mut masks);
        }
        env.sample(&mut actions);
        env.step(&actions);
        let finished = env.take_stats();
        [env.len() as u64, finished.games, finished.plies]
    });
    let finished = runs.sum(1);
    EnvSpeed {
        game: env.game().id(),
        games: work.games,
        observe: work.observe,
        threads: env.shards(),
        plies_per_s: runs.median(|run| run.per_s(0)),
        plies_per_cpu_s: runs.median(|run| run.per_cpu_s(0)),
        games_per_s: runs.median(|run| run.per_s(1)),
        mean_length: (finished > 0).then(|| runs.sum(2) as f64 / finished as f64),
    }
}
