//! `jarmo report`: this gathers what is known, and `report.js` in the file shows it.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::interrupt::interrupted;
use super::measure::Measuring;
use super::runs::{EXAM_SEED, EXAM_SIMULATIONS, agent_in, open_game, pictures, tournament};
use super::{Failure, check_output, in_file, load_agent, write_output};
use jarmo_core::error::FileError;
use jarmo_core::game::AnyPosition;
use jarmo_facade::measure::AnyExam;
use jarmo_facade::{AgentPlan, AnyGame, Games};
use jarmo_host::files::{SETTINGS_BYTES, read_text};
use jarmo_host::program::{command, this_program};
use jarmo_host::record::GameRecord;
use jarmo_host::run_folder::{MANIFEST, checkpoint_at};
use jarmo_judge::accuracy::{Cause, ExamScore, Mistake, draw_stages};
use jarmo_judge::arena::{Budget, Observer, Settings, Standings};
use jarmo_learn::compare::{Comparison, Member};
use jarmo_learn::config::Config;
use jarmo_learn::run::{Searched, open_exam, settings, summary};

/// Write a report on a training run or an agent: one HTML file that works offline
#[derive(clap::Args)]
#[command(after_help = "\
The report has settings, curves, the exam by phase, the ratings of checkpoints, games that the agent plays against
itself, and decisions that it gets wrong. Measuring them takes a minute or more.")]
pub(super) struct Args {
    /// The folder of the run, or an agent file
    #[arg(value_name = "RUN|AGENT")]
    source: PathBuf,
    /// The file to write [default: the name of the run or the agent, with .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The pairs of games that the agent plays against itself, after random plies.
const PAIRS: u32 = 4;
const RANDOM_PLIES: u32 = 2;

/// The games and the wrong decisions that are shown.
const SHOWN: usize = 6;

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let source = args.source.as_path();
    let run = source.is_dir().then_some(source);
    let agent = match run {
        Some(run) => checkpoint_at(run, None).ok().map(|(_, path)| path), // it may have none yet
        None => Some(source.to_owned()),
    };
    let file = agent.as_deref().map(load_agent).transpose()?;
    let config = match (run, &file) {
        (None, Some(file)) => Config::of_run(games, Some(&file.header().version.game), Some(file), &[], &[])
            .map_err(|error| in_file(source, error))?,
        _ => settings(source)?,
    };
    let game = open_game(games, &config, source)?;
    let place = source.canonicalize().map_err(|error| in_file(source, error))?;
    let name = if run.is_some() { place.file_name() } else { place.file_stem() }.unwrap_or_default();
    let name = name.display().to_string();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.html")));
    check_output(Some(&out))?;
    let usual = Config::of_run(games, Some(&config.game.name), None, &[], &[])?.settings().into_iter();
    let rows = config.settings().into_iter().zip(usual);
    let mut data = json!({
        "name": name, "game": config.game.name, "program": this_program(), "command": command(),
        "layout": game.facts().layout, "agent": file.as_ref().map(|file| file.header()),
        "settings": rows.map(|((key, value), (_, usual))| [key, value.to_string(), usual.to_string()]).collect::<Vec<_>>(),
    });
    if let Some(run) = run {
        let member = Member::read(run)?;
        let rated = member.metrics.iter().flat_map(|line| line.strength.iter().chain(&line.final_match));
        data["ladder"] = rated.map(|strength| json!(strength)).collect();
        data["pictures"] = pictures(&Comparison::new(vec![member])?).into();
        data["run"] = json!(summary(run, run));
        data["manifest"] = read_text(&run.join(MANIFEST), SETTINGS_BYTES).unwrap_or_default().into(); // it only informs
    }
    if let (Some(agent), Some(file)) = (agent, &file) {
        let (agent, measuring) = (agent_in(agent), Measuring::new(None, EXAM_SEED)?);
        if let Some(exam) = open_exam(game.as_ref(), &config.evaluation)? {
            let (shown, score) = examine(game.as_ref(), exam.as_ref(), &agent, &measuring)?;
            data["exam"] = shown;
            if let Some(run) = run {
                let step = file.header().provenance.step;
                Searched { step, simulations: EXAM_SIMULATIONS, score }.keep(run)?;
            }
        }
        data["games"] = self_play(game.as_ref(), &agent, &measuring.stop)?;
        interrupted(&measuring.stop, "no report was written")?;
    }
    write_output(&out, html(&data))?;
    Ok(writeln!(stdout(), "{}", out.display())?)
}

/// The exam without search and with, and the result with it.
fn examine(
    game: &dyn AnyGame,
    exam: &dyn AnyExam,
    agent: &AgentPlan,
    measuring: &Measuring,
) -> Result<(Value, ExamScore), Failure> {
    let measure = |budget| {
        let measured =
            measuring.run(agent, Some(budget), |examinee, watch| exam.measure(examinee, budget > 0, watch))?;
        interrupted(&measuring.stop, "no report was written")?;
        Ok::<_, Failure>(measured)
    };
    let (alone, searched) = (measure(0)?, measure(EXAM_SIMULATIONS)?);
    let labels = ["without search".to_owned(), format!("{EXAM_SIMULATIONS} simulations")];
    let curves: Vec<_> = labels.into_iter().zip([&alone.accuracy, &searched.accuracy]).collect();
    let mistake = |mistake: &Mistake<AnyPosition>| {
        let [chosen, better] = [mistake.chosen, mistake.better].map(|action| game.describe(&mistake.position, action));
        json!({
            "position": game.text(&mistake.position), "scene": scene(game, &mistake.position, &Value::Null),
            "chosen": chosen, "got": mistake.got.to_string(), "better": better, "missed": mistake.missed.to_string(),
        })
    };
    let shown = json!({
        "made": exam.made(), "scores": [alone.accuracy.score(), searched.accuracy.score()],
        "picture": draw_stages("Wrong decisions", &curves),
        "causes": searched.causes.map(|causes| Cause::ALL.map(|cause| json!([cause.name(), causes.total(cause)]))),
        "mistakes": searched.accuracy.mistakes.iter().take(SHOWN).map(mistake).collect::<Vec<_>>(),
    });
    Ok((shown, searched.accuracy.score()))
}

/// Games of the agent against itself, as scenes for the board of the page.
fn self_play(game: &dyn AnyGame, agent: &AgentPlan, stop: &AtomicBool) -> Result<Value, Failure> {
    let budget = Budget { nodes: Some(EXAM_SIMULATIONS), movetime_ms: None };
    let settings = Settings { pairs: PAIRS, budget, ..Settings::default() };
    let agents = vec![("first", agent.clone()), ("second", agent.clone())];
    let mut played = Played(Vec::new());
    tournament(game, agents, Some(RANDOM_PLIES), settings)?.play(stop, &mut played)?;
    let shown = played.0.iter().take(SHOWN).map(|record| {
        let mut position = game.facts().start.clone();
        let mut scenes = vec![scene(game, &position, &Value::Null)];
        for text in &record.moves {
            let (action, next) = game.play_text(&position, text).expect("the game was played by these rules");
            scenes.push(scene(game, &next, &json!(game.describe(&position, action).gesture)));
            position = next;
        }
        json!({ "moves": record.moves, "outcome": record.outcome, "scenes": scenes })
    });
    Ok(shown.collect())
}

/// The different games of a match.
struct Played(Vec<GameRecord>);

impl Observer for Played {
    fn game(&mut self, record: &GameRecord) -> Result<(), FileError> {
        if self.0.iter().all(|other| other.moves != record.moves) {
            self.0.push(record.clone());
        }
        Ok(())
    }

    fn standings(&mut self, _: &Standings) {}
}

fn scene(game: &dyn AnyGame, position: &AnyPosition, last: &Value) -> Value {
    let view = game.view(position);
    json!({
        "pieces": view.pieces, "notes": view.notes, "winning": view.winning, "last": last, "legal": [],
        "to_move": position.to_move, "outcome": position.outcome,
    })
}

/// On Windows, git can write a file instead of a symbolic link.
const _: () = assert!(
    include_str!("board.js").as_bytes()[0] != b'.' && include_str!("board.css").as_bytes()[0] != b'.',
    "git has not made the symbolic links of this repository: clone it again with `git clone -c core.symlinks=true`"
);

/// The whole file.
fn html(data: &Value) -> String {
    // No text inside an element of a script may end it.
    let inside = |value: &Value| value.to_string().replace('<', "\\u003c");
    include_str!("report.html")
        .replace("{{STYLE}}", &inside(&include_str!("board.css").into()))
        .replace("{{BOARD}}", include_str!("board.js"))
        .replace("{{SCRIPT}}", include_str!("report.js"))
        .replace("{{DATA}}", &inside(data)) // last, because it may look like one of the others
}
