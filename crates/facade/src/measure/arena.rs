//! Tournaments of an erased game.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use jarmo_core::agent::AgentError;
use jarmo_exact::catalog::CatalogGame;
use jarmo_host::record::GameRecord;
use jarmo_judge::JudgeError;
use jarmo_judge::arena::{Entrant, Observer, Openings, PairBlock, Settings, Standings, Team, Tournament};

use super::MeasureError;
use crate::agent::AgentPlan;

/// A tournament of one game, its agents, and the games played so far: see [`Tournament`].
pub trait AnyTournament {
    /// The results so far.
    fn standings(&self) -> &Standings;

    /// The number of different openings.
    fn distinct_openings(&self) -> usize;

    /// Adds games that were played before.
    fn restore(&mut self, records: &[GameRecord]) -> Result<(), JudgeError>;

    /// Plays the missing games until all are played or `stop` is set; then unfinished games are discarded.
    ///
    /// # Panics
    /// Panics if it is called a second time.
    fn play(&mut self, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<(), JudgeError>;

    /// Whether all games are played, or a sequential test is decided.
    fn is_over(&self) -> bool;

    /// The pairs with missing games, at most `most` to a block, for other machines.
    ///
    /// # Panics
    /// Panics in a tournament with a time budget, whose games depend on the machine.
    fn missing_blocks(&self, most: usize) -> Vec<PairBlock>;

    /// Adds the games of a block. Unless they are exactly its games, returns the reason and adds nothing.
    fn add_block(
        &mut self,
        block: &PairBlock,
        records: &[GameRecord],
        observer: &mut dyn Observer,
    ) -> Result<Option<String>, JudgeError>;
}

/// A tournament to play.
pub struct TournamentPlan<'a> {
    /// Who plays.
    pub entrants: Vec<Entrant>,
    /// Their agents, in the same order.
    pub agents: &'a [AgentPlan],
    /// The openings.
    pub openings: OpeningsPlan<'a>,
    /// How it is played.
    pub settings: Settings,
    /// The threads of [`AnyTournament::play`].
    pub threads: usize,
    /// Exact tables, by which mistakes are counted.
    pub tables: Option<&'a Path>,
}

/// Where the openings of a tournament come from.
#[derive(Clone, Copy, Debug)]
pub enum OpeningsPlan<'a> {
    /// This many random plies; without a number, the balanced openings of the game.
    Usual(Option<u32>),
    /// A file, and the number of plies to take from each opening, if not all.
    File(&'a Path, Option<u32>),
}

/// A tournament and the agents that play it.
struct Staffed<G: CatalogGame> {
    tournament: Tournament<G>,
    teams: Vec<Team<G>>,
}

pub(crate) fn tournament<G: CatalogGame>(
    game: &G,
    plan: TournamentPlan<'_>,
) -> Result<Box<dyn AnyTournament>, MeasureError> {
    let Settings { pairs, seed, .. } = plan.settings;
    let pairs = pairs as usize;
    let openings = match plan.openings {
        OpeningsPlan::File(path, plies) => Openings::from_file(game, path, plies)?,
        OpeningsPlan::Usual(plies) => Openings::usual(game, plies, pairs, seed).map_err(MeasureError::Openings)?,
    };
    let tournament = Tournament::new(game, plan.entrants, &openings, plan.settings);
    let mut tournament = tournament.map_err(MeasureError::Match)?;
    if let Some(folder) = plan.tables {
        tournament = tournament.judged_by(game.open_endgames(folder)?);
    }
    let team = |_| plan.agents.iter().map(|agent| agent.build(game)).collect();
    let teams = (0..plan.threads).map(team).collect::<Result<_, AgentError>>()?;
    Ok(Box::new(Staffed { tournament, teams }))
}

impl<G: CatalogGame> AnyTournament for Staffed<G> {
    fn standings(&self) -> &Standings {
        self.tournament.standings()
    }

    fn distinct_openings(&self) -> usize {
        self.tournament.openings().distinct
    }

    fn restore(&mut self, records: &[GameRecord]) -> Result<(), JudgeError> {
        self.tournament.restore(records)
    }

    fn play(&mut self, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<(), JudgeError> {
        self.tournament.play(std::mem::take(&mut self.teams), stop, observer)
    }

    fn is_over(&self) -> bool {
        self.tournament.is_over()
    }

    fn missing_blocks(&self, most: usize) -> Vec<PairBlock> {
        self.tournament.missing_blocks(most)
    }

    fn add_block(
        &mut self,
        block: &PairBlock,
        records: &[GameRecord],
        observer: &mut dyn Observer,
    ) -> Result<Option<String>, JudgeError> {
        self.tournament.add_block(block, records, observer)
    }
}
