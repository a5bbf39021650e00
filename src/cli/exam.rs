//! `jarmo exam show`

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Subcommand;

use super::Failure;
use jarmo_core::game::Player;
use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask};
use jarmo_judge::accuracy::{Exam, ExamHeader, Phase};

/// Exams: positions with the exact result of every action
#[derive(Subcommand)]
pub(super) enum Command {
    /// Say what an exam is and count its questions
    Show(ShowArgs),
}

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// The exam
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The board file of an exam on another board than the standard one
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
}

pub(super) fn run<C: Catalog>(games: &C, command: Command) -> Result<(), Failure> {
    let Command::Show(args) = command;
    let header = ExamHeader::load(&args.file)?;
    let settings = GameSettings { board: args.board.clone(), ..GameSettings::default() };
    games.with_game(&header.game, &settings, &args)?
}

impl GameTask for &ShowArgs {
    type Output = Result<(), Failure>;

    fn run<G: CatalogGame>(self, game: G) -> Result<(), Failure> {
        let exam = Exam::load(&game, &self.file)?;
        let mut out = stdout().lock();
        writeln!(out, "{} questions of {}", exam.len(), game.id())?;
        writeln!(out, "made by {}", exam.made())?;
        writeln!(out, "  phase    to move  questions  critical")?;
        for phase in Phase::ALL {
            for player in Player::BOTH {
                let asked = exam.questions().iter().filter(|question| question.phase == phase);
                let asked: Vec<_> = asked.filter(|question| game.to_move(&question.position) == player).collect();
                let critical = asked.iter().filter(|question| question.is_critical()).count();
                let (phase, player, questions) = (phase.name(), player.name(), asked.len());
                writeln!(out, "  {phase:7}  {player:7}  {questions:9}  {critical:8}")?;
            }
        }
        Ok(())
    }
}
