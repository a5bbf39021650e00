//! The result of an exam.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::tally::{ExamScore, Phase, Stage, Tally};
use jarmo_core::game::{Action, Player, Proven};

/// A decision that lost the best result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake<P> {
    /// The position.
    pub position: P,
    /// The action that was chosen.
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
pub struct Accuracy<P> {
    tallies: [[Tally; 2]; 3],            // by phase and player to move
    stages: BTreeMap<Stage, [Tally; 2]>, // by player to move
    /// The questions that were answered wrongly, by their numbers in the exam.
    pub wrong: Vec<usize>,
    /// The worst mistakes. Those that turn a win into a loss come first, then the others; each group is sorted by the
    /// plies to both results, fewest first.
    pub mistakes: Vec<Mistake<P>>,
}

/// The fewest critical decisions with which a stage is shown.
pub const FEWEST: u64 = 20;

/// The number of mistakes to keep.
const KEPT: usize = 100;

impl<P> Accuracy<P> {
    pub(super) fn new() -> Accuracy<P> {
        Accuracy { tallies: Default::default(), stages: BTreeMap::new(), wrong: Vec::new(), mistakes: Vec::new() }
    }

    /// Counts a decision.
    pub(super) fn count(&mut self, (phase, stage): (Phase, Stage), to_move: Player, critical: bool, right: bool) {
        self.tallies[phase as usize][to_move.index()].count(critical, right);
        self.stages.entry(stage).or_default()[to_move.index()].count(critical, right);
    }

    /// Sorts the mistakes, worst first, and drops all but the worst.
    pub(super) fn sort(&mut self) {
        self.mistakes.sort_by_key(|mistake| Reverse(mistake.cost()));
        self.mistakes.truncate(KEPT);
    }

    /// The same result with other positions.
    pub fn with_positions<Q>(self, other: impl Fn(P) -> Q) -> Accuracy<Q> {
        let mistake = |Mistake { position, chosen, got, better, missed }| {
            let position = other(position);
            Mistake { position, chosen, got, better, missed }
        };
        Accuracy {
            tallies: self.tallies,
            stages: self.stages,
            wrong: self.wrong,
            mistakes: self.mistakes.into_iter().map(mistake).collect(),
        }
    }

    /// The decisions in a phase with this player to move.
    pub fn group(&self, phase: Phase, to_move: Player) -> &Tally {
        &self.tallies[phase as usize][to_move.index()]
    }

    /// The decisions of each stage, by player to move, in ascending order of force or ply.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, &[Tally; 2])> {
        self.stages.iter().map(|(&stage, sides)| (stage, sides))
    }

    /// The decisions of each stage that has at least [`FEWEST`] critical ones, in ascending order of force or ply; a
    /// share of fewer says little.
    pub fn large_stages(&self) -> impl Iterator<Item = (Stage, Tally)> {
        self.stages().map(|(stage, sides)| (stage, Tally::sum(sides))).filter(|(_, tally)| tally.critical >= FEWEST)
    }

    /// The counts of all decisions and of each phase.
    pub fn score(&self) -> ExamScore {
        let [opening, middle, end] = self.tallies.map(|sides| Tally::sum(&sides));
        ExamScore { all: Tally::sum(&[opening, middle, end]), opening, middle, end }
    }
}

impl<P> Mistake<P> {
    /// The sort key of mistakes: half points lost, then the plies to both results.
    fn cost(&self) -> (i8, Reverse<u32>) {
        let lost = self.missed.verdict.sign() - self.got.verdict.sign();
        let plies = |proven: Proven| proven.plies.unwrap_or(0);
        (lost, Reverse(plies(self.missed) + plies(self.got)))
    }
}
