//! A run as text: a block of lines that shows everything, or one line per event.
//!
//! The caller decides where the text goes, in which colours and how often.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::{Event, FleetReport, Metrics, Strength};
use crate::config::Config;
use crate::train::DeviceKind;
use jarmo_core::net::{KernelKind, NetKind};
use jarmo_facade::AnyGame;
use jarmo_host::program::cores;
use jarmo_judge::accuracy::{ExamScore, Phase, Tally};

/// Numbers in a small chart.
const CHART: usize = 24;

/// Facts about a run that do not change.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Game, network, parallel games and simulations.
    pub what: String,
    /// Threads and kernel.
    pub device: String,
    /// The folder of the run.
    pub folder: String,
}

impl Facts {
    /// The facts about a run of this game on this kind of device.
    pub fn of(game: &dyn AnyGame, config: &Config, folder: String, device: DeviceKind) -> Facts {
        let (threads, cores) = (config.run.playing_threads(), cores());
        let shape = &game.facts().version.shape;
        let network = match config.net.of(game) {
            NetKind::BuiltIn(size) => format!("{size} with {} weights", size.parameters(shape)),
            NetKind::Tower { tower } => format!("{tower} with {} weights", tower.parameters(shape)),
            custom @ NetKind::Custom { .. } => format!("network {custom}"),
        };
        let what = format!(
            "{}, {network}, {} games in parallel, {} simulations",
            config.game.name, config.selfplay.games, config.selfplay.simulations
        );
        let evaluates = match device {
            DeviceKind::Cpu if config.net.is_mlp() => config.run.kernel.unwrap_or_else(KernelKind::best).to_string(),
            kind => kind.to_string(),
        };
        Facts { what, device: format!("{threads} thread(s) on {cores} core(s), {evaluates}"), folder }
    }
}

/// The latest events of a run.
#[derive(Default)]
pub struct RunView {
    /// The facts about the run.
    pub facts: Facts,
    matches: Option<u64>,     // the step of those that are being played
    final_match: Option<u64>, // the step of the last one
    config: Config,
    samples: usize,
    now: Metrics,          // since the last line of metrics
    line: Option<Metrics>, // the last line of metrics
    losses: VecDeque<f64>, // of the latest lines
    strength: Option<Strength>,
    ratings: VecDeque<f64>,
    accuracy: Option<ExamScore>,
    checkpoint: Option<(u64, f64)>, // the step, and the run's seconds at that time
    fleet: Option<FleetReport>,
}

/// A line of the block: its label and its text.
pub type Line = (&'static str, String);

impl RunView {
    /// The view of a run before its first event.
    pub fn new(config: &Config, facts: Facts) -> RunView {
        RunView { config: config.clone(), facts, ..RunView::default() }
    }

    /// Updates the view with an event. Warnings are not kept.
    pub fn note(&mut self, event: &Event<'_>) {
        match *event {
            Event::Warning(_) => {}
            Event::Resumed { step, seconds, lines, strength } => {
                for line in lines {
                    self.take_line(line);
                    line.strength.iter().chain(&line.final_match).for_each(|one| self.rate(one));
                }
                strength.into_iter().for_each(|one| self.rate(one));
                if let Some(line) = &self.line {
                    (self.samples, self.now) = (line.replay, line.clone());
                }
                self.now.step = step;
                self.now.timing.seconds = seconds;
                self.checkpoint = Some((step, seconds));
            }
            Event::Matches(step) => self.matches = step,
            Event::FinalMatch(step) => (self.matches, self.final_match) = (Some(step), Some(step)),
            Event::Elapsed([seconds, cpu_seconds]) => {
                (self.now.timing.seconds, self.now.timing.cpu_seconds) = (seconds, cpu_seconds);
            }
            Event::Played(samples, metrics) => {
                self.samples = samples;
                self.now.clone_from(metrics);
            }
            Event::Fleet(report) => self.fleet = Some(report.clone()),
            Event::Metrics(metrics) => self.take_line(metrics),
            Event::Strength(strength) => self.rate(strength),
            Event::Checkpoint(step, _) => {
                self.now.step = step.max(self.now.step);
                self.checkpoint = Some((step, self.now.timing.seconds));
            }
        }
    }

    fn take_line(&mut self, metrics: &Metrics) {
        if metrics.loss > 0.0 {
            push(&mut self.losses, metrics.loss); // without a step there is none
        }
        self.accuracy = metrics.accuracy.or(self.accuracy);
        self.line = Some(metrics.clone());
    }

    fn rate(&mut self, strength: &Strength) {
        let shown = self.strength.as_ref();
        if shown.is_none_or(|shown| shown.step != strength.step) {
            push(&mut self.ratings, strength.elo);
        }
        self.strength = Some(strength.clone());
    }

    /// An event as one line, or `None` if it is not shown.
    pub fn event_line(&self, event: &Event<'_>) -> Option<String> {
        match *event {
            Event::Warning(ref warning) => Some(format!("warning: {warning}")),
            Event::Resumed { step, seconds, .. } => Some(format!("resumed at step {step}, after {}", clock(seconds))),
            Event::Matches(_) | Event::Elapsed(_) => None,
            Event::FinalMatch(step) => Some(format!("final match of step {step}")),
            Event::Played(samples, metrics) => {
                let first = self.config.run.first_samples;
                let gathering = metrics.step == 0 && samples < first;
                let speed = speed(metrics);
                gathering.then(|| format!("gathering: {samples} of {first} samples, {speed}"))
            }
            Event::Fleet(report) => Some(format!("fleet: {}; {}", report.workers_text(), report.files_text())),
            Event::Metrics(metrics) => Some(metrics_line(metrics)),
            Event::Strength(strength) => Some(format!("{}: {}", self.rating_text(strength), matches_text(strength))),
            Event::Checkpoint(step, path) => Some(format!("step {step}: checkpoint {}", path.display())),
        }
    }

    /// The matches that are being played, such as `final match of step 800`.
    pub fn matches_text(&self) -> Option<String> {
        let step = self.matches?;
        let what = if self.final_match == Some(step) { "final match" } else { "matches" };
        Some(format!("{what} of step {step}"))
    }

    /// The limit that ends the run, such as `stops after 4 minutes`.
    pub fn limits_text(&self) -> String {
        let limits = self.config.run.limits();
        let one = |what: &str| what.trim_end_matches('s').replace("cpu-", "CPU ");
        let limit = |(n, what): &(f64, &str)| match *n == 1.0 {
            true => format!("1 {}", one(what)),
            false => format!("{n} {}s", one(what)),
        };
        let limits: Vec<String> = limits.iter().map(limit).collect();
        if limits.is_empty() { "no limit".to_owned() } else { format!("stops after {}", limits.join(" or ")) }
    }

    /// The block for a terminal of this size. Lines that are too wide continue in the next row while there are free
    /// rows.
    pub fn block_within(&self, width: usize, rows: usize) -> Vec<Line> {
        let lines = self.block();
        let mut free = rows.saturating_sub(lines.len());
        let mut wrapped = Vec::with_capacity(rows);
        for (label, text) in lines {
            let (mut label, mut rest) = (label, text.as_str());
            while free > 0
                && let Some((first, next)) = split_at_width(rest, width)
            {
                wrapped.push((label, first.to_owned()));
                (label, rest) = ("", next);
                free -= 1;
            }
            wrapped.push((label, rest.to_owned()));
        }
        wrapped
    }

    /// The whole block. The first line is the title; lines may be longer than the terminal is wide.
    pub fn block(&self) -> Vec<Line> {
        let facts = &self.facts;
        let saved = self.checkpoint.map_or("not yet".to_owned(), |(step, at)| {
            let ago = clock(self.now.timing.seconds - at);
            format!("step {step}, {ago} ago")
        });
        let mut lines =
            vec![("training", facts.what.clone()), ("device", facts.device.clone()), ("time", self.time_text())];
        lines.extend(self.playing_lines());
        if let Some(fleet) = &self.fleet {
            lines.push(("fleet", fleet.workers_text()));
            lines.push(("arrived", fleet.files_text()));
        }
        lines.extend(self.learning_lines());
        lines.extend(self.strength_lines());
        lines.push(("saved", format!("{saved}, in {}", facts.folder)));
        lines
    }

    /// A rating, and whether it is that of the final match or older than a tenth of the steps.
    fn rating_text(&self, strength: &Strength) -> String {
        let Strength { step, elo, elo_low, elo_high, anchor, .. } = strength;
        let what = match self.now.step.saturating_sub(*step) {
            _ if self.final_match == Some(*step) => "final match: ",
            steps if 10 * steps > self.now.step => "old: ",
            _ => "",
        };
        format!("{what}{elo:+.0} Elo at step {step} ({elo_low:+.0} to {elo_high:+.0}; {anchor} is 0)")
    }

    /// The time so far and, if the run has a limit, progress and the remaining time.
    fn time_text(&self) -> String {
        let now = &self.now;
        let mut text = clock(now.timing.seconds);
        let (seconds, cpu_seconds) = (now.timing.seconds, now.timing.cpu_seconds);
        let Some(done) = self.config.run.done(now.step, now.games, seconds, cpu_seconds) else {
            return text + "  no limit";
        };
        let _ = write!(text, "  {} {:.0} %", bar(done), 100.0 * done);
        if done > 0.01 {
            let left = now.timing.seconds * (1.0 - done) / done;
            let _ = write!(text, ", {} left", clock(left));
        }
        text
    }

    fn playing_lines(&self) -> [Line; 3] {
        let (now, config) = (&self.now, &self.config);
        let speed = format!("{}; batches {:.0} % full", speed(now), 100.0 * now.batch_fill);
        let games = self.line.as_ref().filter(|line| line.new_games > 0);
        let (samples, first) = (self.samples, config.run.first_samples);
        let replay = if now.step == 0 && samples < first {
            let bar = bar(samples as f64 / first as f64);
            format!("{bar} {samples} of {first} samples before learning starts")
        } else {
            let capacity = config.replay.capacity;
            format!("{} {samples} of {capacity} samples", bar(now.replay_fill))
        };
        [("self-play", speed), ("games", games_text(games.unwrap_or(now))), ("replay", replay)]
    }

    fn learning_lines(&self) -> Vec<Line> {
        let Some(last) = &self.line else {
            return vec![("learning", "not yet".to_owned())];
        };
        let score = score_text(last);
        let learning = format!(
            "step {}, {:.0} steps/s, rate {:.2e}, {:.0} % of the time",
            self.now.step,
            last.timing.steps_per_s,
            last.rate,
            100.0 * last.timing.learning
        );
        let loss = format!(
            "{:.3} {} policy {:.3}, result {:.3}{score}",
            last.loss,
            chart(&self.losses),
            last.loss_policy,
            last.loss_result,
        );
        let policy = format!(
            "{:.0} % as search chose, entropy {:.2} (search {:.2}); values {:.1} % off",
            100.0 * last.policy_accuracy,
            last.policy_entropy,
            last.target_entropy,
            100.0 * last.calibration_error
        );
        vec![("learning", learning), ("loss", loss), ("policy", policy)]
    }

    fn strength_lines(&self) -> Vec<Line> {
        let strength = match (&self.strength, self.matches) {
            (Some(strength), _) => format!("{} {}", chart(&self.ratings), self.rating_text(strength)),
            (None, None) if let Some(first) = self.config.first_matches() => {
                format!("first matches at step {first}")
            }
            (None, _) => "no matches so far".to_owned(),
        };
        let mut lines = vec![("strength", strength)];
        if let Some(strength) = &self.strength {
            lines.push(("matches", matches_text(strength)));
        }
        if let Some(score) = &self.accuracy {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let phase =
                |(phase, tally): (Phase, &Tally)| format!("{} {}", phase.name(), percent(tally.critical_share()));
            let phases: Vec<String> = score.phases().map(phase).collect();
            let exact = format!(
                "the network keeps the best result in {} of positions, in {} of critical ones ({})",
                percent(score.all.share()),
                percent(score.all.critical_share()),
                phases.join(", ")
            );
            lines.push(("exact", exact));
        }
        lines
    }
}

/// The words that fit into the width and the text after them; `None` if all fits.
fn split_at_width(text: &str, width: usize) -> Option<(&str, &str)> {
    let (end, next) = text.char_indices().nth(width)?;
    match text[..end + next.len_utf8()].rfind(' ') {
        Some(space) if space > 0 => Some((&text[..space], &text[space + 1..])),
        _ => Some(text.split_at(end)),
    }
}

fn push(history: &mut VecDeque<f64>, number: f64) {
    if history.len() == CHART {
        history.pop_front();
    }
    history.push_back(number);
}

fn games_text(metrics: &Metrics) -> String {
    let mut text = format!(
        "{} so far: White {:.0} %, Black {:.0} %, drawn {:.0} %, {:.1} plies",
        metrics.games,
        100.0 * metrics.per_game.white,
        100.0 * metrics.per_game.black,
        100.0 * metrics.per_game.drawn,
        metrics.per_game.plies
    );
    if metrics.per_game.truncated > 0.0 {
        let _ = write!(text, ", truncated {:.1} %", 100.0 * metrics.per_game.truncated);
    }
    for (name, count) in &metrics.events {
        let _ = write!(text, ", {count:.2} {}", name.replace('_', " "));
    }
    text
}

fn matches_text(strength: &Strength) -> String {
    let scores =
        strength.matches.iter().map(|played| format!("{:.0} % against {}", 100.0 * played.score, played.opponent));
    scores.collect::<Vec<_>>().join(", ")
}

fn speed(metrics: &Metrics) -> String {
    let timing = &metrics.timing;
    format!(
        "{:.0} games/s, {:.0} positions/s, {:.0} evaluations/s",
        timing.games_per_s, timing.positions_per_s, timing.evaluations_per_s
    )
}

/// The loss of the points, which only some games have.
fn score_text(metrics: &Metrics) -> String {
    if metrics.loss_score > 0.0 { format!(", score {:.3}", metrics.loss_score) } else { String::new() }
}

fn metrics_line(metrics: &Metrics) -> String {
    format!(
        "step {}: loss {:.3} (policy {:.3}, result {:.3}{}), {} games, white {:.0} %, \
         black {:.0} %, {:.1} plies, replay {:.0} %, {}, {:.0} s",
        metrics.step,
        metrics.loss,
        metrics.loss_policy,
        metrics.loss_result,
        score_text(metrics),
        metrics.games,
        100.0 * metrics.per_game.white,
        100.0 * metrics.per_game.black,
        metrics.per_game.plies,
        100.0 * metrics.replay_fill,
        speed(metrics),
        metrics.timing.seconds
    )
}

/// Hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

fn bar(share: f64) -> String {
    const WIDTH: usize = 20;
    let full = ((share * WIDTH as f64).round() as usize).min(WIDTH);
    format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full))
}

/// A column for each number, scaled from the lowest to the highest.
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
