//! Compares the choices of agents with exact tables.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::{TRIES, Tally};
use crate::agent::{Agent, Limit, Request};
use crate::env::{Keep, Opening, Shard};
use crate::game::{Action, Game, Player, Proven};
use crate::games::{Jarmo, JarmoPosition};
use crate::random::{Stream, stream};
use crate::tables::index::Placement;
use crate::tables::{ActionValue, Tables, random_position};

/// Positions with the exact result of every action.
#[derive(Clone, Debug, Default)]
pub struct Exam {
    questions: Vec<Question>,
}

#[derive(Clone, Debug)]
struct Question {
    position: JarmoPosition,
    actions: Vec<ActionValue>, // best first
}

impl Question {
    fn best(&self) -> Proven {
        self.actions[0].proven
    }

    fn is_critical(&self) -> bool {
        let verdict = self.best().verdict;
        self.actions.iter().any(|one| one.proven.verdict != verdict)
    }
}

/// The decisions with one force and one player to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Archers plus marks.
    pub force: u32,
    /// The player to move.
    pub to_move: Player,
    /// The counts of decisions.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A decision that lost the best result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blunder {
    /// The position.
    pub position: JarmoPosition,
    /// The action that the agent chose.
    pub chosen: Action,
    /// Its result for the player to move.
    pub got: Proven,
    /// The best action.
    pub better: Action,
    /// Its result for the player to move.
    pub missed: Proven,
}

/// The result of an exam.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// All decisions.
    pub all: Tally,
    /// The decisions by force and player to move.
    pub groups: Vec<Group>,
    /// The worst blunders: a win turned into a loss before half of that, then by the plies to both
    /// results, fewest first.
    pub blunders: Vec<Blunder>,
}

/// The number of blunders to keep.
const KEPT: usize = 100;

/// Games that are played at the same time to collect positions.
const GAMES: usize = 256;

/// Random plies at the start of each game.
const RANDOM_PLIES: u32 = 4;

/// Positions per call of an agent: few enough that many agents stay busy to the end.
const BATCH: usize = 64;

/// One agent per thread, all identical.
type Agents<'a> = &'a mut [Box<dyn Agent<Jarmo>>];

/// The collection of positions ends after this many rounds, or earlier if no new position occurs.
const ROUNDS: u32 = 10 * LONGEST_GAME;

/// Games that collect positions are restarted after this many plies.
const LONGEST_GAME: u32 = 200;

impl Exam {
    /// Draws random positions that are not over: equally many of each force in the tables, with uniform
    /// placements.
    pub fn random(game: &Jarmo, tables: &Tables, positions: usize, seed: u64) -> Exam {
        let layers: Vec<_> = tables.layers().collect();
        let mut stream = stream(seed, 0);
        let mut exam = Exam::default();
        // Draws of finished games do not count.
        for attempt in 0..TRIES * positions {
            if exam.questions.len() >= positions {
                break;
            }
            let layer = layers[attempt % layers.len()];
            exam.add(game, tables, random_position(layer, &mut stream));
        }
        exam
    }

    /// Collects the positions inside the tables from games of an agent against itself. Each game starts
    /// with four random plies. The agents share the games; their number does not change the result.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn self_play(
        game: &Jarmo,
        tables: &Tables,
        agents: Agents<'_>,
        limit: Option<u64>,
        positions: usize,
        seed: u64,
    ) -> Exam {
        let mut exam = Exam::default();
        let mut streams: Vec<Stream> = (0..GAMES as u64).map(|slot| stream(seed, slot)).collect();
        let opening = |stream: &mut Stream| Opening::random(game, RANDOM_PLIES, stream);
        let mut env = Shard::new(game, 0..GAMES, Keep::default(), |slot| {
            Some(opening(&mut streams[slot]))
        });
        let mut actions = vec![Action(0); GAMES];
        let limit = budget(limit);
        let share = GAMES.div_ceil(agents.len());
        // Some agents never enter the tables, so the loop counts rounds without a new position.
        let mut idle = 0;
        for _ in 0..ROUNDS {
            if exam.questions.len() >= positions || idle > LONGEST_GAME {
                break;
            }
            let before = exam.questions.len();
            for (slot, stream) in streams.iter_mut().enumerate() {
                if game.ply(env.position(slot)) >= LONGEST_GAME {
                    env.start(slot, opening(stream));
                }
                let position = env.position(slot);
                if tables.proven(position).is_some() {
                    exam.add(game, tables, *position);
                }
            }
            idle = if exam.questions.len() > before {
                0
            } else {
                idle + 1
            };
            let positions: Vec<_> = (0..GAMES).map(|slot| *env.position(slot)).collect();
            let shares = positions
                .par_chunks(share)
                .zip(streams.par_chunks_mut(share))
                .zip(actions.par_chunks_mut(share));
            shares
                .zip(agents.par_iter_mut())
                .for_each(|(share, agent)| {
                    let ((positions, streams), actions) = share;
                    let choices = agent.choose(&mut requests(positions, streams, limit));
                    for (action, choice) in actions.iter_mut().zip(choices) {
                        *action = choice.action;
                    }
                });
            env.step(&actions, |ended| Some(opening(&mut streams[ended.slot])));
        }
        exam.questions.truncate(positions);
        exam
    }

    /// Adds a position without its history, which the tables ignore.
    fn add(&mut self, game: &Jarmo, tables: &Tables, position: JarmoPosition) {
        let position = Placement::of(&position).position();
        let actions = tables.actions(game, &position).unwrap_or_default();
        if !actions.is_empty() {
            self.questions.push(Question { position, actions });
        }
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether the exam has no positions.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Lets agents choose in every position. The agents share the positions; their number does not
    /// change the result. `nodes` limits their nodes or simulations per position; without it, their spec
    /// decides.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn take(&self, agents: Agents<'_>, nodes: Option<u64>, seed: u64) -> Accuracy {
        assert!(!agents.is_empty(), "an exam needs an agent");
        let next = AtomicUsize::new(0);
        let batches = self.questions.len().div_ceil(BATCH);
        let mut answers: Vec<(usize, Vec<Action>)> = agents
            .par_iter_mut()
            .flat_map_iter(|agent| {
                let batches = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed))
                    .take_while(|&batch| batch < batches);
                batches.map(|batch| (batch, self.ask_agent(agent.as_mut(), batch, nodes, seed)))
            })
            .collect();
        answers.sort_unstable_by_key(|(batch, _)| *batch);
        let chosen = answers.into_iter().flat_map(|(_, actions)| actions);
        Accuracy::of(self.questions.iter().zip(chosen))
    }

    /// The choices of an agent in the positions of a batch.
    fn ask_agent(
        &self,
        agent: &mut dyn Agent<Jarmo>,
        batch: usize,
        nodes: Option<u64>,
        seed: u64,
    ) -> Vec<Action> {
        let first = batch * BATCH;
        let last = self.questions.len().min(first + BATCH);
        let questions = self.questions[first..last].iter();
        let positions: Vec<_> = questions.map(|question| question.position).collect();
        let mut streams: Vec<Stream> = (first..last)
            .map(|index| stream(seed, index as u64))
            .collect();
        let mut requests = requests(&positions, &mut streams, budget(nodes));
        let choices = agent.choose(&mut requests);
        choices.into_iter().map(|choice| choice.action).collect()
    }
}

fn budget(nodes: Option<u64>) -> Limit<'static> {
    Limit {
        nodes,
        ..Limit::default()
    }
}

fn requests<'a>(
    positions: &[JarmoPosition],
    streams: &'a mut [Stream],
    limit: Limit<'a>,
) -> Vec<Request<'a, Jarmo>> {
    positions
        .iter()
        .zip(streams)
        .map(|(&position, stream)| Request {
            position,
            stream,
            limit,
            memory: None,
        })
        .collect()
}

impl Accuracy {
    fn of<'a>(decisions: impl Iterator<Item = (&'a Question, Action)>) -> Accuracy {
        let mut result = Accuracy {
            all: Tally::default(),
            groups: Vec::new(),
            blunders: Vec::new(),
        };
        for (question, chosen) in decisions {
            result.count(question, chosen);
        }
        result
            .groups
            .sort_by_key(|group| (group.force, group.to_move));
        result
            .blunders
            .sort_by_key(|blunder| Reverse(blunder.cost()));
        result.blunders.truncate(KEPT);
        result
    }

    fn count(&mut self, question: &Question, chosen: Action) {
        let best = question.best();
        let got = question
            .actions
            .iter()
            .find(|one| one.action == chosen)
            .expect("agents choose legal actions")
            .proven;
        let (critical, right) = (question.is_critical(), got.verdict == best.verdict);
        self.all.count(critical, right);
        let (force, to_move) = (question.position.force(), question.position.to_move());
        let known = self
            .groups
            .iter()
            .position(|group| (group.force, group.to_move) == (force, to_move));
        let index = known.unwrap_or_else(|| {
            self.groups.push(Group {
                force,
                to_move,
                tally: Tally::default(),
            });
            self.groups.len() - 1
        });
        self.groups[index].tally.count(critical, right);
        if !right {
            self.blunders.push(Blunder {
                position: question.position,
                chosen,
                got,
                better: question.actions[0].action,
                missed: best,
            });
        }
    }
}

impl Blunder {
    /// The sort key of blunders: half points lost, then the plies to both results.
    fn cost(&self) -> (i8, Reverse<u32>) {
        let lost = self.missed.verdict.sign() - self.got.verdict.sign();
        let plies = |proven: Proven| proven.plies.unwrap_or(0);
        (lost, Reverse(plies(self.missed) + plies(self.got)))
    }
}
