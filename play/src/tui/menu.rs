//! The menu for the game and its players.

use ratatui::crossterm::event::KeyCode;

use crate::files;
use crate::levels::Level;
use crate::session::Session;
use jarmo_exact::catalog::GAMES;

/// The rows of the menu: the game, White, Black.
pub(super) struct Menu {
    pub(super) row: usize,
    pub(super) game: usize,
    pub(super) seats: [SeatChoice; 2],
}

/// The player of one side: an entry of [`seat_names`], or an agent's spec.
pub(super) struct SeatChoice {
    pub(super) place: usize, // in `seat_names()`; its length stands for the spec
    pub(super) spec: String,
}

/// `human` and the levels.
pub(super) fn seat_names() -> Vec<&'static str> {
    let levels = Level::ALL.into_iter().map(Level::name);
    std::iter::once("human").chain(levels).collect()
}

impl Menu {
    pub(super) fn new(session: &Session) -> Menu {
        let game = session.board().game();
        let choice = |text: String| {
            let names = seat_names();
            match names.iter().position(|name| *name == text) {
                Some(place) => SeatChoice { place, spec: String::new() },
                None => SeatChoice { place: names.len(), spec: text },
            }
        };
        Menu {
            row: 0,
            game: GAMES.iter().position(|name| *name == game).unwrap_or(0),
            seats: session.seats().each_ref().map(|seat| choice(seat.to_string())),
        }
    }

    pub(super) fn is_typing(&self) -> bool {
        self.row > 0 && self.seats[self.row - 1].place == seat_names().len()
    }

    pub(super) fn key(&mut self, code: KeyCode) {
        const ROWS: usize = 3;
        let typing = self.is_typing();
        match code {
            KeyCode::Up => self.row = (self.row + ROWS - 1) % ROWS,
            KeyCode::Down | KeyCode::Tab => self.row = (self.row + 1) % ROWS,
            KeyCode::Left => self.turn(-1),
            KeyCode::Right => self.turn(1),
            KeyCode::Backspace if typing => {
                self.seats[self.row - 1].spec.pop();
            }
            KeyCode::Char(letter) if typing => self.seats[self.row - 1].spec.push(letter),
            _ => {}
        }
    }

    fn turn(&mut self, by: isize) {
        let (value, count) = match self.row {
            0 => (&mut self.game, GAMES.len()),
            row => (&mut self.seats[row - 1].place, seat_names().len() + 1),
        };
        *value = value.saturating_add_signed(by).min(count - 1);
    }

    /// A session of the selected game and players.
    pub(super) fn start(&self, old: &Session, seed: u64) -> Result<Session, String> {
        let names = seat_names();
        let [white, black] = self.seats.each_ref().map(|choice| match names.get(choice.place) {
            Some(name) => Ok((*name).to_owned()),
            None => files::player(choice.spec.trim()),
        });
        old.beside(GAMES[self.game], [&white?, &black?], seed).map_err(|error| error.to_string())
    }
}
