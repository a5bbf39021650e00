//! The answers of a policy: asked for and recorded, or read from a record.

use std::slice;

use serde::{Deserialize, Serialize};

use crate::JudgeError;
use crate::accuracy::Asked;
use jarmo_core::game::{Action, Game, Mask};

/// The actions that a policy chose, in the order in which it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// To the questions of the exam of the program.
    pub exam: Vec<u16>,
    /// To the questions that were drawn for the seed.
    pub fresh: Vec<u16>,
    /// In games against the perfect player: round by round, one action for each game in which the policy was to move.
    pub games: Vec<u16>,
    /// In the search for the worst case: ply by ply, the actions for all starts.
    pub worst: Vec<u16>,
}

/// The parts of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Exam,
    Fresh,
    Games,
    Worst,
}

impl Part {
    pub(super) const fn name(self) -> &'static str {
        ["exam", "fresh", "games", "worst"][self as usize]
    }

    fn of(self, answers: &Answers) -> &[u16] {
        match self {
            Part::Exam => &answers.exam,
            Part::Fresh => &answers.fresh,
            Part::Games => &answers.games,
            Part::Worst => &answers.worst,
        }
    }
}

/// The source of the answers.
pub(super) enum Source<'a, G: Game> {
    Agents(Asked<'a, G>),
    Record(&'a Answers),
}

impl<G: Game> Source<'_, G> {
    /// The policy in one part of the measurement.
    pub(super) fn part<'a>(&'a mut self, game: &'a G, part: Part) -> Policy<'a, G> {
        let by = match self {
            Source::Agents(asked) => {
                let Asked { agents, nodes, seed, watch } = asked;
                By::Agents(Asked { agents, nodes: *nodes, seed: *seed, watch: *watch })
            }
            Source::Record(answers) => By::Record(part.of(answers).iter()),
        };
        Policy { game, part, by, given: Vec::new() }
    }
}

enum By<'a, G: Game> {
    Agents(Asked<'a, G>),
    Record(slice::Iter<'a, u16>),
}

/// A policy in one part of the measurement.
pub(super) struct Policy<'a, G: Game> {
    game: &'a G,
    part: Part,
    by: By<'a, G>,
    given: Vec<u16>,
}

impl<G: Game> Policy<'_, G> {
    /// The actions in these positions. Their random numbers depend only on the seed and the numbers of the positions.
    pub(super) fn choose(&mut self, positions: &[G::Position], numbers: &[u64]) -> Result<Vec<Action>, JudgeError> {
        let Policy { game, part, by, given } = self;
        let name = part.name();
        let left = match by {
            By::Agents(asked) => {
                let whole = matches!(part, Part::Exam | Part::Fresh).then_some(name); // the others count games and starts
                let chosen = asked.choose(positions, numbers, whole);
                let chosen = chosen.ok_or_else(|| JudgeError::new("the measurement was stopped"))?;
                given.extend(chosen.iter().map(|action| action.0));
                return Ok(chosen);
            }
            By::Record(left) => left,
        };
        let mut chosen = Vec::with_capacity(positions.len());
        for position in positions {
            let number = given.len() + 1;
            let &index = left.next().ok_or_else(|| JudgeError::new(format!("{name}: answer {number} is missing")))?;
            if usize::from(index) >= game.actions() || !game.legal(position).contains(Action(index)) {
                return Err(JudgeError::new(format!("{name}: the answer to question {number} is an illegal action")));
            }
            given.push(index);
            chosen.push(Action(index));
        }
        Ok(chosen)
    }

    /// This many of the games or starts are done.
    pub(super) fn progress(&self, done: usize, all: usize) {
        if let By::Agents(asked) = &self.by {
            asked.watch.progress(self.part.name(), done as u64, all as u64);
        }
    }

    /// The answers of this part. A record must have no others.
    pub(super) fn finish(self) -> Result<Vec<u16>, JudgeError> {
        let Policy { part, by, given, .. } = self;
        match by {
            By::Record(left) if left.len() > 0 => {
                Err(JudgeError::new(format!("{}: it has {} answers to no question", part.name(), left.len())))
            }
            _ => Ok(given),
        }
    }
}
