//! The terminal: golden screens, and whole games played by keys.

use std::sync::atomic::AtomicBool;

use jarmo::catalog::GameSettings;
use jarmo::games::{Guard, Jarmo};
use play::agents::AgentCache;
use play::lang::Language;
use play::session::Session;
use play::specs::Store;
use play::thought::Time;
use play::tui::App;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Color;

/// A terminal with a person at the keys.
struct Person {
    app: App,
    terminal: Terminal<TestBackend>,
    cache: AgentCache,
}

impl Person {
    fn new(game: &str, seats: [&str; 2], language: Language) -> Person {
        Person::at(game, seats, None, language)
    }

    fn at(game: &str, seats: [&str; 2], position: Option<&str>, language: Language) -> Person {
        let mut session = Session::new(Store::default(), game, GameSettings::default(), position, seats, 3).unwrap();
        session.evaluating = false;
        Person {
            app: App::new(session, language, 3),
            terminal: Terminal::new(TestBackend::new(80, 24)).unwrap(),
            cache: AgentCache::default(),
        }
        .quiet()
    }

    /// Removes the first message, which depends on the agents that are installed.
    fn quiet(mut self) -> Person {
        self.press(KeyCode::Esc);
        self
    }

    fn press(&mut self, code: KeyCode) {
        self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
        while let Some(job) = self.app.session.job() {
            let thought = job.run(&mut self.cache, Time::alone(play::machine::clock, &AtomicBool::new(false)));
            self.app.finish(&job, thought);
        }
    }

    fn keys(&mut self, text: &str) {
        for letter in text.chars() {
            self.press(KeyCode::Char(letter));
        }
    }

    fn enter(&mut self, text: &str) {
        self.keys(text);
        self.press(KeyCode::Enter);
    }

    fn click(&mut self, column: u16, row: u16) {
        self.screen();
        self.app.mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::NONE,
        });
    }

    fn screen(&mut self) -> String {
        self.terminal.draw(|frame| self.app.draw(frame)).unwrap();
        self.terminal.backend().to_string()
    }

    /// All foreground and background colours on the screen.
    fn colours(&mut self) -> Vec<Color> {
        self.screen();
        let buffer = self.terminal.backend().buffer();
        buffer.content.iter().flat_map(|cell| [cell.fg, cell.bg]).collect()
    }

    fn moves(&self) -> Vec<String> {
        let moves = self.app.session.board().moves();
        moves.into_iter().map(|played| played.text).collect()
    }
}

#[test]
fn start_screens() {
    for game in jarmo::catalog::GAMES {
        let mut person = Person::new(game, ["human", "human"], Language::En);
        insta::assert_snapshot!(format!("start_{game}"), person.screen());
    }
}

#[test]
fn the_screen_reports_a_missing_or_refused_trained_agent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jarmo.safetensors");
    jarmo::agent_file::save(&crate::nets::tiny(&Jarmo::standard(), 1), &file).unwrap();
    let old = crate::nets::tiny(&Guard::standard(), 1);
    let (now, then) = (r#""rules_version":1"#, r#""rules_version":0"#);
    let file = folder.path().join("guard.safetensors");
    std::fs::write(file, crate::nets::with_header(&old, now, then)).unwrap();
    let cases = [
        ("jarmo", None),
        ("guard", Some("The trained agent cannot play: ")),
        ("tammi", Some("No trained agent found: ")),
    ];
    for (game, words) in cases {
        let store = Store { agents: vec![folder.path().to_owned()], ..Store::default() };
        let (settings, people) = (GameSettings::default(), ["human", "best"]);
        let session = Session::new(store, game, settings, None, people, 3).unwrap();
        let mut app = App::new(session, Language::En, 3);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| app.draw(frame)).unwrap();
        let screen = terminal.backend().to_string();
        match words {
            Some(words) => assert!(screen.contains(words), "{screen}"),
            None => assert!(!screen.contains("trained agent"), "{screen}"),
        }
    }
}

#[test]
fn a_picked_piece_shows_its_targets() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.press(KeyCode::Right);
    person.press(KeyCode::Enter);
    insta::assert_snapshot!("picked", person.screen());
    assert!(person.colours().contains(&Color::Yellow));
}

#[test]
fn marks_captured_archers_and_the_shuttle_are_shown() {
    let text = "2B2/1W3/5/5/w1bw1 w A1-C2*4 - 20";
    let mut person = Person::at("jarmo", ["human", "human"], Some(text), Language::It);
    insta::assert_snapshot!("middle", person.screen());
}

#[test]
fn pages_and_prompts() {
    let mut person = Person::new("guard", ["human", "human"], Language::De);
    person.keys("?");
    insta::assert_snapshot!("help", person.screen());
    person.press(KeyCode::Esc);
    person.keys("n");
    person.press(KeyCode::Right);
    person.press(KeyCode::Down);
    insta::assert_snapshot!("menu", person.screen());
    person.press(KeyCode::Esc);
    person.keys("s");
    assert!(person.screen().contains("Datei: guard.jsonl_"));
}

#[test]
fn only_the_sixteen_standard_colours_are_used() {
    for game in jarmo::catalog::GAMES {
        let mut person = Person::new(game, ["human", "human"], Language::En);
        person.keys("v");
        let strange = |colour: &Color| matches!(colour, Color::Rgb(..) | Color::Indexed(_));
        assert!(!person.colours().iter().any(strange), "{game}");
    }
}

#[test]
fn a_whole_game_by_keys_against_an_agent() {
    let mut person = Person::new("jarmo", ["human", "greedy"], Language::En);
    for turn in 0..200 {
        if person.app.session.board().mover(person.moves().len()).is_none() {
            break;
        }
        let before = person.moves().len();
        // Tab goes to a piece that can move, Enter picks it, Tab goes to a target.
        for _ in 0..=turn % 3 {
            person.press(KeyCode::Tab);
        }
        person.press(KeyCode::Enter);
        person.press(KeyCode::Tab);
        person.press(KeyCode::Enter);
        if person.moves().len() == before {
            person.enter("pass");
        }
        assert!(person.moves().len() > before, "turn {turn}:\n{}", person.screen());
    }
    let end = person.moves().len();
    let outcome = person.app.session.board().outcome(end).expect("the game ends");
    let screen = person.screen();
    let words = ["White wins", "Black wins", "Draw"];
    assert!(words.iter().any(|word| screen.contains(word)), "{outcome:?}\n{screen}");
}

#[test]
fn typed_moves_undo_redo_and_reasons() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::Fi);
    person.enter("a1-c2");
    assert_eq!(person.moves(), ["A1-C2"]);
    person.enter("a5-a4");
    assert!(person.screen().contains("mikään viiva ei vie paikasta A5 paikkaan A4"));
    person.enter("a5-b3");
    person.keys("uu");
    assert_eq!(person.app.session.board().cursor(), 0);
    person.keys("r");
    assert_eq!(person.app.session.board().cursor(), 1);
    person.keys("]");
    assert_eq!(person.app.session.board().cursor(), 2);
}

#[test]
fn the_mouse_picks_and_places() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    let screen = person.screen();
    let row = screen.lines().position(|line| line.contains("1   [ w ]")).unwrap() as u16;
    person.click(7, row); // A1
    assert!(person.screen().contains("( • )"));
    person.click(16, row); // B1: another piece is picked instead
    person.click(7, row - 8); // A3
    assert_eq!(person.moves(), ["B1-A3"]);
}

#[test]
fn hints_show_moves_with_values() {
    let mut person = Person::new("connect_four", ["human", "human"], Language::En);
    for column in ["d", "c", "d", "c", "d", "b"] {
        person.enter(column);
    }
    person.keys("h");
    let screen = person.screen();
    assert!(screen.contains("Best: D"), "{screen}");
    assert!(screen.contains("D      Yellow wins in 1 ply"), "{screen}");
}

#[test]
fn a_capital_h_asks_for_a_hint_where_letters_are_moves() {
    let mut person = Person::new("tammi", ["human", "human"], Language::En);
    person.keys("h");
    assert!(!person.screen().contains("Best: "));
    person.press(KeyCode::Esc);
    person.keys("H");
    assert!(person.screen().contains("Best: "), "{}", person.screen());
}

#[test]
fn the_second_game_of_a_match_swaps_the_sides() {
    let mut person = Person::new("connect_four", ["random", "greedy"], Language::En);
    person.keys("m");
    assert!(person.screen().contains("game 1 of 2"));
    person.keys("m");
    let screen = person.screen();
    assert!(screen.contains("Match over"), "{screen}");
    assert_eq!(person.app.session.seats()[0].to_string(), "greedy");
}

#[test]
fn games_are_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.jsonl");
    let name = path.to_str().unwrap();
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.enter("a1-c2");
    person.keys("s");
    for _ in 0.."jarmo.jsonl".len() {
        person.press(KeyCode::Backspace);
    }
    person.enter(name);
    assert!(person.screen().contains("Saved"));
    let mut other = Person::new("tammi", ["human", "human"], Language::En);
    other.keys("l");
    for _ in 0.."tammi.jsonl".len() {
        other.press(KeyCode::Backspace);
    }
    other.enter(name);
    assert_eq!(other.moves(), ["A1-C2"]);
    assert!(other.screen().contains("Jarmo"));
    other.keys("l");
    other.enter("/nowhere");
    assert!(other.screen().contains("No such file"));
}

#[test]
fn a_terminal_that_is_too_small_shows_its_size() {
    for (width, height) in [(79, 24), (80, 23), (20, 5), (1, 1)] {
        let mut person = Person::new("jarmo", ["human", "human"], Language::En);
        person.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let screen = person.screen();
        if width > 19 {
            assert!(screen.contains(&width.to_string()), "{screen}");
        }
    }
}

#[test]
fn a_terminal_that_is_too_small_shows_the_question_that_it_asks() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.enter("a1-c2");
    person.terminal = Terminal::new(TestBackend::new(70, 20)).unwrap();
    person.keys("q");
    assert!(person.screen().contains("Leave the game? y / n"), "{}", person.screen());
    person.keys("n");
    assert!(!person.screen().contains("Leave the game?"));
}

#[test]
fn no_line_of_a_hint_ends_within_a_move() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut person = Person::new("jarmo", ["human", "human"], Language::En);
        person.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        person.keys("h");
        let screen = person.screen();
        let mut ideas = 0;
        for line in screen.lines() {
            let words: Vec<&str> = line.trim_matches('"').split_whitespace().collect();
            if let Some(chance) = words.iter().position(|word| word.ends_with('%') && word.len() <= 4) {
                ideas += 1;
                let moves = words.get(chance + 2..).unwrap_or_default();
                assert!(moves.iter().all(|text| text.len() >= 5), "{line}");
            }
        }
        assert!(ideas >= 3, "{screen}");
    }
}

#[test]
fn larger_terminals_show_a_larger_board() {
    for game in jarmo::catalog::GAMES {
        for (width, height) in [(120, 40), (200, 60), (80, 60), (240, 24)] {
            let mut person = Person::new(game, ["human", "human"], Language::En);
            person.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let screen = person.screen();
            // The panel shows both letters, whatever is on the board.
            let letters = if game == "connect_four" { [" y ", " r "] } else { [" w ", " b "] };
            assert!(letters.iter().all(|letter| screen.contains(letter)), "{screen}");
        }
    }
}

#[test]
fn quitting_asks_only_during_a_game() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.enter("a1-c2");
    person.keys("q");
    assert!(!person.app.over);
    assert!(person.screen().contains("Leave the game?"));
    person.keys("n");
    assert!(!person.app.over);
    // Also at its beginning, and from the menu.
    for keys in ["[q", "nq"] {
        person.keys(keys);
        assert!(!person.app.over && person.screen().contains("Leave the game?"), "{keys}");
        person.keys("n");
    }
    person.keys("qy");
    assert!(person.app.over);
}

#[test]
fn ctrl_c_asks_once_during_a_game() {
    let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.enter("a1-c2");
    person.keys("?");
    person.app.key(ctrl_c);
    assert!(person.screen().contains("Leave the game?"));
    person.keys("n");
    person.keys("t"); // the game continues after a lesson
    person.app.key(ctrl_c);
    assert!(!person.app.over && person.screen().contains("Leave the game?"));
    person.app.key(ctrl_c);
    assert!(person.app.over);
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.app.key(ctrl_c);
    assert!(person.app.over, "nothing is lost");
}

#[test]
fn a_menu_starts_another_game_with_other_players() {
    let mut person = Person::new("jarmo", ["human", "greedy"], Language::En);
    person.keys("n");
    for _ in 0..3 {
        person.press(KeyCode::Right);
    }
    person.press(KeyCode::Down);
    person.press(KeyCode::Right);
    person.press(KeyCode::Enter);
    let session = &person.app.session;
    assert_eq!(session.board().game(), "connect_four");
    assert_eq!(session.seats()[0].to_string(), "newcomer");
    assert_eq!(session.seats()[1].to_string(), "greedy");
}

#[test]
fn the_lesson_and_puzzles_are_done_on_the_screen() {
    let mut person = Person::new("jarmo", ["human", "human"], Language::En);
    person.enter("A1-C2");
    person.keys("t");
    let screen = person.screen();
    assert!(screen.contains("Step 1 of 6: Lines"), "{screen}");
    assert!(screen.contains("Esc: back to the game"), "{screen}");
    person.enter("B1-D2");
    assert!(person.screen().contains("That move is legal"));
    person.enter("A1-C2");
    assert!(person.screen().contains("Right. That is a whole turn"));
    person.keys("nn<");
    assert!(person.screen().contains("Step 2 of 6"));
    person.keys("s");
    assert!(person.screen().contains("Right. The captured archer"));
    person.press(KeyCode::Esc);
    assert!(person.screen().contains("1. A1-C2"), "the game is back");
    person.keys("o");
    assert!(person.screen().contains("Puzzle, rating"));
    person.keys("?");
    person.press(KeyCode::Esc);
    assert!(person.screen().contains("s solution"));
    person.keys("q");
    assert!(!person.app.over);
    assert!(person.screen().contains("1. A1-C2"), "the game is back");
}

#[test]
fn stones_fall_down_for_black_too() {
    let mut person = Person::new("connect_four", ["human", "human"], Language::En);
    let white = person.screen();
    let mut person = Person::new("connect_four", ["random", "human"], Language::En);
    let black = person.screen();
    let row = |screen: &str, number: &str| {
        let mut lines = screen.lines();
        lines.position(|line| line.trim_start().starts_with(number))
    };
    for number in ["1", "6"] {
        assert_eq!(row(&black, number), row(&white, number), "{black}");
    }
}
