//! The results of `jarmo accuracy` as a table and as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::measure::budget_name;
use jarmo_core::game::{AnyPosition, Player};
use jarmo_facade::AnyGame;
use jarmo_facade::measure::Measured;
use jarmo_judge::accuracy::{Accuracy, Cause, Phase, Tally, share_with_error};

/// One line of JSON. `worst` is the number of mistakes to list.
pub(super) fn to_json(game: &dyn AnyGame, agent: &str, measured: &Measured, worst: usize) -> Value {
    let Measured { budget, accuracy, causes } = measured;
    let groups = groups(accuracy).map(|(phase, player, tally)| part("phase", phase.name().into(), player, tally));
    let stages = accuracy.stages().flat_map(|(stage, sides)| {
        let sides = Player::BOTH.into_iter().zip(sides).filter(|(_, tally)| tally.decisions > 0);
        sides.map(move |(player, tally)| part(stage.unit, stage.number.into(), player, tally))
    });
    let mut line = json!({
        "agent": agent, "game": game.facts().name, "nodes": budget, "all": accuracy.score().all,
        "groups": groups.collect::<Vec<_>>(), "stages": stages.collect::<Vec<_>>(),
        "worst": mistakes(game, accuracy, worst),
    });
    if let Some(causes) = causes {
        let count = |count: &dyn Fn(Cause) -> u64| {
            let pairs = Cause::ALL.map(|cause| (cause.name().to_owned(), count(cause).into()));
            Value::Object(pairs.into_iter().collect())
        };
        line["causes"] = count(&|cause| causes.total(cause));
        for phase in Phase::ALL {
            line["causes"][phase.name()] = count(&|cause| causes.count(phase, cause));
        }
    }
    line
}

/// The decisions in a part of the game with one player to move.
fn part(unit: &str, name: Value, to_move: Player, tally: &Tally) -> Value {
    let mut object = json!(tally);
    object[unit] = name;
    object["to_move"] = to_move.name().into();
    object
}

/// The decisions by phase and player to move, where there are any.
fn groups(accuracy: &Accuracy<AnyPosition>) -> impl Iterator<Item = (Phase, Player, &Tally)> {
    let of_phase = |phase| Player::BOTH.map(|player| (phase, player, accuracy.group(phase, player)));
    Phase::ALL.into_iter().flat_map(of_phase).filter(|(.., tally)| tally.decisions > 0)
}

#[derive(Serialize)]
struct MistakeText {
    position: String,
    chosen: String,
    got: String,
    better: String,
    missed: String,
}

fn mistakes(game: &dyn AnyGame, accuracy: &Accuracy<AnyPosition>, worst: usize) -> Vec<MistakeText> {
    let listed = accuracy.mistakes.iter().take(worst);
    listed
        .map(|mistake| {
            let action = |action| game.describe(&mistake.position, action).text;
            MistakeText {
                position: game.text(&mistake.position),
                chosen: action(mistake.chosen),
                got: mistake.got.to_string(),
                better: action(mistake.better),
                missed: mistake.missed.to_string(),
            }
        })
        .collect()
}

/// The results of an agent as a table with a column for each budget, and its worst mistakes.
pub(super) fn write_table(
    out: &mut impl Write,
    game: &dyn AnyGame,
    agent: &str,
    measured: &[Measured],
    worst: usize,
) -> io::Result<()> {
    writeln!(out, "{agent}")?;
    write_shares(out, measured)?;
    write_causes(out, measured)?;
    for one in measured {
        let budget = budget_name(one.budget);
        for mistake in mistakes(game, &one.accuracy, worst) {
            let MistakeText { position, chosen, got, better, missed } = mistake;
            writeln!(out, "  {budget}: {position}: {chosen} ({got}), right is {better} ({missed})")?;
        }
    }
    writeln!(out)
}

/// A row of the table: some decisions, and how many of them were wrong.
struct Row {
    label: String,
    asked: u64,
    wrong: u64,
}

impl Row {
    fn critical(label: String, tally: &Tally) -> Row {
        Row { label, asked: tally.critical, wrong: tally.critical - tally.critical_right }
    }
}

/// All decisions, the critical ones, and those by phase and side and by stage.
fn rows(accuracy: &Accuracy<AnyPosition>) -> Vec<Row> {
    let all = accuracy.score().all;
    let mut rows = vec![
        Row { label: "all decisions".to_owned(), asked: all.decisions, wrong: all.decisions - all.right },
        Row::critical("critical ones".to_owned(), &all),
    ];
    for (phase, to_move, tally) in groups(accuracy) {
        rows.push(Row::critical(format!("  {}, {}", phase.name(), to_move.name()), tally));
    }
    for (stage, tally) in accuracy.large_stages() {
        rows.push(Row::critical(format!("  {stage}"), &tally));
    }
    rows
}

fn write_shares(out: &mut impl Write, measured: &[Measured]) -> io::Result<()> {
    let mut line = |label: &str, asked: &str, cells: &mut dyn Iterator<Item = String>| {
        write!(out, "  {label:17} {asked:>9} ")?;
        for cell in cells {
            write!(out, " {cell:>12}")?;
        }
        writeln!(out)
    };
    line("wrong, in %", "decisions", &mut measured.iter().map(|one| budget_name(one.budget)))?;
    let columns: Vec<Vec<Row>> = measured.iter().map(|one| rows(&one.accuracy)).collect();
    for (number, row) in columns[0].iter().enumerate() {
        let cell = |column: &Vec<Row>| {
            let Row { asked, wrong, .. } = column[number];
            let (share, error) = share_with_error(wrong, asked);
            if asked == 0 { "-".to_owned() } else { format!("{:.2} ±{:.2}", 100.0 * share, 100.0 * error) }
        };
        line(&row.label, &row.asked.to_string(), &mut columns.iter().map(cell))?;
    }
    Ok(())
}

fn write_causes(out: &mut impl Write, measured: &[Measured]) -> io::Result<()> {
    let mut line = |label: &str, [policy, search, value]: [String; 3]| {
        writeln!(out, "  {label:17} {policy:>8} {search:>8} {value:>8}")
    };
    for one in measured {
        let Some(causes) = &one.causes else { continue };
        line(&format!("causes at {}", budget_name(one.budget)), Cause::ALL.map(|cause| cause.name().to_owned()))?;
        line("all wrong ones", Cause::ALL.map(|cause| causes.total(cause).to_string()))?;
        for phase in Phase::ALL {
            let counts = Cause::ALL.map(|cause| causes.count(phase, cause).to_string());
            line(&format!("  {}", phase.name()), counts)?;
        }
    }
    Ok(())
}
