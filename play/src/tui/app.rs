//! The state of the screen and the effect of keys and clicks, independent of a real terminal.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::board::Grid;
use super::menu::Menu;
use crate::board::Scene;
use crate::error::SessionError;
use crate::exercise::Exercise;
use crate::lang::{Language, Texts};
use crate::session::{Job, Session};
use crate::thought::Analysis;
use crate::{files, words};
use jarmo_core::view::{Layout, Style};

/// The state of the screen.
pub struct App {
    /// The session.
    pub session: Session,
    pub(super) texts: &'static Texts,
    pub(super) layout: Layout,
    pub(super) scene: Scene,
    pub(super) page: Page,
    pub(super) cursor: usize,
    pub(super) picked: Option<usize>,
    pub(super) typed: String,
    pub(super) message: String,
    pub(super) show_ideas: bool,
    pub(super) board_area: Rect,
    pub(super) seed: u64,
    pub(super) exercise: Option<Exercise>,
    pub(super) said: Vec<String>, // about the latest move of the exercise
    /// Whether the player has quit.
    pub over: bool,
}

/// The page on the screen.
pub(super) enum Page {
    Board,
    Menu(Menu),
    Text {
        lines: String,
        scroll: u16,
    },
    /// The name of a file to save the game to, or else to load one from.
    File {
        saves: bool,
        name: String,
    },
    Quit,
}

impl App {
    /// Starts with the board of a session.
    pub fn new(session: Session, language: Language, seed: u64) -> App {
        let texts = language.texts();
        let mut app = App {
            layout: session.board().layout(),
            scene: session.board().scene(),
            session,
            texts,
            page: Page::Board,
            cursor: 0,
            picked: None,
            typed: String::new(),
            message: String::new(),
            show_ideas: false,
            board_area: Rect::default(),
            seed,
            exercise: None,
            said: Vec::new(),
            over: false,
        };
        app.introduce();
        app
    }

    /// Reports if the best level is not a trained agent.
    fn introduce(&mut self) {
        self.message = words::agent_problem(self.texts, &self.session).unwrap_or_default();
    }

    /// Takes the answer to a job.
    pub fn finish(&mut self, job: &Job, thought: Result<Analysis, SessionError>) {
        if self.exercise.is_some() {
            return; // the job was about the game
        }
        if self.session.finish(job, thought) && job.is_move() {
            self.message.clear();
        }
        if let Some(problem) = &self.session.trouble {
            self.message = problem.to_string();
        }
        self.refresh();
    }

    /// Handles a key press.
    pub fn key(&mut self, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            match std::mem::replace(&mut self.page, Page::Board) {
                Page::Quit => self.over = true,
                _ => self.command('q'),
            }
            return;
        }
        match std::mem::replace(&mut self.page, Page::Board) {
            Page::Board => self.board_key(key.code),
            Page::Menu(menu) => self.menu_key(menu, key.code),
            Page::Text { lines, scroll } => self.text_key(lines, scroll, key.code),
            Page::File { saves, name } => self.file_key(saves, name, key.code),
            Page::Quit => self.over = self.is_yes(key.code),
        }
        self.refresh();
    }

    /// Whether a key answers yes in the language of the player.
    fn is_yes(&self, code: KeyCode) -> bool {
        let yes = self.texts.get("yes_key");
        match code {
            KeyCode::Char(letter) => yes.chars().eq(letter.to_lowercase()),
            code => code == KeyCode::Enter,
        }
    }

    /// Handles a mouse event.
    pub fn mouse(&mut self, event: MouseEvent) {
        let at = Position::new(event.column, event.row);
        let pressed = event.kind == MouseEventKind::Down(MouseButton::Left);
        if !pressed || !matches!(self.page, Page::Board) {
            return;
        }
        let grid = Grid::new(&self.layout, self.board_area, self.flipped());
        if let Some(cell) = grid.hit(at) {
            self.cursor = cell;
            self.choose(cell);
            self.refresh();
        }
    }

    /// Whether Black is at the bottom: only Black is a person, or is to solve the task. Where pieces fall, White always
    /// is.
    pub(super) fn flipped(&self) -> bool {
        if self.layout.style == Style::Slots {
            return false;
        }
        if let Some(exercise) = &self.exercise {
            return exercise.flipped(&self.session);
        }
        let [white, black] = self.session.seats();
        use crate::agents::Seat::Human;
        *black == Human && *white != Human
    }

    /// Target cells of the picked piece, or cells for a placement if none is picked.
    pub(super) fn targets(&self) -> Vec<usize> {
        if !self.may_play() {
            return Vec::new();
        }
        let fitting = self.scene.legal.iter().filter(|legal| legal.gesture.from == self.picked);
        fitting.filter_map(|legal| legal.gesture.to).collect()
    }

    fn may_play(&self) -> bool {
        self.session.human_to_move() || self.session.analysing()
    }

    fn refresh(&mut self) {
        let board = self.session.board();
        self.scene = board.scene();
        let movable = |from| self.scene.legal.iter().any(|legal| legal.gesture.from == Some(from));
        self.picked = self.picked.filter(|&from| self.may_play() && movable(from));
    }

    fn board_key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Up => self.walk(0, 1),
            KeyCode::Down => self.walk(0, -1),
            KeyCode::Left => self.walk(-1, 0),
            KeyCode::Right => self.walk(1, 0),
            KeyCode::Tab => self.next_place(),
            KeyCode::Enter if !self.typed.is_empty() => {
                let typed = std::mem::take(&mut self.typed);
                self.play(&typed);
            }
            KeyCode::Enter => self.choose(self.cursor),
            KeyCode::Char(' ') if self.typed.is_empty() => self.choose(self.cursor),
            KeyCode::Backspace => {
                self.typed.pop();
            }
            KeyCode::Esc if self.exercise.is_some() && self.typed.is_empty() && self.picked.is_none() => {
                self.exercise_key(code);
            }
            KeyCode::Esc => {
                self.message.clear();
                self.typed.clear();
                self.picked = None;
            }
            // Column letters begin a move; all commands are other letters.
            KeyCode::Char(letter) if !self.typed.is_empty() || self.begins_move(letter) => {
                const LONGEST: usize = 12;
                if self.typed.len() < LONGEST && letter.is_ascii_graphic() {
                    self.typed.push(letter);
                }
            }
            _ if self.exercise_key(code) => {}
            KeyCode::Char(letter) => self.command(letter),
            _ => {}
        }
    }

    fn begins_move(&self, letter: char) -> bool {
        let is_first = |first: char| first.eq_ignore_ascii_case(&letter);
        let is_column = self.layout.cells.iter().any(|cell| cell.name.chars().next().is_some_and(is_first));
        // `h` is a column of tammi, where upper case `H` asks for a hint.
        letter == '@' || (is_column && !(letter == 'H' && self.layout.columns == 8))
    }

    fn command(&mut self, letter: char) {
        let end = self.session.board().moves().len();
        let here = self.session.board().cursor();
        self.message.clear();
        self.session.trouble = None;
        match letter {
            'u' => self.session.undo(),
            'r' => self.session.redo(),
            '<' | ',' => self.session.go_to(here.saturating_sub(1)),
            '>' | '.' => self.session.go_to(here + 1),
            '[' => self.session.go_to(0),
            ']' => self.session.go_to(end),
            'p' if self.only_pass() => self.play("pass"),
            'p' => self.session.resume(),
            'h' | 'H' => {
                self.session.ask_hint();
                self.show_ideas = true;
            }
            'v' => self.session.evaluating = !self.session.evaluating,
            'x' => self.session.swap(),
            'n' => self.page = Page::Menu(Menu::new(&self.session)),
            // The second game of a match, or a new match.
            'm' => self.session.next_game().unwrap_or_else(|_| self.session.new_match()),
            'k' => self.session.set_deepening(!self.session.deepening()),
            'w' => self.session.set_analysing(!self.session.analysing()),
            's' | 'l' => {
                let name = format!("{}.jsonl", self.session.board().game());
                self.page = Page::File { saves: letter == 's', name };
            }
            't' => self.learn(Exercise::lesson),
            'o' => self.learn(Exercise::puzzles),
            '?' => self.open_help(),
            'q' if self.exercise.is_none() && (end == 0 || self.scene.outcome.is_some()) => self.over = true,
            'q' => self.page = Page::Quit,
            _ => {}
        }
    }

    /// Begins a lesson or puzzles, or says why there are none.
    fn learn(&mut self, begin: fn(&mut Session) -> Result<Exercise, &'static str>) {
        match begin(&mut self.session) {
            Ok(exercise) => self.train(exercise),
            Err(key) => self.message = self.texts.get(key).to_owned(),
        }
    }

    pub(crate) fn train(&mut self, exercise: Exercise) {
        self.exercise = Some(exercise);
        self.message.clear();
        self.new_board();
    }

    fn leave_exercise(&mut self) {
        if let Some(exercise) = self.exercise.take() {
            exercise.leave(&mut self.session);
            self.new_board();
        }
    }

    /// Handles a key that is not part of a move. Returns whether there is a lesson or a puzzle.
    fn exercise_key(&mut self, code: KeyCode) -> bool {
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

    fn only_pass(&self) -> bool {
        let end = self.session.board().moves().len();
        let pass = self.scene.legal.iter().any(|legal| legal.text == "pass");
        pass && self.may_play() && self.session.board().cursor() == end
    }

    fn open_help(&mut self) {
        let game = self.session.board().game();
        let title = self.texts.get(&format!("game_{game}"));
        let keys = self.texts.get("help_keys").trim();
        let lines = format!("{keys}\n\n# — {title} —\n{}", words::rules(self.texts, self.session.board()).trim());
        self.page = Page::Text { lines, scroll: 0 };
    }

    /// Moves the cursor to the nearest cell in a direction on the screen.
    fn walk(&mut self, right: i32, up: i32) {
        let turn = if self.flipped() { -1 } else { 1 };
        let (right, up) = (right * turn, up * turn);
        let here = &self.layout.cells[self.cursor];
        let at = (here.column as i32, here.row as i32);
        // A chequered board has no cell straight ahead; the cells beside it are tried.
        let steps =
            if right != 0 { [(right, 0), (2 * right, 0), (2 * right, 0)] } else { [(0, up), (1, up), (-1, up)] };
        let found = steps.into_iter().find_map(|(dx, dy)| {
            let (column, row) = (at.0 + dx, at.1 + dy);
            self.layout.cell_at(column.try_into().ok()?, row.try_into().ok()?)
        });
        self.cursor = found.unwrap_or(self.cursor);
    }

    /// Goes to the next target, or to the next piece that can move.
    fn next_place(&mut self) {
        let mut places = self.targets();
        if self.picked.is_none() && self.may_play() {
            places.extend(self.scene.legal.iter().filter_map(|legal| legal.gesture.from));
        }
        places.sort_unstable();
        let next = places.iter().find(|&&place| place > self.cursor);
        if let Some(&place) = next.or(places.first()) {
            self.cursor = place;
        }
    }

    /// Enter or a click on a cell: play there, pick the piece there, or unpick it.
    fn choose(&mut self, cell: usize) {
        let legal = &self.scene.legal;
        let chosen = legal.iter().find(|legal| legal.gesture.to == Some(cell) && legal.gesture.from == self.picked);
        if let (Some(chosen), true) = (chosen, self.may_play()) {
            let text = chosen.text.clone();
            self.play(&text);
        } else if self.picked == Some(cell) {
            self.picked = None;
        } else if legal.iter().any(|legal| legal.gesture.from == Some(cell)) {
            if self.may_play() {
                self.picked = Some(cell);
            } else {
                self.message = self.texts.get("not_your_turn").to_owned();
            }
        } else if let Some(from) = self.picked {
            let name = |cell: usize| &self.layout.cells[cell].name;
            let text = format!("{}-{}", name(from), name(cell));
            self.play(&text); // illegal: the refusal says why
        }
    }

    fn play(&mut self, text: &str) {
        if let Some(exercise) = &mut self.exercise {
            self.said = exercise.play(&mut self.session, self.texts, text);
            self.picked = None;
            return;
        }
        self.session.trouble = None;
        self.message = match self.session.play(text) {
            Ok(()) => {
                self.picked = None;
                self.show_ideas = false;
                String::new()
            }
            Err(refusal) => words::refusal(self.texts, text, &refusal),
        };
    }

    fn text_key(&mut self, lines: String, scroll: u16, code: KeyCode) {
        const PAGE: u16 = 15;
        let last = lines.lines().count() as u16;
        let scroll = match code {
            KeyCode::Esc | KeyCode::Char('q' | '?') => return,
            KeyCode::Up => scroll.saturating_sub(1),
            KeyCode::PageUp => scroll.saturating_sub(PAGE),
            KeyCode::Down => scroll + 1,
            KeyCode::PageDown | KeyCode::Char(' ') => scroll + PAGE,
            _ => scroll,
        };
        self.page = Page::Text { lines, scroll: scroll.min(last) };
    }

    fn menu_key(&mut self, mut menu: Menu, code: KeyCode) {
        match code {
            KeyCode::Esc => return,
            KeyCode::Char('q') if !menu.is_typing() => {
                self.command('q');
                return;
            }
            KeyCode::Enter => match menu.start(&self.session, self.seed) {
                Ok(session) => {
                    self.session = session;
                    self.new_board();
                    self.introduce();
                    self.show_ideas = false;
                    return;
                }
                Err(problem) => self.message = problem,
            },
            _ => menu.key(code),
        }
        self.page = Page::Menu(menu);
    }

    /// Gets ready for the board of another session.
    fn new_board(&mut self) {
        self.layout = self.session.board().layout();
        self.cursor = 0;
        self.picked = None;
        self.said.clear();
        self.refresh();
    }

    fn file_key(&mut self, saves: bool, mut name: String, code: KeyCode) {
        match code {
            KeyCode::Esc => return,
            KeyCode::Enter if !name.is_empty() => {
                self.message = if saves {
                    files::save(&self.session, self.texts, &name)
                } else if let Err(problem) = files::load(&mut self.session, self.texts, &name) {
                    problem
                } else {
                    self.new_board();
                    self.texts.fill("loaded", &[("file", &name)])
                };
                return;
            }
            KeyCode::Backspace => {
                name.pop();
            }
            KeyCode::Char(letter) => name.push(letter),
            _ => {}
        }
        self.page = Page::File { saves, name };
    }
}
