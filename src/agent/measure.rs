//! How fast an agent thinks, as a number anyone can measure again.

use std::fmt;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use serde::Serialize;

use super::{Agent, Limit, Request};
use crate::game::Game;
use crate::random::{Stream, stream};

/// Runs whose median is reported.
const RUNS: usize = 5;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct SearchWork {
    /// Games side by side.
    pub games: usize,
    /// Simulations or nodes per choice, in place of the agent's own number.
    pub nodes: Option<u64>,
    /// The seed of all randomness.
    pub seed: u64,
    /// How long one of the runs takes at least.
    pub run_time: Duration,
}

/// How fast an agent thought while it played against itself: the medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct SearchSpeed {
    game: &'static str,
    agent: String,
    games: usize,
    nodes_per_choice: f64,
    simulations_per_s: f64,
    simulations_per_cpu_s: f64,
    positions_per_s: f64,
    positions_per_cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations_per_cpu_s: Option<f64>,
    runs: usize,
}

impl fmt::Display for SearchSpeed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, {}, {} game(s), {:.0} simulations or nodes a choice: {:.0} k of them per CPU second \
             ({:.0} k/s), {:.0} root positions per CPU second ({:.0}/s)",
            self.game,
            self.agent,
            self.games,
            self.nodes_per_choice,
            self.simulations_per_cpu_s / 1e3,
            self.simulations_per_s / 1e3,
            self.positions_per_cpu_s,
            self.positions_per_s,
        )?;
        if let Some(evaluations) = self.evaluations_per_cpu_s {
            write!(
                out,
                ", {:.0} k evaluations per CPU second",
                evaluations / 1e3
            )?;
        }
        Ok(())
    }
}

struct Run {
    nodes: f64,
    choices: f64,
    evaluations: f64,
    seconds: f64,
    cpu_seconds: f64,
}

/// Lets the agent play against itself on this thread and reports the speed.
pub fn measure<G: Game>(game: &G, agent: &mut dyn Agent<G>, work: SearchWork) -> SearchSpeed {
    let mut bench = Bench {
        game,
        positions: vec![game.start(); work.games],
        streams: (0..work.games as u64)
            .map(|index| stream(work.seed, index))
            .collect(),
        limit: Limit {
            nodes: work.nodes,
            ..Limit::default()
        },
    };
    bench.run(agent, work.run_time / 4); // warms caches and clocks up
    let runs: Vec<Run> = (0..RUNS).map(|_| bench.run(agent, work.run_time)).collect();
    let median = |number: &dyn Fn(&Run) -> f64| {
        let mut numbers: Vec<f64> = runs.iter().map(number).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers[RUNS / 2]
    };
    SearchSpeed {
        game: game.id(),
        agent: agent.name().to_owned(),
        games: work.games,
        nodes_per_choice: median(&|run| run.nodes / run.choices),
        simulations_per_s: median(&|run| run.nodes / run.seconds),
        simulations_per_cpu_s: median(&|run| run.nodes / run.cpu_seconds),
        positions_per_s: median(&|run| run.choices / run.seconds),
        positions_per_cpu_s: median(&|run| run.choices / run.cpu_seconds),
        evaluations_per_cpu_s: agent
            .evaluations()
            .map(|_| median(&|run| run.evaluations / run.cpu_seconds)),
        runs: RUNS,
    }
}

struct Bench<'a, G: Game> {
    game: &'a G,
    positions: Vec<G::Position>,
    streams: Vec<Stream>,
    limit: Limit<'static>,
}

impl<G: Game> Bench<'_, G> {
    fn run(&mut self, agent: &mut dyn Agent<G>, at_least: Duration) -> Run {
        let (mut nodes, mut choices) = (0, 0);
        let judged = agent.evaluations().unwrap_or(0);
        let (start, cpu_start) = (Instant::now(), ThreadTime::now());
        while start.elapsed() < at_least {
            let mut requests: Vec<Request<'_, G>> = (self.positions.iter())
                .zip(&mut self.streams)
                .map(|(position, stream)| Request {
                    position: *position,
                    stream,
                    limit: self.limit,
                    memory: None,
                })
                .collect();
            let chosen = agent.choose(&mut requests);
            choices += chosen.len();
            for (position, choice) in self.positions.iter_mut().zip(chosen) {
                nodes += choice.nodes;
                self.game.play(position, choice.action);
                if self.game.outcome(position).is_some() {
                    *position = self.game.start();
                }
            }
        }
        Run {
            nodes: nodes as f64,
            choices: choices as f64,
            evaluations: (agent.evaluations().unwrap_or(0) - judged) as f64,
            seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: cpu_start.elapsed().as_secs_f64(),
        }
    }
}
