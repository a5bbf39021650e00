//! How a game looks on a table: the cells of its board, the lines between them, the pieces on them,
//! and what an action does there: all that a screen needs to know about a game but its looks.

mod connect_four;
mod tammi;
mod board;

use serde::Serialize;

use crate::game::{Action, Game, Player};

/// A game that can be shown as pieces on the cells of a board.
pub trait GameView: Game {
    /// The board, which is the same in every position.
    fn layout(&self) -> Layout;

    /// The pieces on the board, lowest cell first.
    fn pieces(&self, position: &Self::Position) -> Vec<Piece>;

    /// What a legal action does on the board.
    fn gesture(&self, position: &Self::Position, action: Action) -> Gesture;

    /// Numbers of each player that belong beside the board.
    fn tallies(&self, position: &Self::Position) -> Vec<Tally>;

    /// What else is worth saying about the position.
    fn notes(&self, position: &Self::Position) -> Vec<Note>;
}

/// How a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Circles with lines between them.
    Board,
    /// Dark squares of a chequered board.
    Squares,
    /// Holes in a wall that stones fall into.
    Slots,
}

/// A board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// How it is drawn.
    pub style: Style,
    /// Columns of its grid, A on the left.
    pub columns: usize,
    /// Rows of its grid, White's at the bottom.
    pub rows: usize,
    /// The places pieces can stand on.
    pub cells: Vec<Cell>,
    /// Pairs of cells that a line connects.
    pub lines: Vec<(usize, usize)>,
}

impl Layout {
    /// The cell at a place of the grid.
    pub fn cell_at(&self, column: usize, row: usize) -> Option<usize> {
        self.cells
            .iter()
            .position(|cell| (cell.column, cell.row) == (column, row))
    }
}

/// A place that a piece can stand on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// What people call it.
    pub name: String,
    /// Its column, 0 on the left.
    pub column: usize,
    /// Its row, 0 at White's side.
    pub row: usize,
}

/// A piece on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Where it stands.
    pub cell: usize,
    /// Whose it is.
    pub player: Player,
    /// A marked archer, a guard, or a king.
    pub strong: bool,
    /// Captured already, and still there until the capture under way is over.
    pub leaving: bool,
}

/// What an action does on the board: a step has a source and a target, a placement a target alone,
/// a pass neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gesture {
    /// The cell a piece leaves.
    pub from: Option<usize>,
    /// The cell a piece comes to.
    pub to: Option<usize>,
    /// The cell on which a piece is captured.
    pub captured: Option<usize>,
}

/// A number of each player, White's first, under the key of its name in the tables of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// What is counted.
    pub key: &'static str,
    /// How much of it White and Black have.
    pub values: [u32; 2],
}

/// Something to say about a position, under its key in the tables of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What is said.
    pub key: &'static str,
    /// Whom it is about, if one player alone.
    pub player: Option<Player>,
    /// What stands for `{what}` in the text.
    pub what: String,
}
