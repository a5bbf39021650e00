//! The judge: exams, pairs of games, and what a network thinks of a position.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{LearnError, Worker};
use jarmo_core::agent::Limit;
use jarmo_core::env::{Autoreset, EnvSettings, Features, Masks, Rows};
use jarmo_core::game::{Player, Verdict};
use jarmo_core::ndarray::{Array1, Array2, Array4};
use jarmo_core::random::stream;
use jarmo_facade::measure::{EnvPlan, Examinee, NO_ACTION, Reset};
use jarmo_facade::{AgentPlan, AnyAgent, AnyRequest, Facts};
use jarmo_judge::accuracy::{ExamScore, Watch};
use serde::{Deserialize, Serialize};

/// The random actions at the start of a game of the judge.
const RANDOM_PLIES: u32 = 4;

/// The games of a pair.
const SLOTS: usize = 2;

/// The specs of two agents.
#[derive(Debug, Deserialize)]
pub struct Players {
    /// White in the first game.
    pub first: String,
    /// Black in the first game.
    pub second: String,
}

/// Two games from the same opening, in which the agents change sides.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The points of the first agent, half of one for a draw.
    pub score: f64,
    /// The games. The first agent is White in the first one.
    pub games: [Game; SLOTS],
}

/// A game of the judge.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Game {
    /// The position after the random actions, as text.
    pub start: String,
    /// The actions that the agents chose.
    pub moves: Vec<String>,
    /// `white`, `black` or `draw`.
    #[serde(default)]
    pub result: String,
}

/// What a network thinks of a position, without search.
#[derive(Debug, Serialize)]
pub struct Opinion {
    /// The chance that the player to move wins.
    pub win: f32,
    /// The chance of a draw.
    pub draw: f32,
    /// The chance that the player to move loses.
    pub loss: f32,
    /// The legal actions, likeliest first.
    pub moves: Vec<Likely>,
}

/// A legal action, and how likely the network would play it.
#[derive(Debug, Serialize)]
pub struct Likely {
    /// The action and its effect on the board.
    #[serde(flatten)]
    pub action: jarmo_facade::Move,
    /// The probability.
    pub share: f32,
}

/// What the environment writes in a step. The judge looks at positions alone.
struct Written {
    features: Array4<u8>,
    masks: Array2<bool>,
    rewards: Array2<f32>,
    flags: [Array1<bool>; 2],
    players: [Array1<i8>; 2],
    actor_rewards: Array1<f32>,
}

impl Written {
    fn new(facts: &Facts) -> Written {
        Written {
            features: Array4::zeros(facts.feature_shape(SLOTS, false)),
            masks: Array2::default([SLOTS, facts.version.shape.actions]),
            rewards: Array2::zeros([SLOTS, 2]),
            flags: [(); 2].map(|()| Array1::default(SLOTS)),
            players: [(); 2].map(|()| Array1::zeros(SLOTS)),
            actor_rewards: Array1::zeros(SLOTS),
        }
    }

    fn rows(&mut self) -> Rows<'_> {
        let [terminated, truncated] = &mut self.flags;
        let [to_move, actors] = &mut self.players;
        Rows {
            features: Features::Byte(self.features.view_mut()),
            masks: Masks::Bool(self.masks.view_mut()),
            rewards: self.rewards.view_mut(),
            terminated: terminated.view_mut(),
            truncated: truncated.view_mut(),
            to_move: to_move.view_mut(),
            actors: actors.view_mut(),
            actor_rewards: self.actor_rewards.view_mut(),
            threats: false,
            zeroed: false,
        }
    }
}

/// Stops an exam after so many questions.
struct Sample {
    questions: u64,
    stop: AtomicBool,
}

impl Watch for Sample {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }

    fn progress(&self, _: &'static str, done: u64, _: u64) {
        if done >= self.questions {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Worker {
    /// Takes the file of an exam.
    pub fn take_exam(&mut self, bytes: &[u8]) -> Result<(), LearnError> {
        self.exam = Some(self.game.exam_of(bytes)?);
        Ok(())
    }

    /// Takes the file of an agent, as the first or the second of two.
    pub fn take_agent(&mut self, place: usize, bytes: &[u8]) -> Result<(), LearnError> {
        let agent = self.agent_of(bytes)?;
        *self.agents.get_mut(place).ok_or(LearnError::Missing("place for a third agent"))? = Some(agent);
        Ok(())
    }

    /// Examines an agent with so many simulations per decision, 0 for the network without search. At least so many
    /// questions, drawn at random, are asked; 0 for all.
    pub fn examine(&mut self, agent: &[u8], simulations: u64, questions: u64) -> Result<ExamScore, LearnError> {
        let exam = self.exam.clone().ok_or(LearnError::Missing("exam"))?;
        let plan = AgentPlan::given("trained".parse()?, Some(self.net_of(&self.agent_of(agent)?)));
        let seed = self.config.run.seed;
        let examinee = Examinee { agent: plan, budget: Some(simulations), seed, threads: 1 };
        let sample =
            Sample { questions: if questions == 0 { u64::MAX } else { questions }, stop: AtomicBool::new(false) };
        let measured = exam.measure(examinee, false, &sample)?;
        Ok(measured.accuracy.score())
    }

    /// Plays two games from a random opening. A spec that begins with `a` or `b` is that of an agent that was
    /// [taken](Worker::take_agent).
    pub fn play_pair(&mut self, players: &Players, seed: u64) -> Result<Pair, LearnError> {
        let mut agents = [self.seated(&players.first)?, self.seated(&players.second)?];
        let settings = EnvSettings {
            threads: 1,
            autoreset: Autoreset::Disabled,
            random_plies: RANDOM_PLIES,
            ..EnvSettings::new(SLOTS, seed)
        };
        let plan = EnvPlan { settings, opponent: None, stop: Arc::default() };
        let mut env = self.game.env(plan).map_err(LearnError::message)?;
        env.reset(&Reset::Seeds(&[seed; SLOTS])).map_err(LearnError::message)?;
        let mut written = Written::new(self.game.facts());
        let mut streams = [stream(seed, 1), stream(seed, 2)];
        let mut games: [Game; SLOTS] = Default::default();
        for (slot, game) in games.iter_mut().enumerate() {
            game.start = self.game.text(&env.position(slot));
        }
        loop {
            let mut actions = [NO_ACTION; SLOTS];
            for slot in 0..SLOTS {
                let position = &env.position(slot);
                if position.outcome.is_some() {
                    continue;
                }
                let seat = position.to_move.index() ^ slot; // the agents change sides in the second game
                let stream = &mut streams[slot];
                let request = AnyRequest { position, stream, limit: Limit::default(), memory: None };
                let action = agents[seat].choose(vec![request])[0].action;
                games[slot].moves.push(self.game.action_text(position, action));
                actions[slot] = action.0.into();
            }
            if actions == [NO_ACTION; SLOTS] {
                break;
            }
            let stepped = env.choose(&actions, 0).and_then(|()| env.step(written.rows()));
            stepped.map_err(LearnError::message)?;
        }
        let mut score = 0.0;
        for (slot, game) in games.iter_mut().enumerate() {
            let outcome = env.position(slot).outcome.expect("all games are over");
            let (result, points) = match outcome.verdict(Player::White) {
                Verdict::Win => ("white", [1.0, 0.0]),
                Verdict::Loss => ("black", [0.0, 1.0]),
                Verdict::Draw => ("draw", [0.5, 0.5]),
            };
            game.result = result.to_owned();
            score += points[slot];
        }
        Ok(Pair { score, games })
    }

    fn seated(&self, spec: &str) -> Result<Box<dyn AnyAgent>, LearnError> {
        let place = ["a", "b"].into_iter().position(|name| spec.split('?').next() == Some(name));
        let (spec, net) = match place {
            Some(place) => {
                let agent = self.agents[place].as_ref().ok_or(LearnError::Missing("agent of this name"))?;
                (format!("trained{}", &spec[1..]), Some(self.net_of(agent)))
            }
            None => (spec.to_owned(), None),
        };
        Ok(self.game.agent(&AgentPlan::given(spec.parse()?, net))?)
    }

    /// What the network of the first agent thinks of a position, given as text.
    pub fn opinion(&self, position: &str) -> Result<Opinion, LearnError> {
        let agent = self.agents[0].as_ref().ok_or(LearnError::Missing("agent of this name"))?;
        let position = self.game.parse(position).map_err(LearnError::message)?;
        let output = self.game.output(agent, &position);
        let likely = |(text, share): (String, f32)| -> Result<Likely, LearnError> {
            let action = self.game.parse_action(&position, &text).map_err(LearnError::message)?;
            Ok(Likely { action: self.game.describe(&position, action), share })
        };
        let moves = output.policy.into_iter().map(likely).collect::<Result<_, _>>()?;
        let [win, draw, loss] = output.result[..] else { unreachable!("a network tells three results apart") };
        Ok(Opinion { win, draw, loss, moves })
    }
}
