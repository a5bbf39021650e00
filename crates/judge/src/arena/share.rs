//! Pairs of games that another process plays.
//!
//! A [`PairBlock`] has everything that its games depend on, so they are the same wherever they are played. The records
//! of its games go back to the [`Tournament`], which checks them like those of a file that is continued.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::opening::{Openings, parse_opening};
use super::plan::GamePlan;
use super::runner::{self, Budget, Ended, Team};
use super::schedule::GameId;
use super::tournament::{Observer, Settings, Tournament};
use crate::JudgeError;
use jarmo_core::game::Game;
use jarmo_host::record::GameRecord;

/// Consecutive pairs of one bout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairBlock {
    /// The seed of the tournament.
    pub seed: u64,
    /// Nodes or simulations per move, if the same for all agents.
    pub nodes: Option<u64>,
    /// The names of the bout's first and second agent, which the randomness of a game depends on.
    pub names: [String; 2],
    /// The two agents, as indices into the entrants of the tournament.
    pub agents: [usize; 2],
    /// The bout.
    pub bout: usize,
    /// The first pair.
    pub first: u32,
    /// The opening of every pair, as a game record.
    pub openings: Vec<String>,
}

impl PairBlock {
    /// Plays the games with one thread per team. Every team has the bout's first and second agent. `None` if `stop` was
    /// set before all games had ended.
    ///
    /// # Panics
    /// Panics without teams, or if a team does not have two agents.
    pub fn play<G: Game>(
        &self,
        game: &G,
        teams: Vec<Team<G>>,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<GameRecord>>, JudgeError> {
        assert!(!teams.is_empty(), "no teams");
        assert!(teams.iter().all(|team| team.len() == self.names.len()));
        let openings = self.openings.iter().map(|line| {
            parse_opening(game, line, None)
                .map_err(|problem| JudgeError::new(format!("an opening of the task: {problem}")))
        });
        let mut openings = openings.collect::<Result<Vec<_>, _>>()?;
        let count = openings.len();
        let Some(end) = u32::try_from(count).ok().and_then(|count| self.first.checked_add(count)) else {
            return Err(JudgeError::new("the task has too many pairs"));
        };
        if count == 0 {
            return Ok(Some(Vec::new()));
        }
        openings.rotate_right(self.first as usize % count); // openings repeat, so this one meets the first pair
        let openings = Openings::of(openings, "given".to_owned());
        let budget = Budget { nodes: self.nodes, movetime_ms: None };
        let settings = Settings { pairs: end, seed: self.seed, budget, ..Settings::default() };
        let limits = (budget, settings.in_flight);
        let bouts = vec![(0, 1)];
        let plan = GamePlan { game: game.clone(), openings, settings, bouts, names: self.names.to_vec(), judge: None };
        let ids: Vec<GameId> = (self.first..end).flat_map(|pair| GameId::of_pair(0, pair)).collect();
        let mut records = Vec::with_capacity(ids.len());
        let collect = |finished: Option<_>| {
            records.extend(finished.map(|finished| plan.record(&finished)));
            ControlFlow::Continue(())
        };
        runner::play_games(game, teams, &ids, |id| plan.setup(id), limits, stop, collect);
        Ok((records.len() == ids.len()).then_some(records))
    }
}

impl<G: Game> Tournament<G> {
    /// The pairs with missing games, in the order in which they are to be played, at most `most` to a block.
    ///
    /// # Panics
    /// Panics in a tournament with a time budget, whose games depend on the machine.
    pub fn missing_blocks(&self, most: usize) -> Vec<PairBlock> {
        let settings = &self.plan.settings;
        assert!(settings.budget.movetime_ms.is_none(), "no time budget");
        let mut blocks: Vec<PairBlock> = Vec::new();
        let mut last = None;
        for id in self.missing() {
            if last.replace((id.bout, id.pair)) == Some((id.bout, id.pair)) {
                continue; // the other game of the pair
            }
            let opening = self.plan.opening_record(id.pair).to_line();
            match blocks.last_mut() {
                Some(block)
                    if block.bout == id.bout
                        && block.openings.len() < most
                        && id.pair - block.first == block.openings.len() as u32 =>
                {
                    block.openings.push(opening);
                }
                _ => {
                    let (first, second) = self.plan.bouts[id.bout];
                    blocks.push(PairBlock {
                        seed: settings.seed,
                        nodes: settings.budget.nodes,
                        names: [first, second].map(|agent| self.plan.names[agent].clone()),
                        agents: [first, second],
                        bout: id.bout,
                        first: id.pair,
                        openings: vec![opening],
                    });
                }
            }
        }
        blocks
    }

    /// Adds the games of a block. They must be exactly its games, played by the rules; otherwise nothing is added, and the
    /// answer says why.
    pub fn add_block(
        &mut self,
        block: &PairBlock,
        records: &[GameRecord],
        observer: &mut dyn Observer,
    ) -> Result<Option<String>, JudgeError> {
        let games = match self.games_of(block, records) {
            Ok(games) => games,
            Err(problem) => return Ok(Some(problem)),
        };
        for game in games {
            if self.score.has(game.0) {
                continue; // it was there before, and only its pair was incomplete
            }
            observer.game(&self.plan.record(&game))?;
            self.score.add(game.0, self.plan.judge(&game));
            observer.standings(self.standings());
        }
        Ok(None)
    }

    /// The games in the records of a block, if they are exactly its games.
    fn games_of(&self, block: &PairBlock, records: &[GameRecord]) -> Result<Vec<Ended<G::Position>>, String> {
        let pairs = (block.first..).take(block.openings.len());
        let mut expected: HashSet<GameId> = pairs.flat_map(|pair| GameId::of_pair(block.bout, pair)).collect();
        let mut games = Vec::with_capacity(records.len());
        for record in records {
            let game = self.plan.match_record(record)?.ok_or("a game has not ended")?;
            if !expected.remove(&game.0) {
                return Err("a game is not part of the task".to_owned());
            }
            games.push(game);
        }
        match expected.len() {
            0 => Ok(games),
            missing => Err(format!("{missing} games are missing")),
        }
    }
}
