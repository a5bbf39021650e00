//! `jarmo report`: this gathers what is known, and `report.js` in the file shows it.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use super::arena::play_as;
use super::interrupt::{interrupted, stop_on_interrupt};
use super::runs::{EXAM_SIMULATIONS, open_game, pictures, take};
use super::{Failure, check_output, in_file, unknown_game, write_output};
use jarmo_core::game::AnyPosition;
use jarmo_facade::{AnyGame, Games};
use jarmo_host::agent_file;
use jarmo_host::files::{Locks, SETTINGS_BYTES, read_text};
use jarmo_host::program::{command, this_program};
use jarmo_host::record::GameRecord;
use jarmo_host::run_folder::{MANIFEST, checkpoint_at};
use jarmo_judge::accuracy::{Cause, Mistake, draw_stages};
use jarmo_learn::compare::{Comparison, Member};
use jarmo_learn::config::Config;
use jarmo_learn::run::{Searched, keep_searched, open_exam, settings, summary};

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

/// The games that the agent plays against itself, after random plies. Those that repeat another one are left out.
const GAMES: &str = "8";
const RANDOM_PLIES: &str = "2";

/// The games and the wrong decisions that are shown.
const SHOWN: usize = 6;

pub(super) fn run(games: &Games, args: &Args) -> Result<(), Failure> {
    let source = args.source.as_path();
    let run = source.is_dir().then_some(source);
    let agent = match run {
        Some(run) => checkpoint_at(run, None).ok().map(|(_, path)| path), // it may have none yet
        None => Some(source.to_owned()),
    };
    let file = agent.as_deref().map(agent_file::load).transpose()?;
    let config = match (run, &file) {
        (Some(run), _) => settings(run)?,
        (None, Some(file)) if games.names().contains(&file.header().version.game.as_str()) => {
            Config::of_run(games, Some(&file.header().version.game), Some(file), &[], &[])?
        }
        (None, file) => {
            let name = file.as_ref().map_or("", |file| &file.header().version.game);
            return Err(in_file(source, unknown_game(games, name)));
        }
    };
    let game = open_game(games, &config, source)?;
    let place = source.canonicalize().map_err(|error| in_file(source, error))?;
    let name = if run.is_some() { place.file_name() } else { place.file_stem() }.unwrap_or_default();
    let name = name.display().to_string();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.html")));
    check_output(Some(&out))?;
    let stop = stop_on_interrupt()?;
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
        data["run"] = json!(summary(run, run, &Locks::now()));
        data["manifest"] = read_text(&run.join(MANIFEST), SETTINGS_BYTES).unwrap_or_default().into(); // it only informs
    }
    if let (Some(agent), Some(file)) = (&agent, &file) {
        data["exam"] = exam(game.as_ref(), &config, agent, &stop)?;
        interrupted(&stop, "no report was written")?;
        if let (Some(run), Ok(score)) = (run, serde_json::from_value(data["exam"]["scores"][1].clone())) {
            let step = file.header().provenance.step;
            keep_searched(run, &Searched { step, simulations: EXAM_SIMULATIONS, score })?;
        }
        data["games"] = self_play(games, game.as_ref(), &config, agent, &stop)?;
    }
    write_output(&out, html(&name, &data))?;
    Ok(writeln!(stdout(), "{}", out.display())?)
}

/// The exam without search and with; null without an exam, or if it was stopped.
fn exam(game: &dyn AnyGame, config: &Config, agent: &Path, stop: &Arc<AtomicBool>) -> Result<Value, Failure> {
    let Some(exam) = open_exam(game, &config.evaluation)? else { return Ok(Value::Null) };
    let alone = take(exam.as_ref(), agent, 0, false, stop)?;
    let searched = take(exam.as_ref(), agent, EXAM_SIMULATIONS, true, stop)?;
    let Some((alone, searched)) = alone.zip(searched) else { return Ok(Value::Null) };
    let labels = ["without search".to_owned(), format!("{EXAM_SIMULATIONS} simulations")];
    let curves: Vec<_> = labels.into_iter().zip([&alone.accuracy, &searched.accuracy]).collect();
    let mistake = |mistake: &Mistake<AnyPosition>| {
        let [chosen, better] = [mistake.chosen, mistake.better].map(|action| game.describe(&mistake.position, action));
        json!({
            "position": game.text(&mistake.position), "scene": scene(game, &mistake.position, &Value::Null),
            "chosen": chosen, "got": mistake.got.to_string(), "better": better, "missed": mistake.missed.to_string(),
        })
    };
    Ok(json!({
        "made": exam.made(), "scores": [alone.accuracy.score(), searched.accuracy.score()],
        "picture": draw_stages("Wrong decisions", &curves),
        "causes": searched.causes.map(|causes| Cause::ALL.map(|cause| json!([cause.name(), causes.total(cause)]))),
        "mistakes": searched.accuracy.mistakes.iter().take(SHOWN).map(mistake).collect::<Vec<_>>(),
    }))
}

/// Games of the agent against itself, as scenes for the board of the page.
fn self_play(
    games: &Games,
    game: &dyn AnyGame,
    config: &Config,
    agent: &Path,
    stop: &AtomicBool,
) -> Result<Value, Failure> {
    let agents = [agent.display().to_string(), agent.display().to_string()];
    let simulations = EXAM_SIMULATIONS.to_string();
    let options = ["--games", GAMES, "--random-plies", RANDOM_PLIES, "--nodes", &simulations].map(str::to_owned);
    let mut played: Vec<GameRecord> = Vec::new();
    play_as(games, (config, &agents, &options), stop, |_| Ok(()), &mut |record| {
        if played.iter().all(|other| other.moves != record.moves) {
            played.push(record.clone());
        }
        Ok(())
    })?;
    let shown = played.iter().take(SHOWN).map(|record| {
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

fn scene(game: &dyn AnyGame, position: &AnyPosition, last: &Value) -> Value {
    let view = game.view(position);
    json!({
        "pieces": view.pieces, "notes": view.notes, "winning": view.winning, "last": last, "legal": [],
        "to_move": position.to_move, "outcome": position.outcome,
    })
}

/// The whole file.
fn html(title: &str, data: &Value) -> String {
    // No text inside an element of a script may end it.
    let inside = |text: String| text.replace('<', "\\u003c");
    let parts = [
        ("{{TITLE}}", title.replace('&', "&amp;").replace('<', "&lt;")),
        ("{{DATA}}", inside(data.to_string())),
        ("{{STYLE}}", inside(json!(include_str!("board.css")).to_string())),
        ("{{BOARD}}", include_str!("board.js").to_owned()),
        ("{{SCRIPT}}", include_str!("report.js").to_owned()),
    ];
    // What is put in may look like a place, so only the rest of the template is searched.
    let (mut file, mut rest) = (String::new(), include_str!("report.html"));
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).expect("the template has these places in this order");
        file = file + before + &part;
        rest = after;
    }
    file + rest
}
