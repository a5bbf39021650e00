//! The board in characters: lines of braille dots, pieces as discs; and the cell under a click.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::Widget;
use ratatui::widgets::canvas::{Canvas, Points};

use crate::board::Scene;
use jarmo_core::game::Player;
use jarmo_core::view::{Layout, Piece, Style as BoardStyle};

/// A board with the position on it.
pub(crate) struct Picture<'a> {
    pub(crate) grid: Grid<'a>,
    pub(crate) scene: &'a Scene,
    pub(crate) letters: [char; 2],    // of the players, where all pieces are alike
    pub(crate) cursor: Option<usize>, // the cell under the keyboard cursor
    pub(crate) picked: Option<usize>, // the cell of the picked piece
    pub(crate) targets: &'a [usize],  // legal target cells
}

/// From this distance of the rows on, discs are three lines high.
const TALL: u16 = 6;

/// The distance of the rows of a board with lines: tall discs need a line above and below the board.
fn board_step(room: u16, rows: u16) -> u16 {
    let tall = room.saturating_sub(3) / (rows - 1);
    let low = room.saturating_sub(1) / (rows - 1);
    if tall >= TALL { tall } else { low.min(TALL - 1) }
}

/// The positions of the cells on the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid<'a> {
    layout: &'a Layout,
    area: Rect,
    step: (u16, u16),   // characters between neighbouring cells
    origin: (u16, u16), // the centre of the upper left cell
    flipped: bool,      // Black is at the bottom
}

const BACKGROUND: Color = Color::Black;
const LINE: Color = Color::DarkGray;
const NEAR: Color = Color::Cyan;
const LIT: Color = Color::Yellow;
const LAST: Color = Color::Green;

impl<'a> Grid<'a> {
    /// The largest grid that fits into an area.
    pub(crate) fn new(layout: &'a Layout, area: Rect, flipped: bool) -> Grid<'a> {
        let (columns, rows) = (layout.columns as u16, layout.rows as u16);
        // Room for row names on the left and column names below.
        let room = (area.width.saturating_sub(4), area.height.saturating_sub(1));
        let step = match layout.style {
            BoardStyle::Board => {
                ((room.0.saturating_sub(5) / (columns - 1)).clamp(5, 24), board_step(room.1, rows).clamp(2, 10))
            }
            _ => ((room.0 / columns).clamp(3, 10), (room.1 / rows).clamp(1, 4)),
        };
        // Characters are about twice as high as wide.
        let step = (step.0.min(step.1 * 3).max(5), step.1.min(step.0.div_ceil(2)));
        let above = u16::from(layout.style == BoardStyle::Board && step.1 >= TALL);
        let used = (step.0 * (columns - 1) + 5, step.1 * (rows - 1) + 1 + 2 * above);
        let left = area.x + 3 + 2 + room.0.saturating_sub(used.0) / 2;
        let top = area.y + above + room.1.saturating_sub(used.1) / 2;
        Grid { layout, area, step, origin: (left, top), flipped }
    }

    fn centre_of(&self, column: usize, row: usize) -> (u16, u16) {
        let (columns, rows) = (self.layout.columns, self.layout.rows);
        let (column, row) = if self.flipped { (columns - 1 - column, row) } else { (column, rows - 1 - row) };
        (self.origin.0 + self.step.0 * column as u16, self.origin.1 + self.step.1 * row as u16)
    }

    fn centre(&self, cell: usize) -> (u16, u16) {
        let cell = &self.layout.cells[cell];
        self.centre_of(cell.column, cell.row)
    }

    /// The cell at a point of the screen.
    pub(crate) fn hit(&self, at: Position) -> Option<usize> {
        (0..self.layout.cells.len()).find(|&cell| {
            let (x, y) = self.centre(cell);
            at.x.abs_diff(x) <= 2 && at.y.abs_diff(y) <= u16::from(self.step.1 > 2)
        })
    }
}

pub(crate) fn draw(picture: &Picture, buffer: &mut Buffer) {
    let grid = &picture.grid;
    buffer.set_style(grid.area, Style::new().bg(BACKGROUND).fg(Color::Gray));
    match grid.layout.style {
        BoardStyle::Board => draw_lines(picture, buffer),
        BoardStyle::Squares => draw_squares(grid, buffer),
        BoardStyle::Slots => {}
    }
    draw_names(grid, buffer);
    for cell in 0..grid.layout.cells.len() {
        draw_cell(picture, cell, buffer);
    }
}

fn draw_names(grid: &Grid, buffer: &mut Buffer) {
    let style = Style::new().fg(Color::Gray).bg(BACKGROUND);
    for row in 0..grid.layout.rows {
        let y = grid.centre_of(0, row).1;
        put(buffer, grid.area.x, y, &(row + 1).to_string(), style);
    }
    let cells = &grid.layout.cells;
    for column in 0..grid.layout.columns {
        let x = grid.centre_of(column, 0).0;
        let name = cells.iter().find(|cell| cell.column == column);
        let letter = name.map_or("", |cell| &cell.name[..1]);
        put(buffer, x, grid.area.bottom() - 1, letter, style);
    }
}

/// Draws the lines in braille dots, 2 x 4 per character. The highlighted ones come last and hide what they cross.
fn draw_lines(picture: &Picture, buffer: &mut Buffer) {
    let grid = &picture.grid;
    let focus = picture.picked.or(picture.cursor);
    let colour = |&(a, b): &(usize, usize)| {
        let other = match focus {
            Some(cell) if a == cell => b,
            Some(cell) if b == cell => a,
            _ => return LINE,
        };
        if picture.picked.is_some() && picture.targets.contains(&other) { LIT } else { NEAR }
    };
    let (right, top) = (f64::from(2 * grid.area.width - 1), f64::from(4 * grid.area.height - 1));
    // The middle of a cell's character in dots. On a canvas, y grows upwards.
    let middle = |cell: usize| {
        let (x, y) = grid.centre(cell);
        (f64::from(2 * (x - grid.area.x)) + 0.5, top - f64::from(4 * (y - grid.area.y)) - 1.5)
    };
    // The dots between two cells. Canvas lines begin at a dot beside the middle, which bends them.
    let dots = |&(a, b): &(usize, usize)| -> Vec<(f64, f64)> {
        let ((x1, y1), (x2, y2)) = (middle(a), middle(b));
        let steps = (x2 - x1).abs().max((y2 - y1).abs()).ceil();
        let dot = |step| (x1 + (x2 - x1) * f64::from(step) / steps, y1 + (y2 - y1) * f64::from(step) / steps);
        (0..=steps as u32).map(dot).collect()
    };
    let canvas = Canvas::default().background_color(BACKGROUND).x_bounds([0.0, right]).y_bounds([0.0, top]);
    let canvas = canvas.paint(|context| {
        for color in [LINE, NEAR, LIT] {
            for line in grid.layout.lines.iter().filter(|line| colour(line) == color) {
                context.draw(&Points { coords: &dots(line), color });
            }
            context.layer();
        }
    });
    canvas.render(grid.area, buffer);
}

fn draw_squares(grid: &Grid, buffer: &mut Buffer) {
    let (width, height) = grid.step;
    for row in 0..grid.layout.rows {
        for column in 0..grid.layout.columns {
            let (x, y) = grid.centre_of(column, row);
            let light = grid.layout.cell_at(column, row).is_none();
            let square = Rect::new(x - width / 2, y, width, height).intersection(grid.area);
            let colour = if light { Color::Gray } else { Color::DarkGray };
            buffer.set_style(square, Style::new().bg(colour));
        }
    }
}

fn draw_cell(picture: &Picture, cell: usize, buffer: &mut Buffer) {
    let Picture { grid, scene, .. } = picture;
    let (x, y) = grid.centre(cell);
    let piece = scene.pieces.iter().find(|piece| piece.cell == cell);
    let back = if grid.layout.style == BoardStyle::Squares { Color::DarkGray } else { BACKGROUND };
    let target = picture.targets.contains(&cell);
    let picked = picture.picked == Some(cell);
    let last = scene.last.is_some_and(|last| last.from == Some(cell) || last.to == Some(cell));
    let rim = match last {
        _ if picked || target => LIT,
        true => LAST,
        false => Color::Gray,
    };
    let letters = piece.map_or(String::new(), |piece| match grid.layout.style {
        BoardStyle::Slots => format!(" {} ", picture.letters[piece.player.index()]),
        _ => letters(piece).to_owned(),
    });
    let mut sides = ["(", ")"];
    let (text, inner) = match piece {
        None if target => (" • ", Style::new().fg(LIT).bg(back).add_modifier(Modifier::BOLD)),
        None => ("   ", Style::new().fg(Color::Gray).bg(back)),
        Some(piece) => (letters.as_str(), disc(grid.layout.style, piece.player)),
    };
    let mut rim_style = Style::new().fg(rim).bg(back);
    if target || last || picked {
        rim_style = rim_style.add_modifier(Modifier::BOLD);
    }
    if picture.cursor == Some(cell) {
        sides = ["[", "]"];
        rim_style = rim_style.add_modifier(Modifier::REVERSED | Modifier::BOLD);
    }
    put(buffer, x - 2, y, sides[0], rim_style);
    put(buffer, x - 1, y, text, inner);
    put(buffer, x + 2, y, sides[1], rim_style);
    if grid.step.1 >= TALL {
        let colour = inner.bg.filter(|_| piece.is_some()).unwrap_or(rim);
        let (above, below) = match piece {
            Some(_) => ("▄▄▄", "▀▀▀"),
            None => ("╭─╮", "╰─╯"),
        };
        let style = Style::new().fg(colour).bg(back);
        put(buffer, x - 1, y - 1, above, style);
        put(buffer, x - 1, y + 1, below, style);
    }
}

/// A piece as three characters: strong pieces in upper case, pieces about to leave crossed out.
fn letters(piece: &Piece) -> &'static str {
    match (piece.leaving, piece.player, piece.strong) {
        (true, Player::White, _) => "xwx",
        (true, Player::Black, _) => "xbx",
        (false, Player::White, false) => " w ",
        (false, Player::White, true) => "‹W›",
        (false, Player::Black, false) => " b ",
        (false, Player::Black, true) => "‹B›",
    }
}

pub(super) fn disc(board: BoardStyle, player: Player) -> Style {
    let style = match (board, player) {
        (BoardStyle::Slots, Player::White) => Style::new().fg(Color::Black).bg(Color::Yellow),
        (BoardStyle::Slots, Player::Black) => Style::new().fg(Color::White).bg(Color::Red),
        (_, Player::White) => Style::new().fg(Color::Black).bg(Color::White),
        (_, Player::Black) => Style::new().fg(Color::White).bg(Color::Blue),
    };
    style.add_modifier(Modifier::BOLD)
}

fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    if buffer.area.contains(Position::new(x, y)) {
        buffer.set_string(x, y, text, style);
    }
}
