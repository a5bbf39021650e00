//! The strength of a run: small tournaments of its newest weights against fixed agents and earlier
//! checkpoints, rated on one scale.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::folder::RunFolder;
use crate::TrainError;
use crate::config::{Config, EvaluationSettings};
use crate::observe::{MatchScore, Strength};
use jarmo_core::net::{FrozenNet, KernelKind};
use jarmo_core::random::stream;
use jarmo_exact::agent::{AgentSource, AgentSpec, Networks, TreeSpec, read_spec};
use jarmo_facade::measure::{OpeningsPlan, TournamentPlan};
use jarmo_facade::{AgentPlan, AnyGame};
use jarmo_judge::arena::{Anchor, Checkpoint, Entrant, Ladder, Pairing, Report, Settings};

/// The index of the random stream that seeds matches; the number of training steps is added to it.
const MATCHES: u64 = 1 << 62;

/// The results of all matches so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Matches {
    ladder: Ladder,
    steps: Vec<u64>, // of checkpoints that played, oldest first
    best: Option<u64>,
    #[serde(default)]
    pub(super) last_final: Option<u64>, // step of the last final match, which nothing else depends on
    #[serde(default)]
    pub(super) pace: Option<[f64; 2]>, // seconds and CPU seconds of a game in the latest matches
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

    /// Whether the newest matches are those of the weights of this step.
    pub(super) fn have_rated(&self, step: u64) -> bool {
        self.last_final.max(self.steps.last().copied()) >= Some(step)
    }

    /// Plays the matches of a checkpoint. `None` if `stop` was set meanwhile. Earlier checkpoints whose files cannot be
    /// read do not play again; `warn` gets the reason.
    pub(super) fn play(
        &mut self,
        game: &dyn AnyGame,
        config: &EvaluationSettings,
        folder: &RunFolder,
        (seed, step, threads, kernel): (u64, u64, usize, KernelKind),
        stop: &AtomicBool,
        warn: impl FnMut(String),
    ) -> Result<Option<Strength>, TrainError> {
        let load = |step| {
            let file = folder.load_agent(step)?;
            Ok(FrozenNet::with_kernel(file.weights(), kernel))
        };
        let mut own = vec![(step, load(step)?)];
        self.add_past(config.past, &mut own, load, warn);
        let seed = stream(seed, MATCHES + step).next_u64();
        let (entrants, agents) = players(folder, config, &own)?;
        let plan = TournamentPlan {
            entrants,
            agents: &agents,
            openings: OpeningsPlan::Usual(Some(config.random_plies)),
            settings: Settings { pairing: Pairing::Gauntlet, pairs: config.games / 2, seed, ..Settings::default() },
            threads,
            tables: None,
        };
        let mut tournament = game.tournament(plan).map_err(TrainError::new)?;
        tournament.play(stop, &mut ()).map_err(TrainError::new)?;
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
        load: impl Fn(u64) -> Result<FrozenNet, TrainError>,
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

pub(super) fn check(game: &dyn AnyGame, config: &EvaluationSettings) -> Result<(), TrainError> {
    if config.every == 0 {
        return Ok(());
    }
    for agent in opponents(config)? {
        game.agent(&agent).map_err(|error| TrainError(format!("evaluation.opponents: {error}")))?;
    }
    let plies = config.random_plies;
    game.check_plies(plies).map_err(|error| TrainError(format!("evaluation.random_plies = {plies}: {error}")))
}

/// The fixed agents.
fn opponents(config: &EvaluationSettings) -> Result<Vec<AgentPlan>, TrainError> {
    let networks = Networks::new();
    let opponent = |text: &String| {
        let spec = read_spec(text).map_err(|error| TrainError(format!("evaluation.opponents: {error}")))?;
        Ok(AgentPlan::new(spec, &networks))
    };
    config.opponents.iter().map(opponent).collect()
}

fn name(step: u64) -> String {
    format!("step-{step}")
}

/// A checkpoint of the run by its step, with its network. The one that is rated comes first, then earlier ones.
type StepNet = (u64, FrozenNet);

/// Who plays: the rated checkpoint, the fixed agents, the earlier checkpoints.
fn players(
    folder: &RunFolder,
    config: &EvaluationSettings,
    own: &[StepNet],
) -> Result<(Vec<Entrant>, Vec<AgentPlan>), TrainError> {
    let settings = TreeSpec { sims: Some(config.simulations), ..TreeSpec::default() };
    let checkpoint = |(step, net): &StepNet| {
        let of_run = Checkpoint { run: folder.name(), step: *step, cpu_seconds: None };
        let spec = AgentSpec::Network(AgentSource::Program, settings.clone());
        (Entrant { name: name(*step), checkpoint: Some(of_run) }, AgentPlan::given(spec, Some(net.clone())))
    };
    let names = config.opponents.iter().map(|spec| Entrant { name: spec.clone(), checkpoint: None });
    let fixed = names.zip(opponents(config)?);
    Ok(own[..1].iter().map(&checkpoint).chain(fixed).chain(own[1..].iter().map(&checkpoint)).unzip())
}
