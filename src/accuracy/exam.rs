//! How often an agent's decision keeps the best result, held against exact tables.
//!
//! A decision is *right* if what it leads to has the same result under best play as the best action,
//! however long it takes. Many positions leave nothing to get wrong, because every action keeps the
//! best result; the others are *critical* and counted apart.

use std::cmp::Reverse;

use serde::Serialize;

use crate::agent::{Agent, Limit, Request};
use crate::game::{Action, Game, Mask, Player};
use crate::games::{Jarmo, JarmoPosition};
use crate::random::{Stream, stream};
use crate::tables::{ActionValue, Exact, Tables, random_position};

use rand::Rng;

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
    fn best(&self) -> Exact {
        self.actions[0].exact
    }

    fn is_critical(&self) -> bool {
        let verdict = self.best().verdict();
        self.actions
            .iter()
            .any(|one| one.exact.verdict() != verdict)
    }
}

/// How many decisions were asked for, and how many kept the best result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Decisions.
    pub decisions: u64,
    /// Those that kept the best result.
    pub right: u64,
    /// Decisions in positions where some action does not keep it.
    pub critical: u64,
    /// Those of them that kept it.
    pub critical_right: u64,
}

impl Tally {
    /// The share of all decisions that were right; 1 without any.
    pub fn share(&self) -> f64 {
        share(self.right, self.decisions)
    }

    /// The share of critical decisions that were right; 1 without any.
    pub fn critical_share(&self) -> f64 {
        share(self.critical_right, self.critical)
    }

    fn add(&mut self, critical: bool, right: bool) {
        self.decisions += 1;
        self.right += u64::from(right);
        self.critical += u64::from(critical);
        self.critical_right += u64::from(critical && right);
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
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
    pub got: Exact,
    /// What would have been right, quickest first.
    pub better: Action,
    /// What that is worth.
    pub missed: Exact,
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

/// Positions an agent is asked about at a time.
const BATCH: usize = 256;

/// Attempts at finding a new random position, for each that is wanted.
const TRIES: usize = 50;

/// Rounds of moves after which no more positions are waited for.
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
    /// its games differ. A game counts from where it enters the tables to its end.
    pub fn self_play(
        game: &Jarmo,
        tables: &Tables,
        agent: &mut dyn Agent<Jarmo>,
        limit: Option<u64>,
        positions: usize,
        seed: u64,
    ) -> Exam {
        const RANDOM_PLIES: u32 = 4;
        let mut exam = Exam::default();
        let mut streams: Vec<Stream> = (0..BATCH as u64).map(|slot| stream(seed, slot)).collect();
        let mut games: Vec<JarmoPosition> = vec![game.start(); BATCH];
        let limit = budget(limit);
        // Agents that only shuffle never enter the tables, and some always play the same games.
        for _ in 0..ROUNDS {
            if exam.questions.len() >= positions {
                break;
            }
            for (position, stream) in games.iter_mut().zip(&mut streams) {
                if game.outcome(position).is_some() || game.ply(position) >= LONGEST_GAME {
                    *position = game.start();
                    for _ in 0..RANDOM_PLIES {
                        let legal = game.legal(position);
                        let rank = crate::random::below(stream.next_u64(), legal.count());
                        game.play(position, legal.nth(rank));
                    }
                }
                if tables.exact(position).is_some() {
                    exam.ask(game, tables, *position);
                }
            }
            let mut requests: Vec<_> = requests(&games, &mut streams, limit);
            let choices = agent.choose(&mut requests);
            for (position, choice) in games.iter_mut().zip(choices) {
                game.play(position, choice.action);
            }
        }
        exam.questions.truncate(positions);
        exam
    }

    /// Adds a position, without what came before it: the tables know nothing of that.
    fn ask(&mut self, game: &Jarmo, tables: &Tables, position: JarmoPosition) {
        let archers = Player::BOTH.map(|player| position.archers(player));
        let position = JarmoPosition::new(archers, position.marked(), position.to_move());
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

    /// Asks an agent about every position; `nodes` are its nodes or simulations for each, unless its
    /// spec is to decide.
    pub fn take(&self, agent: &mut dyn Agent<Jarmo>, nodes: Option<u64>, seed: u64) -> Accuracy {
        let mut result = Accuracy {
            all: Tally::default(),
            groups: Vec::new(),
            blunders: Vec::new(),
        };
        for (batch, questions) in self.questions.chunks(BATCH).enumerate() {
            let positions: Vec<_> = questions.iter().map(|one| one.position).collect();
            let first = (batch * BATCH) as u64;
            let mut streams: Vec<Stream> = (0..questions.len() as u64)
                .map(|index| stream(seed, first + index))
                .collect();
            let mut requests = requests(&positions, &mut streams, budget(nodes));
            for (question, choice) in questions.iter().zip(agent.choose(&mut requests)) {
                result.count(question, choice.action);
            }
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
        })
        .collect()
}

impl Accuracy {
    fn count(&mut self, question: &Question, chosen: Action) {
        let best = question.best();
        let got = question
            .actions
            .iter()
            .find(|one| one.action == chosen)
            .expect("an agent chooses a legal action")
            .exact;
        let (critical, right) = (question.is_critical(), got.verdict() == best.verdict());
        self.all.add(critical, right);
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
        self.groups[index].tally.add(critical, right);
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
        let lost = self.missed.verdict().sign() - self.got.verdict().sign();
        let plies = |exact: Exact| exact.plies().unwrap_or(0);
        (lost, Reverse(plies(self.missed) + plies(self.got)))
    }
}
