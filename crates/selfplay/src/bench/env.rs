//! Measures the speed of the environment with random legal actions.

use std::fmt;

use serde::Serialize;

use super::{RunTime, Runs};
use jarmo_core::encode::Encode;
use jarmo_core::env::VecEnv;
use jarmo_core::game::Action;
use jarmo_core::ndarray::Array4;

/// The speed of random legal play: medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct EnvSpeed {
    /// The game.
    pub game: &'static str,
    /// The number of games that are stepped together.
    pub games: usize,
    /// Whether features and masks were written in every step.
    pub observe: bool,
    /// The number of threads that had games.
    pub threads: usize,
    /// Plies per second.
    pub plies_per_s: f64,
    /// Plies per second of CPU time.
    pub plies_per_cpu_s: f64,
    /// Finished games per second.
    pub games_per_s: f64,
    /// The mean length of the finished games in plies, if any game finished.
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

/// Plays `games` random games at a time on the threads of the current rayon pool, and measures the speed. With
/// `observe`, the features and the mask of every position are written.
pub fn env<'a, G: Encode>(
    game: G,
    games: usize,
    observe: bool,
    seed: u64,
    run_time: impl Into<RunTime<'a>>,
) -> EnvSpeed {
    let observed = if observe { games } else { 0 };
    let (rows, columns) = game.grid();
    let mut features = Array4::zeros((observed, game.planes(), rows, columns));
    let mut masks = vec![G::Mask::default(); observed];
    let mut actions = vec![Action(0); games];
    let mut env = VecEnv::new(game, games, seed);
    let runs = Runs::of(run_time.into(), || {
        if observe {
            env.observe(features.view_mut());
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
        games,
        observe,
        threads: env.shards(),
        plies_per_s: runs.median(|run| run.per_s(0)),
        plies_per_cpu_s: runs.median(|run| run.per_cpu_s(0)),
        games_per_s: runs.median(|run| run.per_s(1)),
        mean_length: (finished > 0).then(|| runs.sum(2) as f64 / finished as f64),
    }
}
