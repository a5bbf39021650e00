//! Measuring agents: exams, matches, benchmarks, and work on exact tables.

mod arena;
mod boards;
mod env;
mod error;
mod exam;
mod search;
mod yardstick;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use arena::{AnyTournament, OpeningsPlan, TournamentPlan};
pub use boards::{on_boards, shares};
pub use env::{AnyEnv, EnvError, EnvPlan, NO_ACTION, Reset, SavedGames};
pub use error::MeasureError;
pub use exam::{AnyExam, Budget, Examinee, Measured};
pub use search::{BatchSearch, SearchResult};
pub use yardstick::AnyYardstick;

use crate::agent::AgentPlan;
use crate::erased::Erased;
use crate::selfplay::Net;
use jarmo_core::game::AnyPosition;
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::Solver;
use jarmo_host::record::GameRecord;
use jarmo_judge::JudgeError;
use jarmo_judge::accuracy::Exam;
use jarmo_judge::arena::{Openings, PairBlock, Team};
use jarmo_judge::yardstick::{Yardstick, YardstickSettings};

/// The part of [`AnyGame`](crate::AnyGame) that measures agents.
pub trait Measure: Send + Sync {
    /// The exam in a file or, without a file, the exam that is part of the program; `None` if there is none for this
    /// game and board.
    fn exam(&self, file: Option<&Path>) -> Result<Option<Arc<dyn AnyExam>>, JudgeError>;

    /// The exam of a file's content.
    fn exam_of(&self, bytes: &[u8]) -> Result<Arc<dyn AnyExam>, JudgeError>;

    /// A tournament without games yet, and its agents.
    fn tournament(&self, plan: TournamentPlan<'_>) -> Result<Box<dyn AnyTournament>, MeasureError>;

    /// Plays the games of a block on this thread, with the bout's first and second agent. `None` if `stop` was set before
    /// all games had ended.
    fn play_block(
        &self,
        block: &PairBlock,
        agents: &[AgentPlan; 2],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<GameRecord>>, MeasureError>;

    /// Fails for a number of random plies that few games reach.
    fn check_plies(&self, plies: u32) -> Result<(), JudgeError>;

    /// The yardstick, which measures agents by exact results. It uses the tables of a folder, or else builds small
    /// tables in seconds on the threads of the current rayon pool.
    fn yardstick(
        &self,
        settings: YardstickSettings,
        tables: Option<&Path>,
    ) -> Result<Box<dyn AnyYardstick>, MeasureError>;

    /// Many games that advance together.
    fn env(&self, plan: EnvPlan) -> Result<Box<dyn AnyEnv>, EnvError>;

    /// Searches from positions that are not over. Once `stop` is set, the result is incomplete.
    fn search(&self, positions: &[AnyPosition], plan: &BatchSearch, net: &Net, stop: &AtomicBool) -> Vec<SearchResult>;

    /// Builds, checks and reads exact tables; `None` for games without tables.
    fn solver(&self) -> Option<&dyn Solver>;
}

impl<G: CatalogGame> Measure for Erased<G> {
    fn exam(&self, file: Option<&Path>) -> Result<Option<Arc<dyn AnyExam>>, JudgeError> {
        let exam = match file {
            Some(path) => Some(Exam::load(&self.game, path)?),
            None => Exam::built_in(&self.game),
        };
        Ok(exam.map(|exam| Arc::new(exam) as Arc<dyn AnyExam>))
    }

    fn exam_of(&self, bytes: &[u8]) -> Result<Arc<dyn AnyExam>, JudgeError> {
        Ok(Arc::new(Exam::from_bytes(&self.game, bytes)?))
    }

    fn tournament(&self, plan: TournamentPlan<'_>) -> Result<Box<dyn AnyTournament>, MeasureError> {
        arena::tournament(&self.game, plan)
    }

    fn play_block(
        &self,
        block: &PairBlock,
        agents: &[AgentPlan; 2],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<GameRecord>>, MeasureError> {
        let team: Team<G> = agents.iter().map(|agent| agent.build(&self.game)).collect::<Result<_, _>>()?;
        Ok(block.play(&self.game, vec![team], stop)?)
    }

    fn check_plies(&self, plies: u32) -> Result<(), JudgeError> {
        Openings::<G::Position>::check_plies(&self.game, plies)
    }

    fn yardstick(
        &self,
        settings: YardstickSettings,
        tables: Option<&Path>,
    ) -> Result<Box<dyn AnyYardstick>, MeasureError> {
        Ok(Box::new(Yardstick::new(&self.game, settings, yardstick::tables(&self.game, tables)?)?))
    }

    fn env(&self, plan: EnvPlan) -> Result<Box<dyn AnyEnv>, EnvError> {
        env::env(&self.game, plan)
    }

    fn search(&self, positions: &[AnyPosition], plan: &BatchSearch, net: &Net, stop: &AtomicBool) -> Vec<SearchResult> {
        search::search(self, positions, plan, net, stop)
    }

    fn solver(&self) -> Option<&dyn Solver> {
        self.game.solver()
    }
}
