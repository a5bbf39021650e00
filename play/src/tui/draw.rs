//! Drawing of the screen: the board on the left, the state of the game on the right.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::app::{App, Page};
use super::board::{self, Grid, Picture};
use super::menu::{Menu, seat_names};
use crate::exercise::Exercise;
use crate::words;
use jarmo_core::game::Player;
use jarmo_exact::catalog::GAMES;

/// The smallest supported screen, width and height.
const LEAST: (u16, u16) = (80, 24);

/// The least width of the column beside the board.
const SIDE_WIDTH: u16 = 31;

impl App {
    /// Draws the screen.
    pub fn draw(&mut self, frame: &mut Frame) {
        let area = frame.area();
        if (area.width, area.height) < LEAST || area.height < LEAST.1 {
            let need = format!("{}x{}", LEAST.0, LEAST.1);
            let mut text = self.texts.fill("too_small", &[("w", &area.width), ("h", &area.height), ("need", &need)]);
            if matches!(self.page, Page::Quit) {
                text = format!("{}\n{text}", self.texts.get("confirm_quit"));
            }
            return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        }
        let [top, middle, message, bottom] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(2), Constraint::Length(1)])
                .areas(area);
        self.draw_title(frame, top);
        let keys = match &self.page {
            Page::Menu(_) => "keys_menu",
            Page::Text { .. } => "keys_pages",
            _ => match &self.exercise {
                Some(exercise) if exercise.is_lesson() => "keys_lesson",
                Some(_) => "keys_puzzles",
                None => "keys_board",
            },
        };
        frame.render_widget(Line::from(self.texts.get(keys)).dark_gray(), bottom);
        match &self.page {
            Page::Text { lines, scroll } => draw_text(frame, middle, lines, *scroll),
            Page::Menu(menu) => self.draw_menu(frame, middle, menu),
            _ => {
                let side = SIDE_WIDTH.max(middle.width / 3);
                let columns = [Constraint::Min(0), Constraint::Length(1), Constraint::Length(side)];
                let [left, _, right] = Layout::horizontal(columns).areas(middle);
                self.draw_board(frame, left);
                match &self.exercise {
                    Some(exercise) => self.draw_task(frame, right, exercise),
                    None => self.draw_side(frame, right),
                }
            }
        }
        self.draw_message(frame, message);
    }

    fn draw_title(&self, frame: &mut Frame, area: Rect) {
        let game = self.session.board().game();
        let title = self.texts.get(&format!("game_{game}")).to_owned();
        let mut line = Line::from(vec![Span::from(format!(" {title} ")).bold().reversed()]);
        if let Some(score) = words::match_score(self.texts, &self.session) {
            line.push_span(format!("  {score}"));
        }
        frame.render_widget(line, area);
    }

    fn draw_board(&mut self, frame: &mut Frame, area: Rect) {
        self.board_area = area;
        let targets = self.targets();
        let picture = Picture {
            grid: Grid::new(&self.layout, area, self.flipped()),
            scene: &self.scene,
            letters: Player::BOTH.map(|player| self.texts.letter(self.session.board().game(), player)),
            cursor: Some(self.cursor),
            picked: self.picked,
            targets: &targets,
        };
        board::draw(&picture, frame.buffer_mut());
    }

    fn draw_side(&self, frame: &mut Frame, area: Rect) {
        let mut lines: Vec<Line> = Player::BOTH.map(|player| self.seat_line(player)).into();
        lines.push(Line::from(words::status(self.texts, &self.session)).bold());
        for tally in &self.scene.tallies {
            let [white, black] = tally.values;
            let name = self.texts.get(tally.key);
            lines.push(Line::from(format!("{name:<22}{white:>3} :{black:>3}")));
        }
        for note in words::notes(self.texts, &self.session) {
            lines.extend(wrap(&note, area.width).into_iter().map(|line| Line::from(line).yellow()));
        }
        if self.session.evaluating {
            lines.push(self.evaluation_line());
        }
        if self.show_ideas || self.session.analysing() {
            lines.extend(self.idea_lines(area.width));
        }
        lines.push(Line::from(self.texts.get("moves")).dark_gray());
        let room = usize::from(area.height).saturating_sub(lines.len());
        lines.extend(self.move_lines(room));
        frame.render_widget(Paragraph::new(lines), area);
    }

    /// The task and what is said about the latest move, beside the board.
    fn draw_task(&self, frame: &mut Frame, area: Rect, exercise: &Exercise) {
        let lines = exercise.lines(&self.session, self.texts).into_iter().map(Line::from);
        let mut lines: Vec<Line> = lines.collect();
        if let [heading, .., task] = &mut lines[..] {
            heading.style = Style::new().bold().cyan();
            task.style = Style::new().bold();
        }
        lines.extend(self.said.iter().map(|line| Line::from(line.as_str()).yellow()));
        let spaced: Vec<Line> = lines.into_iter().flat_map(|line| [line, Line::default()]).collect();
        frame.render_widget(Paragraph::new(spaced).wrap(Wrap { trim: true }), area);
    }

    fn seat_line(&self, player: Player) -> Line<'static> {
        let game = self.session.board().game();
        let letter = format!(" {} ", self.texts.letter(game, player));
        let seat = self.session.seats()[player.index()].to_string();
        let name = format!(" {} · {}", self.texts.player(game, player), words::seat(self.texts, &seat));
        let turn = self.scene.outcome.is_none() && self.scene.to_move == player;
        let name = if turn { Span::from(name).bold() } else { Span::from(name) };
        let sign = if turn { " ◂" } else { "" };
        Line::from(vec![Span::styled(letter, board::disc(self.layout.style, player)), name, Span::from(sign)])
    }

    /// The evaluation bar with White's share, and its number.
    fn evaluation_line(&self) -> Line<'static> {
        const WIDTH: usize = 20;
        let Some(value) = self.session.value(self.session.board().cursor()) else {
            return Line::from("·".repeat(WIDTH)).dark_gray();
        };
        let filled = ((value + 1.0) / 2.0 * WIDTH as f32).round() as usize;
        Line::from(vec![
            Span::styled("█".repeat(filled), Style::new().fg(Color::White)),
            Span::styled("█".repeat(WIDTH - filled), Style::new().fg(Color::Blue)),
            Span::from(format!(" {}", words::chance(value))),
        ])
    }

    fn idea_lines(&self, width: u16) -> Vec<Line<'static>> {
        let (game, here) = (self.session.board().game(), self.session.board().cursor());
        let thought = match self.session.analysing() {
            true => self.session.thought(here),
            false => self.session.hint(),
        };
        let Some(thought) = thought else {
            return Vec::new();
        };
        let best = self.texts.fill("hint_best", &[("move", &thought.text)]);
        let key = match self.session.next_round() {
            Some(_) => "searching_on",
            None => "searched",
        };
        let searched = self.texts.fill(key, &[("n", &thought.nodes)]);
        let head = wrap(&format!("{best} ({searched})"), width).into_iter();
        let mut lines: Vec<Line> = head.map(|line| Line::from(line).green().bold()).collect();
        if let Some(proven) = thought.proven {
            let proven = wrap(&words::proven(self.texts, game, proven), width).into_iter();
            lines.extend(proven.map(|line| Line::from(line).green()));
        }
        const IDEAS: usize = 3;
        for idea in thought.candidates.iter().take(IDEAS) {
            let text = format!(" {}", words::idea(self.texts, game, self.scene.to_move, idea));
            let shown = match idea.proven {
                Some(_) if text.chars().count() > width.into() => {
                    wrap(&text, width.saturating_sub(1)).into_iter().map(|line| format!(" {line}")).collect()
                }
                Some(_) => vec![text],
                None => vec![whole_words(&text, width).to_owned()], // as many moves of its line as there is room for
            };
            lines.extend(shown.into_iter().map(|line| Line::from(line).green()));
        }
        lines
    }

    /// The moves that fit, two per line, with the move before the cursor in reverse video.
    fn move_lines(&self, room: usize) -> Vec<Line<'static>> {
        let moves = self.session.board().moves();
        if moves.is_empty() {
            return vec![Line::from(self.texts.get("no_moves_yet").to_owned()).dark_gray()];
        }
        let assessments = match self.session.analysing() {
            true => self.session.assessments(),
            false => Vec::new(),
        };
        let here = self.session.board().cursor();
        let spans = moves.iter().enumerate().map(|(place, played)| {
            let mark = assessments.get(place).map_or("", |one| one.mark);
            let text = format!("{:>4} {}{mark} ", played.label(), played.text);
            let style = match place + 1 {
                number if number == here => Style::new().add_modifier(Modifier::REVERSED),
                number if number > here => Style::new().fg(Color::DarkGray),
                _ if !mark.is_empty() => Style::new().fg(Color::Red),
                _ => Style::new(),
            };
            Span::styled(format!("{text:<15}"), style)
        });
        let spans: Vec<Span> = spans.collect();
        let lines: Vec<Line> = spans.chunks(2).map(|pair| Line::from(pair.to_vec())).collect();
        // The move before the cursor stays visible.
        let now = here.saturating_sub(1) / 2;
        let first = lines.len().saturating_sub(room).min(now.saturating_sub(room / 2));
        lines.into_iter().skip(first).take(room).collect()
    }

    fn draw_menu(&self, frame: &mut Frame, area: Rect, menu: &Menu) {
        let row = |index: usize, name: &str, value: String| {
            let line = Line::from(format!("   {name:<12} ‹ {value} ›"));
            if index == menu.row { line.bold().reversed() } else { line }
        };
        let game = self.texts.get(&format!("game_{}", GAMES[menu.game])).to_owned();
        let mut lines = vec![
            Line::default(),
            Line::from(format!("   {}", self.texts.get("new_game"))).bold(),
            Line::default(),
            row(0, self.texts.get("game"), game),
        ];
        for player in Player::BOTH {
            let choice = &menu.seats[player.index()];
            let value = match seat_names().get(choice.place) {
                Some(name) => words::rated_seat(self.texts, &self.session, GAMES[menu.game], name),
                None => format!("{}: {}_", self.texts.get("agent_spec"), choice.spec),
            };
            lines.push(row(player.index() + 1, self.texts.player(GAMES[menu.game], player), value));
        }
        lines.push(Line::default());
        lines.push(Line::from(format!("   [Enter] {}", self.texts.get("start"))));
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn draw_message(&self, frame: &mut Frame, area: Rect) {
        let line = match &self.page {
            Page::Quit => self.texts.get("confirm_quit").to_owned(),
            Page::File { name, .. } => format!("{}{name}_", self.texts.get("file")),
            Page::Board if !self.typed.is_empty() => {
                format!("{}{}_", self.texts.get("move_prompt"), self.typed)
            }
            _ => self.message.clone(),
        };
        frame.render_widget(Paragraph::new(line).wrap(Wrap { trim: true }).yellow(), area);
    }
}

fn draw_text(frame: &mut Frame, area: Rect, text: &str, scroll: u16) {
    let lines: Vec<Line> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(heading) => Line::from(heading.to_owned()).bold().cyan(),
            None => Line::from(line.to_owned()),
        })
        .collect();
    let page = Paragraph::new(lines).wrap(Wrap { trim: true }).scroll((scroll, 0));
    frame.render_widget(page, area);
}

/// The beginning of a text that fits into this width, up to the end of a word.
fn whole_words(text: &str, width: u16) -> &str {
    let Some((end, next)) = text.char_indices().nth(width.into()) else {
        return text;
    };
    let fitting = &text[..end];
    if next == ' ' { fitting } else { fitting.rsplit_once(' ').map_or(fitting, |(words, _)| words) }
}

/// Breaks a text at spaces into lines of at most this width.
fn wrap(text: &str, width: u16) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width.into() {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
