//! How good a policy is, measured by exact results: exams, games against the perfect player, and the worst case.
//!
//! `docs/yardstick.md` explains the measures. This module does not compare agents with each other;
//! [`arena`](crate::arena) does.

mod answers;
mod fresh;
mod games;
mod report;
mod row;
mod worst;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::JudgeError;
use crate::accuracy::{Asked, Exam, Watch};
use crate::arena::Openings;
use jarmo_core::game::{Action, Game};
use jarmo_exact::agent::Agent;
use jarmo_exact::tables::{Endgames, HasEndgames};

pub use answers::Answers;
use answers::{Part, Policy, Source};
pub use games::PerfectGames;
pub use report::{to_svg, to_text};
pub use row::{Claims, Row, Training, TrainingBudget};
pub use worst::WorstCase;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YardstickSettings {
    /// The seed of the fresh exam, the starts, and the agent.
    pub seed: u64,
    /// Questions of the fresh exam, all of them critical.
    pub fresh: u32,
    /// Starting positions of games against the perfect player, each played from both sides; 0 for no games.
    pub games: u32,
    /// Starting positions of the worst case, each played from both sides; 0 for no worst case.
    pub starts: u32,
    /// In the worst case, a start counts as held after this many positions without a mistake.
    pub positions: u32,
}

impl Default for YardstickSettings {
    fn default() -> YardstickSettings {
        YardstickSettings { seed: 1, fresh: 2000, games: 100, starts: 50, positions: 1000 }
    }
}

/// The share of critical decisions of an exam that were wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// The yardstick: exams and starting positions, and the tables that judge.
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
    /// The exam of the program and, with tables, a fresh exam and the starts of games, both chosen at random from the
    /// seed. The starts are balanced openings if the tables cover the whole game, otherwise positions of their highest
    /// force that are draws. The force of the tables limits what they can judge; the result states this force.
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
            let published = exam.as_ref().map_or_else(Vec::new, |exam| exam.asks().0);
            fresh = fresh::exam(game, tables, &published, settings.fresh, settings.seed);
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

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The positions that games and the worst case start from; none without tables.
    pub fn starts(&self) -> &[G::Position] {
        &self.starts
    }

    /// Measures the agent with this name; `agents` has one copy per thread. `nodes` limits its nodes or simulations per
    /// decision, 0 for its network without search; without it, its spec decides. The worst case is measured only
    /// without `nodes` or with 0: it requires the most decisions, and is meaningful only for agents whose decision
    /// depends on the position alone.
    ///
    /// # Errors
    /// It was stopped.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn measure(
        &self,
        agent: String,
        agents: &mut [Box<dyn Agent<G>>],
        nodes: Option<u64>,
        watch: &dyn Watch,
    ) -> Result<Row, JudgeError> {
        let asked = Asked { agents, nodes, seed: self.settings.seed, watch };
        self.result(agent, nodes, Source::Agents(asked))
    }

    /// Repeats the measurement with a result's recorded answers in place of its agent, and fails unless everything
    /// agrees with the result. Settings and tables must be those that it was measured with. It cannot verify whose
    /// answers they are, or what the [`Claims`] say.
    ///
    /// # Errors
    /// The message says what does not fit.
    pub fn verify(&self, row: &Row) -> Result<(), JudgeError> {
        let game = &self.game;
        if row.game != game.id() || row.rules_version != game.rules_version() || row.format != Row::FORMAT {
            let (id, version) = (game.id(), game.rules_version());
            return Err(JudgeError::new(format!(
                "it is a result of {} with rules {} in format {}, this program has {id} with rules {version} in format {}",
                row.game,
                row.rules_version,
                row.format,
                Row::FORMAT
            )));
        }
        same("settings", &row.settings, &self.settings)?;
        // A result without answers to the exam is rejected below, where the fresh answers are counted, too.
        let answered = Some(row.answers.exam.len()).filter(|&count| count > 0);
        for (claimed, exam, answered) in [(&row.exam, &self.exam, answered), (&row.fresh, &self.fresh, None)] {
            if let (Some(claimed), Some(exam)) = (claimed, exam)
                && (claimed.checksum != exam.checksum() || answered.is_some_and(|count| count != exam.len()))
            {
                return Err(JudgeError::new(format!(
                    "it answers another exam than {}, which has {} questions ({}); other tables draw other questions",
                    exam.checksum(),
                    exam.len(),
                    exam.made()
                )));
            }
        }
        let found = self.result(row.agent.clone(), row.nodes, Source::Record(&row.answers))?;
        if let (Some(claimed), Some(found)) = (&row.exam, &found.exam)
            && claimed.wrong != found.wrong
        {
            return Err(JudgeError::new(format!(
                "it claims {} wrong answers, and {} are wrong",
                claimed.wrong, found.wrong
            )));
        }
        same("starts", &row.starts, &found.starts)?;
        same("exam", &row.exam, &found.exam)?;
        same("fresh", &row.fresh, &found.fresh)?;
        same("games", &row.games, &found.games)?;
        same("worst", &row.worst, &found.worst)?;
        row.check_seal()
    }

    /// Measures a source of answers.
    fn result(&self, agent: String, nodes: Option<u64>, mut source: Source<'_, G>) -> Result<Row, JudgeError> {
        let Yardstick { game, settings, tables, .. } = self;
        let YardstickSettings { seed, games, starts, positions, .. } = *settings;
        let some = |count: u32| &self.starts[..self.starts.len().min(count as usize)];
        let judged = |count: u32| tables.as_ref().filter(|_| !some(count).is_empty());
        let mut policy = source.part(game, Part::Exam);
        let exam = self.exam.as_ref().map(|exam| share(exam, &mut policy)).transpose()?;
        let to_exam = policy.finish()?;
        let mut policy = source.part(game, Part::Fresh);
        let fresh = self.fresh.as_ref().map(|exam| share(exam, &mut policy)).transpose()?;
        let to_fresh = policy.finish()?;
        let mut policy = source.part(game, Part::Games);
        let play = |tables| games::play(game, tables, some(games), seed, &mut policy);
        let against = judged(games).map(play).transpose()?;
        let in_games = policy.finish()?;
        let mut policy = source.part(game, Part::Worst);
        let alone = judged(starts).filter(|_| matches!(nodes, None | Some(0)));
        let search = |tables: &Arc<dyn Endgames<G>>| {
            worst::measure(game, tables.as_ref(), some(starts), positions as usize, &mut policy)
        };
        let worst = alone.map(search).transpose()?;
        let in_worst = policy.finish()?;
        let row = Row {
            format: Row::FORMAT,
            agent,
            game: game.id().to_owned(),
            rules_version: game.rules_version(),
            nodes,
            settings: *settings,
            starts: self.starts_from.clone(),
            exam,
            fresh,
            games: against,
            worst,
            claims: Claims::default(),
            answers: Answers { exam: to_exam, fresh: to_fresh, games: in_games, worst: in_worst },
            checksum: String::new(),
        };
        Ok(row.sealed())
    }
}

/// The fraction of critical decisions of an exam in which the policy is wrong.
fn share<G: HasEndgames>(exam: &Exam<G>, policy: &mut Policy<'_, G>) -> Result<ExamShare, JudgeError> {
    let (positions, numbers) = exam.asks();
    let answers: Vec<Action> = policy.choose(&positions, &numbers)?;
    let all = exam.mark_all(&answers).score().all;
    let (share, error) = all.critical_wrong();
    Ok(ExamShare {
        checksum: exam.checksum(),
        made: exam.made().to_owned(),
        critical: all.critical,
        wrong: all.critical - all.critical_right,
        share,
        error,
    })
}

/// Fails unless a part of a result agrees with its answers.
fn same<T: PartialEq + Serialize>(part: &str, claimed: &T, found: &T) -> Result<(), JudgeError> {
    if claimed == found {
        return Ok(());
    }
    let text = |value| serde_json::to_string(value).expect("plain data");
    Err(JudgeError::new(format!("{part}: it claims {}, and its answers give {}", text(claimed), text(found))))
}
