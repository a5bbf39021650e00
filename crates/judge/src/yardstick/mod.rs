//! How good a policy is, measured by exact results: exams, games against the perfect player, and the worst case.
//!
//! `docs/yardstick.md` says how the measures are meant. Nothing here compares agents with each other; that is
//! [`arena`](crate::arena).

mod fresh;
mod games;
mod report;
mod worst;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::JudgeError;
use crate::accuracy::{Asked, Exam};
use crate::arena::Openings;
use jarmo_core::game::{Action, Game, Mask};
use jarmo_exact::agent::Agent;
use jarmo_exact::tables::{Endgames, HasEndgames};

pub use games::PerfectGames;
pub use report::{Row, to_svg, to_text};
pub use worst::WorstCase;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YardstickSettings {
    /// The seed of the fresh exam, the starts, and the agent.
    pub seed: u64,
    /// Questions of the fresh exam, all of them critical.
    pub fresh: u32,
    /// Starts of games against the perfect player, each played from both sides; 0 for no games.
    pub games: u32,
    /// Starts of the worst case, each from both sides; 0 for none.
    pub starts: u32,
    /// The positions after which the worst case of a start counts as held.
    pub positions: u32,
}

impl Default for YardstickSettings {
    fn default() -> YardstickSettings {
        YardstickSettings { seed: 1, fresh: 2000, games: 100, starts: 50, positions: 1000 }
    }
}

/// The share of critical decisions of an exam that were wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExamShare {
    /// The checksum of the exam.
    pub checksum: String,
    /// How the exam was made.
    pub made: String,
    /// Critical decisions.
    pub critical: u64,
    /// Those that were wrong.
    pub wrong: u64,
    /// Their share.
    pub share: f64,
    /// Half its 95 % interval.
    pub error: f64,
}

/// What an agent is measured by.
pub struct Yardstick<G: Game> {
    game: G,
    settings: YardstickSettings,
    exam: Option<Exam<G>>,
    fresh: Option<Exam<G>>,
    tables: Option<Arc<dyn Endgames<G>>>,
    starts: Vec<G::Position>,
    starts_from: String,
}

impl<G: HasEndgames> Yardstick<G> {
    /// The exam of the program, and with tables a fresh exam and the starts of games, drawn for the seed: balanced
    /// openings if the tables hold the whole game, otherwise drawn positions of their highest force. The force of the
    /// tables limits what they can judge, and the result says which it is.
    ///
    /// # Errors
    /// There is neither an exam nor tables, so nothing can be measured.
    pub fn new(
        game: &G,
        settings: YardstickSettings,
        tables: Option<Arc<dyn Endgames<G>>>,
    ) -> Result<Yardstick<G>, JudgeError> {
        let exam = Exam::built_in(game);
        if exam.is_none() && tables.is_none() {
            return Err(JudgeError::new(format!(
                "there is neither an exam for {} on this board nor a folder of tables",
                game.id()
            )));
        }
        let (mut fresh, mut starts, mut starts_from) = (None, Vec::new(), String::new());
        if let Some(tables) = &tables {
            let tables = tables.as_ref();
            fresh = fresh::exam(game, tables, settings.fresh, settings.seed);
            let wanted = settings.games.max(settings.starts) as usize;
            let openings = Openings::balanced(game, settings.seed);
            let list = openings.as_ref().map_or(&[][..], Openings::list);
            let positions = list.iter().map(|opening| opening.position);
            starts = positions.filter(|position| tables.known(game, position).is_some()).take(wanted).collect();
            starts_from = "balanced openings".to_owned();
            if starts.is_empty() || starts.len() < wanted.min(list.len()) {
                let force;
                (force, starts) = fresh::drawn(game, tables, wanted, settings.seed);
                starts_from = format!("drawn positions of force {force}");
            }
        }
        Ok(Yardstick { game: game.clone(), settings, exam, fresh, tables, starts, starts_from })
    }

    /// The positions that games and the worst case start from; none without tables.
    pub fn starts(&self) -> &[G::Position] {
        &self.starts
    }

    /// Measures the agent with this name, of which there is one per thread. `nodes` limits its nodes or simulations per
    /// decision, 0 for its network without search; without it, its spec decides. The worst case is measured
    /// `with_worst_case`; it asks the most positions, and means something only for agents whose decision depends on the
    /// position alone.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn measure(
        &self,
        agent: String,
        agents: &mut [Box<dyn Agent<G>>],
        nodes: Option<u64>,
        with_worst_case: bool,
    ) -> Row {
        let YardstickSettings { seed, games, starts, positions, .. } = self.settings;
        let some = |count: u32| &self.starts[..self.starts.len().min(count as usize)];
        let mut answers = Vec::new();
        let exam = self.exam.as_ref().map(|exam| {
            answers = exam.answers(agents, nodes, seed);
            share(exam, &answers)
        });
        let fresh = self.fresh.as_ref().map(|exam| share(exam, &exam.answers(agents, nodes, seed)));
        let game = &self.game;
        let judged = |count: u32| self.tables.as_ref().filter(|_| !some(count).is_empty());
        let mut asked = Asked { agents, nodes, seed };
        let against = judged(games).map(|tables| games::play(game, tables, some(games), &mut asked));
        let worst = judged(starts)
            .filter(|_| with_worst_case)
            .map(|tables| worst::measure(game, tables.as_ref(), some(starts), positions as usize, &mut asked));
        Row {
            agent,
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            nodes,
            settings: self.settings,
            starts: self.starts_from.clone(),
            exam,
            fresh,
            games: against,
            worst,
            answers: answers.iter().map(|action| action.0).collect(),
        }
    }

    /// Marks the answers of a row to the exam of the program once more. The message says what does not fit.
    pub fn verify(game: &G, row: &Row) -> Result<ExamShare, JudgeError> {
        let exam = Exam::built_in(game);
        let exam = exam.ok_or_else(|| JudgeError::new("there is no exam for this game"))?;
        let claimed = row.exam.as_ref().ok_or_else(|| JudgeError::new("it has no result of the exam"))?;
        let answers: Vec<Action> = row.answers.iter().map(|&index| Action(index)).collect();
        if claimed.checksum != exam.checksum() || answers.len() != exam.len() {
            return Err(JudgeError::new(format!(
                "it answers another exam than {}, which has {} questions",
                exam.checksum(),
                exam.len()
            )));
        }
        let questions = exam.questions().iter().zip(&answers).enumerate();
        for (number, (question, &action)) in questions {
            let legal = game.legal(&question.position);
            if usize::from(action.0) >= game.actions() || !legal.contains(action) {
                return Err(JudgeError::new(format!("the answer to question {} is an illegal action", number + 1)));
            }
        }
        let marked = share(&exam, &answers);
        match marked.wrong == claimed.wrong && marked.critical == claimed.critical {
            true => Ok(marked),
            false => Err(JudgeError::new(format!(
                "it claims {} wrong answers, and {} are wrong",
                claimed.wrong, marked.wrong
            ))),
        }
    }
}

fn share<G: HasEndgames>(exam: &Exam<G>, answers: &[Action]) -> ExamShare {
    let all = exam.mark_all(answers).score().all;
    let (share, error) = all.critical_wrong();
    ExamShare {
        checksum: exam.checksum(),
        made: exam.made().to_owned(),
        critical: all.critical,
        wrong: all.critical - all.critical_right,
        share,
        error,
    }
}
