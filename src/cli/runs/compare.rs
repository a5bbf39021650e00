//! `jarmo runs compare`

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::exam::open_game;
use super::table;
use crate::cli::arena::{even_games, play_as};
use crate::cli::interrupt::stop_on_interrupt;
use crate::cli::{Failure, check_output, write_output};
use jarmo_core::net::{KernelKind, NetKind};
use jarmo_core::numbers::{BUDGET, MILLISECONDS};
use jarmo_facade::Games;
use jarmo_host::run_folder::{checkpoint_at, find};
use jarmo_judge::arena::Report;
use jarmo_judge::spread::{Spread, apart_by_chance};
use jarmo_judge::{braille, draw_curves};
use jarmo_learn::compare::{Comparison, Group, Measure, Member};

/// Compare runs of one game: settings that differ, curves over CPU time, and on request a match
#[derive(clap::Args)]
#[command(after_help = "\
Runs that differ only in their seed and their limits are one group, with medians and intervals. Groups are compared
at the largest CPU time that every run has reached.")]
pub(super) struct CompareArgs {
    /// The folders of the runs; any other folder stands for all runs below it
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Let the newest checkpoints play a match; a group is represented by its run with the median exam result
    #[arg(long = "match")]
    plays: bool,
    /// Games per match: an even number
    #[arg(long, value_name = "N", default_value = "200", requires = "plays", value_parser = even_games)]
    games: u32,
    /// Simulations per move
    #[arg(
        long,
        visible_alias = "sims",
        value_name = "N",
        default_value = "64",
        requires = "plays",
        conflicts_with = "movetime"
    )]
    #[arg(value_parser = BUDGET.parser::<u64>())]
    nodes: u64,
    /// Milliseconds per move instead of simulations; a slower network then gets fewer simulations
    #[arg(long, value_name = "MS", requires = "plays", value_parser = MILLISECONDS.parser::<u64>())]
    movetime: Option<u64>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
    /// Draw the curves as SVG to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The time of a measurement of a network's speed.
const SPEED_TIME: Duration = Duration::from_millis(500);

pub(super) fn run(games: &Games, args: &CompareArgs) -> Result<(), Failure> {
    check_output(args.svg.as_deref())?;
    let mut runs = Vec::new();
    for folder in &args.runs {
        let below = find(folder).unwrap_or_default();
        let below = if below.is_empty() { vec![folder.clone()] } else { below }; // which reading rejects with a reason
        for run in below {
            runs.push(Member::read(&run)?);
        }
    }
    let compared = Comparison::new(runs)?;
    let has_exam = compared.groups.iter().any(|group| group.right.is_some());
    let measure = if has_exam { Measure::Right } else { Measure::Elo };
    let played = if args.plays { Some(play(games, args, &compared, measure)?) } else { None };
    if let Some(path) = &args.svg {
        write_output(path, picture(&compared))?;
    }
    let text = if args.json {
        let mut all = json!(compared);
        all["verdict"] = verdict(&compared, measure).into();
        if let Some((report, words)) = &played {
            all["match"] = json!({ "report": report, "verdict": words });
        }
        serde_json::to_string_pretty(&all)?
    } else {
        let mut text = text(&compared, measure);
        if let Some((report, words)) = &played {
            let _ = write!(text, "\n{}{words}", report["text"].as_str().unwrap_or_default());
        }
        text
    };
    Ok(writeln!(stdout(), "{text}")?)
}

/// All that is known without a match.
pub(crate) fn text(compared: &Comparison, measure: Measure) -> String {
    let cells = |group: &Group| {
        let place = group.runs[0].folder.display();
        let more = if group.runs.len() > 1 { format!(" +{}", group.runs.len() - 1) } else { String::new() };
        let named = compared.settings.iter().zip(&group.settings).map(|(key, value)| format!("{key}={value}"));
        let number = |spread: &Option<Spread>, digits: usize| match spread {
            None => "-".to_owned(),
            Some(one) if one.values == 1 => format!("{:.digits$}", one.median),
            Some(one) => format!("{:.digits$} ({:.digits$} to {:.digits$})", one.median, one.low, one.high),
        };
        let settings = named.collect::<Vec<_>>().join(" ");
        let (right, elo) = (number(&group.right, 2), number(&group.elo, 0));
        vec![group.label.clone(), format!("{place}{more}"), settings, group.runs.len().to_string(), right, elo]
    };
    let minutes = compared.cpu_seconds / 60.0;
    let head = ["", "runs", "settings that differ", "seeds", "right in %", "elo"];
    let mut text = format!("{}, after {minutes:.1} CPU minutes\n\n", compared.game);
    text += &table(&head, compared.groups.iter().map(cells));
    for measure in Measure::ALL {
        const COLUMNS: usize = 60;
        const ROWS: usize = 10;
        let lines = braille(&compared.curves(measure), COLUMNS, ROWS);
        if !lines.is_empty() {
            let _ = write!(text, "\n{} over CPU time\n{}\n", measure.name(), lines.join("\n"));
        }
    }
    text + "\n" + &verdict(compared, measure) + "\n"
}

/// The curves of each measure as SVG, of those that a run has.
pub(crate) fn pictures(compared: &Comparison) -> Vec<String> {
    let draw = |measure: Measure| draw_curves(measure.name(), "minutes of CPU time", &compared.curves(measure));
    Measure::ALL.into_iter().filter_map(draw).collect()
}

/// All curves as one picture.
fn picture(compared: &Comparison) -> String {
    const HEIGHT: usize = 512; // of each of them
    let pictures = pictures(compared);
    let place = |(index, one): (usize, &String)| one.replacen("<svg ", &format!("<svg y=\"{}\" ", index * HEIGHT), 1);
    let text: String = pictures.iter().enumerate().map(place).collect();
    let height = HEIGHT * pictures.len();
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"{height}\">\n{text}</svg>\n")
}

/// Which group is the best, and whether the seeds allow to say so.
pub(crate) fn verdict(compared: &Comparison, measure: Measure) -> String {
    let (digits, unit) = if measure == Measure::Right { (2, "points") } else { (0, "Elo") };
    let values = |group: &Group| group.values(measure, compared.cpu_seconds);
    let mut ranked: Vec<(&Group, Spread)> =
        compared.groups.iter().filter_map(|group| Some((group, Spread::of(&values(group))?))).collect();
    ranked.sort_by(|a, b| b.1.median.total_cmp(&a.1.median));
    let [(best, first), (next, second), ..] = &ranked[..] else {
        return "Fewer than two groups have an exam or a rating, so there is nothing to compare.".to_owned();
    };
    let (best_name, next_name, apart) = (&best.label, &next.label, first.median - second.median);
    let ahead = format!("{best_name} is {apart:.digits$} {unit} ahead of {next_name}");
    if first.values == 1 || second.values == 1 {
        return format!("{ahead}. One of them has a single seed, so the seed may explain this; train with more seeds.");
    }
    if first.low <= second.high {
        return format!("{ahead}, but the results of their seeds overlap, so the seeds may explain this.");
    }
    let (one, other) = (first.values, second.values);
    let percent = 100.0 * apart_by_chance(one, other);
    let what = if percent <= 5.0 { "more than different seeds explain" } else { "which different seeds may explain" };
    format!(
        "{ahead}, {what}: without a real difference, the results of {one} and {other} seeds would not overlap in \
         {percent:.1}% of cases."
    )
}

/// Plays the match. The report as JSON, with its text, and a verdict in words.
fn play(
    games: &Games,
    args: &CompareArgs,
    compared: &Comparison,
    measure: Measure,
) -> Result<(Value, String), Failure> {
    if compared.groups.len() < 2 {
        return Err(Failure::usage("--match: all of these runs have the same settings; give runs that differ"));
    }
    let members: Vec<&Member> = compared.groups.iter().map(|group| group.typical(measure)).collect();
    let agents = members.iter().map(|member| Ok(checkpoint_at(&member.folder, None)?.1.display().to_string()));
    let agents = agents.collect::<Result<Vec<String>, Failure>>()?;
    let budget = match args.movetime {
        Some(time) => ["--movetime".to_owned(), time.to_string()],
        None => ["--nodes".to_owned(), args.nodes.to_string()],
    };
    let options = [&budget[..], &["--games".to_owned(), args.games.to_string()]].concat();
    let mut played = None;
    let done = |report: &Report| {
        let mut all = json!(report);
        all["text"] = report.to_text(usize::MAX).into();
        played = Some((all, words(compared, &agents, report)));
        Ok(())
    };
    let stop = stop_on_interrupt()?;
    play_as(games, (&members[0].config, &agents, &options), &stop, done, &mut |_| Ok(()))?;
    let (report, mut words) = played.expect("a match has a report");
    if let [first, second] = &members[..]
        && let (NetKind::BuiltIn(a), NetKind::BuiltIn(b)) = (first.config.net.kind(), second.config.net.kind())
        && a != b
    {
        const BATCH: usize = 256;
        let game = open_game(games, &first.config, &first.folder)?;
        let speed =
            |size| game.bench_net(size, &[KernelKind::best()], BATCH, 1, SPEED_TIME.into()).positions_per_cpu_s();
        let (label, costs) = (&compared.groups[1].label, speed(a) / speed(b));
        let _ = write!(words, " {label}'s network takes {costs:.1} times the CPU time of the other's per position.");
    }
    Ok((report, words))
}

/// Who is stronger, by the report.
fn words(compared: &Comparison, agents: &[String], report: &Report) -> String {
    let label = |name: &str| {
        let place = agents.iter().position(|agent| name.starts_with(agent.as_str()));
        place.map_or(name.to_owned(), |place| compared.groups[place].label.clone())
    };
    let [best, next] = [0, 1].map(|rank| &report.agents[rank].name);
    let of_both =
        report.matches.iter().find(|row| [&row.first, &row.second].iter().all(|&name| name == best || name == next));
    let Some(elo) = of_both.map(|row| row.elo) else { return String::new() };
    let (best, next, apart, margin) = (label(best), label(next), elo.elo.abs(), elo.margin);
    match apart > margin {
        true => format!("{best} is {apart:.0} ± {margin:.0} Elo stronger than {next}."),
        false => format!("{best} and {next} are too close to tell: they are {apart:.0} ± {margin:.0} Elo apart."),
    }
}
