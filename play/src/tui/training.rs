//! Lessons and puzzles on the screen.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::app::App;
use super::draw::wrap;
use crate::exercise::Exercise;
use crate::session::Session;

/// What is on the board, and the game that it replaces.
pub(super) struct Training {
    pub(super) exercise: Exercise,
    game: Session,
    said: Vec<String>, // about the latest move
}

impl App {
    /// Puts a lesson or puzzles on the board, or says why there are none.
    pub(super) fn learn(&mut self, exercise: Result<Exercise, &'static str>) {
        match exercise {
            Ok(exercise) => self.train(exercise),
            Err(key) => self.message = self.texts.get(key).to_owned(),
        }
    }

    pub(crate) fn train(&mut self, exercise: Exercise) {
        let game = std::mem::replace(&mut self.session, exercise.session());
        self.training = Some(Training { exercise, game, said: Vec::new() });
        self.message.clear();
        self.new_board();
    }

    fn leave_training(&mut self) {
        if let Some(Training { game, .. }) = self.training.take() {
            self.session = game;
            self.new_board();
        }
    }

    /// Handles a key that is not part of a move. Returns whether there is a lesson or a puzzle.
    pub(super) fn training_key(&mut self, code: KeyCode) -> bool {
        let Some(Training { exercise, said, .. }) = &mut self.training else {
            return false;
        };
        match code {
            KeyCode::Char('n') if !exercise.next() => self.leave_training(),
            KeyCode::Char('n') => self.new_task(),
            KeyCode::Char('<') => {
                exercise.back();
                self.new_task();
            }
            KeyCode::Char('s') => {
                *said = exercise.solution(&mut self.session, self.texts);
                self.picked = None;
            }
            KeyCode::Char('?') => self.open_help(),
            KeyCode::Char('q') | KeyCode::Esc => self.leave_training(),
            _ => {}
        }
        true
    }

    /// Sets up the board of the task.
    fn new_task(&mut self) {
        if let Some(Training { exercise, said, .. }) = &mut self.training {
            self.session = exercise.session();
            said.clear();
        }
        self.new_board();
    }

    /// Plays a move of the task. Returns false if the game is on the board.
    pub(super) fn play_task(&mut self, text: &str) -> bool {
        let Some(Training { exercise, said, .. }) = &mut self.training else {
            return false;
        };
        *said = exercise.play(&mut self.session, self.texts, text);
        self.picked = None;
        true
    }

    /// The task and what is said about the latest move, beside the board.
    pub(super) fn draw_task(&self, frame: &mut Frame, area: Rect, training: &Training) {
        let Training { exercise, said, .. } = training;
        let mut lines: Vec<Line> = Vec::new();
        let mut add = |text: &str, style: fn(Line<'static>) -> Line<'static>| {
            let wrapped = wrap(text, area.width).into_iter();
            lines.extend(wrapped.map(|line| style(Line::from(line))));
            lines.push(Line::default());
        };
        add(&exercise.heading(self.texts), |line| line.bold().cyan());
        let told = exercise.lines(self.texts);
        let (task, before) = told.split_last().expect("there is always a task");
        for line in before {
            add(line, |line| line);
        }
        add(task, |line| line.bold());
        for line in said {
            add(line, |line| line.yellow());
        }
        frame.render_widget(Paragraph::new(lines), area);
    }
}
