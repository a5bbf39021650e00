//! A position as a picture: an SVG file that needs no style sheet.

use std::fmt::Write;

use super::{GameView, Layout, Piece, Style};
use crate::game::Player;

/// An action as an arrow. Without a source, it is a ring around its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The cell that a piece leaves.
    pub from: Option<usize>,
    /// The cell on which a piece arrives.
    pub to: usize,
    /// Whether the action is legal. Illegal actions are dashed and red.
    pub legal: bool,
}

/// The distance of neighbouring cells, in units of the picture.
const STEP: usize = 100;

/// Pixels per hundred units.
const SCALE: usize = 64;

/// The width of a letter and the height of a line, of a board that is drawn as text.
const LETTER: [usize; 2] = [24, 44];

const WOOD: &str = "#efe3cc";
const LINE: &str = "#8d7a5c";
const HOLE: &str = "#fbf6ea";
const INK: &str = "#5d5140";
const LIGHT: &str = "#f1dfc2";
const DARK: &str = "#b58d62";
const WALL: &str = "#3f6fb0";
const PIT: &str = "#27456d";
const MARK: &str = "#c8641e";
const LEGAL: &str = "#2f6f62";
const REFUSED: &str = "#b3261e";

/// Draws a position with arrows, or as text if the game has no board. Screen readers read the title instead of the
/// picture.
pub fn draw<G: GameView>(game: &G, position: &G::Position, arrows: &[Arrow], title: &str) -> String {
    let layout = game.layout();
    // A board of circles has more room for the names of rows and columns than a board of squares.
    let margin = match layout.style {
        Style::Board => 70,
        Style::Squares | Style::Slots => 84,
    };
    let drawing = if layout.is_none() { game.display(position).to_string() } else { String::new() };
    let (width, height) = match layout.is_none() {
        true => (
            LETTER[0] * drawing.lines().map(|line| line.chars().count()).max().unwrap_or(0),
            LETTER[1] * drawing.lines().count(),
        ),
        false => (STEP * (layout.columns - 1), STEP * (layout.rows - 1)),
    };
    let mut picture = Picture {
        width: width + 2 * margin,
        height: height + 2 * margin,
        layout: &layout,
        margin,
        text: String::new(),
    };
    picture.begin(title);
    picture.write(&drawing);
    match layout.style {
        Style::Board => picture.lines(),
        Style::Squares => picture.squares(),
        Style::Slots => picture.slots(),
    }
    picture.names();
    for piece in game.pieces(position) {
        picture.piece(game.id(), &piece);
    }
    for arrow in arrows {
        picture.arrow(arrow);
    }
    picture.text += "</svg>\n";
    picture.text
}

struct Picture<'a> {
    layout: &'a Layout,
    width: usize,
    height: usize,
    margin: usize, // from the centres of the outer cells to the edge
    text: String,
}

impl Picture<'_> {
    fn add(&mut self, element: &str) {
        self.text += element;
        self.text.push('\n');
    }

    fn begin(&mut self, title: &str) {
        let (width, height) = (self.width, self.height);
        let pixels = [width, height].map(|units| units * SCALE / 100);
        let title = escaped(title);
        self.add(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-label=\"{title}\" font-family=\"sans-serif\" text-anchor=\"middle\">",
            pixels[0], pixels[1]
        ));
        self.add(&format!("<title>{title}</title>"));
        self.add(&format!("<rect width=\"{width}\" height=\"{height}\" rx=\"16\" fill=\"{WOOD}\"/>"));
    }

    /// The centre of a cell. Row 1 is at the bottom.
    fn centre_of(&self, column: usize, row: usize) -> (usize, usize) {
        let up = self.layout.rows - 1 - row;
        (self.margin + STEP * column, self.margin + STEP * up)
    }

    fn centre(&self, cell: usize) -> (usize, usize) {
        let cell = &self.layout.cells[cell];
        self.centre_of(cell.column, cell.row)
    }

    /// Lines of text from the top left corner.
    fn write(&mut self, drawing: &str) {
        let [width, height] = LETTER;
        for (row, line) in drawing.lines().enumerate() {
            let (x, y, size) = (self.margin, self.margin + height * (row + 1), width * 5 / 3);
            self.add(&format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-family=\"monospace\" text-anchor=\"start\" \
                 xml:space=\"preserve\" fill=\"{INK}\">{}</text>",
                escaped(line)
            ));
        }
    }

    /// Circles and lines. A line has a gap where another line crosses over it.
    fn lines(&mut self) {
        for &(a, b) in &self.layout.lines {
            let ((x1, y1), (x2, y2)) = (self.centre(a), self.centre(b));
            let ends = format!("x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"");
            self.add(&format!(
                "<line {ends} stroke=\"{WOOD}\" stroke-width=\"9\"/>\
                 <line {ends} stroke=\"{LINE}\" stroke-width=\"3\"/>"
            ));
        }
        for cell in 0..self.layout.cells.len() {
            let (x, y) = self.centre(cell);
            let name = &self.layout.cells[cell].name;
            self.add(&format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"24\" fill=\"{HOLE}\" stroke=\"{LINE}\" stroke-width=\"3\"/>\
                 <text x=\"{x}\" y=\"{}\" font-size=\"15\" fill=\"{INK}\">{name}</text>",
                y + 5
            ));
        }
    }

    fn squares(&mut self) {
        for row in 0..self.layout.rows {
            for column in 0..self.layout.columns {
                let (x, y) = self.centre_of(column, row);
                let dark = self.layout.cell_at(column, row).is_some();
                let colour = if dark { DARK } else { LIGHT };
                self.add(&format!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{STEP}\" height=\"{STEP}\" fill=\"{colour}\"/>",
                    x - STEP / 2,
                    y - STEP / 2
                ));
            }
        }
    }

    fn slots(&mut self) {
        let edge = self.margin - STEP / 2 - 6;
        let (width, height) = (self.width - 2 * edge, self.height - 2 * edge);
        self.add(&format!(
            "<rect x=\"{edge}\" y=\"{edge}\" width=\"{width}\" height=\"{height}\" rx=\"18\" fill=\"{WALL}\"/>"
        ));
        for cell in 0..self.layout.cells.len() {
            let (x, y) = self.centre(cell);
            self.add(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"40\" fill=\"{PIT}\"/>"));
        }
    }

    /// Letters below the board, and numbers beside it unless it is an upright frame.
    fn names(&mut self) {
        let bottom = self.height - 8;
        for column in 0..self.layout.columns {
            let first = self.layout.cells.iter().find(|cell| cell.column == column);
            let letter = first.map_or("", |cell| &cell.name[..1]).to_owned();
            let (x, _) = self.centre_of(column, 0);
            self.label(x, bottom, &letter);
        }
        if self.layout.style != Style::Slots {
            for row in 0..self.layout.rows {
                let (_, y) = self.centre_of(0, row);
                self.label(14, y + 6, &(row + 1).to_string());
            }
        }
    }

    fn label(&mut self, x: usize, y: usize, text: &str) {
        self.add(&format!("<text x=\"{x}\" y=\"{y}\" font-size=\"18\" fill=\"{INK}\">{text}</text>"));
    }

    /// A piece, in the shape that it has on the page.
    fn piece(&mut self, game: &str, piece: &Piece) {
        let (fill, edge, ink) = match piece.player {
            Player::White => ("#fffdf6", "#4a4f53", "#3a4045"),
            Player::Black => ("#343a40", "#14171a", "#f2efe8"),
        };
        let (x, y) = self.centre(piece.cell);
        let opacity = if piece.leaving { " opacity=\"0.4\"" } else { "" };
        let stroke = format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"3\"");
        let full = |path: &str| format!("<path fill=\"{MARK}\" d=\"{path}\"/>");
        let mut shape = String::new();
        if self.layout.style == Style::Board {
            let _ = write!(shape, "<circle r=\"34\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"3\"/>");
        } else {
            let _ = write!(
                shape,
                "<circle r=\"37\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"3\"/>\
                 <circle r=\"28\" {stroke} stroke-opacity=\"0.35\"/>"
            );
        }
        match (game, piece.strong) {
            ("connect_four", _) | ("tammi", false) => {}
            ("tammi", true) => {
                shape += &full("M-19 13 L-22 -11 L-10 0 L0 -18 L10 0 L22 -11 L19 13 Z");
            }
            ("guard", true) => {
                shape += &full("M0 -23 L19 -16 V1 C19 13 8 21 0 25 C-8 21 -19 13 -19 1 V-16 Z");
                let _ = write!(shape, "<path {stroke} d=\"M0 -14 V15 M-11 -2 H11\"/>");
            }
            (_, marked) => {
                let _ =
                    write!(shape, "<path {stroke} d=\"M-9 -20 C13 -15 13 15 -9 20 Z M-19 0 H20 M13 -7 L20 0 L13 7\"/>");
                if marked {
                    let _ = write!(shape, "<circle r=\"36\" fill=\"none\" stroke=\"{MARK}\" stroke-width=\"6\"/>");
                }
            }
        }
        self.add(&format!("<g transform=\"translate({x} {y})\"{opacity}>{shape}</g>"));
    }

    fn arrow(&mut self, arrow: &Arrow) {
        let (colour, dashes) = match arrow.legal {
            true => (LEGAL, ""),
            false => (REFUSED, " stroke-dasharray=\"14 12\""),
        };
        let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"8\"{dashes}");
        let (x, y) = self.centre(arrow.to);
        let Some(from) = arrow.from else {
            self.add(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"32\" {stroke}/>"));
            return;
        };
        // The arrow leads from the edge of one circle to the edge of the other.
        const GAP: f64 = 40.0;
        const HEAD: f64 = 24.0;
        let (from_x, from_y) = self.centre(from);
        let way = (x as f64 - from_x as f64, y as f64 - from_y as f64);
        let length = way.0.hypot(way.1);
        let (dx, dy) = (way.0 / length, way.1 / length);
        let at = |along: f64, aside: f64| {
            let x = from_x as f64 + along * dx - aside * dy;
            let y = from_y as f64 + along * dy + aside * dx;
            format!("{:.0} {:.0}", x, y)
        };
        let (start, neck, tip) = (GAP, length - GAP - HEAD, length - GAP);
        self.add(&format!(
            "<path {stroke} d=\"M{} L{}\"/><path fill=\"{colour}\" d=\"M{} L{} L{} Z\"/>",
            at(start, 0.0),
            at(neck, 0.0),
            at(tip, 0.0),
            at(neck, 14.0),
            at(neck, -14.0)
        ));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::games::Scripted;
    use crate::games::scripted::Node;

    #[test]
    fn a_game_without_a_board_is_drawn_as_text() {
        let game = Scripted::new(&Node::white([Node::end(1, 0)]));
        let picture = draw(&game, &game.start(), &[], "a & b");
        let drawing = game.display(&game.start()).to_string();
        for line in drawing.lines() {
            assert!(picture.contains(&format!(">{}</text>", escaped(line))), "{line}: {picture}");
        }
        assert!(picture.contains("<title>a &amp; b</title>"));
    }
}
