//! How fast the environment is: random legal play, as a number anyone can measure again.

use std::fmt;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::Serialize;

use super::VecEnv;
use crate::encode::Encode;
use crate::game::Action;

/// Runs whose median is reported.
const RUNS: usize = 5;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct EnvWork {
    /// Games in lockstep.
    pub games: usize,
    /// Also write features and mask of every position.
    pub observe: bool,
    /// The seed of the random play.
    pub seed: u64,
    /// How long one of the runs takes at least.
    pub run_time: Duration,
}

/// How fast random legal play went: the medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct EnvSpeed {
    /// The game.
    pub game: &'static str,
    /// Games in lockstep.
    pub games: usize,
    /// Whether features and masks were written.
    pub observe: bool,
    /// Threads that had games to play.
    pub threads: usize,
    /// Plies a second.
    pub plies_per_s: f64,
    /// Plies per second of processor time.
    pub plies_per_cpu_s: f64,
    /// Finished games a second.
    pub games_per_s: f64,
    /// Plies of a finished game, if any finished.
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
            if self.observe {
                "features and masks"
            } else {
                "bare"
            },
            self.threads,
            self.plies_per_s / 1e6,
            self.plies_per_cpu_s / 1e6,
            self.games_per_s,
            self.mean_length
                .map_or("unknown".to_owned(), |plies| format!("{plies:.1}"))
        )
    }
}

struct Run {
    plies_per_s: f64,
    plies_per_cpu_s: f64,
    games_per_s: f64,
}

/// Plays random games on the threads of the current rayon pool and reports the speed.
pub fn measure<G: Encode>(game: G, work: EnvWork) -> EnvSpeed {
    let id = game.id();
    let mut bench = Bench::new(game, work);
    bench.run(work.run_time / 4); // warms caches up and brings the games out of step
    let (mut finished, mut length) = (0, 0);
    let mut runs: Vec<Run> = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        runs.push(bench.run(work.run_time));
        finished += bench.finished;
        length += bench.finished_length;
    }
    let median = |number: fn(&Run) -> f64| {
        let mut numbers: Vec<f64> = runs.iter().map(number).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers[RUNS / 2]
    };
    EnvSpeed {
        game: id,
        games: work.games,
        observe: work.observe,
        threads: bench.env.shards(),
        plies_per_s: median(|run| run.plies_per_s),
        plies_per_cpu_s: median(|run| run.plies_per_cpu_s),
        games_per_s: median(|run| run.games_per_s),
        mean_length: (finished > 0).then(|| length as f64 / f64::from(finished)),
    }
}

struct Bench<G: Encode> {
    env: VecEnv<G>,
    actions: Vec<Action>,
    features: Vec<f32>,
    masks: Vec<G::Mask>,
    finished: u32,        // games that ended in the last run
    finished_length: u64, // their plies
}

impl<G: Encode> Bench<G> {
    fn new(game: G, work: EnvWork) -> Bench<G> {
        let observed = if work.observe { work.games } else { 0 };
        Bench {
            actions: vec![Action(0); work.games],
            features: vec![0.0; observed * game.feature_count()],
            masks: vec![G::Mask::default(); observed],
            env: VecEnv::new(game, work.games, work.seed),
            finished: 0,
            finished_length: 0,
        }
    }

    fn run(&mut self, at_least: Duration) -> Run {
        (self.finished, self.finished_length) = (0, 0);
        let mut steps = 0_u64;
        let (start, cpu_start) = (Instant::now(), ProcessTime::now());
        while steps == 0 || start.elapsed() < at_least {
            if !self.features.is_empty() {
                self.env.observe_flat(&mut self.features);
                self.env.masks(&mut self.masks);
            }
            self.env.sample(&mut self.actions);
            self.env.step(&self.actions);
            for slot in self.env.finished() {
                let end = self.env.final_position(slot).expect("a game has ended");
                self.finished += 1;
                self.finished_length += u64::from(self.env.game().ply(end));
            }
            steps += 1;
        }
        let seconds = start.elapsed().as_secs_f64();
        let plies = steps as f64 * self.env.len() as f64;
        Run {
            plies_per_s: plies / seconds,
            plies_per_cpu_s: plies / cpu_start.elapsed().as_secs_f64(),
            games_per_s: f64::from(self.finished) / seconds,
        }
    }
}
