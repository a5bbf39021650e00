//! What a user interface needs to show a game: cells, lines, pieces, and the effect of an action.
//! Colours and shapes are up to the interface.

mod connect_four;
mod tammi;
mod board;
mod setup;
pub mod svg;

use serde::{Deserialize, Serialize};

pub use setup::{Field, FieldKind, Palette, Setup};
pub use svg::Arrow;

use crate::game::{Action, Game, Player};

/// A game that can be shown as pieces on the cells of a board. A game that is shown by its [drawing](Game::draw) alone
/// needs none of the methods.
pub trait GameView: Game {
    /// The board, which is the same in every position; without cells if the game has only its drawing.
    fn layout(&self) -> Layout {
        Layout::none()
    }

    /// The pieces on the board, in the order of cells.
    fn pieces(&self, _: &Self::Position) -> Vec<Piece> {
        Vec::new()
    }

    /// The effect of a legal action on the board.
    fn gesture(&self, _: &Self::Position, _: Action) -> Gesture {
        Gesture::default()
    }

    /// Numbers for each player to show beside the board.
    fn tallies(&self, _: &Self::Position) -> Vec<SideCount> {
        Vec::new()
    }

    /// Remarks about the position; once the game is over, also why it ended.
    fn notes(&self, _: &Self::Position) -> Vec<Note> {
        Vec::new()
    }

    /// The cells of the line that won the game, in games that are won by a line.
    fn winning_cells(&self, _: &Self::Position) -> Vec<usize> {
        Vec::new()
    }

    /// What an editor of positions offers: two kinds of pieces, either player to move, and no more fields.
    fn palette(&self) -> Palette {
        Palette::of(Vec::new())
    }

    /// The text of a position that was set up. [`Game::parse_position`] decides whether the position is legal.
    fn setup_text(&self, setup: &Setup) -> String {
        let first = [setup.board(&self.layout()), setup.to_move.letter().to_string()];
        [&first[..], &setup.fields].concat().join(" ")
    }
}

/// How a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Circles with lines between them.
    Board,
    /// Dark squares of a chequered board.
    Squares,
    /// Holes in an upright frame that stones fall into.
    Slots,
}

/// The layout of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// How the board is drawn.
    pub style: Style,
    /// Number of columns, A on the left.
    pub columns: usize,
    /// Number of rows, White's side at the bottom.
    pub rows: usize,
    /// The places pieces can stand on.
    pub cells: Vec<Cell>,
    /// Pairs of cells connected by a line.
    pub lines: Vec<(usize, usize)>,
}

impl Layout {
    /// No board.
    pub fn none() -> Layout {
        Layout { style: Style::Board, columns: 0, rows: 0, cells: Vec::new(), lines: Vec::new() }
    }

    /// Whether there is no board to show.
    pub fn is_none(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell at this column and row.
    pub fn cell_at(&self, column: usize, row: usize) -> Option<usize> {
        self.cells.iter().position(|cell| (cell.column, cell.row) == (column, row))
    }
}

/// A place that a piece can stand on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The name of the cell, such as `C2`.
    pub name: String,
    /// The column, 0 on the left.
    pub column: usize,
    /// The row, 0 at White's side.
    pub row: usize,
}

/// A piece on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// The cell it stands on.
    pub cell: usize,
    /// The owner.
    pub player: Player,
    /// A marked archer, a guard, or a king.
    pub strong: bool,
    /// Already jumped; it leaves the board at the end of the capture. No piece that is set up does.
    #[serde(default)]
    pub leaving: bool,
}

/// The effect of an action on the board. A move has a source and a target, a placement only a target, a pass neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gesture {
    /// The cell a piece leaves.
    pub from: Option<usize>,
    /// The cell where a piece arrives.
    pub to: Option<usize>,
    /// The cell of the captured piece.
    pub captured: Option<usize>,
}

/// A number for each player, with the key of its label in the language tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SideCount {
    /// The key of the label.
    pub key: &'static str,
    /// The numbers of White and Black.
    pub values: [u32; 2],
}

impl SideCount {
    fn new(key: &'static str, values: [u32; 2]) -> SideCount {
        SideCount { key, values }
    }
}

/// A remark about a position, with the key of its text in the language tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The key of the text.
    pub key: &'static str,
    /// The player it is about, if it is about only one.
    pub player: Option<Player>,
    /// The value for `{what}` in the text.
    pub what: String,
}

impl Note {
    /// A remark about the game or about one player, without a value.
    fn plain(key: &'static str, player: Option<Player>) -> Note {
        Note { key, player, what: String::new() }
    }
}
