//! The board field of position text: rows from the top, with digits for runs of empty cells. Digits in a row add up, so
//! eleven empty cells are `92`.

use std::mem;

use super::PositionError;

/// The size of a board and the letters of the pieces.
#[derive(Clone, Copy, Debug)]
pub struct BoardText {
    /// The number of columns.
    pub columns: usize,
    /// The number of rows. Text has the top row first.
    pub rows: usize,
    /// The letters of the game's pieces.
    pub letters: &'static str,
}

/// Reads a board field. Returns `(cell, letter)` pairs, where `cell` is `row * columns + column` and row 0 is the
/// bottom row.
pub fn parse_board(shape: BoardText, text: &str) -> Result<Vec<(usize, char)>, PositionError> {
    let error = |problem: String| PositionError::new("board", text, problem);
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != shape.rows {
        return Err(error(format!("{} rows, expected {}", rows.len(), shape.rows)));
    }
    let mut pieces = Vec::new();
    for (row, symbols) in (0..shape.rows).rev().zip(rows) {
        let mut column = 0;
        for symbol in symbols.chars() {
            if let Some(empty) = symbol.to_digit(10).filter(|&empty| empty > 0) {
                column += empty as usize;
            } else if shape.letters.contains(symbol) {
                pieces.push((row * shape.columns + column, symbol));
                column += 1;
            } else {
                return Err(error(format!(
                    "row {} has `{}`; use {} and digits for empty places",
                    row + 1,
                    symbol.escape_debug(),
                    shape.letters
                )));
            }
            if column > shape.columns {
                break;
            }
        }
        if column != shape.columns {
            return Err(error(format!(
                "row {} has {} {column} places, expected {}",
                row + 1,
                if column > shape.columns { "at least" } else { "only" },
                shape.columns
            )));
        }
    }
    Ok(pieces)
}

/// Writes a board field. `letter_at(cell)` returns the letter of the piece in that cell.
pub fn write_board(shape: BoardText, letter_at: impl Fn(usize) -> Option<char>) -> String {
    let mut text = String::with_capacity(shape.rows * (shape.columns + 1));
    for row in (0..shape.rows).rev() {
        let mut empty = 0;
        for column in 0..shape.columns {
            match letter_at(row * shape.columns + column) {
                None => empty += 1,
                Some(letter) => {
                    write_run(&mut text, mem::take(&mut empty));
                    text.push(letter);
                }
            }
        }
        write_run(&mut text, empty);
        if row > 0 {
            text.push('/');
        }
    }
    text
}

/// Writes the number of empty cells, with digits that add up to it.
fn write_run(text: &mut String, empty: u32) {
    text.extend(std::iter::repeat_n('9', empty as usize / 9));
    text.extend(char::from_digit(empty % 9, 10).filter(|_| !empty.is_multiple_of(9)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_width_read_back() {
        for columns in 1..=30 {
            let shape = BoardText { columns, rows: 2, letters: "x" };
            for place in 0..columns {
                let text = write_board(shape, |cell| (cell == place).then_some('x'));
                assert_eq!(parse_board(shape, &text), Ok(vec![(place, 'x')]), "{text}");
            }
        }
        let shape = BoardText { columns: 11, rows: 1, letters: "x" };
        assert_eq!(write_board(shape, |_| None), "92");
    }
}
