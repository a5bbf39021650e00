//! `jarmo exam show`

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Subcommand;

use super::Failure;
use jarmo_core::game::Player;
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::Games;
use jarmo_judge::accuracy::{ExamHeader, Phase};

/// Exams: positions with the exact result of every action
#[derive(Subcommand)]
pub(super) enum Command {
    /// Show how an exam was made, and count its positions
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// The exam
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The board file, if the exam is for another board than the standard one
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

pub(super) fn run(games: &Games, command: Command) -> Result<(), Failure> {
    let Command::Show(args) = command;
    let header = ExamHeader::load(&args.file)?;
    let settings = GameSettings { board: args.board.clone(), quiet_limit: header.quiet_limit, max_plies: None };
    let game = games.open(&header.game, &settings)?;
    let exam = game.exam(Some(&args.file))?.expect("it is in a file");
    let questions = exam.questions();
    let mut out = stdout().lock();
    writeln!(out, "{} questions of {}", questions.len(), header.game)?;
    writeln!(out, "made by {}", exam.made())?;
    writeln!(out, "  phase    to move  questions  critical")?;
    for (phase, player) in Phase::ALL.into_iter().flat_map(|phase| Player::BOTH.map(|player| (phase, player))) {
        let asked = questions.iter().filter(|question| question.phase == phase && question.position.to_move == player);
        let (asked, critical) = (asked.clone().count(), asked.filter(|question| question.is_critical()).count());
        let (phase, player) = (phase.name(), player.name());
        writeln!(out, "  {phase:7}  {player:7}  {asked:9}  {critical:8}")?;
    }
    Ok(())
}
