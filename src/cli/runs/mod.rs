//! `jarmo runs`

mod compare;
mod exam;

use std::cmp::Reverse;
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Subcommand, ValueEnum};
use console::Term;

pub(super) use self::compare::{groups_table, pictures, text as compared_text};
use self::exam::take_exams;
pub(super) use self::exam::{EXAM_SEED, EXAM_SIMULATIONS, agent_in, open_game, tournament};
use super::Failure;
use super::block::LiveBlock;
use super::interrupt::stop_on_interrupt;
use jarmo_exact::ExactError;
use jarmo_facade::Games;
use jarmo_host::text::{span, table};
use jarmo_learn::run::{State, Summary, list};

/// List the training runs below a folder: what each is doing, and how strong it is
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
`right` is the share of decisions in the game's exam that keep the best result: of the network without search, and
with 64 simulations if --exam or `jarmo report` has measured it. `elo` is the rating from the run's own matches.
Listing takes no locks, so it does not disturb training runs."
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The folder; the folder of a run lists just that run
    #[arg(value_name = "FOLDER", default_value = "runs")]
    folder: PathBuf,
    /// The column to sort by
    #[arg(long, value_name = "COLUMN", default_value = "name")]
    sort: Column,
    /// Sort in the opposite order
    #[arg(long)]
    reverse: bool,
    /// Only runs of this game: {games}
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
    /// Only runs in this state
    #[arg(long, value_name = "STATE", value_parser = ["running", "stopped", "finished", "broken"])]
    state: Option<String>,
    /// Only runs with this text in their names
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Take the exam with 64 simulations for every run whose newest checkpoint has not taken it, and keep the result in
    /// its folder
    #[arg(long)]
    exam: bool,
    /// Print a JSON array with all that is known of each run
    #[arg(long)]
    json: bool,
    /// Print the table again every two seconds, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "exam"])]
    watch: bool,
}

#[derive(Subcommand)]
enum Command {
    Compare(compare::CompareArgs),
}

/// A column of the table.
#[derive(Clone, Copy, ValueEnum)]
enum Column {
    Name,
    Game,
    State,
    Steps,
    /// CPU time, most first
    Cpu,
    /// Right decisions of the network, most first
    Right,
    /// The rating, best first
    Elo,
    /// The last change, newest first
    Age,
}

/// The time between two tables of `--watch`.
const WATCH_EVERY: Duration = Duration::from_secs(2);

pub(super) fn run(games: &Games, args: Args) -> Result<(), Failure> {
    if let Some(Command::Compare(args)) = &args.command {
        return compare::run(games, args);
    }
    if let Some(game) = args.game.as_ref().filter(|game| !games.names().contains(&game.as_str())) {
        return Err(Failure::usage(ExactError::unknown_game(game, &games.names())));
    }
    let mut runs = args.list()?;
    if args.exam {
        take_exams(games, &mut runs)?;
    }
    if args.json {
        return Ok(writeln!(stdout(), "{}", serde_json::to_string_pretty(&runs)?)?);
    }
    if !args.watch {
        return Ok(write!(stdout(), "{}", text(&args, &runs))?);
    }
    let stop = stop_on_interrupt()?;
    let mut block = LiveBlock::on(Term::buffered_stdout());
    while !stop.load(Ordering::Relaxed) {
        let text = text(&args, &args.list()?);
        match &mut block {
            Some(block) => block.draw([], text.lines(), "…")?,
            None => writeln!(stdout(), "{text}")?,
        }
        let shown = Instant::now();
        while shown.elapsed() < WATCH_EVERY && !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(())
}

impl Args {
    /// The runs that pass the filters, in their order.
    fn list(&self) -> Result<Vec<Summary>, Failure> {
        let mut runs = list(&self.folder)?;
        runs.retain(|run| {
            self.game.as_ref().is_none_or(|game| *game == run.game)
                && self.state.as_ref().is_none_or(|state| state == run.state.name())
                && self.name.as_ref().is_none_or(|name| run.name.contains(name))
        });
        let by = |number: fn(&Summary) -> f64| move |a: &Summary, b: &Summary| number(a).total_cmp(&number(b));
        // The sort is stable, so equal ones stay in the order of their names. Unknown numbers are last.
        match self.sort {
            Column::Name => {} // as they are listed
            Column::Game => runs.sort_by(|a, b| a.game.cmp(&b.game)),
            Column::State => runs.sort_by_key(|run| run.state.name()),
            Column::Steps => runs.sort_by_key(|run| Reverse(run.steps)),
            Column::Cpu => runs.sort_by(by(|run| -run.cpu_seconds)),
            Column::Right => runs.sort_by(by(|run| run.exam.map_or(f64::INFINITY, |score| -score.all.share()))),
            Column::Elo => runs.sort_by(by(|run| run.strength.as_ref().map_or(f64::INFINITY, |rated| -rated.elo))),
            Column::Age => runs.sort_by(by(|run| run.age)),
        }
        if self.reverse {
            runs.reverse();
        }
        Ok(runs)
    }
}

fn text(args: &Args, runs: &[Summary]) -> String {
    if runs.is_empty() {
        let filters = [&args.game, &args.state, &args.name];
        let pass = if filters.iter().any(|one| one.is_some()) { " pass the filters" } else { "" };
        return format!("no runs below {}{pass}\n", args.folder.display());
    }
    let mut text = runs_table(runs);
    for run in runs {
        if let Some(problem) = &run.problem {
            text += &format!("{}: {problem}\n", run.name);
        }
    }
    text
}

/// The table of some runs.
pub(super) fn runs_table(runs: &[Summary]) -> String {
    let with_search = format!("at {EXAM_SIMULATIONS}");
    let head = ["name", "game", "state", "steps", "CPU min", "right", &with_search, "elo", "±", "age"];
    table(&head, &[0, 1, 2], runs.iter().map(cells))
}

fn cells(run: &Summary) -> Vec<String> {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.2}%", 100.0 * share));
    let process = run.process.map_or(String::new(), |process| format!(" as {process}"));
    let left = run.seconds_left.map_or(String::new(), |left| format!(", {} left", span(left)));
    let step = run.exam_step.filter(|&step| run.state == State::Stopped && step < run.steps);
    let earlier = step.map_or(String::new(), |step| format!(" (step {step})"));
    let searched = run.searched.as_ref();
    let step = searched.map(|searched| searched.step).filter(|&step| step < run.steps);
    let searched_earlier = step.map_or(String::new(), |step| format!(" (step {step})"));
    let rating = run.strength.as_ref();
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.0}"));
    vec![
        run.name.clone(),
        run.game.clone(),
        format!("{}{process}{left}", run.state.name()),
        run.steps.to_string(),
        format!("{:.1}", run.cpu_seconds / 60.0),
        percent(run.exam.map(|score| score.all.share())) + &earlier,
        percent(searched.map(|searched| searched.score.all.share())) + &searched_earlier,
        number(rating.map(|rating| rating.elo)),
        number(rating.map(|rating| 0.5 * (rating.elo_high - rating.elo_low))),
        span(run.age),
    ]
}
