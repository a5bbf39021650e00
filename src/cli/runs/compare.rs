//! `jarmo runs compare`

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::time::Duration;

use console::Term;
use serde_json::json;

use super::exam::{agent_in, open_game, tournament};
use crate::cli::arena::{Watch, even_games};
use crate::cli::bench::random_weights;
use crate::cli::block::LiveBlock;
use crate::cli::interrupt::{interrupted, stop_on_interrupt};
use crate::cli::{Failure, check_output, write_output};
use jarmo_core::net::{FrozenNet, NetKind};
use jarmo_core::numbers::{BUDGET, MILLISECONDS};
use jarmo_facade::{AgentPlan, Games};
use jarmo_host::run_folder::{checkpoint_at, find};
use jarmo_host::text::table;
use jarmo_judge::arena::{Budget, Report, Settings};
use jarmo_judge::spread::Spread;
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

pub(super) fn run(games: &Games, args: &CompareArgs) -> Result<(), Failure> {
    check_output(args.svg.as_deref())?;
    let mut runs: Vec<Member> = Vec::new();
    for folder in &args.runs {
        let below = find(folder).unwrap_or_default();
        let below = if below.is_empty() { vec![folder.clone()] } else { below }; // which reading rejects with a reason
        for run in below {
            if runs.iter().all(|known| known.folder.canonicalize().ok() != run.canonicalize().ok()) {
                runs.push(Member::read(&run)?);
            }
        }
    }
    let compared = Comparison::new(runs)?;
    if let Some(path) = &args.svg {
        write_output(path, picture(&compared))?;
    }
    let mut all = json!(compared);
    if !args.json {
        writeln!(stdout(), "{}", text(&compared))?;
    }
    if args.plays {
        let (report, verdict) = play(games, args, &compared)?;
        all["match"] = json!({ "report": report, "verdict": verdict });
        if !args.json {
            writeln!(stdout(), "{}{verdict}", report.to_text(usize::MAX))?;
        }
    }
    if args.json {
        writeln!(stdout(), "{}", serde_json::to_string_pretty(&all)?)?;
    }
    Ok(())
}

/// All that is known without a match.
pub(crate) fn text(compared: &Comparison) -> String {
    let beside = 12 + 3 * compared.groups.len(); // values at the left, names at the right
    let width = LiveBlock::on(Term::stdout()).map_or(usize::MAX, |block| block.width());
    let columns = width.saturating_sub(beside).clamp(1, 60);
    let mut text = groups_table(compared);
    for measure in Measure::ALL {
        let lines = braille(&compared.curves(measure), columns, 10);
        if !lines.is_empty() {
            let _ = write!(text, "\n{} over CPU time\n{}\n", measure.name(), lines.join("\n"));
        }
    }
    text + "\n" + &compared.verdict
}

/// The groups with their settings and what they have reached.
pub(crate) fn groups_table(compared: &Comparison) -> String {
    let cells = |group: &Group| {
        let more = if group.runs.len() > 1 { format!(" +{}", group.runs.len() - 1) } else { String::new() };
        let settings = compared.settings.iter().zip(&group.settings).map(|(key, value)| format!("{key}={value}"));
        let number = |spread: &Option<Spread>, digits: usize| match spread {
            None => "-".to_owned(),
            Some(one) if one.values == 1 => format!("{:.digits$}", one.median),
            Some(one) => format!("{:.digits$} ({:.digits$} to {:.digits$})", one.median, one.low, one.high),
        };
        vec![
            group.label.clone(),
            format!("{}{more}", group.runs[0].folder.display()),
            settings.collect::<Vec<_>>().join(" "),
            group.runs.len().to_string(),
            number(&group.right, 2),
            number(&group.elo, 0),
        ]
    };
    let head = ["", "runs", "settings that differ", "seeds", "right in %", "elo"];
    let rows = table(&head, &[0, 1, 2], compared.groups.iter().map(cells));
    format!("{}, after {:.1} CPU minutes\n\n{rows}", compared.game, compared.cpu_seconds / 60.0)
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

/// Lets the groups play under their labels, and says who is stronger.
fn play(games: &Games, args: &CompareArgs, compared: &Comparison) -> Result<(Report, String), Failure> {
    if compared.groups.len() < 2 {
        return Err(Failure::usage("--match: all of these runs have the same settings; give runs that differ"));
    }
    let members: Vec<&Member> = compared.groups.iter().map(|group| group.typical(compared.measure)).collect();
    let agents = members.iter().map(|run| Ok(agent_in(checkpoint_at(&run.folder, None)?.1)));
    let agents = agents.collect::<Result<Vec<AgentPlan>, Failure>>()?;
    let labels = compared.groups.iter().map(|group| group.label.as_str());
    let nodes = args.movetime.is_none().then_some(args.nodes);
    let budget = Budget { nodes, movetime_ms: args.movetime };
    let settings = Settings { pairs: args.games / 2, budget, ..Settings::default() };
    let game = open_game(games, &members[0].config, &members[0].folder)?;
    let mut tournament = tournament(game.as_ref(), labels.zip(agents).collect(), None, settings)?;
    let stop = stop_on_interrupt()?;
    let mut watch = Watch::new(None, tournament.standings());
    tournament.play(&stop, &mut watch)?;
    watch.clear()?;
    interrupted(&stop, "the match was not played to its end")?;
    let report = Report::new(tournament.standings());
    let mut verdict = stronger(&report);
    if let [first, second] = &members[..]
        && let (NetKind::BuiltIn(a), NetKind::BuiltIn(b)) =
            (first.config.net.of(game.as_ref()), second.config.net.of(game.as_ref()))
        && a != b
    {
        const BATCH: usize = 256;
        const TIME: Duration = Duration::from_millis(500);
        let speed = |size| {
            let weights = random_weights(game.as_ref(), size, 1);
            let net = (String::new(), FrozenNet::new(&weights));
            game.bench_net(&weights, vec![net], BATCH, 1, TIME.into()).positions_per_cpu_s()
        };
        let (label, costs) = (&compared.groups[1].label, speed(a) / speed(b));
        let _ = write!(verdict, " {label}'s network takes {costs:.1} times the CPU time of the other's per position.");
    }
    Ok((report, verdict))
}

/// How much stronger the best group is than the next one.
fn stronger(report: &Report) -> String {
    let [best, next] = [0, 1].map(|rank| &report.agents[rank].name);
    let played = |names: [&String; 2]| report.matches.iter().find(|row| [&row.first, &row.second] == names);
    let row = played([best, next]).or(played([next, best])).expect("all groups play each other");
    let (apart, margin) = (row.elo.elo.abs(), row.elo.margin);
    match apart > margin {
        true => format!("{best} is {apart:.0} ± {margin:.0} Elo stronger than {next}."),
        false => format!("{best} and {next} are too close to tell: they are {apart:.0} ± {margin:.0} Elo apart."),
    }
}
