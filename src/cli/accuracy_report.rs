//! The results of `jarmo accuracy` as a table and as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::accuracy::ExamBudget;
use jarmo_core::game::{Game, Player};
use jarmo_judge::accuracy::{Accuracy, Cause, Causes, Phase, Tally, share_with_error};

/// An agent's answers with one of its budgets.
pub(super) struct Measured<P> {
    pub budget: ExamBudget,
    pub accuracy: Accuracy<P>,
    /// Why its wrong answers were wrong, if that was asked for.
    pub causes: Option<Causes>,
}

impl<P> Measured<P> {
    /// The heading of its column.
    pub(super) fn column(&self) -> String {
        match self.budget {
            Some(0) => "network".to_owned(),
            None => "spec".to_owned(),
            Some(nodes) => nodes.to_string(),
        }
    }
}

/// One line of JSON. `worst` is the number of mistakes to list.
pub(super) fn to_json<G: Game>(game: &G, agent: &str, measured: &Measured<G::Position>, worst: usize) -> Value {
    let Measured { budget, accuracy, causes } = measured;
    let mut line = json!({
        "agent": agent, "game": game.id(), "nodes": budget,
        "all": accuracy.score().all, "groups": groups(accuracy), "stages": stages(accuracy),
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

/// The decisions in one phase with one player to move.
#[derive(Serialize)]
struct Group {
    phase: Phase,
    to_move: Player,
    #[serde(flatten)]
    tally: Tally,
}

/// All groups with decisions, in the order of phases and players.
fn groups<P>(accuracy: &Accuracy<P>) -> Vec<Group> {
    let group = |phase, to_move| Group { phase, to_move, tally: *accuracy.group(phase, to_move) };
    let phases = Phase::ALL.into_iter();
    let groups = phases.flat_map(|phase| Player::BOTH.map(|player| group(phase, player)));
    groups.filter(|group| group.tally.decisions > 0).collect()
}

/// The decisions in each stage with one player to move: objects with `force` or `ply`.
fn stages<P>(accuracy: &Accuracy<P>) -> Vec<Value> {
    let mut all = Vec::new();
    for (stage, sides) in accuracy.stages() {
        for (player, tally) in Player::BOTH.into_iter().zip(sides).filter(|(_, tally)| tally.decisions > 0) {
            let mut object = json!(tally);
            object[stage.unit] = stage.number.into();
            object["to_move"] = player.name().into();
            all.push(object);
        }
    }
    all
}

#[derive(Serialize)]
struct MistakeText {
    position: String,
    chosen: String,
    got: String,
    better: String,
    missed: String,
}

fn mistakes<G: Game>(game: &G, accuracy: &Accuracy<G::Position>, worst: usize) -> Vec<MistakeText> {
    let listed = accuracy.mistakes.iter().take(worst);
    listed
        .map(|mistake| {
            let action = |action| game.action_text(&mistake.position, action);
            MistakeText {
                position: game.position_text(&mistake.position),
                chosen: action(mistake.chosen),
                got: mistake.got.to_string(),
                better: action(mistake.better),
                missed: mistake.missed.to_string(),
            }
        })
        .collect()
}

/// The results of an agent as a table with a column for each budget, and its worst mistakes.
pub(super) fn write_table<G: Game>(
    out: &mut impl Write,
    game: &G,
    agent: &str,
    measured: &[Measured<G::Position>],
    worst: usize,
) -> io::Result<()> {
    writeln!(out, "{agent}")?;
    write_shares(out, measured)?;
    write_causes(out, measured)?;
    for one in measured {
        let budget = one.column();
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
fn rows<P>(accuracy: &Accuracy<P>) -> Vec<Row> {
    let all = accuracy.score().all;
    let mut rows = vec![
        Row { label: "all decisions".to_owned(), asked: all.decisions, wrong: all.decisions - all.right },
        Row::critical("critical ones".to_owned(), &all),
    ];
    for group in groups(accuracy) {
        let (phase, side) = (group.phase.name(), group.to_move.name());
        rows.push(Row::critical(format!("  {phase}, {side}"), &group.tally));
    }
    for (stage, tally) in accuracy.large_stages() {
        rows.push(Row::critical(format!("  {stage}"), &tally));
    }
    rows
}

fn write_shares<P>(out: &mut impl Write, measured: &[Measured<P>]) -> io::Result<()> {
    write!(out, "  {:17} {:>8} ", "wrong, in %", "asked")?;
    for one in measured {
        write!(out, " {:>12}", one.column())?;
    }
    writeln!(out)?;
    let columns: Vec<Vec<Row>> = measured.iter().map(|one| rows(&one.accuracy)).collect();
    for (number, row) in columns[0].iter().enumerate() {
        write!(out, "  {:17} {:>8} ", row.label, row.asked)?;
        for column in &columns {
            let Row { asked, wrong, .. } = column[number];
            match asked {
                0 => write!(out, " {:>12}", "-")?,
                _ => {
                    let (share, error) = share_with_error(wrong, asked);
                    let cell = format!("{:.2} ±{:.2}", 100.0 * share, 100.0 * error);
                    write!(out, " {cell:>12}")?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_causes<P>(out: &mut impl Write, measured: &[Measured<P>]) -> io::Result<()> {
    for one in measured {
        let Some(causes) = &one.causes else { continue };
        write!(out, "  {:17}", format!("causes at {}", one.column()))?;
        for cause in Cause::ALL {
            write!(out, " {:>8}", cause.name())?;
        }
        writeln!(out)?;
        let mut row = |label: &str, count: &dyn Fn(Cause) -> u64| {
            write!(out, "  {label:17}")?;
            for cause in Cause::ALL {
                write!(out, " {:>8}", count(cause))?;
            }
            writeln!(out)
        };
        row("all wrong ones", &|cause| causes.total(cause))?;
        for phase in Phase::ALL {
            let label = format!("  {}", phase.name());
            row(&label, &|cause| causes.count(phase, cause))?;
        }
    }
    Ok(())
}
