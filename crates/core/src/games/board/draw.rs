//! Draws the board as text, with lines made of braille dots.

use std::fmt;

use super::{Board, Circle, SIDE};

const COLUMN_STEP: usize = 8; // characters from one circle to the next
const ROW_STEP: usize = 4;
const WIDTH: usize = COLUMN_STEP * (SIDE - 1) + 3; // a circle is three characters wide
const HEIGHT: usize = ROW_STEP * (SIDE - 1) + 1;

/// `BRAILLE_DOTS[row][column]`: the bit of a dot in a braille character.
pub const BRAILLE_DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Draws the board with row 5 at the top. `letter_at` returns the letter in a circle.
pub(super) fn draw_circles(
    board: &Board,
    letter_at: impl Fn(Circle) -> Option<char>,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut dots = [[0_u8; WIDTH]; HEIGHT];
    for &(from, to) in board.lines() {
        draw_line(&mut dots, centre(from), centre(to));
    }
    let mut cells = dots.map(|row| {
        row.map(|bits| match bits {
            0 => ' ',
            _ => char::from_u32(0x2800 + u32::from(bits)).expect("braille patterns are characters"),
        })
    });
    for circle in Circle::all() {
        let row = ROW_STEP * (SIDE - 1 - circle.row());
        let column = COLUMN_STEP * circle.column();
        cells[row][column] = '(';
        cells[row][column + 1] = letter_at(circle).unwrap_or(' ');
        cells[row][column + 2] = ')';
    }
    for (index, row) in cells.iter().enumerate() {
        if index % ROW_STEP == 0 {
            write!(out, "{}  ", SIDE - index / ROW_STEP)?;
        } else {
            write!(out, "   ")?;
        }
        let line: String = row.iter().collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    write!(out, "   ")?;
    for column in 0..SIDE {
        let name = char::from(b'A' + column as u8);
        write!(out, " {name}")?;
        if column + 1 < SIDE {
            write!(out, "{:1$}", "", COLUMN_STEP - 2)?;
        }
    }
    writeln!(out)
}

/// The position of a circle's centre, `(x, y)`, measured in dots.
fn centre(circle: Circle) -> (i32, i32) {
    let column = COLUMN_STEP * circle.column() + 1;
    let row = ROW_STEP * (SIDE - 1 - circle.row());
    ((2 * column) as i32, (4 * row + 1) as i32)
}

/// Draws a line with Bresenham's algorithm.
fn draw_line(dots: &mut [[u8; WIDTH]; HEIGHT], from: (i32, i32), to: (i32, i32)) {
    let (width, height) = ((to.0 - from.0).abs(), -(to.1 - from.1).abs());
    let (step_x, step_y) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    let (mut x, mut y) = from;
    let mut error = width + height;
    loop {
        dots[y as usize / 4][x as usize / 2] |= BRAILLE_DOTS[y as usize % 4][x as usize % 2];
        if (x, y) == to {
            return;
        }
        let twice = 2 * error;
        if twice >= height {
            error += height;
            x += step_x;
        }
        if twice <= width {
            error += width;
            y += step_y;
        }
    }
}
