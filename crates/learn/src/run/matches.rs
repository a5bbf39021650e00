//! The strength of a run: small tournaments of its newest weights against fixed agents and earlier
//! checkpoints, rated on one scale.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::RunError;
use super::folder::RunFolder;
use crate::config::{Config, EvaluationSettings};
use crate::observe::{MatchScore, Strength};
use jarmo_core::net::{FrozenNet, KernelKind, NetEvaluator};
use jarmo_core::random::stream;
use jarmo_exact::agent::{Agent, AgentSpec, TreeAgent, TreeSettings, build};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::arena::{Anchor, Checkpoint, Entrant, Ladder, Openings, Pairing, Report, Settings, Team, Tournament};

/// The index of the random stream that seeds matches, plus the learning steps.
const MATCHES: u64 = 1 << 62;

/// The results of all matches so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Matches {
    ladder: Ladder,
    steps: Vec<u64>, // of checkpoints that played, oldest first
    best: Option<u64>,
}

impl Matches {
    /// Whether matches are due: early in the run, then at every multiple of `every`, but not before a tenth of the
    /// steps so far has passed.
    pub(super) fn are_due(&self, config: &Config, step: u64) -> bool {
        let (Some(first), every) = (config.first_matches(), config.evaluation.every) else {
            return false;
        };
        match self.steps.last() {
            None => step >= first,
            Some(&last) => step / every > last / every && step >= last + last / 10,
        }
    }

    /// The steps of the checkpoints that played. Later checkpoints play against them.
    pub(super) fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// Plays the matches of a checkpoint. `None` if `stop` was set meanwhile. Earlier checkpoints whose files cannot be
    /// read do not play again; `warn` gets the reason.
    pub(super) fn play<G: CatalogGame>(
        &mut self,
        game: &G,
        config: &EvaluationSettings,
        folder: &RunFolder,
        (seed, step, threads, kernel): (u64, u64, usize, KernelKind),
        stop: &AtomicBool,
        warn: impl FnMut(String),
    ) -> Result<Option<Strength>, RunError> {
        let load = |step| {
            let file = folder.load_agent(step)?;
            Ok(FrozenNet::with_kernel(file.weights(), kernel))
        };
        let mut own = vec![(step, load(step)?)];
        self.add_past(config.past, &mut own, load, warn);
        let entrants = entrants(folder, config, &own);
        let teams = (0..threads).map(|_| team(game, config, &own));
        let teams: Vec<Team<G>> = teams.collect::<Result<_, _>>()?;
        let seed = stream(seed, MATCHES + step).next_u64();
        let pairs = config.games / 2;
        let openings = Openings::random(game, config.random_plies, pairs as usize, seed);
        let openings = openings.map_err(RunError::new)?;
        let settings = Settings { pairing: Pairing::Gauntlet, pairs, seed, ..Settings::default() };
        let tournament = Tournament::new(game, entrants, &openings, settings);
        let mut tournament = tournament.map_err(RunError::new)?;
        let played = tournament.play(teams, stop, &mut ());
        played.map_err(RunError::new)?;
        let standings = tournament.standings();
        if stop.load(Ordering::Relaxed) && standings.games() < standings.planned_games() {
            return Ok(None);
        }
        self.ladder.add(standings);
        self.steps.push(step);
        Ok(Some(self.strength(config, &own, &Report::new(standings))))
    }

    /// Adds `count` earlier checkpoints: the best one, then the newest.
    fn add_past(
        &mut self,
        count: usize,
        own: &mut Vec<StepNet>,
        load: impl Fn(u64) -> Result<FrozenNet, RunError>,
        mut warn: impl FnMut(String),
    ) {
        let mut left = self.steps.clone(); // the next one at the end
        if let Some(best) = self.best {
            left.retain(|&step| step != best);
            left.push(best);
        }
        while own.len() <= count
            && let Some(step) = left.pop()
        {
            match load(step) {
                Ok(net) => own.push((step, net)),
                Err(error) => {
                    warn(format!("{error}; the matches are played without it"));
                    self.steps.retain(|&other| other != step);
                }
            }
        }
    }

    fn strength(&mut self, config: &EvaluationSettings, own: &[StepNet], report: &Report) -> Strength {
        let step = own[0].0;
        let anchor = Anchor { agent: config.opponents.first().cloned().unwrap_or_default(), elo: 0.0 };
        let ratings = self.ladder.ratings(&anchor);
        let rated = ratings.iter().filter_map(|(entrant, rating)| Some((entrant.checkpoint.as_ref()?.step, *rating)));
        let rated: Vec<_> = rated.collect();
        let there = rated.iter().filter(|(step, _)| self.steps.contains(step));
        let best = there.max_by(|(_, a), (_, b)| a.elo.total_cmp(&b.elo));
        self.best = best.map(|(step, _)| *step);
        let (_, rating) = rated.iter().find(|(other, _)| *other == step).expect("the checkpoint has just played");
        let (elo_low, elo_high) = rating.interval();
        let matches = report.matches.iter().map(|row| MatchScore {
            opponent: row.second.clone(),
            step: own[1..].iter().map(|(step, _)| *step).find(|&step| name(step) == row.second),
            results: row.scores.results,
            score: row.scores.score,
        });
        Strength { step, elo: rating.elo, elo_low, elo_high, anchor: anchor.agent, matches: matches.collect() }
    }
}

pub(super) fn check<G: CatalogGame>(game: &G, config: &EvaluationSettings) -> Result<(), RunError> {
    if config.every == 0 {
        return Ok(());
    }
    for text in &config.opponents {
        opponent(game, text)?;
    }
    let plies = config.random_plies;
    let openings = Openings::<G::Position>::check_plies(game, plies);
    openings.map_err(|error| RunError(format!("evaluation.random_plies = {plies}: {error}")))
}

fn opponent<G: CatalogGame>(game: &G, text: &str) -> Result<Box<dyn Agent<G>>, RunError> {
    let wrong = |error: &dyn Display| RunError(format!("evaluation.opponents: {error}"));
    let spec = AgentSpec::from_str(text).map_err(|error| wrong(&error))?;
    build(game.clone(), &spec).map_err(|error| wrong(&error))
}

fn name(step: u64) -> String {
    format!("step-{step}")
}

/// A checkpoint of the run by its step, with its network. The one that is rated comes first, then earlier ones.
type StepNet = (u64, FrozenNet);

/// The rated checkpoint, the fixed agents, the earlier checkpoints.
fn entrants(folder: &RunFolder, config: &EvaluationSettings, own: &[StepNet]) -> Vec<Entrant> {
    let checkpoint = |&(step, _): &StepNet| Entrant {
        name: name(step),
        checkpoint: Some(Checkpoint { run: folder.name(), step, cpu_seconds: None }),
    };
    let fixed = config.opponents.iter().map(|spec| Entrant { name: spec.clone(), checkpoint: None });
    own[..1].iter().map(checkpoint).chain(fixed).chain(own[1..].iter().map(checkpoint)).collect()
}

/// The agents of one thread, in the order of the [`entrants`].
fn team<G: CatalogGame>(game: &G, config: &EvaluationSettings, own: &[StepNet]) -> Result<Team<G>, RunError> {
    let settings = TreeSettings { simulations: config.simulations, ..TreeSettings::network() };
    let agent = |(_, net): &StepNet| -> Box<dyn Agent<G>> {
        let evaluator = NetEvaluator::with_net(game.clone(), net.clone());
        Box::new(TreeAgent::new(game.clone(), evaluator, settings))
    };
    let mut team = vec![agent(&own[0])];
    for text in &config.opponents {
        team.push(opponent(game, text)?);
    }
    team.extend(own[1..].iter().map(agent));
    Ok(team)
}
