//! Everything that a user interface needs to show a game: cells, lines, pieces, and what an action does on the board.
//! The interface chooses colours and shapes.

mod connect_four;
mod tammi;
mod board;
mod setup;
pub mod svg;

use serde::{Deserialize, Serialize};

pub use setup::{Field, FieldKind, Palette, Setup};
pub use svg::Arrow;

use crate::game::{Action, Game, Player};
use crate::games::Scripted;

/// A game that can be shown as pieces on the cells of a board. A game that has only its text [drawing](Game::draw)
/// need not implement any method.
pub trait GameView: Game {
    /// The board, which is the same in every position. It has no cells if the game has only its drawing.
    fn layout(&self) -> Layout {
        Layout::none()
    }

    /// The pieces on the board, in the order of cells.
    fn pieces(&self, _: &Self::Position) -> Vec<Piece> {
        Vec::new()
    }

    /// What a legal action does on the board.
    fn gesture(&self, _: &Self::Position, _: Action) -> Gesture {
        Gesture::default()
    }

    /// Numbers for each player that are shown beside the board.
    fn tallies(&self, _: &Self::Position) -> Vec<SideCount> {
        Vec::new()
    }

    /// Remarks about the position. If the game is over, they also say why.
    fn notes(&self, _: &Self::Position) -> Vec<Note> {
        Vec::new()
    }

    /// The cells of the line that won the game, if a line wins the game.
    fn winning_cells(&self, _: &Self::Position) -> Vec<usize> {
        Vec::new()
    }

    /// The rules for players, as lines of text: `# ` begins a heading, `- ` an item of a list. The interface has texts
    /// for the shipped games; other games can provide theirs here.
    fn rules_text(&self) -> Option<&str> {
        None
    }

    /// The picture of the piece that this letter stands for in the text of a position: SVG elements around (0, 0), 80
    /// units wide. Without a picture, the interface shows the letter.
    fn piece_svg(&self, _letter: char) -> Option<&str> {
        None
    }

    /// The controls of the position editor. By default there are two kinds of pieces, either player can be to move,
    /// and there are no other fields.
    fn palette(&self) -> Palette {
        Palette::of(Vec::new())
    }

    /// The text of a position from the editor. [`Game::parse_position`] decides whether it is legal.
    fn setup_text(&self, setup: &Setup) -> String {
        let first = [setup.board(&self.layout()), setup.to_move.letter().to_string()];
        [&first[..], &setup.fields].concat().join(" ")
    }
}

/// It has its drawing.
impl GameView for Scripted {}

/// How a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Circles with lines between them.
    Board,
    /// The dark squares of a chequered board.
    Squares,
    /// An upright frame with holes into which stones fall.
    Slots,
}

/// The layout of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// How the board is drawn.
    pub style: Style,
    /// The number of columns; A is on the left.
    pub columns: usize,
    /// The number of rows; White's side is at the bottom.
    pub rows: usize,
    /// The cells that pieces can stand on.
    pub cells: Vec<Cell>,
    /// Pairs of indices of cells that a line connects.
    pub lines: Vec<(usize, usize)>,
}

impl Layout {
    /// A layout without a board.
    pub fn none() -> Layout {
        Layout { style: Style::Board, columns: 0, rows: 0, cells: Vec::new(), lines: Vec::new() }
    }

    /// Whether there is no board to show.
    pub fn is_none(&self) -> bool {
        self.cells.is_empty()
    }

    /// The index of the cell at this column and row.
    pub fn cell_at(&self, column: usize, row: usize) -> Option<usize> {
        self.cells.iter().position(|cell| (cell.column, cell.row) == (column, row))
    }
}

/// A circle, square or hole that a piece can stand on.
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
    /// The player who owns it.
    pub player: Player,
    /// Whether it is a marked archer, a guard, or a king.
    pub strong: bool,
    /// Whether it has been jumped and will be removed at the end of the capture. Never true in the editor.
    #[serde(default)]
    pub leaving: bool,
}

/// What an action does on the board. A move has a source and a target, a placement only a target, a pass neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gesture {
    /// The cell a piece leaves.
    pub from: Option<usize>,
    /// The cell on which a piece arrives.
    pub to: Option<usize>,
    /// The cell of the captured piece.
    pub captured: Option<usize>,
}

/// A number for each player, with a label. Tables of languages have the label's text.
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

/// A remark about a position. Tables of languages have its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The key of the text.
    pub key: &'static str,
    /// The player it is about; `None` if it is not about one player.
    pub player: Option<Player>,
    /// The value that replaces `{what}` in the text.
    pub what: String,
}

impl Note {
    /// A remark about the game or about one player, without a value.
    fn plain(key: &'static str, player: Option<Player>) -> Note {
        Note { key, player, what: String::new() }
    }
}
