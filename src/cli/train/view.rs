//! What a person sees of a run: a block that is drawn over on a terminal, lines elsewhere.

use std::collections::VecDeque;
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use console::{Term, style};

use crate::cli::block::Block;
use jarmo::accuracy::Tally;
use jarmo::config::Config;
use jarmo::observe::{Metrics, Strength};
use jarmo::run::{Activity, Event};

/// Between two drawings of the block.
const FRAME: Duration = Duration::from_millis(200);

/// Between two lines while too few samples are there to learn from.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two lines of metrics.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Numbers in a little chart.
const CHART: usize = 24;

/// Facts about the run that do not change.
pub(super) struct Facts {
    /// What learns and plays, and where: game, network, device.
    pub(super) what: String,
    /// Where evaluations are made.
    pub(super) device: String,
    /// The folder.
    pub(super) folder: String,
}

/// Shows a run to whoever watches.
pub(super) struct View<'a> {
    config: &'a Config,
    facts: Facts,
    stop: &'a AtomicBool,
    block: Option<Block>,
    shown: Option<Instant>,
    begun: Instant,
    seconds_before: Option<f64>, // of the run, when this process took over
    state: State,
}

/// What is known of the run.
#[derive(Default)]
struct State {
    samples: usize,
    now: Metrics,          // since the last line
    line: Option<Metrics>, // the last line
    losses: VecDeque<f64>, // of the latest lines
    strength: Option<Strength>,
    accuracy: Option<Tally>,
    ratings: VecDeque<f64>,
    checkpoint: Option<(u64, Instant)>,
    matches: Option<u64>, // the step whose matches are under way
    warnings: Vec<String>,
}

impl<'a> View<'a> {
    pub(super) fn new(config: &'a Config, facts: Facts, stop: &'a AtomicBool) -> View<'a> {
        let block = Block::on(Term::buffered_stdout()).filter(|_| !console::is_dumb());
        View {
            config,
            facts,
            stop,
            block,
            shown: None,
            begun: Instant::now(),
            seconds_before: None,
            state: State::default(),
        }
    }

    /// Shows the first lines, before anything has happened.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.block.is_some() {
            return self.draw();
        }
        let Facts {
            what,
            device,
            folder,
        } = &self.facts;
        say(&format!(
            "{what}; {device}; in {folder}\nCtrl-C stops, jarmo train --resume {folder} goes on"
        ))
    }

    /// Takes in what happened and shows it. A reader that went away must not end the run: nothing is
    /// lost but its lines.
    pub(super) fn event(&mut self, event: Event<'_>) {
        let _ = match self.block {
            Some(_) => {
                let at_once = !matches!(event, Event::Played(..));
                self.note(event);
                let due = self.shown.is_none_or(|shown| shown.elapsed() >= FRAME);
                if due || at_once { self.draw() } else { Ok(()) }
            }
            None => self.line(event),
        };
    }

    /// Draws the block as it ends; what is written next comes after it.
    pub(super) fn end(&mut self) {
        let _ = self.draw();
    }

    /// Takes in what happened.
    fn note(&mut self, event: Event<'_>) {
        let state = &mut self.state;
        match event {
            Event::Warning(warning) => state.warnings.push(warning),
            Event::Doing(Activity::Matches(step)) => state.matches = Some(step),
            Event::Doing(Activity::Training) => state.matches = None,
            Event::Played(samples, metrics) => {
                state.samples = samples;
                state.now = metrics.clone();
                let took_over = metrics.timing.seconds - self.begun.elapsed().as_secs_f64();
                self.seconds_before.get_or_insert(took_over.max(0.0));
            }
            Event::Metrics(metrics) => {
                push(&mut state.losses, metrics.loss);
                state.accuracy = metrics.accuracy.or(state.accuracy);
                state.line = Some(metrics.clone());
            }
            Event::Strength(strength) => {
                push(&mut state.ratings, strength.elo);
                state.strength = Some(strength.clone());
            }
            Event::Checkpoint(step, _) => {
                state.now.step = step.max(state.now.step);
                state.checkpoint = Some((step, Instant::now()));
            }
        }
    }

    /// One line for what happened, if it is worth one.
    fn line(&mut self, event: Event<'_>) -> io::Result<()> {
        let waits =
            |since: Option<Instant>, time| since.is_some_and(|since| since.elapsed() < time);
        let shown = self.shown;
        match event {
            Event::Warning(warning) => say(&format!("warning: {warning}")),
            Event::Doing(_) => Ok(()),
            Event::Played(samples, metrics) => {
                let first = self.config.run.first_samples;
                if metrics.step > 0 || samples >= first || waits(shown, PATIENCE) {
                    return Ok(());
                }
                self.shown = Some(Instant::now());
                let speed = speed(metrics);
                say(&format!("gathering: {samples} of {first} samples, {speed}"))
            }
            Event::Metrics(_) if waits(shown, LINE_EVERY) => Ok(()),
            Event::Metrics(metrics) => {
                self.shown = Some(Instant::now());
                say(&line(metrics))
            }
            Event::Strength(strength) => say(&format!(
                "{}: {}",
                rating_text(strength),
                matches_text(strength)
            )),
            Event::Checkpoint(step, path) => {
                say(&format!("step {step}: checkpoint {}", path.display()))
            }
        }
    }

    /// Draws the block in place of the last one.
    fn draw(&mut self) -> io::Result<()> {
        let Some(drawing) = &mut self.block else {
            return Ok(());
        };
        self.shown = Some(Instant::now());
        let stopping = self.stop.load(Ordering::Relaxed);
        let progress = progress(self.config, &self.state.now, self.seconds_before);
        let lines = block(&self.state, self.config, &self.facts, progress, stopping);
        let warnings = self.state.warnings.drain(..);
        let warnings = warnings.map(|warning| format!("warning: {warning}"));
        drawing.draw(warnings, lines.iter().map(String::as_str), "…")
    }
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn push(history: &mut VecDeque<f64>, number: f64) {
    if history.len() == CHART {
        history.pop_front();
    }
    history.push_back(number);
}

/// How much of the run is done, from 0 to 1, and the seconds that are left, as far as there is a limit.
fn progress(config: &Config, now: &Metrics, before: Option<f64>) -> Option<(f64, Option<f64>)> {
    let run = &config.run;
    let parts = [
        (now.step as f64, run.steps as f64),
        (now.games as f64, run.games as f64),
        (now.timing.seconds, 60.0 * run.minutes),
        (now.timing.cpu_seconds, 60.0 * run.cpu_minutes),
    ];
    let limited = parts.into_iter().filter(|(_, limit)| *limit > 0.0);
    let done = limited.map(|(count, limit)| (count / limit).min(1.0));
    let done = done.max_by(f64::total_cmp)?;
    let known = done > 0.01 && before.is_some();
    let left = known.then(|| now.timing.seconds * (1.0 - done) / done);
    Some((done, left))
}

/// The block's lines, as wide as they come.
fn block(
    state: &State,
    config: &Config,
    facts: &Facts,
    progress: Option<(f64, Option<f64>)>,
    stopping: bool,
) -> Vec<String> {
    let saved = match &state.checkpoint {
        None => "not yet".to_owned(),
        Some((step, at)) => format!("step {step}, {} ago", clock(at.elapsed().as_secs_f64())),
    };
    let mut lines = vec![
        labelled("training", style(&facts.what).bold()),
        labelled("device", &facts.device),
        labelled("time", time_text(&state.now, progress)),
    ];
    lines.extend(playing_lines(state, config));
    lines.extend(learning_lines(state));
    lines.extend(strength_lines(state, config));
    lines.push(labelled("saved", format!("{saved}, in {}", facts.folder)));
    lines.push(match (stopping, state.matches) {
        (true, _) => style("stopping after what is under way; Ctrl-C again leaves at once")
            .yellow()
            .to_string(),
        (false, Some(step)) => style(format!("matches of step {step} are being played"))
            .yellow()
            .to_string(),
        (false, None) => style("Ctrl-C saves and stops").dim().to_string(),
    });
    lines
}

fn labelled(label: &str, text: impl Display) -> String {
    format!("{} {text}", style(format!("{label:<10}")).cyan())
}

fn time_text(now: &Metrics, progress: Option<(f64, Option<f64>)>) -> String {
    let mut text = clock(now.timing.seconds);
    if let Some((done, left)) = progress {
        let _ = write!(text, "  {} {:.0} %", bar(done), 100.0 * done);
        if let Some(left) = left {
            let _ = write!(text, ", {} left", clock(left));
        }
    }
    text
}

fn playing_lines(state: &State, config: &Config) -> [String; 3] {
    let now = &state.now;
    let speed = format!(
        "{}; batches {:.0} % full",
        speed(now),
        100.0 * now.batch_fill
    );
    let line = state.line.as_ref().filter(|line| line.new_games > 0);
    let (samples, first) = (state.samples, config.run.first_samples);
    let replay = if now.step == 0 && samples < first {
        let bar = bar(samples as f64 / first as f64);
        format!("{bar} {samples} of {first} samples before learning starts")
    } else {
        let capacity = config.replay.capacity;
        format!("{} {samples} of {capacity} samples", bar(now.replay_fill))
    };
    [
        labelled("self-play", speed),
        labelled("games", games_text(line.unwrap_or(now))),
        labelled("replay", replay),
    ]
}

fn learning_lines(state: &State) -> Vec<String> {
    let Some(line) = &state.line else {
        return vec![labelled("learning", "not yet")];
    };
    let score = match line.loss_score > 0.0 {
        true => format!(", score {:.3}", line.loss_score),
        false => String::new(),
    };
    let learning = format!(
        "step {}, {:.0} steps/s, rate {:.2e}, {:.0} % of the time",
        state.now.step,
        line.timing.steps_per_s,
        line.rate,
        100.0 * line.timing.learning
    );
    let loss = format!(
        "{:.3} {} policy {:.3}, result {:.3}{score}",
        line.loss,
        chart(&state.losses),
        line.loss_policy,
        line.loss_result,
    );
    let policy = format!(
        "{:.0} % as search chose, entropy {:.2} (search {:.2}); values {:.1} % off",
        100.0 * line.policy_accuracy,
        line.policy_entropy,
        line.target_entropy,
        100.0 * line.calibration_error
    );
    vec![
        labelled("learning", learning),
        labelled("loss", loss),
        labelled("policy", policy),
    ]
}

fn strength_lines(state: &State, config: &Config) -> Vec<String> {
    let strength = match (&state.strength, state.matches) {
        (Some(strength), _) => format!("{} {}", chart(&state.ratings), rating_text(strength)),
        (None, None) if config.evaluation.every > 0 => {
            format!("first matches at step {}", config.evaluation.every)
        }
        (None, _) => "no matches so far".to_owned(),
    };
    let mut lines = vec![labelled("strength", strength)];
    if let Some(strength) = &state.strength {
        lines.push(labelled("matches", matches_text(strength)));
    }
    if let Some(tally) = &state.accuracy {
        let exact = format!(
            "the network keeps the best result in {:.2} % of positions, in {:.2} % where it matters",
            100.0 * tally.share(),
            100.0 * tally.critical_share()
        );
        lines.push(labelled("exact", exact));
    }
    lines
}

fn games_text(metrics: &Metrics) -> String {
    let mut text = format!(
        "{} so far: White {:.0} %, Black {:.0} %, drawn {:.0} %, {:.1} plies",
        metrics.games,
        100.0 * metrics.white,
        100.0 * metrics.black,
        100.0 * metrics.drawn,
        metrics.plies
    );
    if metrics.truncated > 0.0 {
        let _ = write!(text, ", cut off {:.1} %", 100.0 * metrics.truncated);
    }
    for (name, count) in &metrics.events {
        let _ = write!(text, ", {count:.2} {}", name.replace('_', " "));
    }
    text
}

fn rating_text(strength: &Strength) -> String {
    format!(
        "{:+.0} Elo at step {} ({:+.0} to {:+.0}; {} is 0)",
        strength.elo, strength.step, strength.elo_low, strength.elo_high, strength.anchor
    )
}

fn matches_text(strength: &Strength) -> String {
    let scores = strength
        .matches
        .iter()
        .map(|played| format!("{:.0} % against {}", 100.0 * played.score, played.opponent));
    scores.collect::<Vec<_>>().join(", ")
}

fn speed(metrics: &Metrics) -> String {
    let timing = &metrics.timing;
    format!(
        "{:.0} games/s, {:.0} positions/s, {:.0} evaluations/s",
        timing.games_per_s, timing.positions_per_s, timing.evaluations_per_s
    )
}

fn line(metrics: &Metrics) -> String {
    format!(
        "step {}: loss {:.3} (policy {:.3}, result {:.3}, score {:.3}), {} games, white {:.0} %, \
         black {:.0} %, {:.1} plies, replay {:.0} %, {}, {:.0} s",
        metrics.step,
        metrics.loss,
        metrics.loss_policy,
        metrics.loss_result,
        metrics.loss_score,
        metrics.games,
        100.0 * metrics.white,
        100.0 * metrics.black,
        metrics.plies,
        100.0 * metrics.replay_fill,
        speed(metrics),
        metrics.timing.seconds
    )
}

/// Hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

fn bar(share: f64) -> String {
    const WIDTH: usize = 20;
    let full = ((share * WIDTH as f64).round() as usize).min(WIDTH);
    format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full))
}

/// A number a column, the lowest and the highest apart as far as they can be.
fn chart(numbers: &VecDeque<f64>) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let step = |number: &f64| {
        let share = (number - low) / (high - low).max(1e-9);
        STEPS[((share * 8.0) as usize).min(7)]
    };
    numbers.iter().map(step).collect()
}
