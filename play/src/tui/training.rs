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

impl App {
    /// Shows a lesson or puzzles, or says why there are none.
    pub(crate) fn learn(&mut self, exercise: Result<Exercise, &'static str>) {
        match exercise {
            Ok(exercise) => {
                self.exercise = Some(exercise);
                self.message.clear();
                self.new_board();
            }
            Err(key) => self.message = self.texts.get(key).to_owned(),
        }
    }

    fn leave_exercise(&mut self) {
        if let Some(exercise) = self.exercise.take() {
            exercise.leave(&mut self.session);
            self.new_board();
        }
    }

    /// Handles a key that is not part of a move. Returns whether there is a lesson or a puzzle.
    pub(super) fn exercise_key(&mut self, code: KeyCode) -> bool {
        let Some(exercise) = &mut self.exercise else {
            return false;
        };
        match code {
            KeyCode::Char('n') if exercise.next(&mut self.session) => self.new_board(),
            KeyCode::Char('n' | 'q') | KeyCode::Esc => self.leave_exercise(),
            KeyCode::Char('<') => {
                exercise.back(&mut self.session);
                self.new_board();
            }
            KeyCode::Char('s') => {
                self.said = exercise.solution(&mut self.session, self.texts);
                self.picked = None;
            }
            KeyCode::Char('?') => self.open_help(),
            _ => {}
        }
        true
    }

    /// The task and what is said about the latest move, beside the board.
    pub(super) fn draw_task(&self, frame: &mut Frame, area: Rect, exercise: &Exercise) {
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
        for line in &self.said {
            add(line, |line| line.yellow());
        }
        frame.render_widget(Paragraph::new(lines), area);
    }
}
