//! Measures the speed of an agent's search.

use std::fmt;

use serde::Serialize;

use super::{RunTime, Runs};
use jarmo_core::env::{Keep, Line, Shard};
use jarmo_core::game::{Action, Game};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{Agent, Limit};

/// The speed of an agent's search in games against itself: medians of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct SearchSpeed {
    game: &'static str,
    agent: String,
    games: usize,
    nodes_per_decision: f64,
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
            "{}, {}, {} game(s), {:.0} simulations or nodes per decision: {:.0} k of them per CPU second \
             ({:.0} k/s), {:.0} root positions per CPU second ({:.0}/s)",
            self.game,
            self.agent,
            self.games,
            self.nodes_per_decision,
            self.simulations_per_cpu_s / 1e3,
            self.simulations_per_s / 1e3,
            self.positions_per_cpu_s,
            self.positions_per_s,
        )?;
        if let Some(evaluations) = self.evaluations_per_cpu_s {
            write!(out, ", {:.0} k evaluations per CPU second", evaluations / 1e3)?;
        }
        Ok(())
    }
}

/// Lets an agent play against itself, `games` games at a time on the calling thread, and measures the speed. `name` is
/// the agent's name in the report. `nodes` are simulations or nodes per decision that replace those of the agent.
pub fn search<'a, G: Game>(
    game: &G,
    name: String,
    agent: &mut dyn Agent<G>,
    games: usize,
    nodes: Option<u64>,
    seed: u64,
    run_time: impl Into<RunTime<'a>>,
) -> SearchSpeed {
    let opening = || Some(Line::at(game.start()));
    let mut env = Shard::new(game, 0..games, Keep::default(), |_| opening());
    let mut actions = vec![Action(0); games];
    let mut streams: Vec<Stream> = (0..games as u64).map(|index| stream(seed, index)).collect();
    let limit = Limit { nodes, ..Limit::default() };
    let runs = Runs::of(run_time.into(), || {
        let evaluated = agent.evaluations().unwrap_or(0);
        let positions: Vec<G::Position> = (0..games).map(|slot| *env.position(slot)).collect();
        let mut spent = 0;
        for (action, decision) in actions.iter_mut().zip(agent.decide(&positions, &mut streams, limit)) {
            *action = decision.action;
            spent += decision.nodes;
        }
        env.step(&actions, |_, _| opening());
        let evaluated = agent.evaluations().unwrap_or(0) - evaluated;
        [spent, actions.len() as u64, evaluated]
    });
    SearchSpeed {
        game: game.id(),
        agent: name,
        games,
        nodes_per_decision: runs.median(|run| run.counts[0] as f64 / run.counts[1] as f64),
        simulations_per_s: runs.median(|run| run.per_s(0)),
        simulations_per_cpu_s: runs.median(|run| run.per_cpu_s(0)),
        positions_per_s: runs.median(|run| run.per_s(1)),
        positions_per_cpu_s: runs.median(|run| run.per_cpu_s(1)),
        evaluations_per_cpu_s: agent.evaluations().map(|_| runs.median(|run| run.per_cpu_s(2))),
        runs: runs.0.len(),
    }
}
