//! Finished games as plain data, from which another machine makes samples.

use serde::{Deserialize, Serialize};

use super::game::PendingGame;
use super::settings::Rules;
use super::{Counts, SelfPlaySettings};
use crate::replay::Samples;
use jarmo_core::encode::Encode;
use jarmo_core::env::{Line, SavedGame, Shard};
use jarmo_core::error::FileError;
use jarmo_exact::tables::HasEndgames;

/// A finished game with its search results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// The game with all its actions.
    pub game: SavedGame,
    /// The search results of its last positions. The actions before them are the opening.
    pub searches: Vec<Searched>,
    /// The training step of the oldest weights that searched the game.
    pub weights: u64,
}

impl Episode {
    pub(super) fn new<G: Encode>(game: &G, line: &Line<G::Position>, pending: &PendingGame, weights: u64) -> Episode {
        Episode { game: SavedGame::of(game, line), searches: pending.save(), weights }
    }
}

/// The part of a search result that cannot be computed from the game's actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The policy target: a probability for each legal action, in ascending order of actions.
    pub policy: Vec<f32>,
    /// The probabilities of win, draw and loss that search expects after the chosen action, for the player to move.
    pub expected: [f32; 3],
}

/// Makes samples from games that were played elsewhere. It plays every game again by the rules. Features, legal
/// actions and results therefore do not come from the other machine. Policies and expected results do, and are
/// checked.
pub struct EpisodeReader<G: Encode> {
    rules: Rules<G>,
}

/// How far a sum of probabilities may differ from 1.
const ROUNDING: f32 = 1e-3;

impl<G: Encode + HasEndgames> EpisodeReader<G> {
    /// A reader for games that were played with these settings.
    pub fn new(game: &G, settings: &SelfPlaySettings) -> EpisodeReader<G> {
        EpisodeReader { rules: Rules::new(game, settings) }
    }

    /// Appends the samples of a game, and counts it. Fails if the game breaks the rules of the game or of self-play.
    /// Then nothing is appended.
    pub fn read(&self, episode: &Episode, samples: &mut Samples, counts: &mut Counts) -> Result<(), FileError> {
        let refuse = |problem: String| Err(FileError::from(problem));
        let Episode { game, searches, .. } = episode;
        let most = match game.start.is_some() {
            false => self.rules.settings.max_random_plies,
            true if self.rules.endgames.is_some() => 0,
            true => return refuse("it does not begin at the start of the game".to_owned()),
        };
        let (mut positions, outcome, stats) = Shard::replay(&self.rules.game, game)?;
        let Rules { game: rules, settings, .. } = &self.rules;
        let is_endgame = |start: &G::Position| {
            rules.ply(start) == 0 && rules.force_of(start).is_some_and(|force| force <= settings.endgame_force)
        };
        if game.start.is_some() && !is_endgame(&positions[0]) {
            return refuse("self-play starts no game in its first position".to_owned());
        }
        positions.pop(); // the final position has no search
        let opening = positions.len().checked_sub(searches.len());
        match opening {
            Some(plies) if plies as u64 <= u64::from(most) && !searches.is_empty() => {}
            _ => {
                return refuse(format!(
                    "{} of its {} positions were searched, and its opening has at most {most} actions",
                    searches.len(),
                    positions.len()
                ));
            }
        }
        let has_shares = |shares: &[f32]| {
            shares.iter().all(|share| (0.0..=1.0).contains(share))
                && (shares.iter().sum::<f32>() - 1.0).abs() < ROUNDING
        };
        let sound = |search: &Searched| has_shares(&search.policy) && has_shares(&search.expected);
        if !searches.iter().all(sound) {
            return refuse("a policy or an expected result is not a probability distribution".to_owned());
        }
        let mut pending = PendingGame::restore(&self.rules.game, &positions, searches)?;
        counts.games.add(&stats);
        pending.finish(outcome, self.rules.settings.lambda, samples);
        Ok(())
    }
}
