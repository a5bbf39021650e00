//! Agents against exact tables.

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

/// Positions that agents are asked about, each once, with what the tables say of every action.
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

/// The decisions of one force and one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Archers plus marks.
    pub force: u32,
    /// The player to move.
    pub to_move: Player,
    /// His decisions.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A decision that gave a result away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blunder {
    /// Where.
    pub position: JarmoPosition,
    /// What was chosen.
    pub chosen: Action,
    /// What that is worth to the player who chose it.
    pub got: Proven,
    /// What would have been right, quickest first.
    pub better: Action,
    /// What that is worth.
    pub missed: Proven,
}

/// How an agent did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// All decisions.
    pub all: Tally,
    /// By force and side to move, those that occurred.
    pub groups: Vec<Group>,
    /// The worst decisions first: wins lost, then half a result lost, the clearest cases first.
    pub blunders: Vec<Blunder>,
}

/// Blunders that are kept.
const KEPT: usize = 100;

/// Games that are played side by side to collect positions.
const GAMES: usize = 256;

/// Random plies that each of them begins with.
const RANDOM_PLIES: u32 = 4;

/// Positions an agent is asked about at a time: few enough that many agents stay busy to the end.
const BATCH: usize = 64;

/// An agent of each thread; all of them alike.
type Agents<'a> = &'a mut [Box<dyn Agent<Jarmo>>];

/// Rounds of moves after which no more positions are waited for; fewer if none comes up.
const ROUNDS: u32 = 10 * LONGEST_GAME;

/// Plies after which a game that only collects positions is left.
const LONGEST_GAME: u32 = 200;

impl Exam {
    /// Random positions: as many of each force that the tables hold, every placement of it as likely
    /// as any other, none over.
    pub fn random(game: &Jarmo, tables: &Tables, positions: usize, seed: u64) -> Exam {
        let layers: Vec<_> = tables.layers().map(|(layer, _)| layer).collect();
        let mut stream = stream(seed, 0);
        let mut exam = Exam::default();
        // A small layer can hold fewer positions than its share, and all of them too few.
        for attempt in 0..TRIES * positions {
            if exam.questions.len() >= positions {
                break;
            }
            let layer = layers[attempt % layers.len()];
            exam.ask(game, tables, random_position(layer, &mut stream));
        }
        exam
    }

    /// Positions that come up when an agent plays against itself, after four random plies that make
    /// its games differ. A game counts from where it enters the tables to its end. Agents that are
    /// all alike share the games out among themselves, which changes nothing.
    ///
    /// # Panics
    /// Panics without an agent.
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
        // Agents that only shuffle never enter the tables, and some always play the same games.
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
                    exam.ask(game, tables, *position);
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

    /// Adds a position, without what came before it: the tables know nothing of that.
    fn ask(&mut self, game: &Jarmo, tables: &Tables, position: JarmoPosition) {
        let position = Placement::of(&position).position();
        let actions = tables.actions(game, &position).unwrap_or_default();
        if !actions.is_empty() {
            self.questions.push(Question { position, actions });
        }
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Asks agents that are all alike about every position, each about those that are left when it
    /// has answered: how many agents there are changes nothing but the time. `nodes` are their nodes
    /// or simulations for each position, unless their spec is to decide.
    ///
    /// # Panics
    /// Panics without an agent.
    pub fn take(&self, agents: Agents<'_>, nodes: Option<u64>, seed: u64) -> Accuracy {
        assert!(!agents.is_empty(), "an agent to ask");
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

    /// What an agent chooses in the positions of a batch.
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
            .expect("an agent chooses a legal action")
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
    /// What ranks blunders: half results lost, then how near the end everything was.
    fn cost(&self) -> (i8, Reverse<u32>) {
        let lost = self.missed.verdict.sign() - self.got.verdict.sign();
        let plies = |proven: Proven| proven.plies.unwrap_or(0);
        (lost, Reverse(plies(self.missed) + plies(self.got)))
    }
}
