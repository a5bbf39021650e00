//! How connect four is shown: an upright frame with holes.

use super::{Cell, GameView, Gesture, Layout, Note, Palette, Piece, Setup, Style};
use crate::game::{Action, Game, Outcome, Player};
use crate::games::connect_four::{COLUMNS, HEIGHT, ROWS};
use crate::games::{ConnectFour, ConnectFourPosition};

impl GameView for ConnectFour {
    fn layout(&self) -> Layout {
        let cell = |index: usize| {
            let (column, row) = (index % COLUMNS, index / COLUMNS);
            let letter = char::from(b'A' + column as u8);
            Cell { name: format!("{letter}{}", row + 1), column, row }
        };
        Layout {
            style: Style::Slots,
            columns: COLUMNS,
            rows: ROWS,
            cells: (0..COLUMNS * ROWS).map(cell).collect(),
            lines: Vec::new(),
        }
    }

    fn pieces(&self, position: &ConnectFourPosition) -> Vec<Piece> {
        let standing = |cell: usize| {
            Some(Piece { cell, player: position.at(cell % COLUMNS, cell / COLUMNS)?, strong: false, leaving: false })
        };
        (0..COLUMNS * ROWS).filter_map(standing).collect()
    }

    fn gesture(&self, position: &ConnectFourPosition, action: Action) -> Gesture {
        let column = action.index();
        let row = (0..ROWS).find(|&row| position.at(column, row).is_none());
        Gesture { to: row.map(|row| row * COLUMNS + column), ..Gesture::default() }
    }

    fn notes(&self, position: &ConnectFourPosition) -> Vec<Note> {
        let outcome = self.outcome(position).filter(|outcome| !outcome.truncated);
        let note = |outcome: Outcome| match outcome.winner {
            Some(winner) => Note::plain("end_four", Some(winner)),
            None => Note::plain("end_full", None),
        };
        outcome.map(note).into_iter().collect()
    }

    fn winning_cells(&self, position: &ConnectFourPosition) -> Vec<usize> {
        let fours = position.fours();
        let wins = |cell: &usize| fours >> (HEIGHT * (cell % COLUMNS) + cell / COLUMNS) & 1 == 1;
        (0..COLUMNS * ROWS).filter(wins).collect()
    }

    fn palette(&self) -> Palette {
        Palette { strong: false, mover: false, fields: Vec::new() }
    }

    /// The editor needs no player to move and no ply, because both follow from the stones.
    fn setup_text(&self, setup: &Setup) -> String {
        let stones = setup.pieces.len();
        let white = |piece: &&Piece| piece.player == Player::White;
        let whites = setup.pieces.iter().filter(white).count();
        let mover = if 2 * whites > stones { Player::Black } else { Player::White };
        let board = setup.board(&self.layout());
        format!("{board} {} {stones}", mover.letter())
    }
}
