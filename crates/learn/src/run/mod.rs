//! A training run from beginning to end: self-play, learning, matches, checkpoints.
//!
//! A run proceeds in cycles. In a cycle the player plays until a file of samples is full. Meanwhile the trainer takes
//! the training steps that are due for earlier files. Then the player gets the new averaged weights. The two share
//! nothing during a cycle, so its result does not depend on their speed. A run is stopped, saved and resumed between
//! cycles. Nothing here prints: the caller gets events.

mod fleet;
mod folder;
mod learner;
mod lines;
mod matches;
mod player;
mod rate;
mod replay;
mod resume;
mod state;
mod summary;
mod supply;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use folder::REPLAY;
pub use folder::{RunFolder, newest_agent, origin, settings};
use lines::ORDER;
pub use lines::{OrderLine, Sent};
pub use replay::ReplayFolder;
pub use summary::{Searched, State, Summary, list, metrics, summary};
pub use supply::{Delivery, FileId, Fleet, Seen, Supply};

use crate::TrainError;
use crate::config::{Config, in_file};
use crate::observe::{Event, Strength};
use crate::train::{FILE_SAMPLES, OpenDevice, StepStats, Trainer};
use jarmo_core::agent::AgentSource;
use jarmo_core::net::{AgentFile, NetKind, Provenance};
use jarmo_facade::measure::AnyExam;
use jarmo_facade::{AnyGame, Games};
use jarmo_host::agent_file;
use jarmo_host::program::this_program;
use jarmo_host::run_folder::METRICS;
use jarmo_judge::accuracy::ExamScore;
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::Counts;
use learner::{first_learner, saved_learner};
use player::SelfPlayer;
pub use player::open_exam;
use resume::{GAMES, Place};
use state::{Clock, Counters, Saved, Sums};
use supply::SinceLine;
use watch::Watchers;

/// Training steps between lines of metrics.
const METRICS_STEPS: u64 = 20;

/// The time between two looks at the fleet.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Why a run ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A limit was reached.
    Limit,
    /// `stop` was set.
    Stopped,
}

/// The settings of a new run, and its game. They are checked before anything is written: see [`Config::of_run`].
pub fn plan(
    games: &Games,
    game: Option<&str>,
    first: Option<&AgentFile>,
    files: &[&Path],
    settings: &[String],
) -> Result<(Config, Arc<dyn AnyGame>), TrainError> {
    let config = Config::of_run(games, game, first, files, settings)?;
    // The name was checked with the settings, so the board is wrong.
    let game = games.open(&config.game.name, &config.game.settings());
    let game = game.map_err(|error| TrainError(format!("game.board: {error}")))?;
    check(game.as_ref(), &config).map_err(|error| in_file(error, files, settings))?;
    Ok((config, game))
}

/// The agent from which a new run starts: an agent file, or `trained` for the one that is part of the program.
pub fn first_agent(
    games: &Games,
    game: Option<&str>,
    from: &Path,
    files: &[&Path],
    settings: &[String],
) -> Result<AgentFile, TrainError> {
    let source = AgentSource::Program;
    if from != Path::new(&source.to_string()) {
        return agent_file::load(from).map_err(TrainError::new);
    }
    let (_, game) = plan(games, game, None, files, settings)?;
    game.load(&source).map_err(|error| TrainError(format!("{source}: {error}")))
}

/// Fails if the settings do not fit the game. Called before anything is written or learned.
pub fn check(game: &dyn AnyGame, config: &Config) -> Result<(), TrainError> {
    check_network(config)?;
    open_exam(game, &config.evaluation)?;
    matches::check(game, &config.evaluation)
}

/// Rejects a custom network that this program does not have.
pub fn check_network(config: &Config) -> Result<(), TrainError> {
    config.net.check()
}

/// Fails if the run cannot start from this agent. Called before anything is written.
pub fn check_first(game: &dyn AnyGame, config: &Config, agent: &AgentFile) -> Result<(), TrainError> {
    game.fit(agent.clone()).map_err(TrainError::new)?;
    match (&agent.header().net, config.net.of(game)) {
        (NetKind::BuiltIn(from), NetKind::BuiltIn(size)) => size.check_growth(*from).map_err(TrainError::new),
        (from, wanted) if *from == wanted => Ok(()),
        (from, wanted) => Err(TrainError(format!("its network is {from}, the settings ask for {wanted}"))),
    }
}

/// Runs until a limit is reached or `stop` is set, from the last checkpoint in the folder if there is one, and with the
/// help of other machines if there is a fleet. Calls `tell` with every event.
pub fn run(
    game: &dyn AnyGame,
    config: &Config,
    folder: &RunFolder,
    device: &OpenDevice,
    fleet: Option<Fleet<'_>>,
    stop: &AtomicBool,
    tell: impl FnMut(Event<'_>),
) -> Result<Ended, TrainError> {
    let mut run = Run::open(game, config, folder, device, fleet, stop, tell)?;
    loop {
        let step = run.trainer.learner.steps();
        if stop.load(Ordering::Relaxed) {
            run.write_last_files()?;
            run.save_checkpoint()?;
            return Ok(Ended::Stopped);
        }
        if run.counters.matches.are_due(config, step) {
            run.play_matches()?;
            continue; // `stop` may have been set meanwhile
        }
        if run.is_finished() {
            run.write_last_files()?;
            run.save_checkpoint()?; // a kill during the final match then loses nothing
            let exam = if step > 0 && run.counters.examined != Some(step) { run.take_exam() } else { None };
            let last = run.play_final_match()?;
            run.complete_metrics(exam, last)?;
            run.folder.write_current(Place::Checkpoint(Box::new(run.counters_now())))?;
            return Ok(if run.final_match_is_due() { Ended::Stopped } else { Ended::Limit });
        }
        run.turn()?;
        let after = run.trainer.learner.steps();
        let passed = |every: u64| after / every > step / every;
        if passed(config.fleet.publish) {
            run.publish();
        }
        if let Some(fleet) = &run.fleet {
            fleet::tell(fleet.supply, &mut run.counters, &mut run.watchers);
        }
        if passed(config.run.checkpoint) {
            run.counters.accuracy = run.take_exam();
        }
        if passed(METRICS_STEPS) {
            run.write_metrics()?;
        }
        if passed(config.run.checkpoint) {
            run.save_checkpoint()?;
        }
    }
}

struct Run<'a, F> {
    game: &'a dyn AnyGame,
    config: &'a Config,
    folder: &'a RunFolder,
    stop: &'a AtomicBool,
    fleet: Option<Fleet<'a>>,
    player: SelfPlayer,
    trainer: Trainer,
    replay: ReplayFolder,
    exam: Option<Arc<dyn AnyExam>>,
    watchers: Watchers<F>,
    counters: Counters,
    clock: Clock,
    unsaved: bool, // whether anything happened since the last checkpoint
}

impl<'a, F: FnMut(Event<'_>)> Run<'a, F> {
    /// Starts a run, or restores its last checkpoint.
    fn open(
        game: &'a dyn AnyGame,
        config: &'a Config,
        folder: &'a RunFolder,
        device: &OpenDevice,
        fleet: Option<Fleet<'a>>,
        stop: &'a AtomicBool,
        mut tell: F,
    ) -> Result<Self, TrainError> {
        matches::check(game, &config.evaluation)?;
        let exam = open_exam(game, &config.evaluation)?;
        let origin = game.facts().version.clone();
        let (saved, warnings) = folder.load_checkpoint(&origin)?;
        let warning = |text| Event::Warning(text);
        warnings.into_iter().map(warning).for_each(&mut tell);
        let learner = match &saved {
            None => first_learner(game, config, folder, device)?,
            Some(saved) => saved_learner(game, config, folder, saved, device)?,
        };
        let mut player = SelfPlayer::new(game, config, device, learner.average())?;
        let mut counters = Counters::default();
        let is_resumed = saved.is_some();
        if let Some(saved) = saved {
            player.player.pending = saved.pending;
            let restored = player.player.games.restore(&saved.games);
            counters = saved.counters;
            let file = folder.part_path(&counters, GAMES);
            restored.map_err(|error| folder.broken(&file, error))?;
        }
        let (lines, mut warnings) = folder.cut_metrics(counters.step, counters.lines)?;
        let files = counters.first_file..counters.next_file;
        let replay = ReplayFolder::open(&folder.path.join(REPLAY), config.replay, origin, files);
        let (replay, window, skipped) = replay.map_err(TrainError::new)?;
        warnings.extend(skipped);
        folder.cut_order(counters.next_file)?;
        if let Some(fleet) = &fleet {
            fleet.supply.begin(&counters.fleet.seen)?;
        }
        let mut watchers = Watchers::new(tell, folder.open_events(counters.step));
        for warning in warnings {
            watchers.tell(Event::Warning(warning));
        }
        if is_resumed {
            watchers.tell(Event::Resumed {
                step: counters.step,
                seconds: counters.seconds,
                lines: &lines,
                strength: counters.strength.as_ref(),
            });
        }
        watchers.write(|file| file.settings(config, counters.step));
        let run = Run {
            config,
            folder,
            stop,
            fleet,
            player,
            trainer: Trainer::new(config.run.trainer(), game.facts().mirror.clone(), learner, window, counters.owed),
            replay,
            exam,
            watchers,
            clock: Clock::after(counters.seconds, counters.cpu_seconds),
            counters,
            unsaved: true,
            game,
        };
        run.publish();
        Ok(run)
    }

    /// Plays and learns at the same time. Then the new samples enter the replay buffer, and the new weights play.
    fn turn(&mut self) -> Result<(), TrainError> {
        let (begun, before) = (Instant::now(), self.counters.sums.passed);
        let passed = || before + begun.elapsed().as_secs_f64();
        let steps = self.trainer.steps_due();
        let (learned, time) = self.play_and_learn(steps, passed)?;
        self.counters.sums.add_steps(&learned, time);
        if steps > 0 {
            self.unsaved = true;
            self.player.use_weights(self.trainer.learner.average());
            self.counters.step = self.trainer.learner.steps();
        }
        if let Some(samples) = self.player.player.take_file() {
            self.add_file(samples)?;
        }
        self.take_deliveries()?;
        self.counters.sums.passed = passed();
        Ok(())
    }

    /// Takes training steps while games are played, here or elsewhere, and tells watchers. `passed` are the seconds since
    /// the last line of metrics.
    fn play_and_learn(
        &mut self,
        steps: u64,
        passed: impl Fn() -> f64,
    ) -> Result<(Vec<StepStats>, Duration), TrainError> {
        let fill = (self.trainer.window.len(), self.config.replay.capacity);
        let fleet = self.fleet.as_ref();
        let [reserve, cpu_reserve] = self.reserved_time();
        let (limits, clock) = (&self.config.run, &self.clock);
        let is_late = || {
            let done = limits.done(0, 0, clock.seconds() + reserve, clock.cpu_seconds() + cpu_reserve);
            done.is_some_and(|done| done >= 1.0)
        };
        thread::scope(|scope| {
            // One plain thread owns the learner: it must never run inside the player's pool.
            let learner = scope.spawn(|| {
                let begun = Instant::now();
                self.trainer.learn(steps).map(|learned| (learned, begun.elapsed()))
            });
            // The thread has also finished if it panicked.
            let stopped = || is_over(fleet, steps, learner.is_finished(), self.stop);
            let waited = || stopped() || (steps == 0 && is_late()); // no samples may ever come
            let mut told = Instant::now();
            let each = |counts: &Counts, pending: usize| {
                let counters = &mut self.counters;
                counters.add_played(counts);
                counters.sums.passed = passed();
                self.unsaved |= counts.positions > 0;
                let metrics = counters.metrics(self.game.facts().events, fill, &self.clock);
                self.watchers.tell(Event::Played(fill.0 + pending, &metrics));
                if let Some(fleet) = fleet.filter(|_| told.elapsed() > TELL_EVERY) {
                    told = Instant::now();
                    fleet::tell(fleet.supply, counters, &mut self.watchers);
                }
            };
            match fleet.is_none_or(|fleet| fleet.plays_here) {
                true => self.player.play(stopped, each),
                false => wait(waited, each),
            }
            learner.join().expect("the learner does not panic")
        })
    }

    /// Adds a file of this machine's samples to the replay buffer.
    fn add_file(&mut self, samples: Samples) -> Result<(), TrainError> {
        let (step, count) = (self.trainer.learner.steps(), samples.len());
        let file = self.trainer.add(samples, count);
        match self.fleet {
            Some(_) => self.folder.append(ORDER, &OrderLine { file, step, samples: count, sent: None }),
            None => Ok(()),
        }
    }

    fn is_finished(&self) -> bool {
        let (steps, games) = (self.trainer.learner.steps(), self.counters.games);
        let ([seconds, cpu_seconds], [reserve, cpu_reserve]) = (self.time(), self.reserved_time());
        let done = self.config.run.done(steps, games, seconds + reserve, cpu_seconds + cpu_reserve);
        done.is_some_and(|done| done >= 1.0)
    }

    /// Examines the averaged weights, if there is an exam.
    fn take_exam(&mut self) -> Option<ExamScore> {
        let score = self.player.take_exam(self.exam.as_deref()?, self.trainer.learner.average());
        let step = self.trainer.learner.steps();
        self.watchers.write(|file| file.accuracy(&score, step));
        self.counters.examined = Some(step);
        Some(score)
    }

    /// Writes a line of metrics and begins the next one.
    fn write_metrics(&mut self) -> Result<(), TrainError> {
        let fill = (self.trainer.window.len(), self.config.replay.capacity);
        let mut metrics = self.counters.metrics(self.game.facts().events, fill, &self.clock);
        metrics.accuracy = self.counters.accuracy.take();
        metrics.strength = self.counters.strength.take();
        let counted = self.counters.fleet.report(self.counters.sums.passed);
        metrics.fleet = self.fleet.as_ref().map(|fleet| fleet.supply.report(counted));
        self.folder.append(METRICS, &metrics)?;
        self.counters.lines += 1;
        self.unsaved = true; // a checkpoint counts the lines
        self.watchers.tell(Event::Metrics(&metrics));
        self.watchers.write(|file| file.metrics(&metrics));
        self.counters.sums = Sums::default();
        self.counters.fleet.line = SinceLine::default();
        Ok(())
    }

    /// Writes a line of metrics if files came from other machines since the last one, because there may be no next line.
    fn write_last_files(&mut self) -> Result<(), TrainError> {
        match self.counters.fleet.line.files {
            0 => Ok(()),
            _ => self.write_metrics(),
        }
    }

    /// Adds the results of the last exam and the final match to the last line of metrics. Also adds earlier ones that are
    /// still to be written, because there may be no next line. If the run is resumed, the next line repeats these.
    fn complete_metrics(&mut self, exam: Option<ExamScore>, last: Option<Strength>) -> Result<(), TrainError> {
        let (accuracy, strength) = (exam.or(self.counters.accuracy), &self.counters.strength);
        if self.counters.lines == 0 || (accuracy.is_none() && strength.is_none() && last.is_none()) {
            return Ok(());
        }
        let added = self.folder.change_last_metrics(|metrics| {
            metrics.accuracy = accuracy.or(metrics.accuracy);
            metrics.strength = strength.clone().or(metrics.strength.take());
            metrics.final_match = last.or(metrics.final_match.take());
        })?;
        if !added {
            self.watchers.tell(Event::Warning(
                "the last results of exams and matches are not in metrics.jsonl: it has no sound last line".to_owned(),
            ));
        }
        Ok(())
    }

    /// Writes a checkpoint, unless nothing has happened since the last one.
    fn save_checkpoint(&mut self) -> Result<(), TrainError> {
        if !self.unsaved {
            return Ok(());
        }
        let agent = self.agent();
        let path = self.folder.save_agent(&agent)?;
        let written = self.replay.save(&self.trainer.window);
        written.map_err(|error| self.folder.unwritten(error))?;
        self.folder.sync_order()?;
        let saved = Saved {
            learner: self.trainer.learner.to_bytes(),
            games: self.player.player.games.save(),
            pending: self.player.player.pending.clone(),
            counters: self.counters_now(),
        };
        self.folder.save_checkpoint(&saved, &self.game.facts().version)?;
        self.replay.tidy(&self.trainer.window).map_err(TrainError::new)?;
        let keep = self.config.run.keep;
        let played = saved.counters.matches.steps();
        self.folder.tidy(&saved.counters, keep, played)?;
        if let Some(fleet) = &self.fleet {
            let seen = &mut self.counters.fleet.seen;
            fleet.supply.saved(seen)?;
            let youngest = self.trainer.learner.steps().saturating_sub(self.config.fleet.max_age);
            seen.retain(|_, step| *step >= youngest);
        }
        self.unsaved = false;
        let step = self.trainer.learner.steps();
        self.watchers.write(|file| file.weights(agent.weights(), step));
        self.watchers.tell(Event::Checkpoint(step, &path));
        Ok(())
    }

    fn counters_now(&self) -> Counters {
        Counters {
            owed: self.trainer.owed,
            first_file: self.trainer.window.first(),
            next_file: self.trainer.window.next(),
            seconds: self.clock.seconds(),
            cpu_seconds: self.clock.cpu_seconds(),
            ..self.counters.clone()
        }
    }

    fn agent(&self) -> AgentFile {
        let provenance = Provenance {
            program: this_program(),
            run: self.folder.name(),
            seed: self.config.run.seed,
            step: self.trainer.learner.steps(),
            games: self.counters.games,
        };
        let (version, weights) = (self.game.facts().version.clone(), self.trainer.learner.average().clone());
        AgentFile::of_version(version, weights, provenance, Vec::new())
    }
}

/// Whether the play of a cycle ends. A cycle with training steps is always completed.
fn is_over(fleet: Option<&Fleet<'_>>, steps: u64, is_learned: bool, stop: &AtomicBool) -> bool {
    let stop = stop.load(Ordering::Relaxed);
    let Some(fleet) = fleet else {
        return steps == 0 && stop;
    };
    // A machine that only learns waits for samples when it has nothing to learn.
    let enough = if fleet.plays_here { FILE_SAMPLES } else { usize::from(steps == 0) };
    is_learned && (stop || fleet.supply.waiting() >= enough)
}

/// Waits for other machines instead of playing.
fn wait(stopped: impl Fn() -> bool, mut each: impl FnMut(&Counts, usize)) {
    const PAUSE: Duration = Duration::from_millis(50);
    while !stopped() {
        thread::sleep(PAUSE);
        each(&Counts::default(), 0);
    }
}
