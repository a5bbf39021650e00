//! The part of the loop that rates the newest weights: matches at checkpoints, and the final match of a run that ends at a
//! limit.

use super::Run;
use super::matches::Matches;
use crate::TrainError;
use crate::config::EvaluationSettings;
use crate::observe::{Event, Strength};
use jarmo_core::numbers::MATCH_GAMES;

/// The largest fraction of a time limit for the final match. It is reserved while no match has been played.
const MOST: f64 = 0.2;
const UNKNOWN: f64 = 0.1;

/// The smallest number of games against each opponent in a final match, even if time is short.
const FEWEST: u32 = 20;

impl<F: FnMut(Event<'_>)> Run<'_, F> {
    /// Plays matches with the newest weights. If `stop` is set meanwhile, they do not count.
    pub(super) fn play_matches(&mut self) -> Result<(), TrainError> {
        self.watchers.tell(Event::Matches(Some(self.trainer.learner.steps())));
        if let Some((matches, strength)) = self.matches_of(self.config.evaluation.games)? {
            self.counters.matches = matches;
            self.show(&strength);
            self.counters.strength = Some(strength);
        }
        self.watchers.tell(Event::Matches(None));
        Ok(())
    }

    /// Plays the final match with the newest weights, with as many games as the time of the run allows. It does not
    /// affect a resumed run. `None` if the weights are already rated.
    pub(super) fn play_final_match(&mut self) -> Result<Option<Strength>, TrainError> {
        let step = self.trainer.learner.steps();
        if !self.final_match_is_due() {
            return Ok(None);
        }
        self.watchers.tell(Event::FinalMatch(step));
        let most = self.config.evaluation.games;
        let fewest = FEWEST.min(most);
        let mut rated = None;
        let is_timed = self.limits().iter().any(|limit| *limit > 0.0);
        if is_timed && self.counters.matches.pace.is_none() {
            rated = self.matches_of(fewest)?; // tells how long the others take
        }
        let games = self.games_in_time().map_or(most, |games| games.clamp(fewest, most));
        if rated.is_none() || games > fewest {
            rated = self.matches_of(games)?.or(rated);
        }
        if let Some((_, strength)) = &rated {
            self.show(strength);
            self.counters.matches.last_final = Some(step);
        }
        self.watchers.tell(Event::Matches(None));
        Ok(rated.map(|(_, strength)| strength))
    }

    /// The seconds and the CPU seconds that a due final match is expected to take; 0 if none is due.
    pub(super) fn reserved_time(&self) -> [f64; 2] {
        if !self.final_match_is_due() {
            return [0.0; 2];
        }
        let games = f64::from(self.config.evaluation.games * self.opponents());
        [0, 1].map(|clock| {
            let limit = self.limits()[clock];
            let expected = self.counters.matches.pace.map_or(UNKNOWN * limit, |pace| pace[clock] * games);
            expected.min(MOST * limit)
        })
    }

    /// Whether there are matches, and the newest weights have not played any. A final match that was stopped is still due.
    pub(super) fn final_match_is_due(&self) -> bool {
        let step = self.trainer.learner.steps();
        self.config.evaluation.every > 0 && step > 0 && !self.counters.matches.have_rated(step)
    }

    /// The games against each opponent that the rest of the time allows, an even number; `None` without a limit of time,
    /// or if it is unknown how long a game takes.
    fn games_in_time(&self) -> Option<u32> {
        let (pace, limits, now) = (self.counters.matches.pace?, self.limits(), self.time());
        let limited = (0..limits.len()).filter(|&clock| limits[clock] > 0.0);
        let games = limited.map(|clock| {
            let left = (limits[clock] - now[clock]).max(0.0);
            left / (pace[clock] * f64::from(self.opponents()))
        });
        let games = games.min_by(f64::total_cmp)?.min(MATCH_GAMES.most as f64);
        Some(2 * (games / 2.0) as u32)
    }

    /// The limits of seconds and of seconds of CPU time; 0 for none.
    fn limits(&self) -> [f64; 2] {
        [self.config.run.minutes, self.config.run.cpu_minutes].map(|minutes| 60.0 * minutes)
    }

    pub(super) fn time(&self) -> [f64; 2] {
        [self.clock.seconds(), self.clock.cpu_seconds()]
    }

    fn opponents(&self) -> u32 {
        let (evaluation, earlier) = (&self.config.evaluation, self.counters.matches.steps().len());
        (evaluation.opponents.len() + evaluation.past.min(earlier)) as u32
    }

    /// Plays matches of this many games against each opponent, and records the time per game. Returns all matches of
    /// the run and the rating; `None` if `stop` is set meanwhile.
    fn matches_of(&mut self, games: u32) -> Result<Option<(Matches, Strength)>, TrainError> {
        let (step, before) = (self.trainer.learner.steps(), self.time());
        self.folder.save_agent(&self.agent())?;
        let from = (self.config.run.seed, step, self.player.threads(), self.player.kernel);
        let evaluation = EvaluationSettings { games, ..self.config.evaluation.clone() };
        let mut matches = self.counters.matches.clone();
        let watchers = &mut self.watchers;
        let warn = |warning| watchers.tell(Event::Warning(warning));
        let Some(strength) = matches.play(self.game, &evaluation, self.folder, from, self.stop, warn)? else {
            return Ok(None);
        };
        let played = (games as usize * strength.matches.len()) as f64;
        let after = self.time();
        matches.pace = Some([0, 1].map(|clock| (after[clock] - before[clock]) / played));
        self.counters.matches.pace = matches.pace;
        self.unsaved = true;
        self.watchers.tell(Event::Elapsed(after));
        Ok(Some((matches, strength)))
    }

    fn show(&mut self, strength: &Strength) {
        self.watchers.tell(Event::Strength(strength));
        self.watchers.write(|file| file.strength(strength));
    }
}
