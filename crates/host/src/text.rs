//! Text for people: tables, and spans of time.

/// A table: the names of its columns, and a line for each row. The columns with these numbers hold texts, which begin at the
/// left; the others hold numbers, which end at the right.
pub fn table(head: &[&str], texts: &[usize], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|&name| name.to_owned()).collect()];
    lines.extend(rows);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if texts.contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A span of time in a unit that fits, such as `3 min`.
pub fn span(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} d", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cells() {
        let rows = [["a", "1"], ["bcd", "10"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&["", "of"], &[0], rows), "     of\na     1\nbcd  10\n");
    }

    #[test]
    fn a_span_has_a_unit_that_fits() {
        let spans = [10.0, 540.0, 32_400.0, 1e6].map(span);
        assert_eq!(spans, ["10 s", "9 min", "9.0 h", "11.6 d"]);
    }
}
